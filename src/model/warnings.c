/* The list of warnings. Relies on: vsnprintf. */
#include "model/warnings.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

ss_status ss_warn(ss_warnings *warnings, ss_error *error, const char *format, ...) {
    if (warnings->count == SS_MAX_WARNINGS) return SS_OK;
    if (!warnings->items)
        warnings->items = ss_arena_alloc(warnings->arena, SS_MAX_WARNINGS, sizeof *warnings->items);
    if (!warnings->items) return ss_fail_memory(error, "warnings");

    char text[512];
    if (warnings->count == SS_MAX_WARNINGS - 1) {
        snprintf(text, sizeof text, "more warnings like these were left out");
    } else {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(text, sizeof text, format, arguments);
        va_end(arguments);
    }
    const char *copy = ss_arena_copy(warnings->arena, text, strlen(text));
    if (!copy) return ss_fail_memory(error, "warnings");
    warnings->items[warnings->count++] = copy;
    return SS_OK;
}
