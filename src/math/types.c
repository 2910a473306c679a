/* The element types' table and conversions. Relies on: math/types_loops.h, little-endian float formats. */
#include "math/types.h"

#include <string.h>

enum { BLOCK = 32 }; /* elements in a block of every quantised type here */

static inline float float_of_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline float bf16_value(uint16_t bits) {
    return float_of_bits((uint32_t)bits << 16);
}

static inline uint32_t all_ones_if(bool condition) {
    return 0u - (uint32_t)condition;
}

/* Three cases by exponent, all computed and one picked by masks, so that loops become vector code
 * (with ?: in place of the masks GCC branches, and takes four times as long):
 *   normal     rebias the exponent from 15 to 127
 *   subnormal  m 2^-24 = (1 + m 2^-10) 2^-14 - 2^-14: no subnormal operand, so flush-to-zero cannot touch it
 *   inf, NaN   exponent 31 becomes 255 */
static inline float f16_value(uint16_t half) {
    uint32_t sign = (uint32_t)(half & 0x8000) << 16, rest = (uint32_t)(half & 0x7FFF) << 13;
    uint32_t exponent = rest & 0x0F800000, rebias = 112u << 23, bits = rest + rebias;
    uint32_t subnormal;
    float difference = float_of_bits(bits + (1u << 23)) - float_of_bits(113u << 23);
    memcpy(&subnormal, &difference, sizeof subnormal);
    bits += rebias & all_ones_if(exponent == 0x0F800000);
    uint32_t pick = all_ones_if(exponent == 0);
    return float_of_bits(sign | (subnormal & pick) | (bits & ~pick));
}

static inline float f16_at(const unsigned char *source) {
    uint16_t half;
    memcpy(&half, source, sizeof half);
    return f16_value(half);
}

#define WIDE     float
#define AS(name) name##_to_f32
#include "math/types_loops.h"
#undef WIDE
#undef AS

#define WIDE     double
#define AS(name) name##_to_f64
#include "math/types_loops.h"
#undef WIDE
#undef AS

typedef struct type_facts {
    const char *name;
    size_t elements, bytes;
} type_facts;

static const type_facts *facts_of(ss_type type) {
    static const type_facts table[] = {[SS_TYPE_NONE] = {"none", 0, 0},
#define TYPE_FACTS(type_, name, elements, bytes) [type_] = {name, elements, bytes},
                                       SS_TYPE_LIST(TYPE_FACTS)
#undef TYPE_FACTS
    };
    size_t index = (size_t)type;
    return &table[index < SS_TYPE_END ? index : SS_TYPE_NONE];
}

/* X(type, loop) */
#define LOOP_LIST(X)                                                                                         \
    X(SS_TYPE_F64, from_f64)                                                                                 \
    X(SS_TYPE_F32, from_f32)                                                                                 \
    X(SS_TYPE_F16, from_f16)                                                                                 \
    X(SS_TYPE_BF16, from_bf16)                                                                               \
    X(SS_TYPE_Q4_0, from_q4_0)                                                                               \
    X(SS_TYPE_Q4_1, from_q4_1)                                                                               \
    X(SS_TYPE_Q8_0, from_q8_0)                                                                               \
    X(SS_TYPE_I8, from_i8)                                                                                   \
    X(SS_TYPE_U8, from_u8)                                                                                   \
    X(SS_TYPE_I16, from_i16)                                                                                 \
    X(SS_TYPE_U16, from_u16)                                                                                 \
    X(SS_TYPE_I32, from_i32)                                                                                 \
    X(SS_TYPE_U32, from_u32)                                                                                 \
    X(SS_TYPE_I64, from_i64)                                                                                 \
    X(SS_TYPE_U64, from_u64)                                                                                 \
    X(SS_TYPE_BOOL, from_bool)

const char *ss_type_name(ss_type type) {
    return facts_of(type)->name;
}

ss_type ss_type_named(const char *name) {
    for (int type = SS_TYPE_NONE + 1; type < SS_TYPE_END; type++)
        if (strcmp(facts_of((ss_type)type)->name, name) == 0) return (ss_type)type;
    return SS_TYPE_NONE;
}

size_t ss_type_block_elements(ss_type type) {
    return facts_of(type)->elements;
}

size_t ss_type_block_bytes(ss_type type) {
    return facts_of(type)->bytes;
}

bool ss_type_bytes(ss_type type, size_t count, size_t *bytes) {
    const type_facts *facts = facts_of(type);
    if (facts->elements == 0 || count % facts->elements != 0) return false;
    size_t product;
    if (!ss_mul_size(count / facts->elements, facts->bytes, &product)) return false;
    *bytes = product;
    return true;
}

void ss_to_f32(ss_type type, const void *source, size_t count, float *out) {
    switch (type) {
#define TO_F32(type_, loop)                                                                                  \
    case type_:                                                                                              \
        loop##_to_f32(source, count, out);                                                                   \
        break;
        LOOP_LIST(TO_F32)
#undef TO_F32
    case SS_TYPE_NONE:
    case SS_TYPE_END:
        break;
    }
}

void ss_to_f64(ss_type type, const void *source, size_t count, double *out) {
    switch (type) {
#define TO_F64(type_, loop)                                                                                  \
    case type_:                                                                                              \
        loop##_to_f64(source, count, out);                                                                   \
        break;
        LOOP_LIST(TO_F64)
#undef TO_F64
    case SS_TYPE_NONE:
    case SS_TYPE_END:
        break;
    }
}
