/* Softmax of one row, unnormalised: what attention and the output layer share.
 * Relies on: math/isa. Thread-safe. */
#ifndef SS_MATH_SOFTMAX_H
#define SS_MATH_SOFTMAX_H

#include "math/isa.h"

#include <stddef.h>

/* weights[i] = exp(scores[i] - *max) for n >= 1 scores; returns their sum, accumulated in double.
 * `weights` may be `scores`. A score that is NaN or infinite, of either sign, makes *max and the sum NaN: a
 * masked key is not in the row. */
double ss_softmax_row(ss_isa isa, const float *scores, size_t n, float *weights, float *max);

SS_DECLARE_LEVELS(double, ss_softmax_row, (const float *scores, size_t n, float *weights, float *max))

#endif
