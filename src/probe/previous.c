/* Previous occurrences by a hash table of 2 T places or more, each holding the last position of one id. */
#include "probe/previous.h"

#include <string.h>

/* The place of `id`: that of its last position, or the first empty one from its hash on. */
static size_t place_of(const uint32_t *table, size_t mask, const uint32_t *ids, uint32_t id) {
    size_t place = (size_t)(id * UINT64_C(0x9E3779B97F4A7C15) >> 32) & mask;
    while (table[place] != SS_NO_PREVIOUS && ids[table[place]] != id) place = (place + 1) & mask;
    return place;
}

bool ss_previous_occurrences(const ss_allocator *memory, const uint32_t *ids, size_t tokens,
                             uint32_t *previous) {
    size_t places = 2;
    while (places / 2 < tokens)
        if (!ss_mul_size(places, 2, &places)) return false;
    uint32_t *table = ss_alloc(memory, places, sizeof *table);
    if (!table) return false;
    memset(table, 0xFF, places * sizeof *table); /* all SS_NO_PREVIOUS */
    for (size_t t = 0; t < tokens; t++) {
        size_t place = place_of(table, places - 1, ids, ids[t]);
        previous[t] = table[place];
        table[place] = (uint32_t)t;
    }
    ss_free(memory, table);
    return true;
}
