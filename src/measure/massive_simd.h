/* Passes over a hidden state, one set per instruction set level. Relies on: math/isa. */
#ifndef SS_MEASURE_MASSIVE_SIMD_H
#define SS_MEASURE_MASSIVE_SIMD_H

#include "math/isa.h"

#include <stddef.h>

/* The largest abs(x) and the sum of squares of values[0..count); *square is infinite or NaN if any value is.
 */
SS_DECLARE_LEVELS(float, ss_massive_norm, (const float *values, size_t count, double *square))

/* How many abs(x) are below each of the three bounds, which ascend. */
SS_DECLARE_LEVELS(void, ss_massive_below,
                  (const float *values, size_t count, const float *bounds /* [3] */, size_t *below /* [3] */))

/* Copy abs(x) of those in [low, high) to picked[], up to `room`; returns how many there are. */
SS_DECLARE_LEVELS(size_t, ss_massive_pick,
                  (const float *values, size_t count, float low, float high, float *picked, size_t room))

#endif
