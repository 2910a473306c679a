/* Row measures: summaries by head and layer, profiles along the text. Percentiles of millions of rows take a
 * while, so the team computes them, one layer and measure a task; then they are written in order.
 * Relies on: measure/summary, base/team, probe/bins. */
#include "base/team.h"
#include "probe/bins.h"
#include "probe/rows_impl.h"

#include <math.h>

static const char NO_ROWS[] = "no row has two or more keys and finite scores";

/* The numbers of one head that are no summaries. */
typedef struct head_counts {
    double rows, single_key_rows, masked_rows, non_finite_rows;
    double theta_exact_share, saturated, saturated_share, sparsity;
} head_counts;

static const ss_scalar SCALARS[] = {
    {"rows", offsetof(head_counts, rows), SS_POOL_SUM, NULL},
    {"single_key_rows", offsetof(head_counts, single_key_rows), SS_POOL_SUM, NULL},
    {"masked_rows", offsetof(head_counts, masked_rows), SS_POOL_SUM, NULL},
    {"non_finite_rows", offsetof(head_counts, non_finite_rows), SS_POOL_SUM, NULL},
    {"theta_exact_share", offsetof(head_counts, theta_exact_share), SS_POOL_MEAN, NO_ROWS},
    {"saturated", offsetof(head_counts, saturated), SS_POOL_SUM, NULL},
    {"saturated_share", offsetof(head_counts, saturated_share), SS_POOL_MEAN, NO_ROWS},
    {"sparsity", offsetof(head_counts, sparsity), SS_POOL_MEAN, NO_ROWS},
};
#define SCALAR_COUNT (sizeof SCALARS / sizeof *SCALARS)

/* Everything between gathering and writing. */
typedef struct digest {
    const ss_rows_probe *probe;
    const ss_report *report;
    double *scratch;       /* [workers][H T] */
    ss_summary *summaries; /* [layers][H + 1][SS_ROW_MEASURES]; the last head is the pooled one */
    head_counts *counts;   /* [H] of the layer being written */
} digest;

static size_t slot_of(const ss_rows_probe *probe, size_t layer, size_t head) {
    return (layer * probe->config->heads + head) * probe->tokens;
}

static double value_at(const ss_rows_probe *probe, size_t measure, size_t slot) {
    const void *column = probe->columns[measure];
    return SS_ROW_TABLE[measure].wide ? ((const double *)column)[slot] : ((const float *)column)[slot];
}

static bool is_measured(const ss_rows_probe *probe, size_t slot) {
    return (probe->kinds[slot] & ~SS_SLOT_EXACT) == SS_SLOT_MEASURED;
}

/* ---- summaries ---- */

static ss_summary *summaries_of(const digest *d, size_t layer, size_t head) {
    return d->summaries + (layer * (d->probe->config->heads + 1) + head) * SS_ROW_MEASURES;
}

/* The values of a head's measured rows, in the order of the text; how many. */
static size_t gather(const ss_rows_probe *probe, size_t layer, size_t head, size_t measure, double *values) {
    size_t first = slot_of(probe, layer, head), count = 0;
    for (size_t t = 0; t < probe->tokens; t++)
        if (is_measured(probe, first + t)) values[count++] = value_at(probe, measure, first + t);
    return count;
}

/* Summaries use up their values, so the pooled one gathers again. */
static void summarise(void *context, size_t index, int worker) {
    digest *d = context;
    const ss_rows_probe *probe = d->probe;
    size_t layer = index / SS_ROW_MEASURES, measure = index % SS_ROW_MEASURES, heads = probe->config->heads;
    double *values = d->scratch + (size_t)worker * heads * probe->tokens;
    for (size_t h = 0; h < heads; h++) {
        size_t count = gather(probe, layer, h, measure, values);
        summaries_of(d, layer, h)[measure] = ss_summarize(values, count);
    }
    size_t filled = 0;
    for (size_t h = 0; h < heads; h++)
        if (ss_report_has_head(d->report, layer, h))
            filled += gather(probe, layer, h, measure, values + filled);
    summaries_of(d, layer, heads)[measure] = ss_summarize(values, filled);
}

/* ---- counts and profiles ---- */

static head_counts count_rows(const digest *d, size_t layer, size_t head) {
    const ss_rows_probe *probe = d->probe;
    size_t first = slot_of(probe, layer, head), kinds[SS_SLOT_KINDS] = {0}, exact = 0, saturated = 0;
    for (size_t t = 0; t < probe->tokens; t++) {
        uint8_t kind = probe->kinds[first + t];
        kinds[kind & ~SS_SLOT_EXACT]++;
        exact += (kind & SS_SLOT_EXACT) != 0;
        if (is_measured(probe, first + t))
            saturated += value_at(probe, SS_MEASURE_theta, first + t) <= probe->saturated_theta;
    }
    double rows = (double)kinds[SS_SLOT_MEASURED];
    return (head_counts){.rows = rows,
                         .single_key_rows = (double)kinds[SS_SLOT_SINGLE_KEY],
                         .masked_rows = (double)kinds[SS_SLOT_MASKED],
                         .non_finite_rows = (double)kinds[SS_SLOT_NON_FINITE],
                         .theta_exact_share = rows > 0 ? (double)exact / rows : NAN,
                         .saturated = (double)saturated,
                         .saturated_share = rows > 0 ? (double)saturated / rows : NAN,
                         .sparsity = rows > 0 ? summaries_of(d, layer, head)[SS_MEASURE_p_max].mean : NAN};
}

static double bin_mean(const ss_rows_probe *probe, size_t measure, size_t first, size_t begin, size_t end) {
    double sum = 0;
    size_t count = 0;
    for (size_t t = begin; t < end; t++) {
        if (!is_measured(probe, first + t)) continue;
        sum += value_at(probe, measure, first + t);
        count++;
    }
    return count ? sum / (double)count : NAN;
}

static void write_profiles(const digest *d, json_t *object, size_t layer, size_t head) {
    static const int profiled[] = {SS_MEASURE_theta, SS_MEASURE_entropy_norm, SS_MEASURE_p_max};
    const ss_rows_probe *probe = d->probe;
    json_t *profile = ss_result_object(d->report->result, object, "profile");
    size_t bins = ss_bin_count(probe->tokens, SS_MAX_BINS);
    for (size_t i = 0; i < sizeof profiled / sizeof *profiled; i++) {
        double means[SS_MAX_BINS];
        for (size_t b = 0; b < bins; b++)
            means[b] =
                bin_mean(probe, (size_t)profiled[i], slot_of(probe, layer, head),
                         ss_bin_begin(probe->tokens, bins, b), ss_bin_begin(probe->tokens, bins, b + 1));
        ss_result_numbers(d->report->result, profile, SS_ROW_TABLE[profiled[i]].name, means, bins);
    }
}

/* ---- writing ---- */

static void write_layer(digest *d, size_t layer) {
    const ss_report *report = d->report;
    size_t heads = d->probe->config->heads;
    for (size_t h = 0; h < heads; h++) {
        if (!ss_report_has_head(report, layer, h)) continue;
        json_t *object = ss_report_head(report, layer, h);
        ss_report_row_summaries(report->result, object, summaries_of(d, layer, h), NO_ROWS);
        d->counts[h] = count_rows(d, layer, h);
        ss_report_scalars(report, object, SCALARS, SCALAR_COUNT, &d->counts[h]);
        write_profiles(d, object, layer, h);
    }
    json_t *pooled = ss_report_pooled(report, layer);
    ss_report_row_summaries(report->result, pooled, summaries_of(d, layer, heads), NO_ROWS);
    ss_report_pooled_scalars(report, layer, SCALARS, SCALAR_COUNT, d->counts, sizeof *d->counts);
}

static void write_all(digest *d) {
    const ss_config *config = d->probe->config;
    int workers = d->probe->compute.workers;
    ss_team_run(workers, config->layers * SS_ROW_MEASURES, summarise, d);
    for (size_t layer = 0; layer < config->layers; layer++) write_layer(d, layer);
}

ss_status ss_rows_probe_report(ss_rows_probe *probe, const ss_report *report, ss_error *error) {
    const ss_config *config = probe->config;
    size_t workers = (size_t)probe->compute.workers, heads = config->heads;
    digest d = {.probe = probe, .report = report};
    d.scratch = ss_alloc(probe->memory, workers, heads * probe->tokens * sizeof *d.scratch);
    d.summaries =
        ss_alloc(probe->memory, config->layers, (heads + 1) * SS_ROW_MEASURES * sizeof *d.summaries);
    d.counts = ss_alloc_zero(probe->memory, heads, sizeof *d.counts);
    ss_status status = SS_OK;
    if (d.scratch && d.summaries && d.counts)
        write_all(&d);
    else
        status = ss_fail_memory(error, "the report of attention rows");
    ss_free(probe->memory, d.scratch);
    ss_free(probe->memory, d.summaries);
    ss_free(probe->memory, d.counts);
    return status == SS_OK ? ss_result_check(report->result, error) : status;
}
