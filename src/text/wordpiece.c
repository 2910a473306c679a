/* Longest match first. Relies on: text/vocabulary. */
#include "text/wordpiece.h"

static bool is_continuation_byte(char byte) {
    return ((unsigned char)byte & 0xC0) == 0x80;
}

static size_t count_characters(const char *word, size_t length) {
    size_t count = 0;
    for (size_t i = 0; i < length; i++) count += !is_continuation_byte(word[i]);
    return count;
}

/* The longest piece at the start of spelling[0 .. length - 1], whose first `least` bytes are the prefix:
 * *taken is its length with the prefix, the result its id or SS_NO_TOKEN. Nothing longer than the longest
 * piece is tried. */
static uint32_t longest_piece(const ss_wordpiece *model, const char *spelling, size_t length, size_t least,
                              size_t *taken) {
    size_t end = length;
    if (end > model->vocabulary->longest) {
        end = model->vocabulary->longest;
        while (end > least && is_continuation_byte(spelling[end])) end--;
    }
    while (end > least) {
        uint32_t id = ss_vocabulary_find(model->vocabulary, spelling, end);
        *taken = end;
        if (id != SS_NO_TOKEN) return id;
        do end--;
        while (end > least && is_continuation_byte(spelling[end]));
    }
    return SS_NO_TOKEN;
}

/* The id of the next piece of the word, whose bytes from `begin` on are left to spell. */
static ss_status next_piece(const ss_wordpiece *model, ss_bytes *work, const char *word, size_t length,
                            size_t *begin, uint32_t *id, ss_error *error) {
    size_t prefix = *begin ? model->prefix.length : 0, taken = 0, left = length - *begin;
    if (!prefix) {
        *id = longest_piece(model, word + *begin, left, 0, &taken);
    } else {
        if (left > model->vocabulary->longest)
            left = model->vocabulary->longest + 1; /* no need to copy more */
        work->length = 0;
        SS_TRY(ss_bytes_add(work, model->prefix.bytes, prefix, error));
        SS_TRY(ss_bytes_add(work, word + *begin, left, error));
        *id = longest_piece(model, work->data, work->length, prefix, &taken);
    }
    *begin += taken - prefix;
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
