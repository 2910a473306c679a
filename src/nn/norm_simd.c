/* One row of a norm: a pass for the mean (LayerNorm), one for the mean square, one for the result.
 * The mean is taken out before squaring: a large common offset must not eat the variance.
 * Relies on: math/simd. */
#include "nn/norm.h"

#include "math/simd.h"

#include <math.h>

static double row_mean(const float *x, size_t n) {
    vd low = vd_all(0), high = vd_all(0);
    size_t i = 0;
    for (; i + SS_LANES <= n; i += SS_LANES) {
        vf v = vf_load(x + i);
        low += vd_low(v);
        high += vd_high(v);
    }
    double sum = vd_sum(low + high);
    for (; i < n; i++) sum += x[i];
    return sum / (double)n;
}

static double mean_square(const float *x, size_t n, double center) {
    vd low = vd_all(0), high = vd_all(0);
    size_t i = 0;
    for (; i + SS_LANES <= n; i += SS_LANES) {
        vf v = vf_load(x + i);
        vd a = vd_low(v) - center, b = vd_high(v) - center;
        low += a * a;
        high += b * b;
    }
    double sum = vd_sum(low + high);
    for (; i < n; i++) sum += (x[i] - center) * (x[i] - center);
    return sum / (double)n;
}

void SS_AT_LEVEL(ss_norm_row)(const ss_norm *norm, const float *x, size_t width, float *y) {
    const bool layer = norm->kind == SS_NORM_LAYER;
    const double center = layer ? row_mean(x, width) : 0;
    const float scale = (float)(1 / sqrt(mean_square(x, width, center) + norm->epsilon));
    const float mean = (float)center;
    size_t i = 0;
    for (; i + SS_LANES <= width; i += SS_LANES) {
        vf v = (vf_load(x + i) - mean) * scale * vf_load(norm->gamma + i);
        vf_store(y + i, layer ? v + vf_load(norm->beta + i) : v);
    }
    for (; i < width; i++) {
        float v = (x[i] - mean) * scale * norm->gamma[i];
        y[i] = layer ? v + norm->beta[i] : v;
    }
}
