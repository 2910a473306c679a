/* Summaries of many values: measure/summary.h. */
#include "measure/summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static const double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
enum {
    LEVELS = sizeof levels / sizeof *levels,
    RANKS = 2 * LEVELS, /* a quantile lies between two values */
    BUCKETS = 512
};

static ss_summary empty_summary(void) {
    double none = (double)NAN;
    return (ss_summary){0, none, none, none, none, none, none, none, none};
}

/* The ranks on both sides of every level, in pairs, and the same in ascending order: pairs may cross where
 * values are few. */
static void rank_levels(size_t count, size_t *ranks /* [RANKS] */, size_t *sorted /* [RANKS] */) {
    for (size_t k = 0; k < LEVELS; k++) {
        size_t below = (size_t)(levels[k] * (double)(count - 1));
        ranks[2 * k] = below;
        ranks[2 * k + 1] = below + 1 < count ? below + 1 : below;
    }
    memcpy(sorted, ranks, RANKS * sizeof *ranks);
    for (size_t i = 1; i < RANKS; i++)
        for (size_t k = i; k > 0 && sorted[k - 1] > sorted[k]; k--) {
            size_t other = sorted[k];
            sorted[k] = sorted[k - 1], sorted[k - 1] = other;
        }
}

/* Where the value of that rank is now. */
static size_t place_of(size_t rank, const size_t *sorted, const size_t *places) {
    size_t k = 0;
    while (sorted[k] != rank) k++;
    return places[k];
}

/* Move NaN out of the way; the others keep their order. Returns how many there are. */
static size_t close_up(double *values, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[kept] = value;
        kept += !isnan(value);
    }
    return kept;
}

static void insertion(double *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        double value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
}

static double middle(double a, double b, double c) {
    double low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Move values below the pivot to the front; returns how many. Without branches: the order of data is not to
 * be guessed. */
static size_t part_below(double *values, size_t count, double pivot) {
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[i] = values[below];
        values[below] = value;
        below += value < pivot;
    }
    return below;
}

/* The same for values not above the pivot. */
static size_t part_not_above(double *values, size_t count, double pivot) {
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[i] = values[below];
        values[below] = value;
        below += value <= pivot;
    }
    return below;
}

/* Bring the values of the wanted ranks, which ascend and are offsets into the whole array, to their places:
 * those of values[0..count), whose first has rank `first`. Each part that holds a wanted rank is parted
 * again. */
static void place(double *values, size_t count, size_t first, const size_t *ranks, size_t wanted) {
    while (wanted > 0 && count > 32) {
        double pivot = middle(middle(values[0], values[count / 8], values[count / 4]),
                              middle(values[3 * count / 8], values[count / 2], values[5 * count / 8]),
                              middle(values[3 * count / 4], values[7 * count / 8], values[count - 1]));
        size_t below = part_below(values, count, pivot);
        size_t upto = below + part_not_above(values + below, count - below, pivot);
        /* ranks [0, left) lie below the pivot, [left, right) at values equal to it, the others above */
        size_t left = 0, right = wanted;
        while (left < wanted && ranks[left] < first + below) left++;
        while (right > left && ranks[right - 1] >= first + upto) right--;
        place(values, below, first, ranks, left);
        values += upto, count -= upto, first += upto;
        ranks += right, wanted -= right;
    }
    if (wanted > 0) insertion(values, count);
}

/* Values fall into buckets of equal width by value; only those whose bucket holds a wanted rank can matter.
 * Close them up, lower the ranks by what went, and return how many are left. */
static size_t keep_wanted(double *values, size_t count, double least, double largest, size_t *ranks) {
    uint32_t counts[BUCKETS] = {0};
    bool wanted[BUCKETS] = {false};
    double scale = (BUCKETS - 1) / (largest - least);
    if (!(scale > 0) || !isfinite(scale * (largest - least))) return count;
    for (size_t i = 0; i < count; i++) counts[(size_t)((values[i] - least) * scale)]++;
    size_t below = 0, gone = 0, next = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t end = below + counts[bucket];
        size_t first = next;
        for (; next < RANKS && ranks[next] < end; next++) ranks[next] -= gone;
        wanted[bucket] = next > first;
        gone += wanted[bucket] ? 0 : counts[bucket];
        below = end;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        double value = values[i];
        values[kept] = value;
        kept += wanted[(size_t)((value - least) * scale)];
    }
    return kept;
}

ss_summary ss_summarize(double *values, size_t count) {
    ss_summary s = {.count = close_up(values, count)};
    if (s.count == 0) return empty_summary();
    double sum = 0, quantiles[LEVELS];
    double least = values[0], largest = values[0];
    for (size_t i = 0; i < s.count; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    size_t ranks[RANKS], sorted[RANKS];
    rank_levels(s.count, ranks, sorted);
    size_t places[RANKS];
    memcpy(places, sorted, sizeof places);
    size_t kept = s.count > BUCKETS / 8 && s.count < UINT32_MAX
                      ? keep_wanted(values, s.count, least, largest, places)
                      : s.count;
    place(values, kept, 0, places, RANKS);
    for (size_t k = 0; k < LEVELS; k++) {
        double low = values[place_of(ranks[2 * k], sorted, places)];
        double step = values[place_of(ranks[2 * k + 1], sorted, places)] - low;
        double at = levels[k] * (double)(s.count - 1);
        quantiles[k] = step == 0 ? low : low + (at - (double)ranks[2 * k]) * step;
    }
    s.mean = sum / (double)s.count;
    s.min = least, s.max = largest;
    s.p5 = quantiles[0], s.p25 = quantiles[1], s.median = quantiles[2], s.p75 = quantiles[3],
    s.p95 = quantiles[4];
    return s;
}
