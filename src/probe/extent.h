/* The size of one vector. Relies on: math/isa. Thread-safe. */
#ifndef SS_PROBE_EXTENT_H
#define SS_PROBE_EXTENT_H

#include "math/isa.h"

#include <stddef.h>

typedef struct ss_extent {
    double square; /* sum of squares; not finite when a value is not */
    float max_abs; /* means nothing then */
} ss_extent;

ss_extent ss_extent_of(ss_isa isa, const float *x, size_t count);

SS_DECLARE_LEVELS(ss_extent, ss_extent_of, (const float *x, size_t count))

#endif
