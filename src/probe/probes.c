/* The table of probes, and sets of them. Relies on: every probe. */
#include "probe/probes.h"

#include "measure/sink.h"
#include "probe/health_probe.h"
#include "probe/hidden_probe.h"
#include "probe/keys_probe.h"
#include "probe/output_probe.h"
#include "probe/rows_probe.h"
#include "probe/scale_probe.h"

#include <string.h>

/* X(name, default, description): the one list of probes. */
#define PROBE_LIST(X)                                                                                        \
    X(rows, true, "entropy, theta and the other Jacobian norms of every attention row")                      \
    X(keys, true, "sinks, strongest keys, previous-token and induction heads, pooled maps")                  \
    X(scale, true, "largest scores, and whether scale is what saturates a row")                              \
    X(hidden, true, "size of hidden states, massive activations")                                            \
    X(output, true, "next-token distributions and the likelihood of the text")                               \
    X(health, true, "the first NaN or infinity")

/* The table speaks of void pointers: one set of adapters a probe. */
#define PROBE_ADAPTERS(name, on, description)                                                                \
    static ss_status create_##name(const ss_probe_setup *setup, void **probe, ss_error *error) {             \
        ss_##name##_probe *made = NULL;                                                                      \
        SS_TRY(ss_##name##_probe_create(setup, &made, error));                                               \
        *probe = made;                                                                                       \
        return SS_OK;                                                                                        \
    }                                                                                                        \
    static ss_probe subscribe_##name(void *probe) {                                                          \
        return ss_##name##_probe_subscribe(probe);                                                           \
    }                                                                                                        \
    static ss_status report_##name(void *probe, const ss_report *report, ss_error *error) {                  \
        return ss_##name##_probe_report(probe, report, error);                                               \
    }                                                                                                        \
    static void free_##name(void *probe) {                                                                   \
        ss_##name##_probe_free(probe);                                                                       \
    }
PROBE_LIST(PROBE_ADAPTERS)
#undef PROBE_ADAPTERS

static const ss_probe_kind KINDS[] = {
#define PROBE_KIND(name, on, description)                                                                    \
    {#name, description, on, create_##name, subscribe_##name, report_##name, free_##name},
    PROBE_LIST(PROBE_KIND)
#undef PROBE_KIND
};
#define KIND_COUNT (sizeof KINDS / sizeof *KINDS)

const ss_probe_kind *ss_probe_kinds(size_t *count) {
    *count = KIND_COUNT;
    return KINDS;
}

ss_probe_options ss_probe_options_default(void) {
    return (ss_probe_options){.sink_threshold = SS_SINK_THRESHOLD,
                              .saturated_theta = 0.01,
                              .confident = 0.9,
                              .theta_nodes = SS_THETA_BUDGET};
}

/* ---- choosing ---- */

static uint32_t default_bits(void) {
    uint32_t bits = 0;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (KINDS[i].on_by_default) bits |= UINT32_C(1) << i;
    return bits;
}

static bool is_name(const char *word, size_t length, const char *name) {
    return strlen(name) == length && memcmp(word, name, length) == 0;
}

/* The bits that one word stands for; 0 when it stands for nothing. */
static uint32_t bits_of(const char *word, size_t length) {
    if (is_name(word, length, "default")) return default_bits();
    if (is_name(word, length, "all")) return (UINT32_C(1) << KIND_COUNT) - 1;
    for (size_t i = 0; i < KIND_COUNT; i++)
        if (is_name(word, length, KINDS[i].name)) return UINT32_C(1) << i;
    return 0;
}

static ss_status fail_unknown(const char *word, size_t length, ss_error *error) {
    char known[256] = "";
    for (size_t i = 0; i < KIND_COUNT; i++) {
        size_t used = strlen(known);
        snprintf(known + used, sizeof known - used, "%s, ", KINDS[i].name);
    }
    return ss_fail(error, SS_E_USAGE, "--probe", "no probe is named \"%.*s\"; there are %sdefault and all",
                   (int)(length < 64 ? length : 64), word, known);
}

ss_status ss_probes_parse(const char *names, uint32_t *bits, ss_error *error) {
    uint32_t found = 0;
    for (const char *word = names;; word++) {
        size_t length = strcspn(word, ",");
        uint32_t meant = bits_of(word, length);
        if (meant == 0) return fail_unknown(word, length, error);
        found |= meant;
        word += length;
        if (*word == '\0') break;
    }
    *bits = found;
    return SS_OK;
}

/* ---- sets ---- */

struct ss_probe_set {
    ss_probe_setup setup;
    size_t count;
    const ss_probe_kind *kinds[KIND_COUNT];
    void *probes[KIND_COUNT];
    ss_probe subscriptions[KIND_COUNT];
    const ss_probe *list[KIND_COUNT];
};

static ss_status add_probe(ss_probe_set *set, const ss_probe_kind *kind, ss_error *error) {
    size_t i = set->count;
    SS_TRY(kind->create(&set->setup, &set->probes[i], error));
    set->kinds[i] = kind;
    set->subscriptions[i] = kind->subscribe(set->probes[i]);
    set->list[i] = &set->subscriptions[i];
    set->count++;
    return SS_OK;
}

ss_status ss_probe_set_create(const ss_probe_setup *setup, uint32_t bits, ss_probe_set **set,
                              ss_error *error) {
    ss_probe_set *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the probes");
    made->setup = *setup;
    if (bits == SS_PROBES_DEFAULT) bits = default_bits();
    for (size_t i = 0; i < KIND_COUNT; i++) {
        if (!(bits >> i & 1)) continue;
        ss_status status = add_probe(made, &KINDS[i], error);
        if (status == SS_OK) continue;
        ss_probe_set_free(made);
        return status;
    }
    *set = made;
    return SS_OK;
}

void ss_probe_set_free(ss_probe_set *set) {
    if (!set) return;
    for (size_t i = 0; i < set->count; i++) set->kinds[i]->free(set->probes[i]);
    ss_free(set->setup.memory, set);
}

const ss_probe *const *ss_probe_set_list(const ss_probe_set *set) {
    return set->list;
}

size_t ss_probe_set_count(const ss_probe_set *set) {
    return set->count;
}

void *ss_probe_set_find(const ss_probe_set *set, const char *name) {
    for (size_t i = 0; i < set->count; i++)
        if (strcmp(set->kinds[i]->name, name) == 0) return set->probes[i];
    return NULL;
}

/* What the numbers depend on. */
static void write_settings(const ss_probe_options *options, ss_result *result) {
    json_t *settings = ss_result_object(result, result->root, "settings");
    ss_result_text(result, settings, "row_range", "rows with two or more keys");
    ss_result_number(result, settings, "sink_threshold", options->sink_threshold, NULL);
    ss_result_number(result, settings, "saturated_theta", options->saturated_theta, NULL);
    ss_result_number(result, settings, "confident", options->confident, NULL);
    ss_result_count(result, settings, "theta_nodes", options->theta_nodes);
}

ss_status ss_probe_set_report(const ss_probe_set *set, ss_result *result, ss_error *error) {
    const ss_report report = {
        .result = result, .config = set->setup.config, .heads = set->setup.options.heads};
    write_settings(&set->setup.options, result);
    for (size_t i = 0; i < set->count; i++) SS_TRY(set->kinds[i]->report(set->probes[i], &report, error));
    return ss_result_check(result, error);
}
