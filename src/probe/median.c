/* Magnitudes of floats sort like their bits without the sign. Three passes of counting fix the bits of the
 * wanted one from the top: 11, then 10, then 10. Relies on: base/team. */
#include "probe/median.h"

#include "base/team.h"

#include <string.h>

#define MAGNITUDE_BITS UINT32_C(0x7FFFFFFF)

static const struct { unsigned shift, bits; } LEVELS[] = {{20, 11}, {10, 10}, {0, 10}};
#define LEVEL_COUNT (sizeof LEVELS / sizeof *LEVELS)

static uint32_t magnitude_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & MAGNITUDE_BITS;
}

static float magnitude_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

typedef struct pass {
    const float *x;
    size_t level;
    uint32_t known; /* the bits above this level, fixed by the levels before */
    uint64_t *bins; /* [workers][SS_MEDIAN_BINS] */
} pass;

/* Called with constants for `shift` and `bits`, so that each level becomes a loop of its own. Below the first
 * level few numbers have the known bits. */
static inline void count_bits(const pass *p, size_t begin, size_t end, unsigned shift, unsigned bits,
                              uint32_t *bins) {
    const uint32_t mask = (UINT32_C(1) << bits) - 1, known = p->known;
    for (size_t i = begin; i < end; i++) {
        uint32_t magnitude = magnitude_bits(p->x[i]);
        if (magnitude >> (shift + bits) == known) bins[magnitude >> shift & mask]++;
    }
}

static void count_range(void *context, size_t begin, size_t end, int worker) {
    const pass *p = context;
    uint32_t bins[SS_MEDIAN_BINS] = {0};
    switch (p->level) {
    case 0:
        count_bits(p, begin, end, LEVELS[0].shift, LEVELS[0].bits, bins);
        break;
    case 1:
        count_bits(p, begin, end, LEVELS[1].shift, LEVELS[1].bits, bins);
        break;
    default:
        count_bits(p, begin, end, LEVELS[2].shift, LEVELS[2].bits, bins);
        break;
    }
    uint64_t *total = p->bins + (size_t)worker * SS_MEDIAN_BINS;
    for (size_t b = 0; b < SS_MEDIAN_BINS; b++) total[b] += bins[b];
}

/* Count one level into the bins of worker 0. */
static void count_level(int workers, pass *p, size_t count) {
    memset(p->bins, 0, (size_t)workers * SS_MEDIAN_BINS * sizeof *p->bins);
    ss_team_split(workers, count, count_range, p);
    for (size_t w = 1; w < (size_t)workers; w++)
        for (size_t b = 0; b < SS_MEDIAN_BINS; b++) p->bins[b] += p->bins[w * SS_MEDIAN_BINS + b];
}

/* The bits of the magnitude of that rank; *up_to: how many are not larger than it. */
static uint32_t select_rank(int workers, pass *p, size_t count, size_t rank, size_t *up_to) {
    size_t below = 0;
    p->known = 0;
    for (p->level = 0; p->level < LEVEL_COUNT; p->level++) {
        count_level(workers, p, count);
        size_t b = 0;
        while (below + p->bins[b] <= rank) below += p->bins[b++];
        p->known = p->known << LEVELS[p->level].bits | (uint32_t)b;
        *up_to = below + p->bins[b];
    }
    return p->known;
}

/* The least magnitude above `bits`, which exists: in the last level's bins, or by one more look at
 * everything. */
static uint32_t next_above(const pass *p, size_t count, uint32_t bits) {
    const uint32_t mask = (UINT32_C(1) << LEVELS[LEVEL_COUNT - 1].bits) - 1;
    for (uint32_t b = (bits & mask) + 1; b <= mask; b++)
        if (p->bins[b]) return (bits & ~mask) | b;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        uint32_t magnitude = magnitude_bits(p->x[i]);
        if (magnitude > bits && magnitude < least) least = magnitude;
    }
    return least;
}

double ss_median_abs(int workers, const float *x, size_t count, uint64_t *bins) {
    pass p = {.x = x, .bins = bins};
    size_t up_to = 0;
    uint32_t low = select_rank(workers, &p, count, (count - 1) / 2, &up_to);
    uint32_t high = count / 2 < up_to ? low : next_above(&p, count, low);
    return ((double)magnitude_of(low) + magnitude_of(high)) / 2;
}
