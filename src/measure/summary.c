/* Summaries of many values: measure/summary.h. One body serves both types: summary_of.h. */
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

#define VALUE      float
#define OF_TYPE(f) f##_float
#include "measure/summary_of.h"
#undef VALUE
#undef OF_TYPE

#define VALUE      double
#define OF_TYPE(f) f##_double
#include "measure/summary_of.h"
#undef VALUE
#undef OF_TYPE

ss_summary ss_summarize(float *values, size_t count) {
    return summarize_float(values, count);
}

ss_summary ss_summarize_double(double *values, size_t count) {
    return summarize_double(values, count);
}
