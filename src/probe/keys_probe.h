/* Where the rows of a head look: the first key, sinks, the strongest keys, the previous and the same token,
 * induction, the pooled map, and how much of a head's output its sink contributes.
 * Means are over rows with two or more keys. A sink, or one of the strongest keys, is looked for among keys
 * that at least a quarter as many rows may see as see the most seen key: the last keys of a causal text are
 * seen by a handful of rows each and would win by chance. Memory: H x (3 T + bins^2) for one layer, T a
 * worker, and a map a head. Sources: SPEC section 2 (Gu et al. for sinks). Relies on: probe/columns (sums).
 */
#ifndef SS_PROBE_KEYS_PROBE_H
#define SS_PROBE_KEYS_PROBE_H

#include "probe/probes.h"

typedef struct ss_keys_probe ss_keys_probe;

ss_status ss_keys_probe_create(const ss_probe_setup *setup, ss_keys_probe **probe, ss_error *error);
ss_probe ss_keys_probe_subscribe(ss_keys_probe *probe);
ss_status ss_keys_probe_report(ss_keys_probe *probe, const ss_report *report, ss_error *error);
void ss_keys_probe_free(ss_keys_probe *probe);

#endif
