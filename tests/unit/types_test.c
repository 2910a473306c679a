/* Element types: sizes, exact conversion against an independent computation, rounding to bfloat16. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/team.h"
#include "math/types.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The value of a small float from its fields, in double: sign, exponent of `bits` - 1 - mantissa bits. */
static double value_of_fields(unsigned word, int exponent_bits, int mantissa_bits) {
    int top = (1 << exponent_bits) - 1, bias = top / 2;
    int exponent = (int)(word >> mantissa_bits) & top;
    double mantissa = word & ((1u << mantissa_bits) - 1), sign = word & 0x8000 ? -1 : 1;
    if (exponent == top) return mantissa != 0 ? NAN : sign * INFINITY;
    if (exponent == 0) return sign * ldexp(mantissa, 1 - bias - mantissa_bits);
    return sign * ldexp(mantissa + ldexp(1, mantissa_bits), exponent - bias - mantissa_bits);
}

static void assert_same(double wanted, double found) {
    if (isnan(wanted)) {
        assert_true(isnan(found));
        return;
    }
    assert_true(wanted == found && signbit(wanted) == signbit(found));
}

static void check_all_words(ss_type type, int exponent_bits, int mantissa_bits) {
    uint16_t *words = malloc(65536 * sizeof *words);
    float *f32 = malloc(65536 * sizeof *f32);
    double *f64 = malloc(65536 * sizeof *f64);
    for (unsigned i = 0; i < 65536; i++) words[i] = (uint16_t)i;
    ss_to_f32(type, words, 65536, f32);
    ss_to_f64(type, words, 65536, f64);
    for (unsigned i = 0; i < 65536; i++) {
        double wanted = value_of_fields(i, exponent_bits, mantissa_bits);
        assert_same(wanted, (double)f32[i]);
        assert_same(wanted, f64[i]);
    }
    free(words);
    free(f32);
    free(f64);
}

static void every_f16_converts_exactly(void **state) {
    (void)state;
    check_all_words(SS_TYPE_F16, 5, 10);
}

static void every_bf16_converts_exactly(void **state) {
    (void)state;
    check_all_words(SS_TYPE_BF16, 8, 7);
}

typedef struct subnormals {
    uint16_t words[1024];
    float values[1024];
} subnormals;

static void convert_range(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    subnormals *s = context;
    ss_to_f32(SS_TYPE_F16, s->words + begin, end - begin, s->values + begin);
}

static void f16_subnormals_survive_flush_to_zero(void **state) {
    (void)state;
    subnormals s;
    for (unsigned i = 0; i < 1024; i++) s.words[i] = (uint16_t)i;
    ss_team_split(2, 1024, convert_range, &s); /* the team flushes subnormals */
    for (unsigned i = 0; i < 1024; i++) assert_true((double)s.values[i] == ldexp(i, -24));
}

static uint32_t next_random(uint32_t *seed) {
    return *seed = *seed * 1664525u + 1013904223u;
}

/* The formulas of math/types.h, item by item, in double. `block` is as it lies in a file. */
static double quantised_value(ss_type type, const unsigned char *block, int i) {
    double scale = value_of_fields(block[0] | (unsigned)block[1] << 8, 5, 10);
    double offset = value_of_fields(block[2] | (unsigned)block[3] << 8, 5, 10);
    const unsigned char *nibbles = block + (type == SS_TYPE_Q4_1 ? 4 : 2);
    int q = i < 16 ? nibbles[i] & 15 : nibbles[i - 16] >> 4;
    if (type == SS_TYPE_Q4_0) return scale * (q - 8);
    if (type == SS_TYPE_Q4_1) return scale * q + offset;
    return scale * (block[2 + i] < 128 ? block[2 + i] : block[2 + i] - 256);
}

static void check_quantised(ss_type type) {
    enum { BLOCKS = 500, COUNT = BLOCKS * 32 };
    size_t size = ss_type_block_bytes(type), bytes;
    assert_true(ss_type_bytes(type, COUNT, &bytes));
    unsigned char *packed = malloc(bytes + 1), *blocks = packed + 1; /* unaligned on purpose */
    float *f32 = malloc(COUNT * sizeof *f32);
    double *f64 = malloc(COUNT * sizeof *f64);
    uint32_t seed = 7;
    for (size_t i = 0; i < bytes; i++) blocks[i] = (unsigned char)(next_random(&seed) >> 24);
    for (size_t b = 0; b < BLOCKS; b++) { /* finite scale and offset */
        blocks[b * size + 1] &= 0xBB;
        if (type == SS_TYPE_Q4_1) blocks[b * size + 3] &= 0xBB;
    }
    ss_to_f32(type, blocks, COUNT, f32);
    ss_to_f64(type, blocks, COUNT, f64);
    for (size_t i = 0; i < COUNT; i++) {
        double wanted = quantised_value(type, blocks + i / 32 * size, (int)(i % 32));
        assert_true(f64[i] == wanted);
        assert_true(f32[i] == (float)wanted); /* one rounding at most */
    }
    free(packed);
    free(f32);
    free(f64);
}

static void quantised_blocks_follow_their_formulas(void **state) {
    (void)state;
    check_quantised(SS_TYPE_Q4_0);
    check_quantised(SS_TYPE_Q4_1);
    check_quantised(SS_TYPE_Q8_0);
}

#define CHECK_PLAIN(type, stored, ...)                                                                       \
    do {                                                                                                     \
        const stored values[] = {__VA_ARGS__};                                                               \
        enum { COUNT = sizeof values / sizeof *values };                                                     \
        unsigned char bytes[sizeof values + 1];                                                              \
        float f32[COUNT];                                                                                    \
        double f64[COUNT];                                                                                   \
        memcpy(bytes + 1, values, sizeof values);                                                            \
        ss_to_f32(type, bytes + 1, COUNT, f32);                                                              \
        ss_to_f64(type, bytes + 1, COUNT, f64);                                                              \
        for (int i = 0; i < COUNT; i++) {                                                                    \
            assert_true(f32[i] == (float)values[i]);                                                         \
            assert_true(f64[i] == (double)values[i]);                                                        \
        }                                                                                                    \
    } while (0)

static void plain_types_convert_at_any_alignment(void **state) {
    (void)state;
    CHECK_PLAIN(SS_TYPE_F64, double, 0.1, -1e300, 3);
    CHECK_PLAIN(SS_TYPE_F32, float, 0.1f, -1e30f, 1e-45f);
    CHECK_PLAIN(SS_TYPE_I8, int8_t, -128, 127, 0);
    CHECK_PLAIN(SS_TYPE_U8, uint8_t, 255, 1);
    CHECK_PLAIN(SS_TYPE_I16, int16_t, -32768, 32767);
    CHECK_PLAIN(SS_TYPE_U16, uint16_t, 65535, 1);
    CHECK_PLAIN(SS_TYPE_I32, int32_t, INT32_MIN, 16777217);
    CHECK_PLAIN(SS_TYPE_U32, uint32_t, UINT32_MAX, 3);
    CHECK_PLAIN(SS_TYPE_I64, int64_t, INT64_MIN, 9007199254740993);
    CHECK_PLAIN(SS_TYPE_U64, uint64_t, UINT64_MAX, 5);
}

static void any_nonzero_byte_is_true(void **state) {
    (void)state;
    const unsigned char bytes[] = {0, 1, 7, 255};
    float values[4];
    ss_to_f32(SS_TYPE_BOOL, bytes, 4, values);
    assert_true(values[0] == 0 && values[1] == 1 && values[2] == 1 && values[3] == 1);
}

/* The nearest of the two bfloat16 neighbours of a finite float, ties to the even one, by comparing distances.
 */
static uint16_t nearest_bf16(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    uint16_t below = (uint16_t)(bits >> 16), above = (uint16_t)(below + 1);
    double down = fabs(x - value_of_fields(below, 8, 7)), up;
    double next = value_of_fields(above, 8, 7);
    up = isinf(next) ? ldexp(1, 128) - fabs((double)x) : fabs(next - (double)x);
    if (down != up) return down < up ? below : above;
    return below % 2 == 0 ? below : above;
}

static void f32_rounds_to_the_nearest_bf16(void **state) {
    (void)state;
    enum { RUN = 61 /* vectors and what is left over */ };
    uint32_t seed = 3;
    for (int i = 0; i < 5000; i++) {
        uint32_t bits[RUN];
        float x[RUN];
        uint16_t rounded[RUN];
        for (size_t k = 0; k < RUN; k++) {
            bits[k] = next_random(&seed);
            if (k % 3 == 0) bits[k] = (bits[k] & 0xFFFF0000) | 0x8000; /* exact ties */
        }
        memcpy(x, bits, sizeof x);
        for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
            SS_PICK_LEVEL(isa, ss_f32_to_bf16)(x, RUN, rounded);
            for (size_t k = 0; k < RUN; k++) {
                if (isnan(x[k]))
                    assert_true(isnan(value_of_fields(rounded[k], 8, 7)));
                else
                    assert_int_equal(rounded[k], isinf(x[k]) ? bits[k] >> 16 : nearest_bf16(x[k]));
            }
        }
    }
}

static void every_bf16_survives_the_round_trip(void **state) {
    (void)state;
    for (unsigned i = 0; i < 65536; i++) {
        uint16_t word = (uint16_t)i, back;
        float x;
        ss_to_f32(SS_TYPE_BF16, &word, 1, &x);
        SS_PICK_LEVEL(ss_isa_best(), ss_f32_to_bf16)(&x, 1, &back);
        if (isnan(x))
            assert_true(isnan(value_of_fields(back, 8, 7)));
        else
            assert_int_equal(word, back);
    }
}

static void byte_counts_refuse_overflow_and_partial_blocks(void **state) {
    (void)state;
    size_t bytes = 77;
    assert_true(ss_type_bytes(SS_TYPE_Q4_1, 64, &bytes));
    assert_int_equal(bytes, 40);
    assert_true(ss_type_bytes(SS_TYPE_F64, 0, &bytes));
    assert_int_equal(bytes, 0);
    bytes = 77;
    assert_false(ss_type_bytes(SS_TYPE_Q8_0, 33, &bytes));
    assert_false(ss_type_bytes(SS_TYPE_F64, SIZE_MAX / 4, &bytes));
    assert_false(ss_type_bytes(SS_TYPE_NONE, 1, &bytes));
    assert_int_equal(bytes, 77);
}

static void names_and_types_map_both_ways(void **state) {
    (void)state;
    for (int type = SS_TYPE_NONE + 1; type < SS_TYPE_END; type++)
        assert_int_equal(ss_type_named(ss_type_name((ss_type)type)), type);
    assert_int_equal(ss_type_named("F8_E4M3"), SS_TYPE_NONE);
    assert_int_equal(ss_type_named("none"), SS_TYPE_NONE);
    assert_string_equal(ss_type_name(SS_TYPE_NONE), "none");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_f16_converts_exactly),
        cmocka_unit_test(every_bf16_converts_exactly),
        cmocka_unit_test(f16_subnormals_survive_flush_to_zero),
        cmocka_unit_test(quantised_blocks_follow_their_formulas),
        cmocka_unit_test(plain_types_convert_at_any_alignment),
        cmocka_unit_test(any_nonzero_byte_is_true),
        cmocka_unit_test(f32_rounds_to_the_nearest_bf16),
        cmocka_unit_test(every_bf16_survives_the_round_trip),
        cmocka_unit_test(byte_counts_refuse_overflow_and_partial_blocks),
        cmocka_unit_test(names_and_types_map_both_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
