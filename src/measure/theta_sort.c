/* Sorting for theta: short rows by the leading bits and then insertion, else one pass a byte that
 * differs (a float32 atom has five such bytes at most). Relies on: nothing. */
#include "measure/theta_sort.h"

#include <string.h>

enum {
    FEW = 24, /* items that insertion alone sorts soonest */
    SHORT = 256,
    LEADING = 7, /* bits, and the buckets of their values */
    BUCKETS = 1 << LEADING
};

static void insertion(ss_sort_item *items, size_t count) {
    for (size_t i = 1; i < count; i++) {
        ss_sort_item item = items[i];
        size_t k = i;
        for (; k > 0 && items[k - 1].key < item.key; k--) items[k] = items[k - 1];
        items[k] = item;
    }
}

/* stable, by the byte at `shift`, largest first */
static void by_byte(const ss_sort_item *from, size_t count, unsigned shift, ss_sort_item *to) {
    size_t begin[256] = {0}, place = 0;
    for (size_t i = 0; i < count; i++) begin[from[i].key >> shift & 255]++;
    for (size_t byte = 256; byte-- > 0;) {
        size_t here = begin[byte];
        begin[byte] = place, place += here;
    }
    for (size_t i = 0; i < count; i++) to[begin[from[i].key >> shift & 255]++] = from[i];
}

/* By the leading bits in which keys differ, largest first: nearly in order. These are mostly exponents, and
 * logits are spread evenly enough for few keys a bucket. */
static void by_range(const ss_sort_item *from, size_t count, ss_sort_item *to) {
    size_t begin[BUCKETS + 1] = {0};
    uint64_t least = from[0].key, most = least;
    for (size_t i = 1; i < count; i++) {
        least = from[i].key < least ? from[i].key : least;
        most = from[i].key > most ? from[i].key : most;
    }
    int bits = 64 - __builtin_clzll((most - least) | 1), shift = bits > LEADING ? bits - LEADING : 0;
    for (size_t i = 0; i < count; i++) begin[1 + ((most - from[i].key) >> shift)]++;
    for (size_t k = 1; k < BUCKETS; k++) begin[k] += begin[k - 1];
    for (size_t i = 0; i < count; i++) to[begin[(most - from[i].key) >> shift]++] = from[i];
}

void ss_sort_descending(ss_sort_item *items, size_t count, ss_sort_item *spare) {
    if (count <= SHORT) {
        if (count > FEW) {
            by_range(items, count, spare);
            memcpy(items, spare, count * sizeof *items);
        }
        insertion(items, count);
        return;
    }
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++) differ |= items[i].key ^ items[0].key;
    ss_sort_item *from = items, *to = spare;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 255)) continue;
        by_byte(from, count, shift, to);
        ss_sort_item *done = to;
        to = from, from = done;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}

void ss_sort_few(float *atoms, size_t count) {
    for (size_t i = 1; i < count; i++) {
        float atom = atoms[i];
        size_t k = i;
        for (; k > 0 && atoms[k - 1] < atom; k--) atoms[k] = atoms[k - 1];
        atoms[k] = atom;
    }
}
