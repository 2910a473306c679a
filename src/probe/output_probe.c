/* Next-token distributions. Every worker softmaxes a row into its own memory and measures it like an
 * attention row; answers go into slots by token. Relies on: math/softmax, measure/row, measure/summary. */
#include "probe/output_probe.h"

#include "math/softmax.h"
#include "probe/row_table.h"

#include <math.h>

/* p_max of a row that float32 cannot tell from 1 */
static bool rounds_to_one(double p_max) {
    return (float)p_max == 1.0f;
}

typedef struct token_output {
    ss_row_measures row;
    bool measured;        /* the logits were finite */
    double nll, target_p; /* NaN without a target */
    bool correct;         /* the target is the most likely token */
} token_output;

struct ss_output_probe {
    const ss_allocator *memory;
    const ss_config *config;
    const uint32_t *ids;
    size_t tokens;
    ss_compute compute;
    double confident;
    uint64_t theta_nodes;
    float *weights;  /* [workers][V] */
    char *workspace; /* [workers][workspace_bytes] */
    size_t workspace_bytes;
    token_output *outputs; /* [T] */
};

static bool allocate(ss_output_probe *probe) {
    size_t workers = (size_t)probe->compute.workers, bytes;
    probe->workspace_bytes = ss_whole_lines(ss_row_workspace(probe->config->vocabulary));
    if (!ss_mul_size(probe->config->vocabulary, sizeof *probe->weights, &bytes)) return false;
    probe->weights = ss_alloc(probe->memory, workers, bytes);
    probe->workspace = ss_alloc(probe->memory, workers, probe->workspace_bytes);
    probe->outputs = ss_alloc_zero(probe->memory, probe->tokens, sizeof *probe->outputs);
    return probe->weights && probe->workspace && probe->outputs;
}

ss_status ss_output_probe_create(const ss_probe_setup *setup, ss_output_probe **probe, ss_error *error) {
    ss_output_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the output probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->ids = setup->ids;
    made->tokens = setup->tokens;
    made->compute = setup->compute;
    made->confident = setup->options.confident;
    made->theta_nodes = setup->options.theta_nodes;
    if (made->config->has_head && !allocate(made)) {
        ss_output_probe_free(made);
        return ss_fail_memory(error, "the output probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_output_probe_free(ss_output_probe *probe) {
    if (!probe) return;
    ss_free(probe->memory, probe->weights);
    ss_free(probe->memory, probe->workspace);
    ss_free(probe->memory, probe->outputs);
    ss_free(probe->memory, probe);
}

/* ---- measuring ---- */

/* The target's likelihood from the logits themselves: -log p = log Z - (logit - max), without cancellation.
 */
static void judge_target(const ss_output_probe *probe, size_t token, const ss_row *row,
                         token_output *output) {
    output->nll = output->target_p = NAN;
    if (token + 1 >= probe->tokens) return; /* the last token has no target */
    uint32_t target = probe->ids[token + 1];
    output->nll = log(row->total) - ((double)row->scores[target] - row->max);
    output->target_p = exp(-output->nll);
    output->correct = output->row.p_max_key == target;
}

static void measure_token(ss_output_probe *probe, size_t token, const float *logits, int worker) {
    size_t vocabulary = probe->config->vocabulary;
    float *weights = probe->weights + (size_t)worker * vocabulary;
    token_output *output = &probe->outputs[token];
    ss_row row = {.weights = weights, .scores = logits, .n = vocabulary};
    row.total = ss_softmax_row(probe->compute.isa, logits, vocabulary, weights, &row.max);
    if (!isfinite(row.total) || !isfinite(row.max)) return;
    ss_row_measure(probe->compute.isa, &row, SS_ROW_ALL, probe->theta_nodes,
                   probe->workspace + (size_t)worker * probe->workspace_bytes, &output->row);
    judge_target(probe, token, &row, output);
    output->measured = true;
}

static void on_logits(void *context, const ss_logits_event *event) {
    ss_output_probe *probe = context;
    for (size_t r = 0; r < event->rows; r++)
        measure_token(probe, event->first + r, event->logits + r * probe->config->vocabulary, event->worker);
}

ss_probe ss_output_probe_subscribe(ss_output_probe *probe) {
    return (ss_probe){.context = probe, .logits = probe->config->has_head ? on_logits : NULL};
}

/* ---- reporting ---- */

static void write_likelihood(const ss_output_probe *probe, ss_result *result, json_t *object) {
    double sum = 0;
    size_t targets = 0, right = 0, wrong = 0, numeric = 0, non_finite = 0;
    for (size_t t = 0; t < probe->tokens; t++) {
        const token_output *output = &probe->outputs[t];
        non_finite += !output->measured;
        if (!output->measured) continue;
        numeric += rounds_to_one(output->row.p_max);
        if (isnan(output->nll)) continue;
        targets++;
        sum += output->nll;
        right += output->row.p_max > probe->confident && output->correct;
        wrong += output->row.p_max > probe->confident && !output->correct;
    }
    const char *reason = non_finite ? "no row of logits with a token to predict is finite"
                                    : "no token has a successor to predict";
    double mean = targets ? sum / (double)targets : NAN;
    ss_result_count(result, object, "rows", probe->tokens - non_finite);
    ss_result_count(result, object, "non_finite_rows", non_finite);
    ss_result_number(result, object, "nll_mean", mean, reason);
    ss_result_number(result, object, "perplexity", exp(mean), targets ? "too large for a number" : reason);
    ss_result_count(result, object, "confident_correct", right);
    ss_result_count(result, object, "confident_wrong", wrong);
    ss_result_count(result, object, "numeric", numeric);
}

/* Lists by token, from the numbers at these offsets of a token_output. */
static const struct {
    const char *name;
    size_t offset;
} LISTS[] = {
    {"nll", offsetof(token_output, nll)},
    {"p_max", offsetof(token_output, row.p_max)},
    {"entropy", offsetof(token_output, row.entropy)},
    {"theta", offsetof(token_output, row.theta)},
    {"target_p", offsetof(token_output, target_p)},
};

static double number_at(const token_output *output, size_t offset) {
    return *(const double *)(const void *)((const char *)output + offset);
}

static void write_lists(const ss_output_probe *probe, ss_result *result, json_t *object, double *values) {
    json_t *tokens = ss_result_object(result, object, "tokens");
    for (size_t i = 0; i < sizeof LISTS / sizeof *LISTS; i++) {
        for (size_t t = 0; t < probe->tokens; t++) {
            const token_output *output = &probe->outputs[t];
            values[t] = output->measured ? number_at(output, LISTS[i].offset) : NAN;
        }
        ss_result_numbers(result, tokens, LISTS[i].name, values, probe->tokens);
    }
}

static void write_measures(const ss_output_probe *probe, ss_result *result, json_t *object, double *values) {
    ss_summary summaries[SS_ROW_MEASURES];
    for (size_t m = 0; m < SS_ROW_MEASURES; m++) {
        size_t count = 0;
        for (size_t t = 0; t < probe->tokens; t++)
            if (probe->outputs[t].measured) values[count++] = ss_row_value(&probe->outputs[t].row, m);
        summaries[m] = ss_summarize(values, count);
    }
    ss_report_row_summaries(result, object, summaries, "no row of logits is finite");
}

ss_status ss_output_probe_report(ss_output_probe *probe, const ss_report *report, ss_error *error) {
    ss_result *result = report->result;
    if (!probe->config->has_head) {
        ss_result_absent(result, result->root, "output", "the model has no next-token head");
        return ss_result_check(result, error);
    }
    double *values = ss_alloc(probe->memory, probe->tokens, sizeof *values);
    if (!values) return ss_fail_memory(error, "the report of the output layer");
    json_t *object = ss_report_part(report, "output");
    write_likelihood(probe, result, object);
    write_measures(probe, result, object, values);
    write_lists(probe, result, object, values);
    ss_free(probe->memory, values);
    return ss_result_check(result, error);
}
