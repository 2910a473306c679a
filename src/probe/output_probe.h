/* The next-token distributions: row measures, likelihood of the text, confident rows, and rows whose p_max
 * rounds to 1 in float32, so that the computed gradient of a correct target is exactly 0 (SPEC section 2,
 * "output layer"). The last token has no target. Memory: per worker one row of V weights. Relies on:
 * math/softmax, measure/row. */
#ifndef SS_PROBE_OUTPUT_PROBE_H
#define SS_PROBE_OUTPUT_PROBE_H

#include "probe/probes.h"

typedef struct ss_output_probe ss_output_probe;

ss_status ss_output_probe_create(const ss_probe_setup *setup, ss_output_probe **probe, ss_error *error);
ss_probe ss_output_probe_subscribe(ss_output_probe *probe);
ss_status ss_output_probe_report(ss_output_probe *probe, const ss_report *report, ss_error *error);
void ss_output_probe_free(ss_output_probe *probe);

#endif
