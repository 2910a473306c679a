/* The softmax kernel: one pass for the maximum, one for exp and the sum. Its plain twin is in
 * tests/support. Relies on: math/simd_exp. */
#include "math/simd_exp.h"
#include "math/softmax.h"

#include <math.h>

/* The largest score; NaN where any is NaN or infinite (0 times either is NaN, and stays in the sum). */
static float row_max(const float *scores, size_t n) {
    vf top = vf_all(scores[0]), bad = vf_all(0);
    size_t i = 0;
    for (; i + SS_LANES <= n; i += SS_LANES) {
        vf s = vf_load(scores + i);
        top = vf_max(top, s);
        bad += s * 0.0f;
    }
    if (i < n) {
        vf s = vf_load_tail(scores + i, n - i, scores[0]);
        top = vf_max(top, s);
        bad += s * 0.0f;
    }
    float taint = 0;
    for (size_t lane = 0; lane < SS_LANES; lane++) taint += bad[lane];
    return taint == 0 ? vf_top(top) : NAN;
}

double SS_AT_LEVEL(ss_softmax_row)(const float *scores, size_t n, float *weights, float *max) {
    const float top = row_max(scores, n);
    vd low = vd_all(0), high = vd_all(0);
    size_t i = 0;
    for (; i + SS_LANES <= n; i += SS_LANES) {
        vf w = vf_exp(vf_load(scores + i) - top);
        vf_store(weights + i, w);
        low += vd_low(w);
        high += vd_high(w);
    }
    if (i < n) {
        vf w = vf_exp(vf_load_tail(scores + i, n - i, -INFINITY) - top);
        vf_store_tail(weights + i, w, n - i);
        low += vd_low(w);
        high += vd_high(w);
    }
    *max = top;
    return vd_sum(low + high);
}
