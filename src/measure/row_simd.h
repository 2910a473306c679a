/* Passes over one row, one set per instruction set level (math/isa.h). The plain twins are in
 * tests/support/row_ref.c. Relies on: math/isa. */
#ifndef SS_MEASURE_ROW_SIMD_H
#define SS_MEASURE_ROW_SIMD_H

#include "math/isa.h"

#include <stddef.h>

enum { SS_ROW_CUTS = 4, SS_ROW_PAD = 16 /* floats that ss_row_pick may write past its last */ };

/* Sums over some weights of a row: w, w^2, w^3, w (score - max); and the largest w. */
typedef struct ss_row_sums {
    double sum, square, cube, score;
    float largest;
} ss_row_sums;

/* The largest weight, and where it is first. n >= 1. */
SS_DECLARE_LEVELS(float, ss_row_top, (const float *weights /* [n] */, size_t n, size_t *key))

/* Add weights[0..n) to `sums`. Without scores (NULL) sums->score stays. A weight of 0 adds nothing, whatever
 * its score. */
SS_DECLARE_LEVELS(void, ss_row_add,
                  (const float *weights /* [n] */, const float *scores /* [n] or NULL */, float max, size_t n,
                   ss_row_sums *sums))

/* Add sum of w / (x - w) and of w / (x - w)^2 over weights[0..n) to *value and *slope. x exceeds every
 * weight. */
SS_DECLARE_LEVELS(void, ss_row_poles,
                  (const float *weights /* [n] */, size_t n, double x, double *value, double *slope))

/* above[k] = sum of the weights larger than cuts[k]. */
SS_DECLARE_LEVELS(void, ss_row_above,
                  (const float *weights /* [n] */, size_t n, const float *cuts /* [SS_ROW_CUTS] */,
                   double *above))

/* Copy the weights in (low, high] to picked[] in their order and return how many. Of those larger than high,
 * *above is the sum in double and *count_above the count. picked[] has room for n + SS_ROW_PAD. */
SS_DECLARE_LEVELS(size_t, ss_row_pick,
                  (const float *weights /* [n] */, size_t n, float low, float high, float *picked,
                   double *above, size_t *count_above))

#endif
