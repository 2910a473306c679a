/* Column sums: rows are read once, straight down, eight vectors of columns at a time, so that the sums stay
 * in registers and every row is read in whole cache lines. Plain twin: tests/unit/probe_keys_test.c. Relies
 * on: math/simd. */
#include "probe/columns.h"

#include "math/simd.h"

#define WIDE 8 /* vectors of a step: enough to hide the latency of the additions */

static inline void add_wide(const float *weights, size_t stride, const float *scale, size_t rows,
                            float *sums) {
    vf total[WIDE];
    for (size_t v = 0; v < WIDE; v++) total[v] = vf_load(sums + v * SS_LANES);
    for (size_t r = 0; r < rows; r++) {
        const float *row = weights + r * stride;
        for (size_t v = 0; v < WIDE; v++) total[v] += vf_load(row + v * SS_LANES) * scale[r];
    }
    for (size_t v = 0; v < WIDE; v++) vf_store(sums + v * SS_LANES, total[v]);
}

static inline void add_one(const float *weights, size_t stride, const float *scale, size_t rows,
                           float *sums) {
    vf total = vf_load(sums);
    for (size_t r = 0; r < rows; r++) total += vf_load(weights + r * stride) * scale[r];
    vf_store(sums, total);
}

static inline void add_tail(const float *weights, size_t stride, const float *scale, size_t rows, float *sums,
                            size_t count) {
    vf total = vf_load_tail(sums, count, 0);
    for (size_t r = 0; r < rows; r++) total += vf_load_tail(weights + r * stride, count, 0) * scale[r];
    vf_store_tail(sums, total, count);
}

void SS_AT_LEVEL(ss_columns_add)(const float *weights, size_t stride, const float *scale, size_t rows,
                                 size_t columns, float *sums) {
    size_t j = 0;
    for (; j + WIDE * SS_LANES <= columns; j += WIDE * SS_LANES)
        add_wide(weights + j, stride, scale, rows, sums + j);
    for (; j + SS_LANES <= columns; j += SS_LANES) add_one(weights + j, stride, scale, rows, sums + j);
    if (j < columns) add_tail(weights + j, stride, scale, rows, sums + j, columns - j);
}

void SS_AT_LEVEL(ss_columns_close)(float *sums, size_t columns, double *totals) {
    for (size_t j = 0; j < columns; j++) {
        totals[j] += sums[j];
        sums[j] = 0;
    }
}

double SS_AT_LEVEL(ss_columns_total)(const float *sums, size_t count) {
    vd low = vd_all(0), high = vd_all(0);
    size_t j = 0;
    for (; j + SS_LANES <= count; j += SS_LANES) {
        vf v = vf_load(sums + j);
        low += vd_low(v);
        high += vd_high(v);
    }
    if (j < count) {
        vf v = vf_load_tail(sums + j, count - j, 0);
        low += vd_low(v);
        high += vd_high(v);
    }
    return vd_sum(low + high);
}
