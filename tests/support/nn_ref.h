/* Plain twins of the operators in nn/, in double and obviously right: one loop a sum. */
#ifndef SS_TESTS_NN_REF_H
#define SS_TESTS_NN_REF_H

#include "nn/activation.h"
#include "nn/attention.h"
#include "nn/norm.h"
#include "nn/rotary.h"

/* x [width] -> y [width] */
void ref_norm(const ss_norm *norm, const float *x, size_t width, double *y);

double ref_activation(ss_activation activation, double x);

/* One head of width E turned at `position`: pairs (i, i + w/2), or (2i, 2i + 1). x [E] -> y [E] */
void ref_rotary(const ss_rotary *rotary, size_t position, const double *x, size_t head_width, double *y);

/* weights [H][T][T] (0 where masked) and mix [T][H * E] of an attention; scores [H][T][T] as the softmax saw
 * them. */
void ref_attention(const ss_attention *a, double *scores, double *weights, double *mix);

/* Numbers that look random and are the same everywhere: uniform in [-1, 1). */
float ref_number(uint64_t *state);
void ref_fill(float *x, size_t count, float scale, uint64_t seed);

#endif
