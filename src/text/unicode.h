/* Classes of characters as the Hugging Face `tokenizers` library sees them. Its parts stand on several
 * editions of Unicode (its punctuation, format and mark tables are those of Unicode 8, its digits of Unicode
 * 17), so the ranges are ours, measured from it (tests/golden/text/make_unicode.py) and free of what utf8proc
 * or PCRE2 know. Relies on: utf8proc for lower case and decomposition. */
#ifndef SS_TEXT_UNICODE_H
#define SS_TEXT_UNICODE_H

#include "base/mem.h"

typedef struct ss_code_range {
    uint32_t first, last;
} ss_code_range;

typedef struct ss_code_class {
    const ss_code_range *ranges; /* [count], ascending */
    size_t count;
} ss_code_class;

extern const ss_code_class ss_class_space;   /* White_Space: Rust's char::is_whitespace, \s of its regexes */
extern const ss_code_class ss_class_control; /* what BERT's clean_text removes, beside U+0000 and U+FFFD */
extern const ss_code_class ss_class_ideograph;   /* what BERT puts spaces around */
extern const ss_code_class ss_class_punctuation; /* is_bert_punc */
extern const ss_code_class ss_class_mark;        /* nonspacing marks: what strip_accents removes */
extern const ss_code_class ss_class_numeric;     /* Rust's char::is_numeric, which splits digits */
extern const ss_code_class
    ss_class_late_letter; /* letters of Unicode 15 and 16, which an older PCRE2 lacks */
extern const ss_code_class ss_class_late_number; /* numbers of the same */

bool ss_in_class(ss_code_class set, uint32_t code_point);

/* \w of Rust's regexes: letters, marks, decimal and letter numbers, connectors, joiners, enclosed letters. */
bool ss_is_word_character(uint32_t code_point);

/* Lower case of one character into out[2]; how many it became (1, or 2 for U+0130). */
size_t ss_lower(uint32_t code_point, uint32_t *out);

#endif
