/* Every probe in one table, and sets of probes to run over a pass.
 *
 *     ss_probe_setup setup = {.memory = memory, .config = ss_model_config(model), .tokens = T, .ids = ids,
 *                             .compute = compute, .options = ss_probe_options_default()};
 *     ss_probe_set *set;
 *     SS_TRY(ss_probe_set_create(&setup, SS_PROBES_DEFAULT, &set, error));
 *     ss_model_forward(model, ids, T, &forward, ss_probe_set_list(set), ss_probe_set_count(set), error);
 *     ss_probe_set_report(set, &result, error);
 *     ss_probe_set_free(set);
 *
 * Relies on: model/events (what a pass shows), result (where measures go). */
#ifndef SS_PROBE_PROBES_H
#define SS_PROBE_PROBES_H

#include "base/mem.h"
#include "base/status.h"
#include "model/events.h"
#include "probe/report.h"

/* What every probe is made from. Everything pointed to must outlive the probe. */
typedef struct ss_probe_setup {
    const ss_allocator *memory;
    const ss_config *config;
    const uint32_t *ids; /* [T] */
    size_t tokens;       /* T */
    ss_compute compute;
    ss_probe_options options;
} ss_probe_setup;

/* One row of the table. A probe made by `create` is the `probe` of the rest; `free` accepts NULL.
 * `report` may be called once the pass is done, and uses the team. */
typedef struct ss_probe_kind {
    const char *name, *description;
    bool on_by_default;
    ss_status (*create)(const ss_probe_setup *setup, void **probe, ss_error *error);
    ss_probe (*subscribe)(void *probe);
    ss_status (*report)(void *probe, const ss_report *report, ss_error *error);
    void (*free)(void *probe);
} ss_probe_kind;

/* The table, in the order in which probes run and report. */
const ss_probe_kind *ss_probe_kinds(size_t *count);

/* Sets of probes are bits by position in the table. */
#define SS_PROBES_DEFAULT UINT32_MAX /* those that are on by default */

/* "rows,keys" -> bits; "default" and "all" are names as well. SS_E_USAGE names what is not in the table. */
ss_status ss_probes_parse(const char *names, uint32_t *bits, ss_error *error);

typedef struct ss_probe_set ss_probe_set;

ss_status ss_probe_set_create(const ss_probe_setup *setup, uint32_t bits, ss_probe_set **set,
                              ss_error *error);
void ss_probe_set_free(ss_probe_set *set);

/* For ss_model_forward. */
const ss_probe *const *ss_probe_set_list(const ss_probe_set *set);
size_t ss_probe_set_count(const ss_probe_set *set);

/* The probe of that name, as its own type, or NULL when the set has none. */
void *ss_probe_set_find(const ss_probe_set *set, const char *name);

/* Write what was measured: layers, embedding, final, output, and the settings that the numbers depend on. */
ss_status ss_probe_set_report(const ss_probe_set *set, ss_result *result, ss_error *error);

#endif
