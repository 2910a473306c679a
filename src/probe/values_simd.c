/* Dot products of one vector with many, and of many with themselves. Plain twin:
 * tests/unit/probe_scale_test.c. Relies on: math/simd. */
#include "probe/values.h"

#include "math/simd.h"

static inline float dot(const float *x, const float *y, size_t width) {
    vf even = vf_all(0), odd = vf_all(0);
    size_t e = 0;
    for (; e + 2 * SS_LANES <= width; e += 2 * SS_LANES) {
        even += vf_load(x + e) * vf_load(y + e);
        odd += vf_load(x + e + SS_LANES) * vf_load(y + e + SS_LANES);
    }
    for (; e + SS_LANES <= width; e += SS_LANES) even += vf_load(x + e) * vf_load(y + e);
    if (e < width) odd += vf_load_tail(x + e, width - e, 0) * vf_load_tail(y + e, width - e, 0);
    vf sum = even + odd;
    return (float)vd_sum(vd_low(sum) + vd_high(sum));
}

void SS_AT_LEVEL(ss_dots)(const float *x, const float *rows, size_t stride, size_t count, size_t width,
                          float *dots) {
    for (size_t j = 0; j < count; j++) dots[j] = dot(x, rows + j * stride, width);
}

void SS_AT_LEVEL(ss_squares)(const float *rows, size_t stride, size_t count, size_t width, float *squares) {
    for (size_t j = 0; j < count; j++) squares[j] = dot(rows + j * stride, rows + j * stride, width);
}

typedef float half __attribute__((vector_size(SS_LANES * 2))); /* as many floats as vd has doubles */

void SS_AT_LEVEL(ss_unit_dots)(double query_rms, const float *key_rms, size_t count, double scale,
                               float *dots) {
    size_t j = 0;
    for (; j + SS_LANES / 2 <= count; j += SS_LANES / 2) {
        vd dot = vd_from(dots + j), unit = dot / (query_rms * vd_from(key_rms + j));
        half score = __builtin_convertvector((vd)((vl)unit & (dot != 0)) * scale, half);
        memcpy(dots + j, &score, sizeof score);
    }
    for (; j < count; j++) {
        double unit = dots[j] == 0 ? 0 : dots[j] / (query_rms * key_rms[j]);
        dots[j] = (float)(unit * scale);
    }
}
