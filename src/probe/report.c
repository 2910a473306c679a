/* Parts of the document that probes share. Relies on: result. */
#include "probe/report.h"

#include <math.h>
#include <string.h>

bool ss_report_has_head(const ss_report *report, size_t layer, size_t head) {
    return !report->heads || report->heads[layer * report->config->heads + head];
}

json_t *ss_report_layer(const ss_report *report, size_t layer) {
    ss_result *result = report->result;
    return ss_result_indexed(result, ss_result_array(result, result->root, "layers"), layer);
}

json_t *ss_report_head(const ss_report *report, size_t layer, size_t head) {
    ss_result *result = report->result;
    return ss_result_indexed(result, ss_result_array(result, ss_report_layer(report, layer), "heads"), head);
}

json_t *ss_report_pooled(const ss_report *report, size_t layer) {
    return ss_result_object(report->result, ss_report_layer(report, layer), "pooled");
}

json_t *ss_report_hidden(const ss_report *report, size_t layer) {
    return ss_result_object(report->result, ss_report_layer(report, layer), "hidden");
}

json_t *ss_report_part(const ss_report *report, const char *name) {
    return ss_result_object(report->result, report->result->root, name);
}

static double read_scalar(const void *head, const ss_scalar *scalar) {
    double value;
    memcpy(&value, (const char *)head + scalar->offset, sizeof value);
    return value;
}

static void write_scalar(const ss_report *report, json_t *object, const ss_scalar *scalar, double value) {
    if (isnan(value) && !scalar->absent) return;
    if (scalar->pool == SS_POOL_SUM && isfinite(value))
        ss_result_count(report->result, object, scalar->name, (size_t)value);
    else
        ss_result_number(report->result, object, scalar->name, value, isnan(value) ? scalar->absent : NULL);
}

void ss_report_scalars(const ss_report *report, json_t *object, const ss_scalar *scalars, size_t count,
                       const void *head) {
    for (size_t i = 0; i < count; i++)
        write_scalar(report, object, &scalars[i], read_scalar(head, &scalars[i]));
}

/* Over the reported heads that have the number; NaN when none has. */
static double pool(const ss_report *report, size_t layer, const ss_scalar *scalar, const char *heads,
                   size_t stride) {
    double sum = 0, top = -INFINITY;
    size_t found = 0;
    for (size_t h = 0; h < report->config->heads; h++) {
        double value = read_scalar(heads + h * stride, scalar);
        if (!ss_report_has_head(report, layer, h) || isnan(value)) continue;
        sum += value;
        top = value > top ? value : top;
        found++;
    }
    if (found == 0) return NAN;
    return scalar->pool == SS_POOL_MAX ? top : scalar->pool == SS_POOL_SUM ? sum : sum / (double)found;
}

void ss_report_pooled_scalars(const ss_report *report, size_t layer, const ss_scalar *scalars, size_t count,
                              const void *heads, size_t stride) {
    json_t *pooled = ss_report_pooled(report, layer);
    for (size_t i = 0; i < count; i++)
        write_scalar(report, pooled, &scalars[i], pool(report, layer, &scalars[i], heads, stride));
}
