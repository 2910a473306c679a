/* One row of an activation, multiplied by `up` where that is not NULL. Relies on: math/simd_exp. */
#include "nn/activation.h"

#include "math/simd_exp.h"

static inline vf gelu_tanh(vf x) {
    const float sqrt_2_over_pi = 0.797884560802865f;
    return 0.5f * x * (1.0f + vf_tanh(sqrt_2_over_pi * (x + 0.044715f * x * x * x)));
}

static inline vf gelu_erf(vf x) {
    const float sqrt_half = 0.707106781186548f;
    return 0.5f * x * (1.0f + vf_erf(x * sqrt_half));
}

static inline vf silu(vf x) {
    return x / (1.0f + vf_exp(-x));
}

static inline vf relu(vf x) {
    return vf_pick(vm_above(vf_all(0), x), vf_all(0), x); /* written so that a NaN passes through */
}

/* One loop an activation, so that none is chosen inside it. */
#define ACTIVATION_LOOP(function)                                                                            \
    for (size_t i = 0; i < n; i += SS_LANES) {                                                               \
        const size_t left = n - i;                                                                           \
        vf v = function(left >= SS_LANES ? vf_load(x + i) : vf_load_tail(x + i, left, 0));                   \
        if (up) v *= left >= SS_LANES ? vf_load(up + i) : vf_load_tail(up + i, left, 0);                     \
        if (left >= SS_LANES)                                                                                \
            vf_store(y + i, v);                                                                              \
        else                                                                                                 \
            vf_store_tail(y + i, v, left);                                                                   \
    }

void SS_AT_LEVEL(ss_activate_row)(ss_activation activation, const float *x, const float *up, size_t n,
                                  float *y) {
    switch (activation) {
    case SS_GELU_TANH:
        ACTIVATION_LOOP(gelu_tanh) break;
    case SS_GELU_ERF:
        ACTIVATION_LOOP(gelu_erf) break;
    case SS_SILU:
        ACTIVATION_LOOP(silu) break;
    case SS_RELU:
        ACTIVATION_LOOP(relu) break;
    }
}
