/* Vector exp, tanh and erf for *_simd.c files: the only user of SLEEF, whose tanh and erf are within 1.0 ulp
 * of the true value. Relies on: math/simd.h, SLEEF. */
#ifndef SS_MATH_SIMD_EXP_H
#define SS_MATH_SIMD_EXP_H

#include "math/simd.h"

#include <sleef.h>

#if defined(__AVX512F__)
#define SS_SLEEF(function) Sleef_##function##f16_u10avx512f
typedef __m512 ss_sleef_vf;
#elif defined(__AVX2__)
#define SS_SLEEF(function) Sleef_##function##f8_u10avx2
typedef __m256 ss_sleef_vf;
#elif defined(__x86_64__)
#define SS_SLEEF(function) Sleef_##function##f4_u10sse2
typedef __m128 ss_sleef_vf;
#else
#define SS_SLEEF(function) Sleef_##function##f4_u10
typedef vf ss_sleef_vf;
#endif

/* x 2^n for whole numbers n */
static inline vf vf_scale(vf x, vf n) {
#if defined(__AVX512F__)
    return (vf)_mm512_scalef_ps((__m512)x, (__m512)n);
#else
    /* in two steps: one factor alone would leave the exponents there are */
    vi whole = __builtin_convertvector(n, vi), first = whole >> 1, second = whole - first;
    return x * (vf)((first + 127) << 23) * (vf)((second + 127) << 23);
#endif
}

/* e^x within 1.1 ulp where the result is a normal number; 0 below -104, infinity above 88.73, NaN for NaN. It
 * is 2^n e^r with n whole and abs(r) <= log(2) / 2, and the polynomial that Cephes has for e^r in float32.
 * Not SLEEF's, as a call a vector makes a loop spill all that it keeps in registers: softmax took half as
 * long again. */
static inline vf vf_exp(vf x) {
    const float to_whole = 12582912.0f; /* 1.5 * 2^23: adding it leaves no fraction */
    x = vf_min(vf_all(89), vf_max(vf_all(-105), x));
    vf n = (x * 1.44269504f + to_whole) - to_whole;
    vf r = (x - n * 0.693359375f) + n * 2.12194440e-4f; /* log(2) in two parts, the first of few bits */
    vf p = 1.9875691500e-4f * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    return vf_scale(p * (r * r) + r + 1.0f, n);
}

static inline vf vf_tanh(vf x) {
    return (vf)SS_SLEEF(tanh)((ss_sleef_vf)x);
}
static inline vf vf_erf(vf x) {
    return (vf)SS_SLEEF(erf)((ss_sleef_vf)x);
}

#endif
