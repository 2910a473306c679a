/* Element types of stored numbers, their sizes, and exact conversion to float32.
 *
 * Sources of conversions may have any alignment: they usually lie in a memory-mapped file. Multi-byte items
 * are little-endian, as the files that hold them and the machines this library runs on.
 * Relies on: base/mem (size arithmetic). Pure functions: any thread may call them. */
#ifndef SS_MATH_TYPES_H
#define SS_MATH_TYPES_H

#include "base/mem.h"
#include "math/isa.h"

/* X(type, name, elements in a block, bytes in a block). The blocks of llama.cpp's quantised types hold
 *     Q4_0: f16 scale d; 16 bytes q                 x[i] = d (q[i] - 8)
 *     Q4_1: f16 scale d; f16 offset m; 16 bytes q   x[i] = d q[i] + m
 *     Q8_0: f16 scale d; 32 int8 q                  x[i] = d q[i]
 * where the 4-bit q of items 0..15 are the low halves of the 16 bytes, and of items 16..31 the high ones. */
#define SS_TYPE_LIST(X)                                                                                      \
    X(SS_TYPE_F64, "F64", 1, 8)                                                                              \
    X(SS_TYPE_F32, "F32", 1, 4)                                                                              \
    X(SS_TYPE_F16, "F16", 1, 2)                                                                              \
    X(SS_TYPE_BF16, "BF16", 1, 2)                                                                            \
    X(SS_TYPE_Q4_0, "Q4_0", 32, 18)                                                                          \
    X(SS_TYPE_Q4_1, "Q4_1", 32, 20)                                                                          \
    X(SS_TYPE_Q8_0, "Q8_0", 32, 34)                                                                          \
    X(SS_TYPE_I8, "I8", 1, 1)                                                                                \
    X(SS_TYPE_U8, "U8", 1, 1)                                                                                \
    X(SS_TYPE_I16, "I16", 1, 2)                                                                              \
    X(SS_TYPE_U16, "U16", 1, 2)                                                                              \
    X(SS_TYPE_I32, "I32", 1, 4)                                                                              \
    X(SS_TYPE_U32, "U32", 1, 4)                                                                              \
    X(SS_TYPE_I64, "I64", 1, 8)                                                                              \
    X(SS_TYPE_U64, "U64", 1, 8)                                                                              \
    X(SS_TYPE_BOOL, "BOOL", 1, 1)

typedef enum ss_type {
    SS_TYPE_NONE, /* a type that this library does not read */
#define SS_TYPE_ENUM(type, name, elements, bytes) type,
    SS_TYPE_LIST(SS_TYPE_ENUM)
#undef SS_TYPE_ENUM
        SS_TYPE_END
} ss_type;

/* I8 .. U64; BOOL is none. */
static inline bool ss_type_is_integer(ss_type type) {
    return type >= SS_TYPE_I8 && type <= SS_TYPE_U64;
}

/* "F32", "Q4_1", ...; "none" for SS_TYPE_NONE and anything else. Never NULL. */
const char *ss_type_name(ss_type type);

/* The type of that name, SS_TYPE_NONE when there is none. */
ss_type ss_type_named(const char *name);

/* Elements and bytes of one block: (1, size of the item) for plain types, (0, 0) for SS_TYPE_NONE. */
size_t ss_type_block_elements(ss_type type);
size_t ss_type_block_bytes(ss_type type);

/* Bytes of `count` elements. False when `count` is no whole number of blocks, the product overflows or the
 * type is SS_TYPE_NONE; *bytes is then as it was. */
bool ss_type_bytes(ss_type type, size_t count, size_t *bytes);

/* out[0..count-1] = the values of `count` elements at `source`; count must be a whole number of blocks, the
 * type not SS_TYPE_NONE, and the memory must not overlap. Exact for F32, F16, BF16 (a signalling NaN may
 * become quiet), Q4_0, Q8_0, BOOL and integers of 8 and 16 bits; one rounding to nearest for the others
 * (Q4_1: of the sum; its product is exact). F16 subnormals keep their value where the processor flushes
 * subnormals. */
void ss_to_f32(ss_type type, const void *source, size_t count, float *out /* [count] */);

/* The same in double, where every type but I64 and U64 beyond 2^53 is exact. */
void ss_to_f64(ss_type type, const void *source, size_t count, double *out /* [count] */);

/* Round to nearest, ties to even; NaN stays NaN (quiet). The arrays must not overlap. */
SS_DECLARE_LEVELS(void, ss_f32_to_bf16,
                  (const float *source /* [count] */, size_t count, uint16_t *out /* [count] */))

#endif
