/* Row measures of every head: entropy, p_max, theta and the Jacobian norms of each query's row, summarised by
 * head and layer, with profiles along the text. Rows with one key are counted and left out.
 * Memory: 40 bytes a row, layers x H x T rows. Sources: SPEC section 1 (Emadi; SPEC names the equations).
 * Relies on: measure/row (the measures), measure/summary (percentiles). */
#ifndef SS_PROBE_ROWS_PROBE_H
#define SS_PROBE_ROWS_PROBE_H

#include "probe/probes.h"

typedef struct ss_rows_probe ss_rows_probe;

ss_status ss_rows_probe_create(const ss_probe_setup *setup, ss_rows_probe **probe, ss_error *error);
ss_probe ss_rows_probe_subscribe(ss_rows_probe *probe);
ss_status ss_rows_probe_report(ss_rows_probe *probe, const ss_report *report, ss_error *error);
void ss_rows_probe_free(ss_rows_probe *probe);

#endif
