/* Vectors of the width of the level being compiled, for *_simd.c files only.
 *
 *     vf, vd       SS_LANES floats, SS_LANES/2 doubles; operators + - * / and comparisons work on them
 *     vi           SS_LANES int32
 *     vm           SS_LANES truths: what vm_above and its kin find, what vf_pick and vf_keep ask for
 *     SS_AT_LEVEL(name)  name with the level's suffix, for every function with external linkage
 *
 * Loads and stores take any address. The *_tail forms touch only the first `count` < SS_LANES items and
 * put `fill` into the other lanes. Written over the compiler's vector extension, so the lowest level also
 * serves processors other than x86. Relies on: GCC or clang. */
#ifndef SS_MATH_SIMD_H
#define SS_MATH_SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
#define SS_LANES          16
#define SS_AT_LEVEL(name) name##_avx512
#elif defined(__AVX2__)
#define SS_LANES          8
#define SS_AT_LEVEL(name) name##_avx2
#else
#define SS_LANES          4
#define SS_AT_LEVEL(name) name##_base
#endif

typedef float vf __attribute__((vector_size(SS_LANES * 4)));
typedef int32_t vi __attribute__((vector_size(SS_LANES * 4)));
typedef double vd __attribute__((vector_size(SS_LANES * 4)));
typedef int64_t vl __attribute__((vector_size(SS_LANES * 4)));

static inline vf vf_load(const float *from) {
    vf v;
    memcpy(&v, from, sizeof v);
    return v;
}
static inline void vf_store(float *to, vf v) {
    memcpy(to, &v, sizeof v);
}
static inline vf vf_all(float x) {
    return x - (vf){0}; /* x - 0 keeps the sign of a zero */
}
static inline vd vd_all(double x) {
    return x - (vd){0};
}

static inline vf vf_load_tail(const float *from, size_t count, float fill) {
#if defined(__AVX512F__)
    return (vf)_mm512_mask_loadu_ps(_mm512_set1_ps(fill), (__mmask16)((1u << count) - 1), from);
#else
    vf v = vf_all(fill);
    for (size_t lane = 0; lane < count; lane++) v[lane] = from[lane];
    return v;
#endif
}
static inline void vf_store_tail(float *to, vf v, size_t count) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, (__mmask16)((1u << count) - 1), (__m512)v);
#else
    for (size_t lane = 0; lane < count; lane++) to[lane] = v[lane];
#endif
}

/* Truths live in a mask register where the level has them: a comparison written with an operator would be
 * spread over a whole vector there, and gathered again. Every comparison with a NaN is false. */
#if defined(__AVX512F__)
typedef __mmask16 vm;
#else
typedef vi vm;
#endif

/* a > b */
static inline vm vm_above(vf a, vf b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GT_OQ);
#else
    return a > b;
#endif
}
/* a >= b */
static inline vm vm_at_least(vf a, vf b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_GE_OQ);
#else
    return a >= b;
#endif
}
static inline vm vm_equal(vf a, vf b) {
#if defined(__AVX512F__)
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_EQ_OQ);
#else
    return a == b;
#endif
}
static inline vm vm_both(vm a, vm b) {
    return (vm)(a & b);
}
/* a and not b */
static inline vm vm_except(vm a, vm b) {
    return (vm)(a & ~b);
}

/* mask ? a : b, lane by lane */
static inline vf vf_pick(vm mask, vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_mask_blend_ps(mask, (__m512)b, (__m512)a);
#else
    return (vf)((mask & (vi)a) | (~mask & (vi)b));
#endif
}
/* mask ? a : 0 */
static inline vf vf_keep(vm mask, vf a) {
#if defined(__AVX512F__)
    return (vf)_mm512_maskz_mov_ps(mask, (__m512)a);
#else
    return (vf)(mask & (vi)a);
#endif
}
/* the larger; a NaN in `b` gives b, as the comparison is false */
static inline vf vf_max(vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_max_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_max_ps((__m256)a, (__m256)b);
#else
    return vf_pick(vm_above(a, b), a, b);
#endif
}

static inline vd vd_max(vd a, vd b) {
#if defined(__AVX512F__)
    return (vd)_mm512_max_pd((__m512d)a, (__m512d)b);
#elif defined(__AVX2__)
    return (vd)_mm256_max_pd((__m256d)a, (__m256d)b);
#else
    vl larger = a > b;
    return (vd)((larger & (vl)a) | (~larger & (vl)b));
#endif
}

static inline vf vf_min(vf a, vf b) {
#if defined(__AVX512F__)
    return (vf)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(__AVX2__)
    return (vf)_mm256_min_ps((__m256)a, (__m256)b);
#else
    return vf_pick(vm_above(b, a), a, b);
#endif
}

/* One bit a lane, lane 0 the lowest: of what an operator found comparing two vi ... */
static inline unsigned vi_bits(vi truths) {
#if defined(__AVX512F__)
    return _mm512_movepi32_mask((__m512i)truths);
#elif defined(__AVX2__)
    return (unsigned)_mm256_movemask_ps((__m256)truths);
#else
    unsigned bits = 0;
    for (size_t lane = 0; lane < SS_LANES; lane++) bits |= (unsigned)(truths[lane] & 1) << lane;
    return bits;
#endif
}
/* ... and of a mask. */
static inline unsigned vm_bits(vm mask) {
#if defined(__AVX512F__)
    return mask;
#else
    return vi_bits(mask);
#endif
}

/* Write the lanes where the mask is set, closed up, and return how many. All of to[SS_LANES] may be written.
 */
static inline size_t vf_store_kept(float *to, vf v, vm mask) {
    const unsigned bits = vm_bits(mask);
#if defined(__AVX512F__)
    _mm512_storeu_ps(to, _mm512_maskz_compress_ps(mask, (__m512)v));
#elif defined(__AVX2__)
    /* the numbers of the set lanes, closed up, as bytes: one byte of ones for each set bit picks them */
    uint64_t bytes = _pdep_u64(bits, 0x0101010101010101u) * 0xff;
    __m256i lanes = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128((long long)_pext_u64(0x0706050403020100u, bytes)));
    _mm256_storeu_ps(to, _mm256_permutevar8x32_ps((__m256)v, lanes));
#else
    for (size_t lane = 0, count = 0; lane < SS_LANES; lane++) {
        to[count] = v[lane];
        count += bits >> lane & 1;
    }
#endif
    return (size_t)__builtin_popcount(bits);
}

/* the lower and the upper half of the lanes as doubles */
static inline vd vd_low(vf v) {
#if defined(__AVX512F__)
    return (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)v));
#elif defined(__AVX2__)
    return (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)v));
#else
    return (vd){v[0], v[1]};
#endif
}
static inline vd vd_high(vf v) {
#if defined(__AVX512F__)
    return (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)v, 1));
#elif defined(__AVX2__)
    return (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)v, 1));
#else
    return (vd){v[2], v[3]};
#endif
}

/* half a vector of floats as doubles: dearer than half of a loaded vector only in loads */
static inline vd vd_from(const float *from) {
#if defined(__AVX512F__)
    return (vd)_mm512_cvtps_pd(_mm256_loadu_ps(from));
#elif defined(__AVX2__)
    return (vd)_mm256_cvtps_pd(_mm_loadu_ps(from));
#else
    return (vd){from[0], from[1]};
#endif
}

/* sums and maxima over the lanes, in a fixed order */
static inline double vd_sum(vd v) {
#if defined(__AVX512F__)
    return _mm512_reduce_add_pd((__m512d)v);
#else
    double sum = 0;
    for (size_t lane = 0; lane < SS_LANES / 2; lane++) sum += v[lane];
    return sum;
#endif
}
static inline float vf_top(vf v) {
#if defined(__AVX512F__)
    __m256 eight = _mm256_max_ps(_mm512_extractf32x8_ps((__m512)v, 1), _mm512_castps512_ps256((__m512)v));
#elif defined(__AVX2__)
    __m256 eight = (__m256)v;
#endif
#if defined(__AVX2__)
    __m128 four = _mm_max_ps(_mm256_extractf128_ps(eight, 1), _mm256_castps256_ps128(eight));
    four = _mm_max_ps(_mm_movehl_ps(four, four), four);
    return _mm_cvtss_f32(_mm_max_ss(_mm_movehdup_ps(four), four));
#else
    float top = v[0];
    for (size_t lane = 1; lane < SS_LANES; lane++) top = v[lane] > top ? v[lane] : top;
    return top;
#endif
}

#endif
