/* Picks the level of the scan. Relies on: probe/scan_simd. */
#include "probe/scan.h"

bool ss_all_finite(ss_isa isa, const float *x, size_t count) {
    return SS_PICK_LEVEL(isa, ss_all_finite)(x, count);
}
