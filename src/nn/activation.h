/* Activations of the feed-forward layer, gated or not.
 * GELU in its exact form x (1 + erf(x / sqrt 2)) / 2 and in GPT-2's tanh form; SiLU x / (1 + exp(-x)); ReLU.
 * A NaN stays a NaN in all of them. */
#ifndef SS_NN_ACTIVATION_H
#define SS_NN_ACTIVATION_H

#include "math/compute.h"

#include <stddef.h>

/* X(activation, name) */
#define SS_ACTIVATION_LIST(X)                                                                                \
    X(SS_GELU_TANH, "gelu_tanh")                                                                             \
    X(SS_GELU_ERF, "gelu")                                                                                   \
    X(SS_SILU, "silu")                                                                                       \
    X(SS_RELU, "relu")

typedef enum ss_activation {
#define SS_ACTIVATION_ENUM(activation, name) activation,
    SS_ACTIVATION_LIST(SS_ACTIVATION_ENUM)
#undef SS_ACTIVATION_ENUM
} ss_activation;

/* x [T][F] -> act(x), in place. */
void ss_activate(const ss_compute *compute, ss_activation activation, float *x, size_t tokens, size_t width);

/* x [T][2F] holds gate, then up -> y [T][F] = act(gate) * up. */
void ss_activate_gated(const ss_compute *compute, ss_activation activation, const float *x, size_t tokens,
                       size_t width, float *y);

/* One row: y[n] = act(x[n]), times up[n] where that is not NULL; y may be x. */
SS_DECLARE_LEVELS(void, ss_activate_row,
                  (ss_activation activation, const float *x, const float *up, size_t n, float *y))

#endif
