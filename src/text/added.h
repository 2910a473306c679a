/* Added tokens: strings that are found in a text before it is split into words, such as "<|endoftext|>".
 * Relies on: base/arena, text/span, text/unicode. */
#ifndef SS_TEXT_ADDED_H
#define SS_TEXT_ADDED_H

#include "base/arena.h"
#include "text/span.h"

typedef struct ss_added_token {
    const char *content; /* as it is looked for */
    size_t length;
    uint32_t id;
    bool special;                 /* found only when special tokens are parsed */
    bool normalized;              /* looked for in the normalised text */
    bool single_word;             /* not inside a word */
    bool strip_left, strip_right; /* takes the white space beside it */
} ss_added_token;

/* The tokens that are looked for at one time, in the order of their bytes. */
typedef struct ss_added {
    ss_added_token *items; /* [count] */
    size_t count, capacity;
} ss_added;

/* Append to `out` the cover of text[begin .. end - 1] by added tokens, leftmost first and the longest of
 * those that start at one place, and by what lies between them (token SS_NO_TOKEN). A special token that is
 * not wanted still hides the tokens inside it, as in the Hugging Face library. `added` must be sorted. */
ss_status ss_added_cover(const ss_added *added, const char *text, size_t begin, size_t end, bool special,
                         ss_spans *out, ss_error *error);

/* Sort by bytes; of tokens with the same content the last added stays. */
void ss_added_sort(ss_added *added);

#endif
