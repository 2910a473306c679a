/* A vocabulary: pieces of text and their ids, both ways. Relies on: base/arena. */
#ifndef SS_TEXT_VOCABULARY_H
#define SS_TEXT_VOCABULARY_H

#include "base/arena.h"
#include "text/tokenizer.h"

typedef struct ss_vocabulary {
    ss_arena arena;         /* the bytes of the pieces */
    ss_string_view *pieces; /* [size] by id; bytes is NULL where an id has none */
    size_t size, capacity;
    struct ss_vocabulary_slot *slots; /* [slot_count] hash table from piece to id, open addressing */
    size_t slot_count, used;
    size_t id_limit; /* ids from here on are refused, so that a small file cannot ask for a large table */
    size_t longest;  /* bytes of the longest piece */
} ss_vocabulary;

/* An empty vocabulary for about `expected` pieces; allocates nothing yet. */
ss_vocabulary ss_vocabulary_make(const ss_allocator *memory, size_t expected);
void ss_vocabulary_free(ss_vocabulary *vocabulary);

/* Add a copy of a piece. A piece added twice has its last id, an id added twice its first piece.
 * SS_E_FORMAT when the id is far beyond the number of pieces. */
ss_status ss_vocabulary_add(ss_vocabulary *vocabulary, const char *where, const char *piece, size_t length,
                            size_t id, ss_error *error);

/* The id of a piece, or SS_NO_TOKEN. */
uint32_t ss_vocabulary_find(const ss_vocabulary *vocabulary, const char *piece, size_t length);

/* The id of the longest piece that a text of valid UTF-8 starts with: it ends with a character of the text
 * and is longer than `least` bytes; *taken is its length. SS_NO_TOKEN, and *taken as it was, when there is
 * none. One look-up a character. */
uint32_t ss_vocabulary_longest(const ss_vocabulary *vocabulary, const char *text, size_t length, size_t least,
                               size_t *taken);

/* Mix the bits of a hash so that its low ones depend on all. */
static inline uint64_t ss_mix(uint64_t value) {
    value ^= value >> 32;
    value *= 0xD6E8FEB86659FD93u;
    return value ^ value >> 32;
}

#endif
