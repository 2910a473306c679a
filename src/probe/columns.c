/* Picks the level of the column kernels. Relies on: probe/columns_simd. */
#include "probe/columns.h"

void ss_columns_add(ss_isa isa, const float *weights, size_t stride, const float *scale, size_t rows,
                    size_t columns, float *sums) {
    SS_PICK_LEVEL(isa, ss_columns_add)(weights, stride, scale, rows, columns, sums);
}

void ss_columns_close(ss_isa isa, float *sums, size_t columns, double *totals) {
    SS_PICK_LEVEL(isa, ss_columns_close)(sums, columns, totals);
}

double ss_columns_total(ss_isa isa, const float *sums, size_t count) {
    return SS_PICK_LEVEL(isa, ss_columns_total)(sums, count);
}
