/* The greedy certificate of seed 000, D.2: of the sums of the k largest atoms, the one nearest to half. It
 * needs no sort: only the atoms around the weighted median. Relies on: measure/row_simd. */
#ifndef SS_MEASURE_CERTIFICATE_H
#define SS_MEASURE_CERTIFICATE_H

#include "math/isa.h"

#include <stddef.h>

typedef struct ss_certificate {
    double gap;   /* distance from total / 2 of the nearest sum of k largest weights, k >= 1 */
    size_t under; /* how many of the largest weights sum to less than half. Where n = 2 under + 1, no subset
                     is nearer to half: smaller ones weigh at most as the `under` largest, and their
                     complements are the others */
} ss_certificate;

/* Of a row that weighs `total`; `weights` are all of it, or its heaviest n if their `sum` is above half of
 * that. `largest` is the largest weight; `picked` has room for 2 (n + SS_ROW_PAD) floats. */
ss_certificate ss_certify(ss_isa isa, const float *weights /* [n] */, size_t n, double sum, double total,
                          float largest, float *picked);

#endif
