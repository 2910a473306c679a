/* Norm and largest magnitude in one pass; squares in double, so that nothing overflows. Relies on: math/simd.
 */
#include "probe/extent.h"

#include "math/simd.h"

static inline vf magnitude(vf x) {
    return (vf)((vi)x & 0x7FFFFFFF);
}

static inline vd square_add(vf x, vd sum) {
    vd low = vd_low(x), high = vd_high(x);
    return sum + low * low + high * high;
}

ss_extent SS_AT_LEVEL(ss_extent_of)(const float *x, size_t count) {
    vd even = vd_all(0), odd = vd_all(0);
    vf top = vf_all(0);
    size_t i = 0;
    for (; i + 2 * SS_LANES <= count; i += 2 * SS_LANES) {
        vf a = vf_load(x + i), b = vf_load(x + i + SS_LANES);
        even = square_add(a, even);
        odd = square_add(b, odd);
        top = vf_max(top, vf_max(magnitude(a), magnitude(b)));
    }
    for (; i < count; i += SS_LANES) {
        size_t left = count - i;
        vf a = left < SS_LANES ? vf_load_tail(x + i, left, 0) : vf_load(x + i);
        even = square_add(a, even);
        top = vf_max(top, magnitude(a));
    }
    return (ss_extent){.square = vd_sum(even + odd), .max_abs = vf_top(top)};
}
