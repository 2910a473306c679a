/* The size of hidden states. Each state takes one pass for norms and maxima and three for the median, by the
 * team; massive activations are looked for only in rows whose maximum qualifies.
 * Relies on: probe/extent, probe/median. */
#include "probe/hidden_probe.h"

#include "base/team.h"
#include "probe/extent.h"
#include "probe/median.h"

#include <math.h>

/* Sun et al. 2024, "Massive activations in large language models": both must hold. */
#define MASSIVE_ABS     100.0
#define MASSIVE_MEDIANS 1000.0

#define MOST_LISTED ((size_t)32) /* the largest are listed, all are counted */

#define SITES (SS_SITE_BIT(SS_SITE_EMBEDDING) | SS_SITE_BIT(SS_SITE_BLOCK) | SS_SITE_BIT(SS_SITE_FINAL_NORM))

typedef struct massive {
    size_t token, dimension;
    float value;
} massive;

typedef struct hidden_state {
    bool seen, finite;
    double block_inf_rms, median_abs;
    massive largest; /* the largest magnitude, massive or not */
    massive list[MOST_LISTED];
    size_t listed, massive_count;
} hidden_state;

struct ss_hidden_probe {
    const ss_allocator *memory;
    const ss_config *config;
    ss_compute compute;
    hidden_state *layers; /* [layers] */
    hidden_state embedding, final;
    ss_extent *extents; /* [T] of the state being shown */
    uint64_t *bins;     /* [workers][SS_MEDIAN_BINS] */
};

ss_status ss_hidden_probe_create(const ss_probe_setup *setup, ss_hidden_probe **probe, ss_error *error) {
    ss_hidden_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the hidden probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->compute = setup->compute;
    made->layers = ss_alloc_zero(setup->memory, setup->config->layers, sizeof *made->layers);
    made->extents = ss_alloc(setup->memory, setup->tokens, sizeof *made->extents);
    made->bins = ss_alloc(setup->memory, (size_t)setup->compute.workers, SS_MEDIAN_BINS * sizeof *made->bins);
    if (!made->layers || !made->extents || !made->bins) {
        ss_hidden_probe_free(made);
        return ss_fail_memory(error, "the hidden probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_hidden_probe_free(ss_hidden_probe *probe) {
    if (!probe) return;
    ss_free(probe->memory, probe->layers);
    ss_free(probe->memory, probe->extents);
    ss_free(probe->memory, probe->bins);
    ss_free(probe->memory, probe);
}

/* ---- measuring ---- */

typedef struct extent_task {
    ss_hidden_probe *probe;
    const ss_hidden_event *event;
} extent_task;

static void measure_rows(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const extent_task *task = context;
    const ss_hidden_event *event = task->event;
    for (size_t t = begin; t < end; t++)
        task->probe->extents[t] =
            ss_extent_of(task->probe->compute.isa, event->x + t * event->width, event->width);
}

/* Insert among the largest, ties after the earlier one. */
static void list_massive(hidden_state *state, massive found) {
    size_t place = state->listed;
    while (place > 0 && fabsf(state->list[place - 1].value) < fabsf(found.value)) place--;
    state->massive_count++;
    if (place == MOST_LISTED) return;
    if (state->listed < MOST_LISTED) state->listed++;
    for (size_t i = state->listed - 1; i > place; i--) state->list[i] = state->list[i - 1];
    state->list[place] = found;
}

static bool is_massive(double magnitude, double median) {
    return magnitude > MASSIVE_ABS && magnitude >= MASSIVE_MEDIANS * median;
}

static void find_massive(const ss_hidden_probe *probe, const ss_hidden_event *event, hidden_state *state) {
    for (size_t t = 0; t < event->rows; t++) {
        if (!is_massive(probe->extents[t].max_abs, state->median_abs)) continue;
        const float *x = event->x + t * event->width;
        for (size_t d = 0; d < event->width; d++)
            if (is_massive(fabsf(x[d]), state->median_abs))
                list_massive(state, (massive){.token = t, .dimension = d, .value = x[d]});
    }
}

static void find_largest(const ss_hidden_probe *probe, const ss_hidden_event *event, hidden_state *state) {
    size_t token = 0, dimension = 0;
    double square = 0;
    for (size_t t = 0; t < event->rows; t++) {
        if (probe->extents[t].max_abs > probe->extents[token].max_abs) token = t;
        square = fmax(square, probe->extents[t].square);
    }
    const float *x = event->x + token * event->width;
    for (size_t d = 1; d < event->width; d++)
        if (fabsf(x[d]) > fabsf(x[dimension])) dimension = d;
    state->largest = (massive){.token = token, .dimension = dimension, .value = x[dimension]};
    state->block_inf_rms = sqrt(square / (double)event->width);
}

static bool all_finite(const ss_hidden_probe *probe, size_t rows) {
    for (size_t t = 0; t < rows; t++)
        if (!isfinite(probe->extents[t].square)) return false;
    return true;
}

static hidden_state *state_of(ss_hidden_probe *probe, const ss_hidden_event *event) {
    if (event->site == SS_SITE_EMBEDDING) return &probe->embedding;
    return event->site == SS_SITE_FINAL_NORM ? &probe->final : &probe->layers[event->layer];
}

static void on_hidden(void *context, const ss_hidden_event *event) {
    ss_hidden_probe *probe = context;
    hidden_state *state = state_of(probe, event);
    extent_task task = {.probe = probe, .event = event};
    ss_team_split(probe->compute.workers, event->rows, measure_rows, &task);
    state->seen = true;
    state->finite = all_finite(probe, event->rows);
    if (!state->finite) return;
    state->median_abs =
        ss_median_abs(probe->compute.workers, event->x, event->rows * event->width, probe->bins);
    find_largest(probe, event, state);
    find_massive(probe, event, state);
}

ss_probe ss_hidden_probe_subscribe(ss_hidden_probe *probe) {
    return (ss_probe){.context = probe, .sites = SITES, .hidden = on_hidden};
}

/* ---- reporting ---- */

static void write_massive(ss_result *result, json_t *object, const hidden_state *state) {
    json_t *list = ss_result_array(result, object, "massive");
    for (size_t i = 0; i < state->listed; i++) {
        json_t *item = ss_result_item(result, list);
        ss_result_count(result, item, "token", state->list[i].token);
        ss_result_count(result, item, "dimension", state->list[i].dimension);
        ss_result_number(result, item, "value", state->list[i].value, NULL);
    }
    ss_result_count(result, object, "massive_count", state->massive_count);
}

static void write_not_finite(ss_result *result, json_t *object) {
    static const char *const names[] = {"block_inf_rms", "max_abs",    "max_token",
                                        "max_dimension", "median_abs", "massive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ss_result_absent(result, object, names[i], "the hidden state holds a NaN or an infinity");
}

static void write_state(ss_result *result, json_t *object, const hidden_state *state) {
    if (!state->seen) return;
    if (!state->finite) {
        write_not_finite(result, object);
        return;
    }
    ss_result_number(result, object, "block_inf_rms", state->block_inf_rms, NULL);
    ss_result_number(result, object, "max_abs", fabsf(state->largest.value), NULL);
    ss_result_count(result, object, "max_token", state->largest.token);
    ss_result_count(result, object, "max_dimension", state->largest.dimension);
    ss_result_number(result, object, "median_abs", state->median_abs, NULL);
    write_massive(result, object, state);
}

ss_status ss_hidden_probe_report(ss_hidden_probe *probe, const ss_report *report, ss_error *error) {
    ss_result *result = report->result;
    write_state(result, ss_report_part(report, "embedding"), &probe->embedding);
    for (size_t layer = 0; layer < probe->config->layers; layer++)
        write_state(result, ss_report_hidden(report, layer), &probe->layers[layer]);
    if (probe->config->final_norm) write_state(result, ss_report_part(report, "final"), &probe->final);
    return ss_result_check(result, error);
}
