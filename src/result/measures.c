/* Measures in the document: writing summaries of rows, and reading numbers back. Relies on: measure/summary.
 */
#include "result/result.h"

#include <math.h>
#include <string.h>

/* The statistics of a summary, in the order of the document. */
static const struct {
    const char *name;
    size_t offset;
} statistics[] = {
    {"mean", offsetof(ss_summary, mean)},     {"min", offsetof(ss_summary, min)},
    {"p5", offsetof(ss_summary, p5)},         {"p25", offsetof(ss_summary, p25)},
    {"median", offsetof(ss_summary, median)}, {"p75", offsetof(ss_summary, p75)},
    {"p95", offsetof(ss_summary, p95)},       {"max", offsetof(ss_summary, max)},
};

enum { STATISTICS = sizeof statistics / sizeof *statistics };

void ss_result_summary(ss_result *result, json_t *object, const char *key, const ss_summary *summary,
                       const char *reason) {
    if (summary->count == 0) {
        ss_result_absent(result, object, key, reason);
        return;
    }
    json_t *item = ss_result_object(result, object, key);
    ss_result_count(result, item, "count", summary->count);
    for (size_t i = 0; i < STATISTICS; i++) {
        double value;
        memcpy(&value, (const char *)summary + statistics[i].offset, sizeof value);
        ss_result_number(result, item, statistics[i].name, value, NULL);
    }
}

bool ss_is_statistic(const char *name) {
    for (size_t i = 0; i < STATISTICS; i++)
        if (strcmp(statistics[i].name, name) == 0) return true;
    return false;
}

double ss_number_at(const json_t *object, const char *path) {
    const char *dot = strchr(path, '.');
    if (dot) {
        json_t *inner = json_object_getn(object, path, (size_t)(dot - path));
        return ss_number_at(inner, dot + 1);
    }
    const json_t *value = json_object_get(object, path);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}
