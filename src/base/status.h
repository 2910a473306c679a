/* Status and error helpers: every fallible function of the library reports through these.
 * Relies on: the public header only. */
#ifndef SS_BASE_STATUS_H
#define SS_BASE_STATUS_H

#include "softscope.h"

/* Fill `error` (may be NULL) and return `code`, so a caller writes `return ss_fail(...)`.
 * `where` names the place (file, tensor, option) and may be NULL; `format` is printf's. */
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
ss_status
ss_fail(ss_error *error, ss_status code, const char *where, const char *format, ...);

/* The same with a file and a byte offset in it: where = "FILE, byte N". */
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ss_status
ss_fail_at(ss_error *error, ss_status code, const char *file, uint64_t byte, const char *format, ...);

/* Out of memory while `what` was being made. */
ss_status ss_fail_memory(ss_error *error, const char *what);

/* Leave the calling function with the status of `expression` unless it is SS_OK. */
#define SS_TRY(expression)                                                                                   \
    do {                                                                                                     \
        ss_status ss_try_status = (expression);                                                              \
        if (ss_try_status != SS_OK) return ss_try_status;                                                    \
    } while (0)

#endif
