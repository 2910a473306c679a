/* Status names, exit codes and error filling. Relies on: vsnprintf. */
#include "base/status.h"

#include "base/control.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *ss_status_name(ss_status code) {
    static const char *const names[] = {
#define SS_STATUS_NAME(code_, name, exit_status) [code_] = name,
        SS_STATUS_LIST(SS_STATUS_NAME)
#undef SS_STATUS_NAME
    };
    size_t index = (size_t)code;
    return index < sizeof names / sizeof *names ? names[index] : "unknown status";
}

int ss_status_exit(ss_status code) {
    static const int exits[] = {
#define SS_STATUS_EXIT(code_, name, exit_status) [code_] = exit_status,
        SS_STATUS_LIST(SS_STATUS_EXIT)
#undef SS_STATUS_EXIT
    };
    size_t index = (size_t)code;
    return index < sizeof exits / sizeof *exits ? exits[index] : 4;
}

/* Names from files stand in messages: none may steer the terminal. */
static void make_printable(char *text) {
    const size_t length = strlen(text);
    for (size_t i = 0; i < length; i++) memset(text + i, '?', ss_control_size(text + i, length - i));
}

#if defined(__GNUC__)
__attribute__((format(printf, 4, 0)))
#endif
static void
fill(ss_error *error, ss_status code, const char *where, const char *format, va_list arguments) {
    error->code = code;
    snprintf(error->where, sizeof error->where, "%s", where ? where : "");
    vsnprintf(error->message, sizeof error->message, format, arguments);
    make_printable(error->where);
    make_printable(error->message);
}

ss_status ss_error_fill(ss_error *error, ss_status code, const char *where, const char *format, ...) {
    if (error) {
        va_list arguments;
        va_start(arguments, format);
        fill(error, code, where, format, arguments);
        va_end(arguments);
    }
    return code;
}

ss_status ss_error_fill_at(ss_error *error, ss_status code, const char *file, uint64_t byte,
                           const char *format, ...) {
    if (error) {
        char where[sizeof error->where];
        snprintf(where, sizeof where, "%s, byte %" PRIu64, file ? file : "input", byte);
        va_list arguments;
        va_start(arguments, format);
        fill(error, code, where, format, arguments);
        va_end(arguments);
    }
    return code;
}
