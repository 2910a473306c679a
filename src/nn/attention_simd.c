/* The soft cap of one row. Relies on: SLEEF's tanh. */
#include "nn/attention.h"

#include "math/simd_exp.h"

#include <math.h>

void SS_AT_LEVEL(ss_soft_cap_row)(float *scores, size_t n, float cap, float *raw_max) {
    vf top = vf_all(-INFINITY);
    for (size_t i = 0; i < n; i += SS_LANES) {
        const size_t left = n - i;
        vf s = left >= SS_LANES ? vf_load(scores + i) : vf_load_tail(scores + i, left, -INFINITY);
        top = vf_max(top, s);
        s = cap * vf_tanh(s / cap);
        if (left >= SS_LANES)
            vf_store(scores + i, s);
        else
            vf_store_tail(scores + i, s, left);
    }
    *raw_max = vf_top(top);
}
