/* Is anything not finite? Relies on: math/isa. Thread-safe. */
#ifndef SS_PROBE_SCAN_H
#define SS_PROBE_SCAN_H

#include "math/isa.h"

#include <stdbool.h>
#include <stddef.h>

/* True when none of x[count] is NaN or infinite. */
bool ss_all_finite(ss_isa isa, const float *x, size_t count);

SS_DECLARE_LEVELS(bool, ss_all_finite, (const float *x, size_t count))

#endif
