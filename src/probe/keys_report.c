/* Where heads look: writing. Relies on: probe/keys_impl (the answers), probe/report. */
#include "probe/keys_impl.h"

static const char NO_ROWS[] = "no row has two or more keys";

static const ss_scalar SCALARS[] = {
    {"first_key", offsetof(ss_keys_head, first_key), SS_POOL_MEAN, NO_ROWS},
    {"sink_rate", offsetof(ss_keys_head, sink_rate), SS_POOL_MEAN, NO_ROWS},
    {"sink_weight", offsetof(ss_keys_head, sink_weight), SS_POOL_MEAN, NO_ROWS},
    {"sink_value_share", offsetof(ss_keys_head, sink_value_share), SS_POOL_MEAN,
     "no row with an output sees the sink key"},
    {"prev_token", offsetof(ss_keys_head, prev_token), SS_POOL_MEAN, NO_ROWS},
    {"same_token", offsetof(ss_keys_head, same_token), SS_POOL_MEAN, NO_ROWS},
    {"induction", offsetof(ss_keys_head, induction), SS_POOL_MEAN, "no token occurs twice"},
    {"dominance", offsetof(ss_keys_head, dominance), SS_POOL_MEAN, NULL},
};
#define SCALAR_COUNT (sizeof SCALARS / sizeof *SCALARS)

static void write_top_keys(const ss_report *report, json_t *object, const ss_keys_head *head) {
    ss_result *result = report->result;
    if (head->top_count == 0)
        ss_result_absent(result, object, "sink_key", NO_ROWS);
    else
        ss_result_count(result, object, "sink_key", head->top[0].key);
    json_t *list = ss_result_array(result, object, "top_keys");
    for (size_t i = 0; i < head->top_count; i++) {
        json_t *item = ss_result_item(result, list);
        ss_result_count(result, item, "key", head->top[i].key);
        ss_result_number(result, item, "weight", head->top[i].weight, NULL);
    }
}

static ss_status write_map(const ss_keys_probe *probe, const ss_report *report, json_t *object, size_t layer,
                           size_t head, ss_error *error) {
    const size_t bins = ss_map_bins(probe, layer, head), count = bins * bins;
    const float *map = probe->maps[layer * probe->config->heads + head];
    double *cells = ss_alloc(probe->memory, count, sizeof *cells);
    if (!cells) return ss_fail_memory(error, "a map of attention");
    for (size_t c = 0; c < count; c++) cells[c] = map[c];
    ss_result_map(report->result, object, "map", cells, bins, bins);
    ss_free(probe->memory, cells);
    return SS_OK;
}

static ss_status write_head(const ss_keys_probe *probe, const ss_report *report, size_t layer, size_t h,
                            ss_error *error) {
    const ss_keys_head *head = &probe->heads[layer * probe->config->heads + h];
    json_t *object = ss_report_head(report, layer, h);
    ss_report_scalars(report, object, SCALARS, SCALAR_COUNT, head);
    write_top_keys(report, object, head);
    double profile[SS_MAX_BINS];
    for (size_t b = 0; b < probe->bins; b++) profile[b] = head->first_key_profile[b];
    json_t *profiles = ss_result_object(report->result, object, "profile");
    ss_result_numbers(report->result, profiles, "first_key", profile, probe->bins);
    return write_map(probe, report, object, layer, h, error);
}

ss_status ss_keys_probe_report(ss_keys_probe *probe, const ss_report *report, ss_error *error) {
    size_t heads = probe->config->heads;
    for (size_t layer = 0; layer < probe->config->layers; layer++) {
        for (size_t h = 0; h < heads; h++)
            if (ss_report_has_head(report, layer, h)) SS_TRY(write_head(probe, report, layer, h, error));
        ss_report_pooled_scalars(report, layer, SCALARS, SCALAR_COUNT, &probe->heads[layer * heads],
                                 sizeof *probe->heads);
    }
    return ss_result_check(report->result, error);
}
