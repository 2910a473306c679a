/* Scores and values of a layer, recomputed from the queries and keys of a `heads` event: what a probe needs
 * when it asks for a column or a few rows after the fact. Relies on: model/events, math/isa. Thread-safe. */
#ifndef SS_PROBE_VALUES_H
#define SS_PROBE_VALUES_H

#include "model/events.h"

static inline ss_visible ss_event_visible(const ss_heads_event *event, size_t query) {
    const ss_config *config = event->pass->config;
    return ss_visible_keys(event->pass->tokens, config->causal, config->window, query);
}

static inline const float *ss_event_query(const ss_heads_event *event, size_t head, size_t token) {
    return event->q + token * event->stride + head * event->pass->config->head_width;
}
static inline size_t ss_event_kv(const ss_heads_event *event, size_t head) {
    return head / (event->pass->config->heads / event->pass->config->kv_heads);
}
static inline const float *ss_event_key(const ss_heads_event *event, size_t head, size_t token) {
    return event->k + token * event->stride + ss_event_kv(event, head) * event->pass->config->head_width;
}
static inline const float *ss_event_value(const ss_heads_event *event, size_t head, size_t token) {
    return event->v + token * event->stride + ss_event_kv(event, head) * event->pass->config->head_width;
}
static inline const float *ss_event_mix(const ss_heads_event *event, size_t head, size_t token) {
    const ss_config *config = event->pass->config;
    return event->mix + (token * config->heads + head) * config->head_width;
}

/* What enters the softmax when the product q k is `dot`. */
double ss_score_of(const ss_config *config, double dot);

/* In place: products q k become what enters the softmax when q and every k are divided by their
 * root-mean-square. A product of 0 stays 0, whatever divides it. */
void ss_unit_scores(ss_isa isa, const ss_config *config, double query_rms, const float *key_rms /* [count] */,
                    size_t count, float *scores /* [count] */);

/* dots[j] = sum over e of x[e] * rows[j * stride + e], for `count` rows of `width`. */
void ss_dots(ss_isa isa, const float *x /* [width] */, const float *rows, size_t stride, size_t count,
             size_t width, float *dots /* [count] */);

/* squares[j] = sum over e of rows[j * stride + e]^2 */
void ss_squares(ss_isa isa, const float *rows, size_t stride, size_t count, size_t width,
                float *squares /* [count] */);

SS_DECLARE_LEVELS(void, ss_dots,
                  (const float *x, const float *rows, size_t stride, size_t count, size_t width, float *dots))
SS_DECLARE_LEVELS(void, ss_unit_dots,
                  (double query_rms, const float *key_rms, size_t count, double scale, float *dots))
SS_DECLARE_LEVELS(void, ss_squares,
                  (const float *rows, size_t stride, size_t count, size_t width, float *squares))

#endif
