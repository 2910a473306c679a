/* Byte-level byte-pair encoding of one word (Sennrich et al. 2016; GPT-2): start from its bytes and, as long
 * as two neighbours form a known pair, merge the pair of the lowest rank, the leftmost of equals. Relies on:
 * text/vocabulary, text/byte_level. */
#ifndef SS_TEXT_BPE_H
#define SS_TEXT_BPE_H

#include "text/span.h"
#include "text/vocabulary.h"

typedef struct ss_bpe {
    const ss_allocator *memory;
    const ss_vocabulary *vocabulary; /* pieces in GPT-2's alphabet */
    uint32_t byte_ids[256];          /* SS_NO_TOKEN where the vocabulary lacks a byte */
    struct ss_merge *merges;         /* [merge_slots] hash table from a pair of ids to rank and merged id */
    size_t merge_slots, merge_count;
    uint32_t unknown;   /* for bytes without a token; SS_NO_TOKEN: they are dropped */
    bool fuse_unknown;  /* neighbouring unknown bytes share one token */
    bool ignore_merges; /* a word that is a piece as a whole is that piece, whatever the merges say */
} ss_bpe;

/* Ready for merges over a complete vocabulary, which must outlive it. */
ss_bpe ss_bpe_make(const ss_allocator *memory, const ss_vocabulary *vocabulary);
void ss_bpe_free(ss_bpe *bpe);

/* Add the next merge, of `left` and `right`; SS_E_FORMAT when one of them or what they form is not in the
 * vocabulary. A pair given twice has its last rank. */
ss_status ss_bpe_add_merge(ss_bpe *bpe, const char *where, ss_string_view left, ss_string_view right,
                           ss_error *error);

/* The same for a line "left right". */
ss_status ss_bpe_add_merge_line(ss_bpe *bpe, const char *where, const char *line, size_t length,
                                ss_error *error);

/* Working memory of one thread, all zero to start with but for `memory`. */
typedef struct ss_bpe_work {
    const ss_allocator *memory;
    struct ss_symbol *symbols;
    size_t symbol_capacity;
    struct ss_candidate *heap;
    size_t heap_capacity, heap_count;
    ss_bytes spelling;
} ss_bpe_work;

void ss_bpe_work_free(ss_bpe_work *work);

/* Growing list of ids. */
typedef struct ss_ids {
    uint32_t *items; /* [count] */
    size_t count, capacity;
    const ss_allocator *memory;
} ss_ids;

ss_status ss_ids_add(ss_ids *ids, uint32_t id, ss_error *error);

/* Append the ids of one word of at most INT32_MAX bytes; *dropped counts the bytes that have none. O(n log
 * n). */
ss_status ss_bpe_encode(const ss_bpe *bpe, ss_bpe_work *work, const char *word, size_t length, ss_ids *ids,
                        size_t *dropped, ss_error *error);

#endif
