/* Kernels of exact theta: measure/theta_simd.h. The plain twins are in tests/support/row_ref.c.
 * Relies on: math/simd. */
#include "measure/theta_simd.h"

#include "math/simd.h"

#include <math.h>

enum { PARTS = SS_THETA_BLOCK / SS_LANES }; /* vectors a block */

static inline vf load_part(const float *atoms, size_t n, size_t begin) {
    if (begin + SS_LANES <= n) return vf_load(atoms + begin);
    return begin < n ? vf_load_tail(atoms + begin, n - begin, 0) : vf_all(0);
}

float SS_AT_LEVEL(ss_theta_fold)(const float *atoms, size_t n, size_t half, float *gaps, double *sum) {
    vf least = vf_all(INFINITY);
    vd sums = vd_all(0);
    for (size_t i = 0; i < half; i += SS_LANES) {
        size_t count = half - i;
        bool whole = count >= SS_LANES;
        vf a = whole ? vf_load(atoms + i) : vf_load_tail(atoms + i, count, 0);
        vf b = whole ? vf_load(atoms + i + half) : vf_load_tail(atoms + i + half, count, 0);
        vf gap = vf_max(a, b) - vf_min(a, b);
        sums += vd_low(gap) + vd_high(gap);
        if (whole)
            vf_store(gaps + i, gap);
        else
            vf_store_tail(gaps + i, gap, count);
    }
    *sum = vd_sum(sums);
    for (size_t i = 0; i < n; i += SS_LANES)
        least =
            vf_min(least, n - i >= SS_LANES ? vf_load(atoms + i) : vf_load_tail(atoms + i, n - i, INFINITY));
    return -vf_top(-least);
}

void SS_AT_LEVEL(ss_theta_lightest)(const float *atoms, size_t n, float floor, float *lightest) {
    const vf none = vf_all(INFINITY), least = vf_all(floor);
    for (size_t part = 0; part < PARTS; part++) {
        vf a = none, b = none, c = none, d = none;
        for (size_t i = part * SS_LANES; i < n; i += SS_THETA_BLOCK) {
            vf x = load_part(atoms, n, i);
            x = vf_pick(vm_at_least(x, least), x, none);
            vf over_a = vf_max(a, x), over_b = vf_max(b, over_a), over_c = vf_max(c, over_b);
            a = vf_min(a, x), b = vf_min(b, over_a), c = vf_min(c, over_b), d = vf_min(d, over_c);
        }
        float *to = lightest + part * SS_LANES;
        vf_store(to, a), vf_store(to + 16, b), vf_store(to + 32, c), vf_store(to + 48, d);
    }
}

/* Add the lanes of both to sums[4], by lane number mod 4. */
static inline void fold_lanes(double *sums, vd a, vd b) {
#if defined(__AVX512F__)
    vd both = a + b;
    _mm256_storeu_pd(
        sums, _mm256_add_pd(_mm512_castpd512_pd256((__m512d)both), _mm512_extractf64x4_pd((__m512d)both, 1)));
#elif defined(__AVX2__)
    _mm256_storeu_pd(sums, (__m256d)(a + b));
#else
    sums[0] = a[0], sums[1] = a[1], sums[2] = b[0], sums[3] = b[1];
#endif
}

size_t SS_AT_LEVEL(ss_theta_blocks)(const float *atoms, size_t n, const float *fence, float heavy,
                                    double *before, float *heavies) {
    const vf most = vf_all(heavy);
    vf fences[PARTS];
    vd low = vd_all(0), high = low;
    for (size_t part = 0; part < PARTS; part++) fences[part] = vf_load(fence + part * SS_LANES);
    size_t count = 0;
    fold_lanes(before, low, high);
    for (size_t i = 0; i < n; i += SS_THETA_BLOCK) {
        for (size_t part = 0; part < PARTS; part++) {
            vf x = load_part(atoms, n, i + part * SS_LANES);
            vm mine = vm_above(x, fences[part]), large = vm_above(x, most);
            count += vf_store_kept(heavies + count, x, vm_both(mine, large));
            x = vf_keep(vm_except(mine, large), x);
            low += vd_low(x), high += vd_high(x);
        }
        before += 4;
        fold_lanes(before, low, high);
    }
    return count;
}

void SS_AT_LEVEL(ss_theta_around)(const float *atoms, size_t n, const float *fence, float want, float most,
                                  float *around) {
    const vf wanted = vf_all(want < most ? want : most), limit = vf_all(most), zero = vf_all(0),
             none = vf_all(INFINITY);
    vf fences[PARTS], below = zero, above = none;
    for (size_t part = 0; part < PARTS; part++) fences[part] = vf_load(fence + part * SS_LANES);
    for (size_t i = 0; i < n; i += SS_THETA_BLOCK)
        for (size_t part = 0; part < PARTS; part++) {
            vf x = load_part(atoms, n, i + part * SS_LANES);
            vm mine = vm_both(vm_above(x, fences[part]), vm_at_least(limit, x)),
               under = vm_at_least(wanted, x);
            below = vf_max(below, vf_keep(vm_both(mine, under), x));
            above = vf_min(above, vf_pick(vm_except(mine, under), x, none));
        }
    around[0] = vf_top(below), around[1] = -vf_top(-above);
}

/* counts + 1 where own is less than `key` */
static inline vi count_above(vi counts, vi own, int32_t key) {
    vi other = key - (vi){0};
#if defined(__AVX512F__)
    __mmask16 less = _mm512_cmplt_epi32_mask((__m512i)own, (__m512i)other);
    return (vi)_mm512_mask_sub_epi32((__m512i)counts, less, (__m512i)counts, _mm512_set1_epi32(-1));
#else
    return counts - (other > own);
#endif
}

/* Float bits order as the values do; the last 6 bits make way for the place, which makes keys distinct: an
 * atom's rank is how many keys are larger. */
size_t SS_AT_LEVEL(ss_theta_sort)(const float *atoms, double *sorted, double *sum) {
    enum { VECTORS = SS_THETA_RESERVE / SS_LANES };
    const vf none = vf_all(INFINITY), zero = vf_all(0);
    vi own[VECTORS], above[VECTORS];
    vd sums = vd_all(0);
    float clean[SS_THETA_RESERVE];
    int32_t keys[SS_THETA_RESERVE], rank[SS_THETA_RESERVE];
    size_t count = 0;
    for (size_t v = 0; v < VECTORS; v++) {
        vf x = vf_load(atoms + v * SS_LANES);
        x = vf_keep(vm_above(none, x), x);
        vf_store(clean + v * SS_LANES, x);
        sums += vd_low(x) + vd_high(x);
        count += (size_t)__builtin_popcount(vm_bits(vm_above(x, zero)));
        vi place;
        for (size_t lane = 0; lane < SS_LANES; lane++) place[lane] = (int32_t)(v * SS_LANES + lane);
        own[v] = ((vi)x & ~(SS_THETA_RESERVE - 1)) | place;
        above[v] = (vi){0};
    }
    memcpy(keys, own, sizeof keys);
    for (size_t j = 0; j < SS_THETA_RESERVE; j++)
        for (size_t v = 0; v < VECTORS; v++) above[v] = count_above(above[v], own[v], keys[j]);
    memcpy(rank, above, sizeof rank);
    for (size_t k = 0; k < SS_THETA_RESERVE; k++) sorted[rank[k]] = clean[k];
    *sum = vd_sum(sums);
    return count;
}

static inline vf vf_abs(vf x) {
    return (vf)((vi)x & INT32_MAX);
}

/* abs of the one that is nearer to zero */
static inline vf vf_nearest(vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_range_ps((__m512)a, (__m512)b, 10); /* the least of both abs, sign cleared */
#else
    return vf_min(vf_abs(a), vf_abs(b));
#endif
}

/* the lanes of the block's sums that are within `most` of zero, as bits */
static inline unsigned hits_of_block(const vf *sums, float offset, vf most) {
    unsigned bits = 0;
    for (size_t part = 0; part < PARTS; part++)
        bits |= vm_bits(vm_at_least(most, vf_abs(sums[part] + offset))) << (part * SS_LANES);
    return bits;
}

/* Few blocks have a hit: four at a time are only looked at for their least sum. */
size_t SS_AT_LEVEL(ss_theta_hit)(const float *base, const float *offset, size_t count, float limit) {
    const vf most = vf_all(limit);
    vf sums[PARTS];
    for (size_t part = 0; part < PARTS; part++) sums[part] = vf_load(base + part * SS_LANES);
    size_t j = 0;
    for (; j + 4 <= count; j += 4) {
        vf least = vf_all(INFINITY);
        for (size_t part = 0; part < PARTS; part++)
            for (size_t k = 0; k < 4; k++) least = vf_nearest(least, sums[part] + offset[j + k]);
        if (vm_bits(vm_at_least(most, least))) break;
    }
    for (; j < count; j++) {
        unsigned bits = hits_of_block(sums, offset[j], most);
        if (bits) return j * SS_THETA_BLOCK + (size_t)__builtin_ctz(bits);
    }
    return count * SS_THETA_BLOCK;
}

/* Lookups one by one, at every level: gathering them is faster on some processors and much slower on others.
 */
bool SS_AT_LEVEL(ss_theta_meet)(const uint32_t *slots, uint32_t mask, const uint32_t *base, uint32_t from,
                                uint32_t limit) {
    uint32_t least = UINT32_MAX;
    for (size_t k = 0; k < SS_THETA_LOOKUPS; k++) {
        uint32_t value = from - base[k], off = slots[value >> SS_THETA_SLOT & mask] - value;
        least = off < least ? off : least;
    }
    return least <= 2 * limit;
}

/* the lesser of `least` and abs(x); NaN, which comes of infinities beyond the ends of both lists, changes
 * nothing */
static inline vd vd_least_abs(vd least, vd x) {
#if defined(__AVX512F__)
    return (vd)_mm512_range_pd((__m512d)least, (__m512d)x, 10); /* of both the lesser size, without a sign */
#elif defined(__AVX2__)
    return (vd)_mm256_min_pd((__m256d)((vl)x & INT64_MAX), (__m256d)least);
#else
    vd size = (vd)((vl)x & INT64_MAX);
    vl less = size < least;
    return (vd)((less & (vl)size) | (~less & (vl)least));
#endif
}

/* The lists are walked a tile of `b` at a time, against tiles of `a` until one reaches as far. Neighbours in
 * value either meet in tiles, or one of them has met a value between them. Where a nearer pair is, is asked
 * rarely. */
void SS_AT_LEVEL(ss_theta_nearest)(const double *a, size_t count, const double *b, size_t begin, size_t end,
                                   double c, double stop, double *best, size_t *best_a, size_t *best_b) {
    enum { WIDTH = SS_LANES / 2 };
    if (begin >= end || count == 0) return;
    size_t place = 0; /* the last with a[place] <= wanted, or 0 */
    for (size_t step = count; step > 0; step /= 2)
        while (place + step < count && a[place + step] <= c - b[end - 1]) place += step;
    while (end > begin && *best > stop) {
        size_t first = end - begin > WIDTH ? end - WIDTH : begin, from = place;
        vd least = vd_all(INFINITY);
        for (;; place += WIDTH) {
            vd tile;
            memcpy(&tile, a + place, sizeof tile);
            tile -= vd_all(c);
            for (ptrdiff_t k = 1; k <= WIDTH; k++) least = vd_least_abs(least, tile + b[(ptrdiff_t)end - k]);
            if (a[place + WIDTH - 1] >= c - b[first]) break;
        }
        if (vi_bits((vi)(least < vd_all(*best))))
            for (size_t j = first; j < end; j++)
                for (size_t i = from; i < place + WIDTH; i++) {
                    double off = fabs(a[i] - c + b[j]);
                    if (off < *best) *best = off, *best_a = i, *best_b = j;
                }
        end = first;
    }
}
