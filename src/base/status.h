/* Status and error helpers: every fallible function of the library reports through these.
 * Relies on: the public header only. */
#ifndef SS_BASE_STATUS_H
#define SS_BASE_STATUS_H

#include "softscope.h"

/* Fill `error` (may be NULL) and return `code`, so a caller writes `return ss_fail(...)`.
 * `where` names the place (file, tensor, option) and may be NULL; `format` is printf's. */
#define ss_fail(error, code, where, ...) ss_failed(code, ss_error_fill(error, code, where, __VA_ARGS__))

/* The same with a file and a byte offset in it: where = "FILE, byte N". */
#define ss_fail_at(error, code, file, byte, ...)                                                             \
    ss_failed(code, ss_error_fill_at(error, code, file, byte, __VA_ARGS__))

/* Out of memory while `what` was being made. */
#define ss_fail_memory(error, what) ss_fail(error, SS_E_MEMORY, what, "not enough memory")

/* What the macros call. They are macros so that the compiler sees a code that is never SS_OK, and knows that
 * outputs are set wherever SS_TRY goes on. */
static inline ss_status ss_failed(ss_status code, ss_status filled) {
    (void)filled;
    return code;
}
#if defined(__GNUC__)
__attribute__((format(printf, 4, 5)))
#endif
ss_status
ss_error_fill(ss_error *error, ss_status code, const char *where, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 5, 6)))
#endif
ss_status
ss_error_fill_at(ss_error *error, ss_status code, const char *file, uint64_t byte, const char *format, ...);

/* Leave the calling function with the status of `expression` unless it is SS_OK. */
#define SS_TRY(expression)                                                                                   \
    do {                                                                                                     \
        ss_status ss_try_status = (expression);                                                              \
        if (ss_try_status != SS_OK) return ss_try_status;                                                    \
    } while (0)

#endif
