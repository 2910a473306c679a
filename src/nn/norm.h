/* LayerNorm and RMSNorm over the last axis.
 * LayerNorm: y = gamma (x - mean) / sqrt(variance + eps) + beta; RMSNorm: y = gamma x / sqrt(mean(x^2) +
 * eps). Statistics are accumulated in double. */
#ifndef SS_NN_NORM_H
#define SS_NN_NORM_H

#include "math/compute.h"

#include <stddef.h>

typedef enum ss_norm_kind { SS_NORM_LAYER, SS_NORM_RMS } ss_norm_kind;

typedef struct ss_norm {
    ss_norm_kind kind;
    double epsilon;
    const float *gamma; /* [D] */
    const float *beta;  /* [D]; not used by RMSNorm */
} ss_norm;

/* x [T][D] -> y [T][D]; y may be x. */
void ss_norm_forward(const ss_compute *compute, const ss_norm *norm, const float *x, size_t tokens,
                     size_t width, float *y);

/* One row of `width` numbers; y may be x. */
SS_DECLARE_LEVELS(void, ss_norm_row, (const ss_norm *norm, const float *x, size_t width, float *y))

#endif
