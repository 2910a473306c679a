/* What the rows of one head say together: where its weight goes. The sums come from the caller's pass over
 * the rows; these turn them into the measures. Relies on: nothing. Pure functions, safe from any thread. */
#ifndef SS_MEASURE_SINK_H
#define SS_MEASURE_SINK_H

#include <stdbool.h>
#include <stddef.h>

#define SS_SINK_THRESHOLD 0.3 /* Gu et al., When Attention Sink Emerges in Language Models */

typedef struct ss_sink {
    size_t key;    /* the key with the largest mean weight; the first on ties */
    double weight; /* its mean weight over the rows that may see it */
    bool found;    /* false where no row sees any key */
} ss_sink;

/* sums[k] is the weight on key k added over rows, rows[k] how many rows may see it. */
ss_sink ss_sink_find(const double *sums /* [keys] */, const size_t *rows /* [keys] */, size_t keys);

/* The `most` keys with the largest mean weight, largest first, the first on ties; returns how many were
 * found. */
size_t ss_sink_top(const double *sums /* [keys] */, const size_t *rows /* [keys] */, size_t keys,
                   ss_sink *top /* [most] */, size_t most);

/* 1 if the mean weight on key 0 exceeds the threshold, else 0 (Gu et al.); a NaN mean gives NaN. */
double ss_sink_rate(double first_key, double threshold);

#endif
