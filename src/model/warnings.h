/* Sentences for the user about files that load but are not quite what they should be.
 * Relies on: base/arena, which owns the sentences. */
#ifndef SS_MODEL_WARNINGS_H
#define SS_MODEL_WARNINGS_H

#include "base/arena.h"
#include "base/status.h"

/* A file of a million unknown keys gives this many, of which the last says that there are more. */
enum { SS_MAX_WARNINGS = 32 };

typedef struct ss_warnings {
    ss_arena *arena;
    const char **items; /* [count] */
    size_t count;
} ss_warnings;

/* Add a sentence; SS_E_MEMORY when there is no room for it. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
ss_status
ss_warn(ss_warnings *warnings, ss_error *error, const char *format, ...);

#endif
