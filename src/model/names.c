/* Filling and matching of name patterns. Relies on: snprintf. */
#include "model/names.h"

#include <stdio.h>
#include <string.h>

static size_t append(char *name, size_t used, const char *text, size_t length) {
    const size_t room = SS_NAME_SIZE - 1 - used;
    if (length > room) length = room;
    memcpy(name + used, text, length);
    return used + length;
}

char *ss_name_fill(const char *prefix, const char *pattern, size_t layer, char name[SS_NAME_SIZE]) {
    char number[24];
    const size_t digits = (size_t)snprintf(number, sizeof number, "%zu", layer);
    size_t used = append(name, 0, prefix, strlen(prefix));
    for (const char *c = pattern; *c; c++)
        used = *c == '#' ? append(name, used, number, digits) : append(name, used, c, 1);
    name[used] = '\0';
    return name;
}

/* The last "*" met takes one more character whenever what follows it does not fit: linear memory, no
 * recursion, at most length x length steps. */
bool ss_name_matches(const char *pattern, const char *name) {
    const char *star = NULL, *resume = NULL;
    while (*name) {
        if (*pattern == '*') {
            star = ++pattern;
            resume = name;
        } else if (*pattern == *name) {
            pattern++;
            name++;
        } else if (star) {
            pattern = star;
            name = ++resume;
        } else {
            return false;
        }
    }
    while (*pattern == '*') pattern++;
    return *pattern == '\0';
}

bool ss_name_matches_any(const char *const *patterns, const char *name) {
    for (; patterns && *patterns; patterns++)
        if (ss_name_matches(*patterns, name)) return true;
    return false;
}
