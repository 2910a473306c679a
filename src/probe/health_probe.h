/* The first NaN or infinity of a pass. By default hidden states (embedding, blocks, final norm) and logits
 * are looked at; with options.all_sites every site is, which names the operator: run the pass again with it
 * once the first look found something. What follows the first is downstream. Relies on: probe/scan (the
 * vector scan).
 */
#ifndef SS_PROBE_HEALTH_PROBE_H
#define SS_PROBE_HEALTH_PROBE_H

#include "model/tensors.h"
#include "probe/probes.h"

typedef struct ss_health_probe ss_health_probe;

ss_status ss_health_probe_create(const ss_probe_setup *setup, ss_health_probe **probe, ss_error *error);
ss_probe ss_health_probe_subscribe(ss_health_probe *probe);
ss_status ss_health_probe_report(ss_health_probe *probe, const ss_report *report, ss_error *error);
void ss_health_probe_free(ss_health_probe *probe);

typedef struct ss_bad_value {
    ss_site site;
    size_t layer, token, dimension;
    float value; /* NaN or an infinity */
} ss_bad_value;

/* The first one in the order of the pass; false when all were finite. */
bool ss_health_probe_first(const ss_health_probe *probe, ss_bad_value *first);

/* The tensor that brought it in: one with a bad weight among those of the operator that made the value, else
 * among those of its layer; NULL when no weight is bad (the value overflowed in the pass). */
const ss_tensor *ss_health_culprit(const ss_tensor_table *table, const ss_bad_value *first);

/* Name the culprit in the document where the first bad value was reported; NULL: an overflow. */
void ss_health_blame(const ss_report *report, const ss_bad_value *first, const ss_tensor *culprit);

#endif
