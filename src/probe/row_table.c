/* The table of row measures. Relies on: result. */
#include "probe/row_table.h"

#include <stddef.h>

const ss_row_column SS_ROW_TABLE[SS_ROW_MEASURES] = {
#define SS_ROW_MEASURE_ROW(field, wide) {#field, offsetof(ss_row_measures, field), wide},
    SS_ROW_MEASURE_LIST(SS_ROW_MEASURE_ROW)
#undef SS_ROW_MEASURE_ROW
};

void ss_report_row_summaries(ss_result *result, json_t *object, const ss_summary summaries[SS_ROW_MEASURES],
                             const char *reason) {
    for (size_t m = 0; m < SS_ROW_MEASURES; m++)
        ss_result_summary(result, object, SS_ROW_TABLE[m].name, &summaries[m], reason);
    ss_result_summary(result, object, "jac_inf_1", &summaries[SS_MEASURE_theta], reason);
}
