/* The hash table behind a vocabulary: open addressing, at most half full. Relies on: base/arena. */
#include "text/vocabulary.h"

#include <string.h>

typedef struct ss_vocabulary_slot {
    const char *bytes; /* NULL: free */
    size_t length;
    uint32_t id;
} slot;

enum { FIRST_SLOTS = 64, SPARSE_IDS = 1 << 20 };

ss_vocabulary ss_vocabulary_make(const ss_allocator *memory, size_t expected) {
    size_t limit = expected > UINT32_MAX / 4 ? UINT32_MAX / 2 : 2 * expected + SPARSE_IDS;
    return (ss_vocabulary){.arena = ss_arena_make(memory), .id_limit = limit};
}

void ss_vocabulary_free(ss_vocabulary *vocabulary) {
    ss_free(vocabulary->arena.memory, vocabulary->pieces);
    ss_free(vocabulary->arena.memory, vocabulary->slots);
    ss_arena_free(&vocabulary->arena);
}

#define HASH_START 0xCBF29CE484222325u

/* FNV-1a, from the hash of the bytes before */
static uint64_t hash_more(uint64_t hash, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return hash;
}

/* An empty piece may come as NULL, which memcmp does not take. */
static bool holds(const slot *s, const char *bytes, size_t length) {
    return s->length == length && (length == 0 || memcmp(s->bytes, bytes, length) == 0);
}

/* The slot that holds the piece, whose hash is known, or the free one where it belongs. */
static slot *locate_hashed(slot *slots, size_t count, uint64_t hash, const char *bytes, size_t length) {
    size_t at = (size_t)ss_mix(hash) & (count - 1);
    while (slots[at].bytes && !holds(&slots[at], bytes, length)) at = (at + 1) & (count - 1);
    return &slots[at];
}

static slot *locate(slot *slots, size_t count, const char *bytes, size_t length) {
    return locate_hashed(slots, count, hash_more(HASH_START, bytes, length), bytes, length);
}

static bool grow_slots(ss_vocabulary *vocabulary) {
    if (2 * vocabulary->used < vocabulary->slot_count) return true;
    size_t count = vocabulary->slot_count ? 2 * vocabulary->slot_count : FIRST_SLOTS;
    slot *slots = ss_alloc_zero(vocabulary->arena.memory, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < vocabulary->slot_count; i++) {
        const slot *old = &vocabulary->slots[i];
        if (old->bytes) *locate(slots, count, old->bytes, old->length) = *old;
    }
    ss_free(vocabulary->arena.memory, vocabulary->slots);
    vocabulary->slots = slots;
    vocabulary->slot_count = count;
    return true;
}

static bool grow_pieces(ss_vocabulary *vocabulary, size_t size) {
    if (size <= vocabulary->size) return true;
    if (!ss_grow(vocabulary->arena.memory, &vocabulary->pieces, &vocabulary->capacity, size,
                 sizeof *vocabulary->pieces))
        return false;
    memset(vocabulary->pieces + vocabulary->size, 0, (size - vocabulary->size) * sizeof *vocabulary->pieces);
    vocabulary->size = size;
    return true;
}

ss_status ss_vocabulary_add(ss_vocabulary *vocabulary, const char *where, const char *piece, size_t length,
                            size_t id, ss_error *error) {
    if (id >= vocabulary->id_limit)
        return ss_fail(error, SS_E_FORMAT, where,
                       "token id %zu is far beyond the number of tokens in the vocabulary", id);
    if (!grow_pieces(vocabulary, id + 1) || !grow_slots(vocabulary)) return ss_fail_memory(error, where);
    slot *place = locate(vocabulary->slots, vocabulary->slot_count, piece, length);
    if (!place->bytes) {
        const char *copy = ss_arena_copy(&vocabulary->arena, piece, length);
        if (!copy) return ss_fail_memory(error, where);
        *place = (slot){.bytes = copy, .length = length};
        vocabulary->used++;
    }
    place->id = (uint32_t)id;
    if (!vocabulary->pieces[id].bytes) vocabulary->pieces[id] = (ss_string_view){place->bytes, length};
    if (length > vocabulary->longest) vocabulary->longest = length;
    return SS_OK;
}

uint32_t ss_vocabulary_find(const ss_vocabulary *vocabulary, const char *piece, size_t length) {
    if (!vocabulary->slot_count || length > vocabulary->longest) return SS_NO_TOKEN;
    const slot *place = locate(vocabulary->slots, vocabulary->slot_count, piece, length);
    return place->bytes ? place->id : SS_NO_TOKEN;
}

uint32_t ss_vocabulary_longest(const ss_vocabulary *vocabulary, const char *text, size_t length, size_t least,
                               size_t *taken) {
    const size_t end = length < vocabulary->longest ? length : vocabulary->longest;
    uint32_t id = SS_NO_TOKEN;
    if (least >= end) return id;
    uint64_t hash = hash_more(HASH_START, text, least);
    for (size_t i = least; i < end; i++) {
        hash = hash_more(hash, text + i, 1);
        if (i + 1 < length && ((unsigned char)text[i + 1] & 0xC0) == 0x80) continue; /* inside a character */
        const slot *place = locate_hashed(vocabulary->slots, vocabulary->slot_count, hash, text, i + 1);
        if (!place->bytes) continue;
        id = place->id;
        *taken = i + 1;
    }
    return id;
}
