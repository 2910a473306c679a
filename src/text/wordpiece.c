/* Longest match first. Relies on: text/vocabulary. */
#include "text/wordpiece.h"

static size_t count_characters(const char *word, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += ((unsigned char)word[i] & 0xC0) != 0x80;
    return count;
}

/* The id of the next piece of the word, whose bytes from `begin` on are left to spell. */
static ss_status next_piece(const ss_wordpiece *model, ss_bytes *work, const char *word, size_t length,
                            size_t *begin, uint32_t *id, ss_error *error) {
    size_t prefix = *begin ? model->prefix.length : 0, taken = 0, left = length - *begin;
    if (!prefix) {
        *id = ss_vocabulary_longest(model->vocabulary, word + *begin, left, 0, &taken);
    } else {
        if (left > model->vocabulary->longest)
            left = model->vocabulary->longest + 1; /* no need to copy more */
        work->length = 0;
        SS_TRY(ss_bytes_add(work, model->prefix.bytes, prefix, error));
        SS_TRY(ss_bytes_add(work, word + *begin, left, error));
        *id = ss_vocabulary_longest(model->vocabulary, work->data, work->length, prefix, &taken);
    }
    if (*id != SS_NO_TOKEN) *begin += taken - prefix;
    return SS_OK;
}

ss_status ss_wordpiece_encode(const ss_wordpiece *model, ss_bytes *work, const char *word, size_t length,
                              ss_ids *ids, ss_error *error) {
    if (count_characters(word, length) > model->longest_word) return ss_ids_add(ids, model->unknown, error);
    size_t before = ids->count;
    for (size_t begin = 0; begin < length;) {
        uint32_t id;
        SS_TRY(next_piece(model, work, word, length, &begin, &id, error));
        if (id == SS_NO_TOKEN) {
            ids->count = before;
            return ss_ids_add(ids, model->unknown, error);
        }
        SS_TRY(ss_ids_add(ids, id, error));
    }
    return SS_OK;
}
