/* Vector exp, tanh and erf for *_simd.c files: the only user of SLEEF. Each is within 1.0 ulp of the true
 * value (SLEEF's u10 kernels); exp flushes to zero below about -104. Relies on: math/simd.h, SLEEF. */
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

static inline vf vf_exp(vf x) {
    return (vf)SS_SLEEF(exp)((ss_sleef_vf)x);
}
static inline vf vf_tanh(vf x) {
    return (vf)SS_SLEEF(tanh)((ss_sleef_vf)x);
}
static inline vf vf_erf(vf x) {
    return (vf)SS_SLEEF(erf)((ss_sleef_vf)x);
}

#endif
