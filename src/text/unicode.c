/* Looking a character up in its classes. Relies on: text/unicode_tables.c, utf8proc. */
#include "text/unicode.h"

#include <utf8proc.h>

bool ss_in_class(ss_code_class set, uint32_t code_point) {
    size_t low = 0, high = set.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set.ranges[middle].last < code_point)
            low = middle + 1;
        else
            high = middle;
    }
    return low < set.count && set.ranges[low].first <= code_point;
}

bool ss_is_word_character(uint32_t code_point) {
    static const uint32_t categories =
        1u << UTF8PROC_CATEGORY_LU | 1u << UTF8PROC_CATEGORY_LL | 1u << UTF8PROC_CATEGORY_LT |
        1u << UTF8PROC_CATEGORY_LM | 1u << UTF8PROC_CATEGORY_LO | 1u << UTF8PROC_CATEGORY_MN |
        1u << UTF8PROC_CATEGORY_MC | 1u << UTF8PROC_CATEGORY_ME | 1u << UTF8PROC_CATEGORY_ND |
        1u << UTF8PROC_CATEGORY_NL | 1u << UTF8PROC_CATEGORY_PC;
    static const ss_code_range others[] = {
        {0x200C, 0x200D}, {0x24B6, 0x24E9}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
    static const ss_code_class enclosed = {others, sizeof others / sizeof *others};
    return (categories >> utf8proc_category((utf8proc_int32_t)code_point) & 1u) ||
           ss_in_class(enclosed, code_point);
}

/* Pairs of Unicode 15.1 to 17 that utf8proc 2.8 does not have: distance from the capital to the small letter.
 */
static const struct late_pair {
    uint32_t first, last;
    int32_t step;
} late_pairs[] = {{0x1C89, 0x1C89, 1},   {0xA7CB, 0xA7CB, -42343}, {0xA7CC, 0xA7CC, 1},
                  {0xA7CE, 0xA7CE, 1},   {0xA7D2, 0xA7D2, 1},      {0xA7D4, 0xA7D4, 1},
                  {0xA7DA, 0xA7DA, 1},   {0xA7DC, 0xA7DC, -42561}, {0x10D50, 0x10D65, 32},
                  {0x16EA0, 0x16EB8, 27}};

size_t ss_lower(uint32_t code_point, uint32_t *out) {
    if (code_point == 0x130) { /* capital I with dot: the one character whose small form is two */
        out[0] = 'i';
        out[1] = 0x307;
        return 2;
    }
    out[0] = (uint32_t)utf8proc_tolower((utf8proc_int32_t)code_point);
    for (size_t i = 0; i < sizeof late_pairs / sizeof *late_pairs; i++) {
        if (code_point >= late_pairs[i].first && code_point <= late_pairs[i].last)
            out[0] = (uint32_t)((int32_t)code_point + late_pairs[i].step);
    }
    return 1;
}
