/* Normalisers: what happens to a text before it is split into words.
 * Relies on: text/unicode, utf8proc for the normal forms (Unicode Standard Annex 15). */
#ifndef SS_TEXT_NORMALIZE_H
#define SS_TEXT_NORMALIZE_H

#include "text/span.h"

typedef enum ss_normal_step {
    SS_NORMAL_CLEAN,         /* drop control and format characters, make every white space a space */
    SS_NORMAL_IDEOGRAPHS,    /* a space on each side of a Chinese character */
    SS_NORMAL_STRIP_ACCENTS, /* decompose (NFD) and drop nonspacing marks */
    SS_NORMAL_LOWER,
    SS_NORMAL_NFC,
    SS_NORMAL_NFD,
    SS_NORMAL_NFKC,
    SS_NORMAL_NFKD,
} ss_normal_step;

enum { SS_NORMAL_STEPS = 16 };

typedef struct ss_normalizer {
    ss_normal_step steps[SS_NORMAL_STEPS]; /* [count], in order */
    size_t count;
} ss_normalizer;

/* Append the normal form of a piece of valid UTF-8 to `out`; without steps, the piece itself. */
ss_status ss_normalize(const ss_normalizer *normalizer, const char *text, size_t length, ss_bytes *out,
                       ss_error *error);

#endif
