/* Passes over one row, one set per instruction set level (math/isa.h). The plain twins are in
 * tests/support/row_ref.c. Relies on: math/isa. */
#ifndef SS_MEASURE_ROW_SIMD_H
#define SS_MEASURE_ROW_SIMD_H

#include "math/isa.h"

#include <stddef.h>

enum { SS_ROW_CUTS = 4, SS_ROW_PAD = 16 /* floats that copying kernels may write past their last */ };

/* Sums over some weights of a row: w, w^2, w^3, w (score - max); and the largest w. */
typedef struct ss_row_sums {
    double sum, square, cube, score;
    float largest;
} ss_row_sums;

/* The largest weight; n >= 1. */
SS_DECLARE_LEVELS(float, ss_row_top, (const float *weights /* [n] */, size_t n))

/* Where `weight` is first, n where it is not. */
SS_DECLARE_LEVELS(size_t, ss_row_find, (const float *weights /* [n] */, size_t n, float weight))

/* Sums over weights[0..n) without the one at `skipped`; n there leaves out none. Without scores (NULL)
 * sums->score is 0. A weight of 0 adds nothing, whatever its score. */
SS_DECLARE_LEVELS(void, ss_row_add,
                  (const float *weights /* [n] */, const float *scores /* [n] or NULL */, float max, size_t n,
                   size_t skipped, ss_row_sums *sums))

/* Weights as seen from right of them all: those near stand for themselves, the others by the sums of their
 * powers, as w / (x - w) is the sum of (w / x)^k over k >= 1. */
enum { SS_ROW_POWERS = 8 };
typedef struct ss_row_spectrum {
    const float *near; /* [count] */
    size_t count;
    double unit;
    double powers[SS_ROW_POWERS]; /* powers[k] = sum of (w / unit)^(1 + k) over the others ... */
    double slopes[SS_ROW_POWERS]; /* ... and 1 + k times that */
} ss_row_spectrum;

/* Sums over all weights of the spectrum: w / (x - w) and w / (x - w)^2. x exceeds every weight. */
SS_DECLARE_LEVELS(void, ss_row_poles,
                  (const ss_row_spectrum *spectrum, double x, double *value, double *slope))

/* above[k] = sum of the weights larger than cuts[k]. */
SS_DECLARE_LEVELS(void, ss_row_above,
                  (const float *weights /* [n] */, size_t n, const float *cuts /* [SS_ROW_CUTS] */,
                   double *above /* [SS_ROW_CUTS] */))

/* Copy the weights above `low` to near[] in their order and return how many; near[] has room for
 * n + SS_ROW_PAD. Of the others, powers[k] = sum of (scale w)^(4 + k), k = 0..3. */
SS_DECLARE_LEVELS(size_t, ss_row_split,
                  (const float *weights /* [n] */, size_t n, float low, float scale, float *near,
                   double *powers /* [4] */))

/* Copy the weights in (low, high] to picked[] in their order and return how many. Of those larger than high,
 * *above is the sum in double and *count_above the count. picked[] has room for n + SS_ROW_PAD. */
SS_DECLARE_LEVELS(size_t, ss_row_pick,
                  (const float *weights /* [n] */, size_t n, float low, float high, float *picked,
                   double *above, size_t *count_above))

#endif
