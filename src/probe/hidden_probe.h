/* The size of hidden states, after the embedding, every block and the final norm: block-inf/RMS norm, largest
 * magnitude and where, median, massive activations (Sun et al.: abs(x) > 100 and >= 1000 x the median).
 * Relies on: measure/massive. */
#ifndef SS_PROBE_HIDDEN_PROBE_H
#define SS_PROBE_HIDDEN_PROBE_H

#include "probe/probes.h"

typedef struct ss_hidden_probe ss_hidden_probe;

ss_status ss_hidden_probe_create(const ss_probe_setup *setup, ss_hidden_probe **probe, ss_error *error);
ss_probe ss_hidden_probe_subscribe(ss_hidden_probe *probe);
ss_status ss_hidden_probe_report(ss_hidden_probe *probe, const ss_report *report, ss_error *error);
void ss_hidden_probe_free(ss_hidden_probe *probe);

#endif
