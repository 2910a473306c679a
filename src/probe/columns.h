/* Sums over a block of rows, column by column: how much weight each key got.
 * Relies on: math/isa. Pure functions, safe from any thread. */
#ifndef SS_PROBE_COLUMNS_H
#define SS_PROBE_COLUMNS_H

#include "math/isa.h"

#include <stddef.h>

/* sums[j] += sum over r of scale[r] * weights[r * stride + j], for `columns` columns of `rows` rows. In
 * float32: keep `rows` small, and move the sums to doubles with ss_columns_close. */
void ss_columns_add(ss_isa isa, const float *weights, size_t stride, const float *scale /* [rows] */,
                    size_t rows, size_t columns, float *sums /* [columns] */);

/* totals[j] += sums[j]; then sums[j] = 0. */
void ss_columns_close(ss_isa isa, float *sums /* [columns] */, size_t columns,
                      double *totals /* [columns] */);

/* The sum of `count` floats, in double. */
double ss_columns_total(ss_isa isa, const float *sums, size_t count);

SS_DECLARE_LEVELS(void, ss_columns_add,
                  (const float *weights, size_t stride, const float *scale, size_t rows, size_t columns,
                   float *sums))
SS_DECLARE_LEVELS(void, ss_columns_close, (float *sums, size_t columns, double *totals))
SS_DECLARE_LEVELS(double, ss_columns_total, (const float *sums, size_t count))

#endif
