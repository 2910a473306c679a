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

/* Numbers of a head that live in a struct of the probe, as a table: how each is written, and pooled over
 * heads. */
typedef enum ss_pool { SS_POOL_MEAN, SS_POOL_MAX, SS_POOL_SUM } ss_pool;

typedef struct ss_scalar {
    const char *name;
    size_t offset;      /* of a double in the struct; NaN when the head has none */
    ss_pool pool;       /* SUM: a count, written as a whole number */
    const char *absent; /* why there may be none; NULL: then it is left out of the document */
} ss_scalar;

/* Write the numbers of one head into `object`. */
void ss_report_scalars(const ss_report *report, json_t *object, const ss_scalar *scalars, size_t count,
                       const void *head);

/* Pool them over the reported heads of a layer, whose structs are `stride` bytes apart, into its "pooled". */
void ss_report_pooled_scalars(const ss_report *report, size_t layer, const ss_scalar *scalars, size_t count,
                              const void *heads, size_t stride);

#endif
