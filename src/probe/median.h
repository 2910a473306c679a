/* The exact median magnitude of millions of floats, by counting: no sort, no copy, the team shares each pass.
 * Relies on: base/team. */
#ifndef SS_PROBE_MEDIAN_H
#define SS_PROBE_MEDIAN_H

#include <stddef.h>
#include <stdint.h>

#define SS_MEDIAN_BINS ((size_t)2048)

/* Median of abs(x[i]), i < count, count >= 1; the mean of the middle two when count is even. NaN and infinity
 * count as the largest. `bins` is workspace. */
double ss_median_abs(int workers, const float *x, size_t count,
                     uint64_t *bins /* [workers][SS_MEDIAN_BINS] */);

#endif
