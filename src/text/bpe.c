/* Merging: the symbols of a word are a doubly linked list, the pairs that may merge a heap ordered by rank
 * and position, as in the Hugging Face library. A pair is not looked for and removed when one of its sides
 * changes: its entry goes stale and is skipped when it comes up. So a word of n bytes takes O(n log n),
 * however long. Relies on: base/mem, text/byte_level. */
#include "text/bpe.h"

#include "text/byte_level.h"

#include <string.h>

typedef struct ss_merge {
    uint32_t left, right, rank;
    uint32_t merged; /* SS_NO_TOKEN: the slot is free */
} merge;

typedef struct ss_symbol {
    uint32_t id;
    int32_t previous, next; /* -1 at the ends */
    bool gone;              /* merged into the symbol on its left */
} symbol;

typedef struct ss_candidate {
    uint32_t rank, merged;
    int32_t left; /* position of the left side */
} candidate;

enum { FIRST_MERGES = 64 };

ss_bpe ss_bpe_make(const ss_allocator *memory, const ss_vocabulary *vocabulary) {
    ss_bpe bpe = {.memory = memory, .vocabulary = vocabulary, .unknown = SS_NO_TOKEN};
    for (size_t byte = 0; byte < 256; byte++) {
        char character[SS_BYTE_CHARACTER];
        size_t length = ss_byte_level_write((uint8_t)byte, character);
        bpe.byte_ids[byte] = ss_vocabulary_find(vocabulary, character, length);
    }
    return bpe;
}

void ss_bpe_free(ss_bpe *bpe) {
    ss_free(bpe->memory, bpe->merges);
}

void ss_bpe_work_free(ss_bpe_work *work) {
    ss_free(work->memory, work->symbols);
    ss_free(work->memory, work->heap);
    ss_bytes_free(&work->spelling);
}

ss_status ss_ids_add(ss_ids *ids, uint32_t id, ss_error *error) {
    if (!ss_grow(ids->memory, &ids->items, &ids->capacity, ids->count + 1, sizeof *ids->items))
        return ss_fail_memory(error, "token ids");
    ids->items[ids->count++] = id;
    return SS_OK;
}

/* ---- the table of merges ----------------------------------------------------------------------- */

/* The slot that holds the pair, or the free one where it belongs. */
static merge *locate(merge *slots, size_t count, uint32_t left, uint32_t right) {
    size_t at = (size_t)ss_mix((uint64_t)left << 32 | right) & (count - 1);
    while (slots[at].merged != SS_NO_TOKEN && (slots[at].left != left || slots[at].right != right))
        at = (at + 1) & (count - 1);
    return &slots[at];
}

static const merge *find_merge(const ss_bpe *bpe, uint32_t left, uint32_t right) {
    if (!bpe->merge_slots) return NULL;
    const merge *found = locate(bpe->merges, bpe->merge_slots, left, right);
    return found->merged == SS_NO_TOKEN ? NULL : found;
}

static bool grow_merges(ss_bpe *bpe) {
    if (2 * bpe->merge_count < bpe->merge_slots) return true;
    size_t count = bpe->merge_slots ? 2 * bpe->merge_slots : FIRST_MERGES;
    merge *slots = ss_alloc(bpe->memory, count, sizeof *slots);
    if (!slots) return false;
    for (size_t i = 0; i < count; i++) slots[i] = (merge){.merged = SS_NO_TOKEN};
    for (size_t i = 0; i < bpe->merge_slots; i++) {
        const merge *old = &bpe->merges[i];
        if (old->merged != SS_NO_TOKEN) *locate(slots, count, old->left, old->right) = *old;
    }
    ss_free(bpe->memory, bpe->merges);
    bpe->merges = slots;
    bpe->merge_slots = count;
    return true;
}

static ss_status find_part(const ss_bpe *bpe, const char *where, ss_string_view part, uint32_t *id,
                           ss_error *error) {
    *id = ss_vocabulary_find(bpe->vocabulary, part.bytes, part.length);
    if (*id != SS_NO_TOKEN) return SS_OK;
    return ss_fail(error, SS_E_FORMAT, where,
                   "merge %zu needs the token \"%.*s\", which the vocabulary lacks", bpe->merge_count,
                   (int)(part.length < 64 ? part.length : 64), part.bytes);
}

ss_status ss_bpe_add_merge(ss_bpe *bpe, const char *where, ss_string_view left, ss_string_view right,
                           ss_error *error) {
    uint32_t left_id, right_id, merged;
    SS_TRY(find_part(bpe, where, left, &left_id, error));
    SS_TRY(find_part(bpe, where, right, &right_id, error));
    ss_bytes both = {.memory = bpe->memory};
    ss_status status = ss_bytes_add(&both, left.bytes, left.length, error);
    if (!status) status = ss_bytes_add(&both, right.bytes, right.length, error);
    if (!status) status = find_part(bpe, where, (ss_string_view){both.data, both.length}, &merged, error);
    ss_bytes_free(&both);
    if (status) return status;
    if (!grow_merges(bpe)) return ss_fail_memory(error, where);
    merge *slot = locate(bpe->merges, bpe->merge_slots, left_id, right_id);
    *slot = (merge){left_id, right_id, (uint32_t)bpe->merge_count++, merged};
    return SS_OK;
}

ss_status ss_bpe_add_merge_line(ss_bpe *bpe, const char *where, const char *line, size_t length,
                                ss_error *error) {
    const char *space = memchr(line, ' ', length), *end = line + length;
    if (!space || memchr(space + 1, ' ', (size_t)(end - space - 1)))
        return ss_fail(error, SS_E_FORMAT, where, "merge %zu is not two tokens with one space between them",
                       bpe->merge_count);
    return ss_bpe_add_merge(bpe, where, (ss_string_view){line, (size_t)(space - line)},
                            (ss_string_view){space + 1, (size_t)(end - space - 1)}, error);
}

/* ---- the heap of candidates -------------------------------------------------------------------- */

static bool comes_before(candidate a, candidate b) {
    return a.rank != b.rank ? a.rank < b.rank : a.left < b.left;
}

/* The heap has room: a word of n symbols sees at most n - 1 candidates to start with and two more a merge. */
static void push(ss_bpe_work *work, candidate added) {
    size_t at = work->heap_count++;
    while (at > 0 && comes_before(added, work->heap[(at - 1) / 2])) {
        work->heap[at] = work->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    work->heap[at] = added;
}

static candidate pop(ss_bpe_work *work) {
    candidate top = work->heap[0], last = work->heap[--work->heap_count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= work->heap_count) break;
        if (child + 1 < work->heap_count && comes_before(work->heap[child + 1], work->heap[child])) child++;
        if (!comes_before(work->heap[child], last)) break;
        work->heap[at] = work->heap[child];
        at = child;
    }
    work->heap[at] = last;
    return top;
}

/* Enter the pair that starts at symbol `left`, if there is one and it merges. */
static void consider(const ss_bpe *bpe, ss_bpe_work *work, int32_t left) {
    if (left < 0 || work->symbols[left].next < 0) return;
    const merge *found = find_merge(bpe, work->symbols[left].id, work->symbols[work->symbols[left].next].id);
    if (found) push(work, (candidate){found->rank, found->merged, left});
}

/* ---- one word ---------------------------------------------------------------------------------- */

/* The word's bytes as symbols; returns how many. */
static int32_t lay_out(const ss_bpe *bpe, symbol *symbols, const char *word, size_t length, size_t *dropped) {
    int32_t count = 0;
    bool after_unknown = false;
    for (size_t i = 0; i < length; i++) {
        uint32_t id = bpe->byte_ids[(uint8_t)word[i]];
        bool unknown = id == SS_NO_TOKEN, fused = unknown && after_unknown && bpe->fuse_unknown;
        after_unknown = unknown;
        if (unknown) id = bpe->unknown;
        if (id == SS_NO_TOKEN) (*dropped)++;
        if (id == SS_NO_TOKEN || fused) continue;
        symbols[count] = (symbol){.id = id, .previous = count - 1, .next = count + 1};
        count++;
    }
    if (count) symbols[count - 1].next = -1;
    return count;
}

static void merge_pair(const ss_bpe *bpe, ss_bpe_work *work, candidate chosen) {
    symbol *left = &work->symbols[chosen.left];
    if (left->gone || left->next < 0) return;
    symbol *right = &work->symbols[left->next];
    const merge *found = find_merge(bpe, left->id, right->id);
    if (!found || found->merged != chosen.merged) return; /* stale: a side has changed since */
    left->id = chosen.merged;
    left->next = right->next;
    right->gone = true;
    if (right->next >= 0) work->symbols[right->next].previous = chosen.left;
    consider(bpe, work, left->previous);
    consider(bpe, work, chosen.left);
}

/* The id of the word when it is a piece as a whole, else SS_NO_TOKEN in *id. */
static ss_status find_whole(const ss_bpe *bpe, ss_bpe_work *work, const char *word, size_t length,
                            uint32_t *id, ss_error *error) {
    *id = SS_NO_TOKEN;
    if (!bpe->ignore_merges || length > bpe->vocabulary->longest) return SS_OK;
    work->spelling.length = 0;
    for (size_t i = 0; i < length; i++) {
        char character[SS_BYTE_CHARACTER];
        size_t size = ss_byte_level_write((uint8_t)word[i], character);
        SS_TRY(ss_bytes_add(&work->spelling, character, size, error));
    }
    *id = ss_vocabulary_find(bpe->vocabulary, work->spelling.data, work->spelling.length);
    return SS_OK;
}

ss_status ss_bpe_encode(const ss_bpe *bpe, ss_bpe_work *work, const char *word, size_t length, ss_ids *ids,
                        size_t *dropped, ss_error *error) {
    if (!length) return SS_OK;
    uint32_t whole;
    SS_TRY(find_whole(bpe, work, word, length, &whole, error));
    if (whole != SS_NO_TOKEN) return ss_ids_add(ids, whole, error);
    if (!ss_grow(work->memory, &work->symbols, &work->symbol_capacity, length, sizeof *work->symbols) ||
        !ss_grow(work->memory, &work->heap, &work->heap_capacity, 3 * length, sizeof *work->heap))
        return ss_fail_memory(error, "merging a word");
    int32_t count = lay_out(bpe, work->symbols, word, length, dropped);
    work->heap_count = 0;
    for (int32_t i = 0; i < count; i++) consider(bpe, work, i);
    while (work->heap_count) merge_pair(bpe, work, pop(work));
    for (int32_t i = count ? 0 : -1; i >= 0; i = work->symbols[i].next)
        SS_TRY(ss_ids_add(ids, work->symbols[i].id, error));
    return SS_OK;
}
