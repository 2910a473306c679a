/* Picks the level of ss_extent_of. Relies on: probe/extent_simd. */
#include "probe/extent.h"

ss_extent ss_extent_of(ss_isa isa, const float *x, size_t count) {
    return SS_PICK_LEVEL(isa, ss_extent_of)(x, count);
}
