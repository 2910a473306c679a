/* Passes over a hidden state: measure/massive_simd.h. Relies on: math/simd. */
#include "measure/massive_simd.h"

#include "math/simd.h"

static inline vf vf_abs(vf x) {
    return (vf)((vi)x & INT32_MAX);
}
static inline vf load_abs(const float *values, size_t i, size_t count, float fill) {
    return vf_abs(count - i >= SS_LANES ? vf_load(values + i) : vf_load_tail(values + i, count - i, fill));
}

float SS_AT_LEVEL(ss_massive_norm)(const float *values, size_t count, double *square) {
    vd low = vd_all(0), high = low;
    vf top = vf_all(0);
    for (size_t i = 0; i < count; i += SS_LANES) {
        vf x = load_abs(values, i, count, 0);
        top = vf_max(x, top); /* a NaN does not become the top; the squares tell of it */
        vd a = vd_low(x), b = vd_high(x);
        low += a * a, high += b * b;
    }
    *square = vd_sum(low + high);
    return vf_top(top);
}

/* whole vectors between two sums of lane counts, so that lanes stay far from overflow */
enum { STRIDE = 1 << 20 };

void SS_AT_LEVEL(ss_massive_below)(const float *values, size_t count, const float *bounds, size_t *below) {
    vf bound[3] = {vf_all(bounds[0]), vf_all(bounds[1]), vf_all(bounds[2])};
    below[0] = below[1] = below[2] = 0;
    for (size_t begin = 0; begin < count; begin += STRIDE) {
        size_t end = count - begin > STRIDE ? begin + STRIDE : count;
        vi lanes[3] = {{0}, {0}, {0}};
        for (size_t i = begin; i < end; i += SS_LANES) {
            vf x = load_abs(values, i, end, bounds[2]); /* padding is below none */
            for (size_t k = 0; k < 3; k++) lanes[k] -= x < bound[k];
        }
        for (size_t k = 0; k < 3; k++)
            for (size_t lane = 0; lane < SS_LANES; lane++) below[k] += (size_t)lanes[k][lane];
    }
}

size_t SS_AT_LEVEL(ss_massive_pick)(const float *values, size_t count, float low, float high, float *picked,
                                    size_t room) {
    size_t found = 0;
    vf least = vf_all(low), most = vf_all(high);
    for (size_t i = 0; i < count; i += SS_LANES) {
        vf x = load_abs(values, i, count, high);
        vm inside = vm_both(vm_from(x, least), vm_above(most, x));
        for (unsigned bits = vm_bits(inside); bits; bits &= bits - 1, found++)
            if (found < room) picked[found] = x[__builtin_ctz(bits)];
    }
    return found;
}
