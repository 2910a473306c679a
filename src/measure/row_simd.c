/* Passes over one row: measure/row_simd.h. Relies on: math/simd. */
#include "measure/row_simd.h"

#include "math/simd.h"

#include <float.h>
#include <math.h>

size_t SS_AT_LEVEL(ss_row_find)(const float *weights, size_t n, float weight) {
    vf wanted = vf_all(weight);
    for (size_t i = 0; i < n; i += SS_LANES) {
        vf w = n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, NAN);
        unsigned bits = vm_bits(vm_equal(w, wanted));
        if (bits) return i + (size_t)__builtin_ctz(bits);
    }
    return n;
}

float SS_AT_LEVEL(ss_row_top)(const float *weights, size_t n) {
    vf top = vf_all(-INFINITY), other = top;
    size_t i = 0;
    for (; i + 2 * SS_LANES <= n; i += 2 * SS_LANES) {
        top = vf_max(top, vf_load(weights + i));
        other = vf_max(other, vf_load(weights + i + SS_LANES));
    }
    for (; i < n; i += SS_LANES)
        top = vf_max(top,
                     n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, -INFINITY));
    return vf_top(vf_max(top, other));
}

/* The running sums of one half of the lanes. */
typedef struct half {
    vd sum, square, cube, score;
} half;

static inline void add_half(half *h, vd w, vd shift) {
    vd square = w * w;
    h->sum += w;
    h->square += square;
    h->cube += square * w;
    h->score += w * shift;
}

/* Scores less the largest. One that is minus infinity has weight 0; any finite number will do in its place.
 */
static inline vd shift_from(const float *scores, vd max) {
    return vd_max(vd_from(scores), vd_all(-DBL_MAX / 2)) - max;
}

/* The lanes of w, 0 in one of them. */
static inline vf without_lane(vf w, size_t lane) {
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_mov_ps((__mmask16) ~(1u << lane), (__m512)w);
#else
    float lanes[SS_LANES];
    vf_store(lanes, w);
    lanes[lane] = 0;
    return vf_load(lanes);
#endif
}

void SS_AT_LEVEL(ss_row_add)(const float *weights, const float *scores, float max, size_t n, size_t skipped,
                             ss_row_sums *sums) {
    enum { HALF = SS_LANES / 2 };
    half low = {vd_all(0), vd_all(0), vd_all(0), vd_all(0)}, high = low;
    vf top = vf_all(0);
    const vd from = vd_all(max), none = vd_all(0);
    /* two vectors are special: the one with the skipped weight, and one that is not full at the end */
    const size_t full = n / SS_LANES * SS_LANES, special[2] = {skipped / SS_LANES * SS_LANES, full};
    for (size_t i = 0; i < full; i += SS_LANES) {
        const float *w = weights + i, *s = scores ? scores + i : w;
        if (i == special[0]) continue;
        top = vf_max(top, vf_load(w));
        add_half(&low, vd_from(w), scores ? shift_from(s, from) : none);
        add_half(&high, vd_from(w + HALF), scores ? shift_from(s + HALF, from) : none);
    }
    for (size_t k = special[0] == special[1]; k < 2; k++) {
        const size_t i = special[k], count = n - i < SS_LANES ? n - i : SS_LANES;
        if (i >= n) continue;
        vf w = i < full ? vf_load(weights + i) : vf_load_tail(weights + i, count, 0), s = vf_all(max);
        if (skipped - i < SS_LANES) w = without_lane(w, skipped - i);
        if (scores) s = i < full ? vf_load(scores + i) : vf_load_tail(scores + i, count, max);
        s = vf_pick(vm_above(w, vf_all(0)), s, vf_all(max));
        top = vf_max(top, w);
        add_half(&low, vd_low(w), vd_low(s) - from);
        add_half(&high, vd_high(w), vd_high(s) - from);
    }
    *sums = (ss_row_sums){.sum = vd_sum(low.sum + high.sum),
                          .square = vd_sum(low.square + high.square),
                          .cube = vd_sum(low.cube + high.cube),
                          .score = vd_sum(low.score + high.score),
                          .largest = vf_top(top)};
}

/* Divisions are slow: four reciprocals come from one division of 1 by the product of all four. */
static inline void add_poles(vd a, vd b, vd c, vd d, vd x, vd *value, vd *slope) {
    vd from_a = x - a, from_b = x - b, from_c = x - c, from_d = x - d;
    vd ab = from_a * from_b, cd = from_c * from_d;
    vd all = 1.0 / (ab * cd), over_ab = cd * all, over_cd = ab * all;
    vd over_a = from_b * over_ab, over_b = from_a * over_ab, over_c = from_d * over_cd,
       over_d = from_c * over_cd;
    vd pole_a = a * over_a, pole_b = b * over_b, pole_c = c * over_c, pole_d = d * over_d;
    *value += (pole_a + pole_b) + (pole_c + pole_d);
    *slope += (pole_a * over_a + pole_b * over_b) + (pole_c * over_c + pole_d * over_d);
}

/* c[0] + c[1] g + ... + c[7] g^7, by halves: the powers of g do not wait for each other */
static inline double polynomial(const double *c /* [SS_ROW_POWERS] */, double g) {
    double square = g * g;
    double low = c[0] + c[1] * g + (c[2] + c[3] * g) * square;
    double high = c[4] + c[5] * g + (c[6] + c[7] * g) * square;
    return low + high * (square * square);
}

void SS_AT_LEVEL(ss_row_poles)(const ss_row_spectrum *spectrum, double x, double *value, double *slope) {
    const float *weights = spectrum->near;
    const size_t n = spectrum->count;
    vd values = vd_all(0), slopes = values, at = vd_all(x);
    size_t i = 0;
    for (; i + 2 * SS_LANES <= n; i += 2 * SS_LANES) {
        const float *w = weights + i;
        add_poles(vd_from(w), vd_from(w + SS_LANES / 2), vd_from(w + SS_LANES), vd_from(w + 3 * SS_LANES / 2),
                  at, &values, &slopes);
    }
    for (; i < n; i += SS_LANES) {
        vf one = n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, 0);
        add_poles(vd_low(one), vd_high(one), vd_all(0), vd_all(0), at, &values, &slopes);
    }
    double over_x = 1 / x, g = spectrum->unit * over_x;
    *value = vd_sum(values) + polynomial(spectrum->powers, g) * g;
    *slope = vd_sum(slopes) + polynomial(spectrum->slopes, g) * g * over_x;
}

/* sum + the lanes of w above the cut */
static inline vd add_above(vd sum, vd w, vd cut) {
#if defined(__AVX512F__)
    return (vd)_mm512_mask_add_pd((__m512d)sum, _mm512_cmp_pd_mask((__m512d)w, (__m512d)cut, _CMP_GT_OQ),
                                  (__m512d)sum, (__m512d)w);
#else
    return sum + (vd)((vl)w & (w > cut));
#endif
}

void SS_AT_LEVEL(ss_row_above)(const float *weights, size_t n, const float *cuts, double *above) {
    vd sums[SS_ROW_CUTS], cut[SS_ROW_CUTS];
    for (size_t k = 0; k < SS_ROW_CUTS; k++) sums[k] = vd_all(0), cut[k] = vd_all(cuts[k]);
    for (size_t i = 0; i < n; i += SS_LANES) {
        vf w = n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, 0);
        vd low = vd_low(w), high = vd_high(w);
        for (size_t k = 0; k < SS_ROW_CUTS; k++)
            sums[k] = add_above(add_above(sums[k], low, cut[k]), high, cut[k]);
    }
    for (size_t k = 0; k < SS_ROW_CUTS; k++) above[k] = vd_sum(sums[k]);
}

size_t SS_AT_LEVEL(ss_row_pick)(const float *weights, size_t n, float low, float high, float *picked,
                                double *above, size_t *count_above) {
    vf least = vf_all(low), most = vf_all(high);
    vd sum_low = vd_all(0), sum_high = sum_low;
    size_t count = 0, over_count = 0;
    for (size_t i = 0; i < n; i += SS_LANES) {
        vf w = n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, -1);
        vm larger = vm_above(w, most);
        vf over = vf_keep(larger, w);
        sum_low += vd_low(over), sum_high += vd_high(over);
        over_count += (size_t)__builtin_popcount(vm_bits(larger));
        count += vf_store_kept(picked + count, w, vm_except(vm_above(w, least), larger));
    }
    *above = vd_sum(sum_low + sum_high);
    *count_above = over_count;
    return count;
}

size_t SS_AT_LEVEL(ss_row_split)(const float *weights, size_t n, float low, float scale, float *near,
                                 double *powers) {
    enum { GROUP = 4 * SS_LANES }; /* fourth powers weigh most: floats for so long only, then in double */
    /* the fourth power of what is far below is nothing, and slow where it leaves the range of floats */
    const vf least = vf_all(low), nothing = vf_all(0x1p-12f * low), unit = vf_all(scale), zero = vf_all(0);
    vd fourth_low = vd_all(0), fourth_high = fourth_low;
    vf fifth = zero, sixth = zero, seventh = zero;
    size_t count = 0;
    for (size_t begin = 0; begin < n; begin += GROUP) {
        const size_t end = n - begin < GROUP ? n : begin + GROUP;
        vf fourth = zero;
        for (size_t i = begin; i < end; i += SS_LANES) {
            vf w = n - i >= SS_LANES ? vf_load(weights + i) : vf_load_tail(weights + i, n - i, 0);
            vm above = vm_above(w, least);
            count += vf_store_kept(near + count, w, above);
            vf u = vf_keep(vm_except(vm_above(w, nothing), above), w) * unit, square = u * u,
               more = square * square;
            fourth += more, fifth += more * u, sixth += more * square, seventh += more * (square * u);
        }
        fourth_low += vd_low(fourth), fourth_high += vd_high(fourth);
    }
    powers[0] = vd_sum(fourth_low + fourth_high);
    powers[1] = vd_sum(vd_low(fifth) + vd_high(fifth));
    powers[2] = vd_sum(vd_low(sixth) + vd_high(sixth));
    powers[3] = vd_sum(vd_low(seventh) + vd_high(seventh));
    return count;
}
