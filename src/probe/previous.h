/* Where a text repeats itself. Relies on: base/mem. */
#ifndef SS_PROBE_PREVIOUS_H
#define SS_PROBE_PREVIOUS_H

#include "base/mem.h"

#define SS_NO_PREVIOUS UINT32_MAX

/* previous[t] = the last position before t that has the same id, or SS_NO_PREVIOUS. O(T) time and memory
 * whatever the ids; false when memory ran out. */
bool ss_previous_occurrences(const ss_allocator *memory, const uint32_t *ids, size_t tokens,
                             uint32_t *previous);

#endif
