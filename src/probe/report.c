/* Parts of the document that probes share. Relies on: result. */
#include "probe/report.h"

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
