/* Where probes write: the parts of the result document that describe layers, heads and hidden states.
 * Relies on: result. Not thread-safe. */
#ifndef SS_PROBE_REPORT_H
#define SS_PROBE_REPORT_H

#include "model/config.h"
#include "result/result.h"

#include <stdint.h>

typedef struct ss_report {
    ss_result *result;
    const ss_config *config;
    const uint8_t *heads; /* [layers * H] which heads are reported; NULL for all */
} ss_report;

bool ss_report_has_head(const ss_report *report, size_t layer, size_t head);

/* Each part is made when first asked for; NULL when memory ran out (the result is marked then). */
json_t *ss_report_layer(const ss_report *report, size_t layer);             /* layers[layer] */
json_t *ss_report_head(const ss_report *report, size_t layer, size_t head); /* its heads[head] */
json_t *ss_report_pooled(const ss_report *report, size_t layer);            /* its pooled */
json_t *ss_report_hidden(const ss_report *report, size_t layer);            /* its hidden */
json_t *ss_report_part(const ss_report *report, const char *name); /* "embedding", "final", "output" */

#endif
