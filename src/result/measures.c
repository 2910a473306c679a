/* Measures in the document: summaries of rows and the metric table. Relies on: measure/summary. */
#include "result/result.h"

#include "measure/summary.h"

#include <math.h>

/* The statistics of a summary, in the order of the document. */
static const struct {
    const char *name;
    size_t offset;
} STATISTICS[] = {
    {"mean", offsetof(ss_summary, mean)},     {"min", offsetof(ss_summary, min)},
    {"p5", offsetof(ss_summary, p5)},         {"p25", offsetof(ss_summary, p25)},
    {"median", offsetof(ss_summary, median)}, {"p75", offsetof(ss_summary, p75)},
    {"p95", offsetof(ss_summary, p95)},       {"max", offsetof(ss_summary, max)},
};

void ss_result_summary(ss_result *result, json_t *object, const char *key, const ss_summary *summary,
                       const char *reason) {
    if (summary->count == 0) {
        ss_result_absent(result, object, key, reason);
        return;
    }
    json_t *item = ss_result_object(result, object, key);
    ss_result_count(result, item, "count", summary->count);
    for (size_t i = 0; i < sizeof STATISTICS / sizeof *STATISTICS; i++) {
        double value = *(const double *)(const void *)((const char *)summary + STATISTICS[i].offset);
        ss_result_number(result, item, STATISTICS[i].name, value, NULL);
    }
}
