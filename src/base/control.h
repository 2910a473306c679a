/* Control characters of UTF-8 text, which may steer a terminal. Relies on: nothing. */
#ifndef SS_BASE_CONTROL_H
#define SS_BASE_CONTROL_H

#include <stddef.h>

/* How many bytes the control character takes that text [bytes > 0] begins with: 1 for C0 and DEL, 2 for C1
 * (U+0080 to U+009F); 0 when it begins with none. */
static inline size_t ss_control_size(const char *text, size_t bytes) {
    const unsigned char first = (unsigned char)text[0];
    if (first < 0x20 || first == 0x7F) return 1;
    return first == 0xC2 && bytes > 1 && ((unsigned char)text[1] & 0xE0) == 0x80 ? 2 : 0;
}

#endif
