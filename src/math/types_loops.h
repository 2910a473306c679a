/* The conversion loops of math/types.c, which includes this file once with WIDE float and once with WIDE
 * double; AS(name) adds the type's suffix. Plain loops over bytes that compilers turn into vector code: no
 * branches, memcpy for loads because sources may be unaligned. Relies on: f16_value, bf16_value. */

/* out[i] = source[i] for items of a plain stored type */
#define COPY_LOOP(name, stored, value)                                                                       \
    static void AS(name)(const unsigned char *restrict source, size_t count, WIDE *restrict out) {           \
        for (size_t i = 0; i < count; i++) {                                                                 \
            stored x;                                                                                        \
            memcpy(&x, source + i * sizeof x, sizeof x);                                                     \
            out[i] = (WIDE)(value);                                                                          \
        }                                                                                                    \
    }
COPY_LOOP(from_f64, double, x)
COPY_LOOP(from_f32, float, x)
COPY_LOOP(from_f16, uint16_t, f16_value(x))
COPY_LOOP(from_bf16, uint16_t, bf16_value(x))
COPY_LOOP(from_i8, int8_t, x)
COPY_LOOP(from_u8, uint8_t, x)
COPY_LOOP(from_i16, int16_t, x)
COPY_LOOP(from_u16, uint16_t, x)
COPY_LOOP(from_i32, int32_t, x)
COPY_LOOP(from_u32, uint32_t, x)
COPY_LOOP(from_i64, int64_t, x)
COPY_LOOP(from_u64, uint64_t, x)
COPY_LOOP(from_bool, uint8_t, x != 0)
#undef COPY_LOOP

/* 32 values scale * (q - middle) + offset from 16 bytes of 4-bit q: low halves first, then high halves */
static inline void AS(unpack_nibbles)(const unsigned char *restrict q, WIDE scale, int middle, WIDE offset,
                                      WIDE *restrict out) {
    for (int i = 0; i < BLOCK / 2; i++) {
        out[i] = scale * (WIDE)((q[i] & 15) - middle) + offset;
        out[i + BLOCK / 2] = scale * (WIDE)((q[i] >> 4) - middle) + offset;
    }
}

static void AS(from_q4_0)(const unsigned char *restrict source, size_t count, WIDE *restrict out) {
    for (size_t i = 0; i < count; i += BLOCK, source += 18)
        AS(unpack_nibbles)(source + 2, f16_at(source), 8, 0, out + i);
}

static void AS(from_q4_1)(const unsigned char *restrict source, size_t count, WIDE *restrict out) {
    for (size_t i = 0; i < count; i += BLOCK, source += 20)
        AS(unpack_nibbles)(source + 4, f16_at(source), 0, f16_at(source + 2), out + i);
}

static void AS(from_q8_0)(const unsigned char *restrict source, size_t count, WIDE *restrict out) {
    for (size_t i = 0; i < count; i += BLOCK, source += 34) {
        WIDE scale = f16_at(source);
        for (size_t j = 0; j < BLOCK; j++) out[i + j] = scale * (WIDE)(int8_t)source[2 + j];
    }
}
