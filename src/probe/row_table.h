/* The measures of a row as a table, for probes that keep and summarise them.
 * Relies on: measure/row, measure/summary. */
#ifndef SS_PROBE_ROW_TABLE_H
#define SS_PROBE_ROW_TABLE_H

#include "measure/row.h"
#include "measure/summary.h"
#include "result/result.h"

/* X(field of ss_row_measures, keep as double): theta near 1 is told by 1 - theta, which a float would lose.
 */
#define SS_ROW_MEASURE_LIST(X)                                                                               \
    X(entropy, false)                                                                                        \
    X(entropy_norm, false)                                                                                   \
    X(p_max, false)                                                                                          \
    X(theta, true)                                                                                           \
    X(theta_cert, true)                                                                                      \
    X(jac_2, false)                                                                                          \
    X(jac_inf, false)                                                                                        \
    X(jac_frob, false)

enum {
#define SS_ROW_MEASURE_ENUM(field, wide) SS_MEASURE_##field,
    SS_ROW_MEASURE_LIST(SS_ROW_MEASURE_ENUM)
#undef SS_ROW_MEASURE_ENUM
        SS_ROW_MEASURES
};

typedef struct ss_row_column {
    const char *name;
    size_t offset; /* in ss_row_measures */
    bool wide;     /* keep as double */
} ss_row_column;

extern const ss_row_column SS_ROW_TABLE[SS_ROW_MEASURES];

static inline double ss_row_value(const ss_row_measures *row, size_t measure) {
    return *(const double *)(const void *)((const char *)row + SS_ROW_TABLE[measure].offset);
}

/* Write one summary a measure, and jac_inf_1, which at temperature 1 is theta (seed 000, Theorem 3.2).
 * Where count is 0 the measures are absent for `reason`. */
void ss_report_row_summaries(ss_result *result, json_t *object, const ss_summary summaries[SS_ROW_MEASURES],
                             const char *reason);

#endif
