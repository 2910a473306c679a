/* Encoding a text, and what a tokenizer knows of its tokens. Making one: build.c and the loaders
 * tokenizer_*.c. Relies on: every other part of text/. */
#include "text/tokenizer.h"

#include "text/build.h"
#include "text/utf8.h"

void ss_tokenizer_free(ss_tokenizer *tokenizer) {
    if (!tokenizer) return;
    const ss_allocator *memory = tokenizer->memory;
    ss_vocabulary_free(&tokenizer->vocabulary);
    ss_vocabulary_free(&tokenizer->added_pieces);
    ss_bpe_free(&tokenizer->bpe);
    ss_splitter_free(&tokenizer->splitter);
    ss_free(memory, tokenizer->added.items);
    ss_free(memory, tokenizer->added_normalized.items);
    ss_free(memory, tokenizer->before.items);
    ss_free(memory, tokenizer->after.items);
    ss_free(memory, tokenizer->readable);
    ss_free(memory, tokenizer->is_special);
    ss_arena_free(&tokenizer->arena);
    ss_free(memory, tokenizer);
}

/* ---- encoding ---------------------------------------------------------------------------------- */

/* The working memory of one call. */
typedef struct encoder {
    const ss_tokenizer *tokenizer;
    bool special;
    ss_bytes repaired, normal, spelling;
    ss_spans segments, inner;
    ss_split_work split;
    ss_bpe_work bpe;
    ss_ids ids;
    size_t dropped;
    ss_error *error;
} encoder;

static encoder begin_encoding(const ss_tokenizer *tokenizer, unsigned flags, ss_error *error) {
    const ss_allocator *memory = tokenizer->memory;
    encoder e = {.tokenizer = tokenizer, .special = flags & SS_ENCODE_PARSE_SPECIAL, .error = error};
    e.repaired.memory = e.normal.memory = e.spelling.memory = memory;
    e.segments.memory = e.inner.memory = e.ids.memory = memory;
    e.split.text.memory = e.split.spare_text.memory = memory;
    e.split.pieces.memory = e.split.spare_pieces.memory = e.split.cover.memory = memory;
    e.bpe = (ss_bpe_work){.memory = memory, .spelling = {.memory = memory}};
    return e;
}

/* Frees all but the ids. */
static void end_encoding(encoder *e) {
    ss_bytes_free(&e->repaired);
    ss_bytes_free(&e->normal);
    ss_bytes_free(&e->spelling);
    ss_spans_free(&e->segments);
    ss_spans_free(&e->inner);
    ss_split_work_free(&e->split);
    ss_bpe_work_free(&e->bpe);
}

static ss_status add_all(encoder *e, const ss_ids *ids) {
    for (size_t i = 0; i < ids->count; i++) SS_TRY(ss_ids_add(&e->ids, ids->items[i], e->error));
    return SS_OK;
}

static ss_status encode_word(encoder *e, const char *word, size_t length) {
    const ss_tokenizer *tokenizer = e->tokenizer;
    if (tokenizer->kind == SS_MODEL_BPE)
        return ss_bpe_encode(&tokenizer->bpe, &e->bpe, word, length, &e->ids, &e->dropped, e->error);
    return ss_wordpiece_encode(&tokenizer->wordpiece, &e->spelling, word, length, &e->ids, e->error);
}

/* Text between added tokens, normalised already. */
static ss_status encode_words(encoder *e, const char *text, size_t length) {
    ss_split_work *split = &e->split;
    split->text.length = split->pieces.count = 0;
    SS_TRY(ss_bytes_add(&split->text, text, length, e->error));
    SS_TRY(ss_spans_add(&split->pieces, (ss_span){0, length, SS_NO_TOKEN, false}, e->error));
    SS_TRY(ss_split(&e->tokenizer->splitter, split, e->error));
    for (size_t i = 0; i < split->pieces.count; i++) {
        ss_span word = split->pieces.items[i];
        SS_TRY(encode_word(e, split->text.data + word.begin, word.end - word.begin));
    }
    return SS_OK;
}

/* Text between the added tokens that are looked for before normalising. */
static ss_status encode_segment(encoder *e, const char *text, size_t length) {
    e->normal.length = e->inner.count = 0;
    SS_TRY(ss_normalize(&e->tokenizer->normalizer, text, length, &e->normal, e->error));
    SS_TRY(ss_added_cover(&e->tokenizer->added_normalized, e->normal.data, 0, e->normal.length, e->special,
                          &e->inner, e->error));
    for (size_t i = 0; i < e->inner.count; i++) {
        ss_span part = e->inner.items[i];
        SS_TRY(part.token != SS_NO_TOKEN
                   ? ss_ids_add(&e->ids, part.token, e->error)
                   : encode_words(e, e->normal.data + part.begin, part.end - part.begin));
    }
    return SS_OK;
}

static ss_status encode_text(encoder *e, const char *text, size_t length) {
    e->segments.count = 0;
    SS_TRY(ss_added_cover(&e->tokenizer->added, text, 0, length, e->special, &e->segments, e->error));
    for (size_t i = 0; i < e->segments.count; i++) {
        ss_span part = e->segments.items[i];
        SS_TRY(part.token != SS_NO_TOKEN ? ss_ids_add(&e->ids, part.token, e->error)
                                         : encode_segment(e, text + part.begin, part.end - part.begin));
    }
    return SS_OK;
}

/* ---- parts of a text --------------------------------------------------------------------------- */

/* The end of the part of text[0 .. length - 1] that starts at `begin`: behind `part_least` bytes the first
 * place where cutting changes no id, else the end of the text. Where it may be cut at all (build.c) that is
 *  - before a space that follows another kind of character: no piece goes on with a space, and the last
 *    piece before it looks for nothing behind its own kind;
 *  - after a single new line between two characters that are no white space: whether a piece of its own or
 *    the end of the piece before, it is the same with and without what follows. */
static size_t part_end(const ss_tokenizer *tokenizer, const char *text, size_t begin, size_t length) {
    if (length - begin <= tokenizer->part_least) return length;
    size_t at = begin + tokenizer->part_least, next;
    while (at < length && ((unsigned char)text[at] & 0xC0) == 0x80) at++; /* the rest of a character */
    bool line_ended = false, was_space = true;
    for (; at < length && at - begin <= SS_TEXT_LIMIT; at = next) { /* farther than that is refused */
        uint32_t character;
        bool valid;
        next = at + ss_utf8_read(text + at, length - at, &character, &valid);
        const bool space = ss_in_class(ss_class_space, character);
        if ((character == ' ' && !was_space) || (line_ended && !space)) return at;
        line_ended = character == '\n' && !was_space;
        was_space = space;
    }
    return at;
}

/* Replace *text by a repaired copy when its UTF-8 is broken. */
static ss_status repair(encoder *e, const char **text, size_t *length) {
    if (ss_utf8_is_valid(*text, *length)) return SS_OK;
    size_t needed = ss_utf8_repair(*text, *length, NULL, 0);
    if (!ss_grow(e->repaired.memory, &e->repaired.data, &e->repaired.capacity, needed + 1, 1))
        return ss_fail_memory(e->error, "text");
    *length = ss_utf8_repair(*text, *length, e->repaired.data, needed + 1);
    *text = e->repaired.data;
    return SS_OK;
}

static ss_status encode_part(encoder *e, const char *text, size_t length) {
    if (length > SS_TEXT_LIMIT)
        return ss_fail(
            e->error, SS_E_VALUE, "text",
            "more than %zu bytes would have to be tokenized as one piece: shorten the text, break it "
            "into lines, or give token ids with --tokens FILE",
            SS_TEXT_LIMIT);
    SS_TRY(repair(e, &text, &length));
    return encode_text(e, text, length);
}

/* The ids of a text part by part, until there are more than `most`. */
static ss_status encode_parts(encoder *e, const char *text, size_t length, size_t most) {
    SS_TRY(ss_matcher_create(e->tokenizer->memory, &e->split.matcher, e->error));
    for (size_t begin = 0, end; begin < length && e->ids.count <= most; begin = end) {
        end = part_end(e->tokenizer, text, begin, length);
        SS_TRY(encode_part(e, text + begin, end - begin));
    }
    return SS_OK;
}

static bool contains(const ss_ids *ids, uint32_t id) {
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->items[i] == id) return true;
    }
    return false;
}

ss_status ss_tokenizer_encode(const ss_tokenizer *tokenizer, const char *text, size_t length, unsigned flags,
                              size_t most, ss_encoding *encoding, ss_error *error) {
    static const ss_ids none = {.count = 0};
    bool add = flags & SS_ENCODE_ADD_SPECIAL;
    const ss_ids *before = add ? &tokenizer->before : &none, *after = add ? &tokenizer->after : &none;
    encoder e = begin_encoding(tokenizer, flags, error);
    ss_status status = add_all(&e, before);
    if (!status) status = encode_parts(&e, text, length, most);
    bool doubled = e.ids.count > before->count && contains(before, e.ids.items[before->count]);
    if (!status) status = add_all(&e, after);
    end_encoding(&e);
    if (status) {
        ss_free(tokenizer->memory, e.ids.items);
        return status;
    }
    const bool more = e.ids.count > most;
    *encoding = (ss_encoding){.ids = e.ids.items,
                              .count = more ? most : e.ids.count,
                              .more = more,
                              .added_before = before->count,
                              .added_after = after->count,
                              .double_bos = doubled,
                              .dropped = e.dropped,
                              .memory = tokenizer->memory};
    return SS_OK;
}

void ss_encoding_free(ss_encoding *encoding) {
    ss_free(encoding->memory, encoding->ids);
    *encoding = (ss_encoding){.memory = encoding->memory};
}

/* ---- what it knows ----------------------------------------------------------------------------- */

size_t ss_tokenizer_size(const ss_tokenizer *tokenizer) {
    return tokenizer->size;
}

ss_string_view ss_tokenizer_piece(const ss_tokenizer *tokenizer, uint32_t id) {
    return id < tokenizer->size ? tokenizer->readable[id] : (ss_string_view){NULL, 0};
}

size_t ss_tokenizer_display(const ss_tokenizer *tokenizer, uint32_t id, char *out, size_t capacity) {
    ss_string_view piece = ss_tokenizer_piece(tokenizer, id);
    return ss_utf8_repair(piece.bytes, piece.length, out, capacity);
}

uint32_t ss_tokenizer_find(const ss_tokenizer *tokenizer, const char *piece, size_t length) {
    uint32_t id = ss_vocabulary_find(&tokenizer->added_pieces, piece, length);
    return id != SS_NO_TOKEN ? id : ss_vocabulary_find(&tokenizer->vocabulary, piece, length);
}

ss_special_ids ss_tokenizer_specials(const ss_tokenizer *tokenizer) {
    return tokenizer->specials;
}

bool ss_tokenizer_is_special(const ss_tokenizer *tokenizer, uint32_t id) {
    return id < tokenizer->size && tokenizer->is_special[id];
}

const char *ss_tokenizer_kind(const ss_tokenizer *tokenizer) {
    return tokenizer->kind == SS_MODEL_BPE ? "BPE" : "WordPiece";
}
