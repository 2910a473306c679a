/* The search for the first NaN or infinity. Relies on: probe/scan, base/team. */
#include "probe/health_probe.h"

#include "base/team.h"
#include "probe/scan.h"

#include <math.h>

/* What a document has a place for: hidden states and the logits. */
#define COARSE_SITES                                                                                         \
    (SS_SITE_BIT(SS_SITE_EMBEDDING) | SS_SITE_BIT(SS_SITE_BLOCK) | SS_SITE_BIT(SS_SITE_FINAL_NORM) |         \
     SS_SITE_BIT(SS_SITE_LOGITS))
#define ALL_SITES (SS_SITE_BIT(SS_SITE_COUNT) - 1)

struct ss_health_probe {
    const ss_allocator *memory;
    const ss_config *config;
    ss_compute compute;
    unsigned sites;
    bool found;
    ss_bad_value first;
    bool embedding, final, logits; /* not finite there? */
    bool *layers;                  /* [layers] not finite anywhere in the layer? */
    size_t *bad_rows;              /* [workers] first bad row of each one's share */
};

ss_status ss_health_probe_create(const ss_probe_setup *setup, ss_health_probe **probe, ss_error *error) {
    ss_health_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the health probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->compute = setup->compute;
    made->sites = setup->options.all_sites ? ALL_SITES : COARSE_SITES;
    made->layers = ss_alloc_zero(setup->memory, setup->config->layers, sizeof *made->layers);
    made->bad_rows = ss_alloc(setup->memory, (size_t)setup->compute.workers, sizeof *made->bad_rows);
    if (!made->layers || !made->bad_rows) {
        ss_health_probe_free(made);
        return ss_fail_memory(error, "the health probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_health_probe_free(ss_health_probe *probe) {
    if (!probe) return;
    ss_free(probe->memory, probe->layers);
    ss_free(probe->memory, probe->bad_rows);
    ss_free(probe->memory, probe);
}

/* ---- looking ---- */

typedef struct scan_task {
    ss_health_probe *probe;
    const ss_hidden_event *event;
} scan_task;

static void scan_rows(void *context, size_t begin, size_t end, int worker) {
    const scan_task *task = context;
    const ss_hidden_event *event = task->event;
    for (size_t row = begin; row < end; row++) {
        if (ss_all_finite(task->probe->compute.isa, event->x + row * event->width, event->width)) continue;
        task->probe->bad_rows[worker] = row;
        return;
    }
}

/* The first row with a bad value, or SIZE_MAX. */
static size_t first_bad_row(ss_health_probe *probe, const ss_hidden_event *event) {
    int workers = probe->compute.workers;
    for (int w = 0; w < workers; w++) probe->bad_rows[w] = SIZE_MAX;
    scan_task task = {.probe = probe, .event = event};
    ss_team_split(workers, event->rows, scan_rows, &task);
    size_t first = SIZE_MAX;
    for (int w = 0; w < workers; w++) first = probe->bad_rows[w] < first ? probe->bad_rows[w] : first;
    return first;
}

static void remember_first(ss_health_probe *probe, const ss_hidden_event *event, size_t row) {
    const float *x = event->x + row * event->width;
    size_t dimension = 0;
    while (isfinite(x[dimension])) dimension++;
    probe->found = true;
    probe->first = (ss_bad_value){.site = event->site,
                                  .layer = event->layer,
                                  .token = event->first + row,
                                  .dimension = dimension,
                                  .value = x[dimension]};
}

/* The mark of the part of the document where a site is reported. */
static bool *mark_of(ss_health_probe *probe, ss_site site, size_t layer) {
    switch (site) {
    case SS_SITE_EMBEDDING:
        return &probe->embedding;
    case SS_SITE_FINAL_NORM:
        return &probe->final;
    case SS_SITE_LOGITS:
        return &probe->logits;
    default:
        return &probe->layers[layer];
    }
}

static void on_hidden(void *context, const ss_hidden_event *event) {
    ss_health_probe *probe = context;
    size_t row = first_bad_row(probe, event);
    if (row == SIZE_MAX) return;
    if (!probe->found) remember_first(probe, event, row);
    *mark_of(probe, event->site, event->layer) = true;
}

ss_probe ss_health_probe_subscribe(ss_health_probe *probe) {
    return (ss_probe){.context = probe, .sites = probe->sites, .hidden = on_hidden};
}

bool ss_health_probe_first(const ss_health_probe *probe, ss_bad_value *first) {
    if (probe->found) *first = probe->first;
    return probe->found;
}

/* ---- whose fault ---- */

/* The roles whose weights make the value of a site, in the order of the table of roles. */
static const struct {
    ss_role first, last;
} MAKERS[] = {
    [SS_SITE_EMBEDDING] = {SS_ROLE_TOKEN_EMBED, SS_ROLE_EMBED_NORM_BETA},
    [SS_SITE_ATTN_NORM] = {SS_ROLE_ATTN_NORM_GAMMA, SS_ROLE_ATTN_NORM_BETA},
    [SS_SITE_QKV] = {SS_ROLE_Q, SS_ROLE_V_BIAS},
    [SS_SITE_ATTN_MIX] = {SS_ROLE_ROTARY_FACTORS, SS_ROLE_ROTARY_FACTORS},
    [SS_SITE_ATTN_OUT] = {SS_ROLE_ATTN_OUT, SS_ROLE_ATTN_OUT_BIAS},
    [SS_SITE_FFN_NORM] = {SS_ROLE_FFN_NORM_GAMMA, SS_ROLE_FFN_NORM_BETA},
    [SS_SITE_FFN_HIDDEN] = {SS_ROLE_GATE, SS_ROLE_UP_BIAS},
    [SS_SITE_BLOCK] = {SS_ROLE_DOWN, SS_ROLE_DOWN_BIAS},
    [SS_SITE_FINAL_NORM] = {SS_ROLE_FINAL_NORM_GAMMA, SS_ROLE_FINAL_NORM_BETA},
    [SS_SITE_LOGITS] = {SS_ROLE_HEAD, SS_ROLE_HEAD},
};

/* The first bad tensor of roles first .. last, in the layer where they are per layer. */
static const ss_tensor *bad_tensor(const ss_tensor_table *table, ss_role first, ss_role last, size_t layer) {
    for (ss_role role = first; role <= last; role++)
        for (size_t i = 0; i < table->count; i++) {
            const ss_tensor *tensor = &table->tensors[i];
            bool here =
                tensor->role == role && (!ss_role_describe(role)->per_layer || tensor->layer == layer);
            if (here && tensor->first_bad != SS_NO_BAD) return tensor;
        }
    return NULL;
}

const ss_tensor *ss_health_culprit(const ss_tensor_table *table, const ss_bad_value *first) {
    const ss_tensor *maker =
        bad_tensor(table, MAKERS[first->site].first, MAKERS[first->site].last, first->layer);
    if (maker) return maker;
    if (first->site == SS_SITE_LOGITS) /* a tied head is the embedding */
        return bad_tensor(table, SS_ROLE_TOKEN_EMBED, SS_ROLE_TOKEN_EMBED, 0);
    if (first->site == SS_SITE_EMBEDDING || first->site == SS_SITE_FINAL_NORM) return NULL;
    return bad_tensor(table, SS_ROLE_ATTN_NORM_GAMMA, SS_ROLE_DOWN_BIAS, first->layer);
}

/* ---- reporting ---- */

/* The part of the document where a site is reported. */
static json_t *part_of(const ss_report *report, ss_site site, size_t layer) {
    switch (site) {
    case SS_SITE_EMBEDDING:
        return ss_report_part(report, "embedding");
    case SS_SITE_FINAL_NORM:
        return ss_report_part(report, "final");
    case SS_SITE_LOGITS:
        return ss_report_part(report, "output");
    default:
        return ss_report_hidden(report, layer);
    }
}

/* Was the first bad value in the part where this site is reported? */
static bool is_first_part(ss_health_probe *probe, ss_site site, size_t layer) {
    return mark_of(probe, probe->first.site, probe->first.layer) == mark_of(probe, site, layer);
}

static void write_first(ss_result *result, json_t *object, const ss_bad_value *first) {
    ss_result_text(result, object, "site", ss_site_name(first->site));
    ss_result_count(result, object, "token", first->token);
    ss_result_count(result, object, "dimension", first->dimension);
    ss_result_text(result, object, "value", isnan(first->value) ? "NaN" : first->value > 0 ? "+inf" : "-inf");
    ss_result_bool(result, object, "downstream", false);
}

static void write_downstream(ss_result *result, json_t *object, ss_site site) {
    ss_result_text(result, object, "site", ss_site_name(site));
    ss_result_bool(result, object, "downstream", true);
}

static void report_part(ss_health_probe *probe, const ss_report *report, ss_site site, size_t layer) {
    ss_result *result = report->result;
    json_t *part = part_of(report, site, layer);
    if (!*mark_of(probe, site, layer)) {
        ss_result_text(result, part, "non_finite", NULL);
        return;
    }
    json_t *object = ss_result_object(result, part, "non_finite");
    if (is_first_part(probe, site, layer))
        write_first(result, object, &probe->first);
    else
        write_downstream(result, object, site);
}

ss_status ss_health_probe_report(ss_health_probe *probe, const ss_report *report, ss_error *error) {
    report_part(probe, report, SS_SITE_EMBEDDING, 0);
    for (size_t layer = 0; layer < probe->config->layers; layer++)
        report_part(probe, report, SS_SITE_BLOCK, layer);
    if (probe->config->final_norm) report_part(probe, report, SS_SITE_FINAL_NORM, 0);
    if (probe->config->has_head) report_part(probe, report, SS_SITE_LOGITS, 0);
    return ss_result_check(report->result, error);
}

void ss_health_blame(const ss_report *report, const ss_bad_value *first, const ss_tensor *culprit) {
    ss_result *result = report->result;
    json_t *object = ss_result_object(result, part_of(report, first->site, first->layer), "non_finite");
    if (!culprit) {
        const char reason[] = "no weight is NaN or infinite: the value overflowed in the pass";
        ss_result_absent(result, object, "tensor", reason);
        ss_result_absent(result, object, "index", reason);
        return;
    }
    ss_result_text(result, object, "tensor", culprit->name);
    ss_result_count(result, object, "index", (size_t)culprit->first_bad);
}
