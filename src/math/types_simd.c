/* Rounding to bfloat16. One plain loop: the compiler makes of it what each level offers. Relies on: math/simd
 * for the level's name. */
#include "math/types.h"

#include "math/simd.h"

void SS_AT_LEVEL(ss_f32_to_bf16)(const float *restrict source, size_t count, uint16_t *restrict out) {
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, source + i, sizeof bits);
        /* half of the last place that stays, less one when that place is even: ties go to even */
        uint32_t rounded = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
        out[i] = (uint16_t)((bits & 0x7FFFFFFF) > 0x7F800000 ? quiet : rounded);
    }
}
