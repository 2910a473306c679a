/* The size of hidden states: each is measured whole as it is shown. Relies on: measure/massive. */
#include "probe/hidden_probe.h"

#include "measure/massive.h"

#define MOST_LISTED ((size_t)32) /* massive activations: the largest are listed, all are counted */

#define SITES (SS_SITE_BIT(SS_SITE_EMBEDDING) | SS_SITE_BIT(SS_SITE_BLOCK) | SS_SITE_BIT(SS_SITE_FINAL_NORM))

typedef struct hidden_state {
    bool seen;
    ss_hidden measures;
    ss_massive massive[MOST_LISTED];
} hidden_state;

struct ss_hidden_probe {
    const ss_allocator *memory;
    const ss_config *config;
    ss_compute compute;
    hidden_state *layers; /* [layers] */
    hidden_state embedding, final;
};

ss_status ss_hidden_probe_create(const ss_probe_setup *setup, ss_hidden_probe **probe, ss_error *error) {
    ss_hidden_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the hidden probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->compute = setup->compute;
    made->layers = ss_alloc_zero(setup->memory, setup->config->layers, sizeof *made->layers);
    if (!made->layers) {
        ss_hidden_probe_free(made);
        return ss_fail_memory(error, "the hidden probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_hidden_probe_free(ss_hidden_probe *probe) {
    if (!probe) return;
    ss_free(probe->memory, probe->layers);
    ss_free(probe->memory, probe);
}

static hidden_state *state_of(ss_hidden_probe *probe, const ss_hidden_event *event) {
    if (event->site == SS_SITE_EMBEDDING) return &probe->embedding;
    return event->site == SS_SITE_FINAL_NORM ? &probe->final : &probe->layers[event->layer];
}

static void on_hidden(void *context, const ss_hidden_event *event) {
    ss_hidden_probe *probe = context;
    hidden_state *state = state_of(probe, event);
    state->seen = true;
    state->measures =
        ss_measure_hidden(&probe->compute, event->x, event->rows, event->width, state->massive, MOST_LISTED);
}

ss_probe ss_hidden_probe_subscribe(ss_hidden_probe *probe) {
    return (ss_probe){.context = probe, .sites = SITES, .hidden = on_hidden};
}

/* ---- reporting ---- */

static void write_massive(ss_result *result, json_t *object, const hidden_state *state) {
    size_t count = state->measures.massive_count, listed = count < MOST_LISTED ? count : MOST_LISTED;
    json_t *list = ss_result_array(result, object, "massive");
    for (size_t i = 0; i < listed; i++) {
        json_t *item = ss_result_item(result, list);
        ss_result_count(result, item, "token", state->massive[i].token);
        ss_result_count(result, item, "dimension", state->massive[i].dimension);
        ss_result_number(result, item, "value", state->massive[i].value, NULL);
    }
    ss_result_count(result, object, "massive_count", count);
}

static void write_not_finite(ss_result *result, json_t *object) {
    static const char *const names[] = {"block_inf_rms", "max_abs",    "max_token",
                                        "max_dimension", "median_abs", "massive"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        ss_result_absent(result, object, names[i], "the hidden state holds a NaN or an infinity");
}

static void write_state(ss_result *result, json_t *object, const hidden_state *state) {
    const ss_hidden *h = &state->measures;
    if (!state->seen) return;
    if (!h->finite) {
        write_not_finite(result, object);
        return;
    }
    ss_result_number(result, object, "block_inf_rms", h->block_inf_rms, NULL);
    ss_result_number(result, object, "max_abs", h->max_abs, NULL);
    ss_result_count(result, object, "max_token", h->max_token);
    ss_result_count(result, object, "max_dimension", h->max_dimension);
    ss_result_number(result, object, "median_abs", h->median_abs, NULL);
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
