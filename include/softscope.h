/* softscope: exact sensitivity, concentration and health of transformer attention.
 *
 * The whole public interface, readable top to bottom. Conventions that hold for every function:
 *   - a function that can fail returns ss_status and takes an optional ss_error (NULL is allowed);
 *     a failed call leaves its output arguments as they were and frees what it made;
 *   - ss_X_create / ss_X_open makes an opaque handle, ss_X_free releases it and accepts NULL;
 *   - `const ss_allocator *` may be NULL for the C library's allocator;
 *   - the library never prints, exits, reads the environment or keeps mutable globals.
 */
#ifndef SOFTSCOPE_H
#define SOFTSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what stands here is all that the shared library shows */
#endif

/* ---- status and error ------------------------------------------------------------------------ */

/* X(code, name, exit status of the program). One list makes the enum, the names and the exit codes. */
#define SS_STATUS_LIST(X)                                                                                    \
    X(SS_OK, "ok", 0)                                                                                        \
    X(SS_E_USAGE, "usage error", 2)                                                                          \
    X(SS_E_IO, "cannot read or write", 3)                                                                    \
    X(SS_E_FORMAT, "malformed input", 3)                                                                     \
    X(SS_E_UNSUPPORTED, "unsupported input", 3)                                                              \
    X(SS_E_CONFIG, "invalid model configuration", 3)                                                         \
    X(SS_E_VALUE, "invalid value", 3)                                                                        \
    X(SS_E_MEMORY, "out of memory", 4)                                                                       \
    X(SS_E_SYSTEM, "system error", 4)                                                                        \
    X(SS_E_CANCELLED, "cancelled", 4)

typedef enum ss_status {
#define SS_STATUS_ENUM(code, name, exit_status) code,
    SS_STATUS_LIST(SS_STATUS_ENUM)
#undef SS_STATUS_ENUM
} ss_status;

typedef struct ss_error {
    ss_status code;
    char where[256];   /* file and byte, tensor name, layer and head, option; may be empty */
    char message[512]; /* what is wrong and what to do */
} ss_error;

/* Name of a code, e.g. "malformed input". Never NULL. */
const char *ss_status_name(ss_status code);

/* Exit status the program uses for a code: 0 done, 2 usage, 3 input, 4 system. */
int ss_status_exit(ss_status code);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Where memory comes from. `alloc` returns a block of `size` > 0 bytes aligned to `alignment` (a power of
 * two) or NULL; `free` accepts what alloc returned. Both may be called from several threads. */
typedef struct ss_allocator {
    void *(*alloc)(void *context, size_t alignment, size_t size);
    void (*free)(void *context, void *block);
    void *context;
} ss_allocator;

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
