/* One hidden state: measure/massive.h. Relies on: measure/massive_simd. */
#include "measure/massive.h"

#include "measure/massive_simd.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- the median of abs(x) -------------------------------------------------------------------------- */

enum { ROOM = 1024 /* values that are sorted on the stack */ };

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void ascend(float *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        float value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
}

/* Values of abs(x), by bits: `low` has fewer than or just `rank` values below it, `high` has more. */
typedef struct range {
    uint32_t low, high;
    size_t below_low, below_high; /* how many values are below each */
} range;

/* Narrow the range to its part that holds the value of rank `rank`, by three bounds at once. */
static void narrow(ss_isa isa, const float *values, size_t count, size_t rank, const uint32_t *cuts,
                   range *r) {
    float bounds[3] = {float_of(cuts[0]), float_of(cuts[1]), float_of(cuts[2])};
    size_t below[3];
    SS_PICK_LEVEL(isa, ss_massive_below)(values, count, bounds, below);
    for (size_t k = 0; k < 3; k++) {
        if (below[k] > rank) {
            if (cuts[k] < r->high) r->high = cuts[k], r->below_high = below[k];
            return;
        }
        if (cuts[k] > r->low) r->low = cuts[k], r->below_low = below[k];
    }
}

/* Bounds around the rank, guessed from a sample spread over the values. */
static void guess_cuts(const float *values, size_t count, size_t rank, uint32_t *cuts) {
    enum { SAMPLE = 256, SIDE = 24 };
    float sample[SAMPLE];
    for (size_t k = 0; k < SAMPLE; k++) sample[k] = fabsf(values[count / SAMPLE * k]);
    ascend(sample, SAMPLE);
    size_t at = (size_t)((double)rank / (double)count * SAMPLE);
    cuts[0] = bits_of(sample[at > SIDE ? at - SIDE : 0]);
    cuts[1] = bits_of(sample[at < SAMPLE ? at : SAMPLE - 1]);
    cuts[2] = bits_of(sample[at + SIDE < SAMPLE ? at + SIDE : SAMPLE - 1]) + 1;
}

/* The value of rank `rank` among abs(x), and the next larger one or the same again. */
static void two_ranks(ss_isa isa, const float *values, size_t count, size_t rank, double *at, double *next) {
    range r = {.low = 0, .high = bits_of(INFINITY), .below_low = 0, .below_high = count};
    float picked[ROOM];
    uint32_t cuts[3];
    for (int round = 0; r.below_high - r.below_low > ROOM && r.high - r.low > 1; round++) {
        uint32_t width = r.high - r.low;
        for (uint32_t k = 0; k < 3; k++) cuts[k] = r.low + (uint32_t)((uint64_t)width * (k + 1) / 4);
        if (round == 0 && count > 4 * ROOM) guess_cuts(values, count, rank, cuts);
        narrow(isa, values, count, rank, cuts, &r);
    }
    *at = *next = float_of(r.low);
    if (r.high - r.low > 1) {
        size_t found = SS_PICK_LEVEL(isa, ss_massive_pick)(values, count, float_of(r.low), float_of(r.high),
                                                           picked, ROOM);
        ascend(picked, found);
        *at = picked[rank - r.below_low];
        if (rank + 1 < r.below_high) *next = picked[rank + 1 - r.below_low];
    }
    if (rank + 1 < r.below_high || rank + 1 >= count) return;
    float least = INFINITY; /* the next larger value is beyond the range */
    for (size_t i = 0; i < count; i++) {
        float x = fabsf(values[i]);
        if (bits_of(x) >= r.high && x < least) least = x;
    }
    *next = least;
}

/* of finite values; the mean of the middle two of an even count */
static double median_abs(ss_isa isa, const float *values, size_t count) {
    double at, next;
    two_ranks(isa, values, count, (count - 1) / 2, &at, &next);
    return count % 2 ? at : 0.5 * (at + next);
}

/* ---- massive activations --------------------------------------------------------------------------- */

/* Keep `entry` among the `listed` largest, which descend. Returns how many are listed now. */
static size_t list_massive(ss_massive *massive, size_t listed, size_t capacity, ss_massive entry) {
    size_t k = listed;
    while (k > 0 && fabsf(massive[k - 1].value) < fabsf(entry.value)) k--;
    if (k >= capacity) return listed;
    size_t moved = listed < capacity ? listed - k : listed - k - 1;
    memmove(massive + k + 1, massive + k, moved * sizeof *massive);
    massive[k] = entry;
    return listed < capacity ? listed + 1 : listed;
}

static void find_massive(const float *state, size_t tokens, size_t width, ss_massive *massive,
                         size_t capacity, ss_hidden *h) {
    size_t listed = 0;
    double least = SS_MASSIVE_RATIO * h->median_abs;
    for (size_t t = 0; t < tokens; t++)
        for (size_t d = 0; d < width; d++) {
            float value = state[t * width + d];
            if (!(fabsf(value) > SS_MASSIVE_ABS) || fabsf(value) < least) continue;
            h->massive_count++;
            listed = list_massive(massive, listed, capacity, (ss_massive){t, d, value});
        }
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static ss_hidden first_bad(const float *state, size_t count, size_t width) {
    size_t i = 0;
    while (i + 1 < count && isfinite(state[i])) i++;
    return (ss_hidden){.finite = false, .bad_token = i / width, .bad_dimension = i % width};
}

ss_hidden ss_measure_hidden(ss_isa isa, const float *state, size_t tokens, size_t width, ss_massive *massive,
                            size_t capacity) {
    ss_hidden h = {.finite = true};
    double largest_square = 0;
    float top = -1;
    size_t count = tokens * width;
    for (size_t t = 0; t < tokens && width > 0; t++) {
        double square;
        float here = SS_PICK_LEVEL(isa, ss_massive_norm)(state + t * width, width, &square);
        if (!isfinite(square)) return first_bad(state, count, width);
        if (square > largest_square) largest_square = square;
        if (here > top) top = here, h.max_token = t;
    }
    if (count == 0) return h;
    while (fabsf(state[h.max_token * width + h.max_dimension]) != top) h.max_dimension++;
    h.max_abs = top;
    h.block_inf_rms = sqrt(largest_square / (double)width);
    h.median_abs = median_abs(isa, state, count);
    if (h.max_abs > SS_MASSIVE_ABS && h.max_abs >= SS_MASSIVE_RATIO * h.median_abs)
        find_massive(state, tokens, width, massive, capacity, &h);
    return h;
}
