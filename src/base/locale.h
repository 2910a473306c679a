/* Numbers are written and read with a point, whatever locale the program around the library has chosen:
 * between enter and leave this thread's locale is "C". Relies on: POSIX uselocale, so that no other thread
 * notices. */
#ifndef SS_BASE_LOCALE_H
#define SS_BASE_LOCALE_H

#include <locale.h>
#include <stdbool.h>

typedef struct ss_c_locale {
    locale_t made, before;
} ss_c_locale;

/* False, and nothing to leave, when memory ran out. */
static inline bool ss_c_locale_enter(ss_c_locale *scope) {
    scope->made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (scope->made == (locale_t)0) return false;
    scope->before = uselocale(scope->made);
    return true;
}

static inline void ss_c_locale_leave(ss_c_locale *scope) {
    uselocale(scope->before);
    freelocale(scope->made);
}

#endif
