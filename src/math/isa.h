/* Instruction sets: which level this processor has, and which one a call uses.
 *
 * Kernels live in files named *_simd.c, written once over math/simd.h and compiled once per level; each
 * function's name gets its level's suffix through SS_AT_LEVEL. Its header declares all levels, and a plain
 * file picks one:
 *
 *     SS_DECLARE_LEVELS(bool, ss_all_finite, (const float *x, size_t count))      // scan.h
 *     ... SS_PICK_LEVEL(isa, ss_all_finite)(x, count) ...                         // scan.c
 *
 * Relies on: the compiler's processor detection. */
#ifndef SS_MATH_ISA_H
#define SS_MATH_ISA_H

#include "softscope.h"

#if defined(__x86_64__)
#define SS_DECLARE_LEVELS(type, name, parameters)                                                            \
    type name##_base parameters;                                                                             \
    type name##_avx2 parameters;                                                                             \
    type name##_avx512 parameters;
#define SS_PICK_LEVEL(isa, name)                                                                             \
    ((isa) == SS_ISA_AVX512 ? name##_avx512 : (isa) == SS_ISA_AVX2 ? name##_avx2 : name##_base)
#else
#define SS_DECLARE_LEVELS(type, name, parameters) type name##_base parameters;
#define SS_PICK_LEVEL(isa, name)                  ((void)(isa), name##_base)
#endif

#endif
