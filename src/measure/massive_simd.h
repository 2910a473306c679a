/* Passes over a hidden state, one set per instruction set level. Relies on: math/isa. */
#ifndef SS_MEASURE_MASSIVE_SIMD_H
#define SS_MEASURE_MASSIVE_SIMD_H

#include "math/isa.h"

#include <stddef.h>
#include <stdint.h>

/* The largest abs(x) and the sum of squares of values[0..count); *square is infinite or NaN if any value is.
 */
SS_DECLARE_LEVELS(float, ss_massive_norm, (const float *values, size_t count, double *square))

/* Magnitudes below are bits of floats that are not negative; bounds are at most those of infinity.
 *
 * How many abs(x) are below each of the three bounds. */
SS_DECLARE_LEVELS(void, ss_massive_below,
                  (const float *values, size_t count, const uint32_t *bounds /* [3] */,
                   size_t *below /* [3] */))

/* Copy abs(x) of those in [low, high) to picked[], up to `room`; returns how many there are. */
SS_DECLARE_LEVELS(size_t, ss_massive_pick,
                  (const float *values, size_t count, uint32_t low, uint32_t high, uint32_t *picked,
                   size_t room))

#endif
