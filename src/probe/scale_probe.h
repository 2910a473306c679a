/* How large the scores are, and whether scale is what saturates a row: rows with p_max >= .99 are computed
 * again with every query and key vector scaled to root-mean-square 1, and are scale-driven when p_max falls
 * to <= .5, else genuine (SPEC section 2, "two kinds of saturation"). Relies on: the `heads` event's queries
 * and keys. */
#ifndef SS_PROBE_SCALE_PROBE_H
#define SS_PROBE_SCALE_PROBE_H

#include "probe/probes.h"

typedef struct ss_scale_probe ss_scale_probe;

ss_status ss_scale_probe_create(const ss_probe_setup *setup, ss_scale_probe **probe, ss_error *error);
ss_probe ss_scale_probe_subscribe(ss_scale_probe *probe);
ss_status ss_scale_probe_report(ss_scale_probe *probe, const ss_report *report, ss_error *error);
void ss_scale_probe_free(ss_scale_probe *probe);

#endif
