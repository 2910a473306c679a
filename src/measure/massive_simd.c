/* Passes over a hidden state: measure/massive_simd.h. Relies on: math/simd. */
#include "measure/massive_simd.h"

#include "math/simd.h"

#include <math.h>

/* the bits of abs(x); lanes past the end get those of `fill` */
static inline vi load_abs(const float *values, size_t i, size_t count, float fill) {
    vf x = count - i >= SS_LANES ? vf_load(values + i) : vf_load_tail(values + i, count - i, fill);
    return (vi)x & INT32_MAX;
}
static inline vi vi_all(uint32_t x) {
    return (int32_t)x - (vi){0};
}

float SS_AT_LEVEL(ss_massive_norm)(const float *values, size_t count, double *square) {
    vd low = vd_all(0), high = low;
    vf top = vf_all(0);
    for (size_t i = 0; i < count; i += SS_LANES) {
        vf x = (vf)load_abs(values, i, count, 0);
        top = vf_max(x, top); /* a NaN does not become the top; the squares tell of it */
        vd a = vd_low(x), b = vd_high(x);
        low += a * a, high += b * b;
    }
    *square = vd_sum(low + high);
    return vf_top(top);
}

/* whole vectors between two sums of lane counts, so that lanes stay far from overflow */
enum { STRIDE = 1 << 20 };

void SS_AT_LEVEL(ss_massive_below)(const float *values, size_t count, const uint32_t *bounds, size_t *below) {
    const vi bound[3] = {vi_all(bounds[0]), vi_all(bounds[1]), vi_all(bounds[2])};
    below[0] = below[1] = below[2] = 0;
    for (size_t begin = 0; begin < count; begin += STRIDE) {
        size_t end = count - begin > STRIDE ? begin + STRIDE : count;
        vi lanes[3] = {{0}, {0}, {0}};
        for (size_t i = begin; i < end; i += SS_LANES) {
            vi x = load_abs(values, i, end, INFINITY); /* padding is below none */
            for (size_t k = 0; k < 3; k++) lanes[k] -= x < bound[k];
        }
        for (size_t k = 0; k < 3; k++)
            for (size_t lane = 0; lane < SS_LANES; lane++) below[k] += (size_t)lanes[k][lane];
    }
}

size_t SS_AT_LEVEL(ss_massive_pick)(const float *values, size_t count, uint32_t low, uint32_t high,
                                    uint32_t *picked, size_t room) {
    size_t found = 0;
    const vi least = vi_all(low), most = vi_all(high);
    for (size_t i = 0; i < count; i += SS_LANES) {
        vi x = load_abs(values, i, count, INFINITY);
        for (unsigned bits = vi_bits((x >= least) & (x < most)); bits; bits &= bits - 1, found++)
            if (found < room) picked[found] = (uint32_t)x[__builtin_ctz(bits)];
    }
    return found;
}
