/* WordPiece of one word (as in BERT): from the left, always the longest piece that fits; pieces that continue
 * a word carry a prefix; a word that cannot be spelled so is unknown as a whole. Relies on: text/vocabulary.
 */
#ifndef SS_TEXT_WORDPIECE_H
#define SS_TEXT_WORDPIECE_H

#include "text/bpe.h"

enum { SS_WORD_LIMIT = 1000 }; /* of longest_word: a word of n characters takes up to n x n look-ups */

typedef struct ss_wordpiece {
    const ss_vocabulary *vocabulary;
    uint32_t unknown;
    ss_string_view prefix; /* "##" */
    size_t longest_word;   /* characters; a longer word is unknown */
} ss_wordpiece;

/* Append the ids of one word of valid UTF-8; `work` holds a spelling on the way. */
ss_status ss_wordpiece_encode(const ss_wordpiece *model, ss_bytes *work, const char *word, size_t length,
                              ss_ids *ids, ss_error *error);

#endif
