/* Rotary positions (Su et al. 2021): each pair of a head's dimensions is turned by position x frequency.
 * Pair i is (i, i + width/2) in the half-split layout and (2i, 2i + 1) in the interleaved one. */
#ifndef SS_NN_ROTARY_H
#define SS_NN_ROTARY_H

#include "math/compute.h"

#include <stddef.h>

typedef enum ss_rotary_layout { SS_ROTARY_HALF, SS_ROTARY_INTERLEAVED } ss_rotary_layout;
typedef enum ss_rotary_scaling { SS_ROTARY_PLAIN, SS_ROTARY_LINEAR, SS_ROTARY_LLAMA3 } ss_rotary_scaling;

typedef struct ss_rotary {
    double base;
    size_t width; /* rotated dimensions of a head, even, at most E */
    ss_rotary_layout layout;
    ss_rotary_scaling scaling;
    double factor;                            /* linear, llama3 */
    double low_freq_factor, high_freq_factor; /* llama3 */
    double original_context;                  /* llama3, in tokens */
} ss_rotary;

/* Radians a position of pair `pair`: base^(-2 pair / width), scaled; then divided by divisors[pair] where
 * that is not NULL (a file may bring its own factors). */
double ss_rotary_frequency(const ss_rotary *rotary, size_t pair, const float *divisors);

/* cosines and sines [tokens][width / 2] for positions 0 .. tokens - 1. The angle is taken in double. */
void ss_rotary_fill(const ss_rotary *rotary, const float *divisors, size_t tokens, float *cosines,
                    float *sines);

/* Turn `heads` heads of each token in place: token t, head h starts at x + t * stride + h * head_width. */
void ss_rotary_apply(const ss_compute *compute, const ss_rotary *rotary, const float *cosines,
                     const float *sines, float *x, size_t tokens, size_t stride, size_t heads,
                     size_t head_width);

#endif
