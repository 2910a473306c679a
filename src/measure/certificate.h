/* The greedy certificate of seed 000, D.2: of the sums of the k largest atoms, the one nearest to half. It
 * needs no sort: only the atoms around the weighted median. Relies on: measure/row_simd. */
#ifndef SS_MEASURE_CERTIFICATE_H
#define SS_MEASURE_CERTIFICATE_H

#include "math/isa.h"

#include <stddef.h>

/* The distance from total / 2 of the nearest sum of k largest weights. `largest` is the largest weight;
 * `picked` has room for 2 (n + SS_ROW_PAD) floats. */
double ss_certificate_gap(ss_isa isa, const float *weights /* [n] */, size_t n, double total, float largest,
                          float *picked);

#endif
