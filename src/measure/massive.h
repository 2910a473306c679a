/* One hidden state: its magnitude, its massive activations, its first non-finite entry.
 *
 * Massive (Sun et al., Massive Activations in Large Language Models): abs(x) > 100 and at least 1000 times
 * the median abs(x) of that state. Relies on: math/compute. */
#ifndef SS_MEASURE_MASSIVE_H
#define SS_MEASURE_MASSIVE_H

#include "math/compute.h"

#include <stdbool.h>
#include <stddef.h>

#define SS_MASSIVE_ABS   100.0
#define SS_MASSIVE_RATIO 1000.0

typedef struct ss_massive {
    size_t token, dimension;
    float value;
} ss_massive;

typedef struct ss_hidden {
    bool finite;
    size_t bad_token,
        bad_dimension;    /* the first NaN or infinity, where not finite; nothing else is set then */
    double block_inf_rms; /* max over tokens of norm2(x_t) / sqrt(D) (seed 000, section 2.2) */
    double max_abs;       /* and the first entry that has it */
    size_t max_token, max_dimension;
    double median_abs;    /* of all T x D entries; the mean of the middle two of an even count */
    size_t massive_count; /* all massive entries, however many are listed */
} ss_hidden;

/* Measure `state`. The `capacity` massive entries of largest magnitude go to `massive`, largest first (ties
 * by position); massive may be NULL when capacity is 0. Uses the team; the answers are the same for every
 * number of workers. */
ss_hidden ss_measure_hidden(const ss_compute *compute, const float *state /* [tokens][width] */,
                            size_t tokens, size_t width, ss_massive *massive /* [capacity] */,
                            size_t capacity);

#endif
