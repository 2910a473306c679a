/* Scores and scale. Everything comes from the `heads` event: a row's largest weight is 1 / total, and
 * saturated rows are computed again from queries and keys. Relies on: probe/values, math/softmax, base/team.
 */
#include "probe/scale_probe.h"

#include "base/team.h"
#include "math/softmax.h"
#include "probe/values.h"

#include <math.h>

/* A row is looked at when p_max >= SATURATED, and driven by scale when p_max then falls to <= FALLEN. */
#define SATURATED 0.99
#define FALLEN    0.5

typedef struct head_scale {
    double max_logit, max_logit_raw; /* NaN when no row was seen; raw only with a soft cap */
    double scale_driven, genuine;    /* counts */
} head_scale;

/* Rows to compute again are taken a few together, over tiles of keys that stay in the first cache from one
 * row to the next: rows of one key/value head follow each other in the list. */
#define ROWS_AT_ONCE ((size_t)8)
#define KEYS_AT_ONCE ((size_t)32)

/* One query's row to compute again. */
typedef struct saturated_row {
    size_t head, query;
} saturated_row;

struct ss_scale_probe {
    const ss_allocator *memory;
    const ss_config *config;
    size_t tokens;
    ss_compute compute;
    const uint8_t *shown; /* [layers * H] which heads are reported; NULL for all */
    head_scale *heads;    /* [layers][H] */
    float *raw_max;       /* [workers][H] of the layer being shown; NaN when none */
    float *key_rms;       /* [K][T] of the layer being shown */
    float *scores;        /* [workers][ROWS_AT_ONCE][T] */
    saturated_row *rows;  /* [H T] */
    bool *scale_driven;   /* [H T] the answer for each of `rows` */
};

/* ---- making ---- */

static bool allocate(ss_scale_probe *probe) {
    const ss_config *config = probe->config;
    size_t heads, workers = (size_t)probe->compute.workers, rows, keys, scores;
    if (!ss_mul_size(config->layers, config->heads, &heads)) return false;
    if (!ss_mul_size(config->heads, probe->tokens, &rows)) return false;
    if (!ss_mul_size(config->kv_heads, probe->tokens, &keys)) return false;
    if (!ss_mul_size(workers * ROWS_AT_ONCE, probe->tokens, &scores)) return false;
    probe->heads = ss_alloc(probe->memory, heads, sizeof *probe->heads);
    probe->raw_max = ss_alloc(probe->memory, workers, config->heads * sizeof *probe->raw_max);
    probe->key_rms = ss_alloc(probe->memory, keys, sizeof *probe->key_rms);
    probe->scores = ss_alloc(probe->memory, scores, sizeof *probe->scores);
    probe->rows = ss_alloc(probe->memory, rows, sizeof *probe->rows);
    probe->scale_driven = ss_alloc(probe->memory, rows, sizeof *probe->scale_driven);
    if (!probe->heads || !probe->raw_max || !probe->key_rms || !probe->scores || !probe->rows ||
        !probe->scale_driven)
        return false;
    for (size_t h = 0; h < heads; h++) probe->heads[h] = (head_scale){.max_logit = NAN, .max_logit_raw = NAN};
    for (size_t i = 0; i < workers * config->heads; i++) probe->raw_max[i] = NAN;
    return true;
}

ss_status ss_scale_probe_create(const ss_probe_setup *setup, ss_scale_probe **probe, ss_error *error) {
    ss_scale_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the scale probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->tokens = setup->tokens;
    made->compute = setup->compute;
    made->shown = setup->options.heads;
    if (!allocate(made)) {
        ss_scale_probe_free(made);
        return ss_fail_memory(error, "the scale probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_scale_probe_free(ss_scale_probe *probe) {
    if (!probe) return;
    const ss_allocator *memory = probe->memory;
    ss_free(memory, probe->heads);
    ss_free(memory, probe->raw_max);
    ss_free(memory, probe->key_rms);
    ss_free(memory, probe->scores);
    ss_free(memory, probe->rows);
    ss_free(memory, probe->scale_driven);
    ss_free(memory, probe);
}

static bool is_shown(const ss_scale_probe *probe, size_t layer, size_t head) {
    return !probe->shown || probe->shown[layer * probe->config->heads + head];
}

/* ---- the largest score ---- */

/* The larger of two, where a NaN is no number at all: none yet, or a score that the health probe reports. */
static double larger(double so_far, double value) {
    return fmax(so_far, value); /* C's fmax prefers the number */
}

static void on_rows(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block) {
    (void)pass, (void)layer;
    ss_scale_probe *probe = context;
    if (!block->raw_max) return;
    float *raw_max = &probe->raw_max[(size_t)block->worker * probe->config->heads + block->head];
    for (size_t r = 0; r < block->rows; r++)
        if (block->support[r] > 0) *raw_max = (float)larger(*raw_max, block->raw_max[r]);
}

static void find_max_logits(ss_scale_probe *probe, const ss_heads_event *event) {
    size_t heads = probe->config->heads, workers = (size_t)probe->compute.workers;
    for (size_t h = 0; h < heads; h++) {
        if (!is_shown(probe, event->layer, h)) continue;
        head_scale *head = &probe->heads[event->layer * heads + h];
        for (size_t t = 0; t < probe->tokens; t++)
            head->max_logit = larger(head->max_logit, event->max[h * probe->tokens + t]);
        for (size_t w = 0; w < workers; w++) {
            float *raw_max = &probe->raw_max[w * heads + h];
            head->max_logit_raw = larger(head->max_logit_raw, *raw_max);
            *raw_max = NAN;
        }
    }
}

/* ---- scale-driven or genuine ---- */

typedef struct layer_task {
    ss_scale_probe *probe;
    const ss_heads_event *event;
    size_t rows; /* to compute again */
} layer_task;

static float rms(const ss_heads_event *event, const float *x) {
    size_t width = event->pass->config->head_width;
    float square;
    ss_squares(event->pass->compute->isa, x, 0, 1, width, &square);
    return (float)sqrt((double)square / (double)width);
}

static void measure_keys(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    layer_task *task = context;
    const ss_config *config = task->probe->config;
    for (size_t t = begin; t < end; t++)
        for (size_t k = 0; k < config->kv_heads; k++)
            task->probe->key_rms[k * task->probe->tokens + t] =
                rms(task->event, task->event->k + t * task->event->stride + k * config->head_width);
}

/* Scores of one row for its keys among begin .. end - 1, with every query and key vector at root-mean-square
 * 1. A vector of zeros stays one: its products are 0 whatever its scale. */
static void score_keys(const layer_task *task, saturated_row row, size_t begin, size_t end,
                       float *scores /* [T] by key */) {
    const ss_scale_probe *probe = task->probe;
    const ss_heads_event *event = task->event;
    const ss_config *config = probe->config;
    const ss_visible keys = ss_event_visible(event, row.query);
    if (begin < keys.first) begin = keys.first;
    if (end > keys.first + keys.support) end = keys.first + keys.support;
    if (begin >= end) return;
    const float *query = ss_event_query(event, row.head, row.query);
    const float *key_rms = probe->key_rms + ss_event_kv(event, row.head) * probe->tokens;
    ss_dots(probe->compute.isa, query, ss_event_key(event, row.head, begin), event->stride, end - begin,
            config->head_width, scores + begin);
    ss_unit_scores(probe->compute.isa, config, rms(event, query), key_rms + begin, end - begin,
                   scores + begin);
}

static bool falls(const layer_task *task, saturated_row row, float *scores /* [T] by key */) {
    const ss_visible keys = ss_event_visible(task->event, row.query);
    float max, *first = scores + keys.first;
    return 1 / ss_softmax_row(task->probe->compute.isa, first, keys.support, first, &max) <= FALLEN;
}

/* Rows index * ROWS_AT_ONCE and on: does p_max fall at unit scale? */
static void recompute(void *context, size_t index, int worker) {
    const layer_task *task = context;
    ss_scale_probe *probe = task->probe;
    const size_t tokens = probe->tokens, begin = index * ROWS_AT_ONCE;
    const size_t count = task->rows - begin < ROWS_AT_ONCE ? task->rows - begin : ROWS_AT_ONCE;
    const saturated_row *rows = probe->rows + begin;
    float *scores = probe->scores + (size_t)worker * ROWS_AT_ONCE * tokens;
    for (size_t key = 0; key < tokens; key += KEYS_AT_ONCE)
        for (size_t r = 0; r < count; r++)
            score_keys(task, rows[r], key, key + KEYS_AT_ONCE, scores + r * tokens);
    for (size_t r = 0; r < count; r++)
        probe->scale_driven[begin + r] = falls(task, rows[r], scores + r * tokens);
}

static bool is_saturated(const ss_scale_probe *probe, const ss_heads_event *event, size_t head,
                         size_t query) {
    return is_shown(probe, event->layer, head) && 1 / event->total[head * probe->tokens + query] >= SATURATED;
}

/* Rows to look at: by key/value head, each from the longest to the shortest as the team wants them. */
static size_t list_saturated(ss_scale_probe *probe, const ss_heads_event *event) {
    const size_t sharing = probe->config->heads / probe->config->kv_heads;
    size_t count = 0;
    for (size_t kv = 0; kv < probe->config->kv_heads; kv++)
        for (size_t t = probe->tokens; t-- > 0;) {
            if (ss_event_visible(event, t).support < 2) continue;
            for (size_t h = kv * sharing; h < (kv + 1) * sharing; h++)
                if (is_saturated(probe, event, h, t))
                    probe->rows[count++] = (saturated_row){.head = h, .query = t};
        }
    return count;
}

static void on_heads(void *context, const ss_heads_event *event) {
    ss_scale_probe *probe = context;
    layer_task task = {.probe = probe, .event = event};
    find_max_logits(probe, event);
    task.rows = list_saturated(probe, event);
    if (task.rows == 0) return;
    ss_team_split(probe->compute.workers, probe->tokens, measure_keys, &task);
    ss_team_run(probe->compute.workers, (task.rows + ROWS_AT_ONCE - 1) / ROWS_AT_ONCE, recompute, &task);
    for (size_t i = 0; i < task.rows; i++) {
        head_scale *head = &probe->heads[event->layer * probe->config->heads + probe->rows[i].head];
        if (probe->scale_driven[i])
            head->scale_driven++;
        else
            head->genuine++;
    }
}

ss_probe ss_scale_probe_subscribe(ss_scale_probe *probe) {
    return (ss_probe){.context = probe, .rows = on_rows, .heads = on_heads};
}

/* ---- reporting ---- */

static const ss_scalar SCALARS[] = {
    {"max_logit", offsetof(head_scale, max_logit), SS_POOL_MAX, "every score is NaN"},
    {"max_logit_raw", offsetof(head_scale, max_logit_raw), SS_POOL_MAX, NULL},
    {"scale_driven", offsetof(head_scale, scale_driven), SS_POOL_SUM, NULL},
    {"genuine", offsetof(head_scale, genuine), SS_POOL_SUM, NULL},
};
#define SCALAR_COUNT (sizeof SCALARS / sizeof *SCALARS)

ss_status ss_scale_probe_report(ss_scale_probe *probe, const ss_report *report, ss_error *error) {
    size_t heads = probe->config->heads;
    for (size_t layer = 0; layer < probe->config->layers; layer++) {
        const head_scale *first = &probe->heads[layer * heads];
        for (size_t h = 0; h < heads; h++)
            if (ss_report_has_head(report, layer, h))
                ss_report_scalars(report, ss_report_head(report, layer, h), SCALARS, SCALAR_COUNT, &first[h]);
        ss_report_pooled_scalars(report, layer, SCALARS, SCALAR_COUNT, first, sizeof *first);
    }
    return ss_result_check(report->result, error);
}
