/* The measures of a row whose weights are doubles, for dumps in float64 and rows of logits: what measure/row
 * says of float rows, in plain loops, with the digits of doubles. Relies on: measure/row (what is measured),
 * measure/theta. Pure functions, safe from any thread. */
#ifndef SS_MEASURE_ROW_DOUBLE_H
#define SS_MEASURE_ROW_DOUBLE_H

#include "measure/row.h"

/* Bytes of workspace for rows of up to n weights, aligned to 64 bytes. */
size_t ss_row_double_workspace(size_t n);

/* Everything in ss_row_measures. Weights are >= 0 and finite, not all zero, and need not sum to 1; n >= 1.
 * `theta_budget` as for ss_row_measure. */
void ss_row_measure_double(ss_isa isa, const double *weights /* [n] */, size_t n, uint64_t theta_budget,
                           void *workspace, ss_row_measures *out);

#endif
