/* What a pass shows while it runs, and the probe that listens.
 *
 *     const ss_probe probe = {.context = &mine, .sites = SS_SITE_BIT(SS_SITE_BLOCK), .hidden = on_hidden};
 *     ss_model_forward(model, ids, tokens, &options, (const ss_probe *const[]){&probe}, 1, &error);
 *
 * `rows` and `logits` are called by several workers at once: write into slots indexed by row. `rows_in_turn`
 * is for sums over rows: the blocks of one head come one after the other in a fixed order, those of other
 * heads at the same time; others wait, so it should do little. `hidden` and `heads` are called by one thread,
 * between operators; they may use the team. All pointers are valid during the call only. */
#ifndef SS_MODEL_EVENTS_H
#define SS_MODEL_EVENTS_H

#include "math/compute.h"
#include "model/config.h"
#include "nn/rows.h"

#include <stdint.h>

/* X(site, name): where in the pass a value is seen, in the order of the pass. */
#define SS_SITE_LIST(X)                                                                                      \
    X(SS_SITE_EMBEDDING, "embedding")                                                                        \
    X(SS_SITE_ATTN_NORM, "attention norm")                                                                   \
    X(SS_SITE_QKV, "queries, keys and values")                                                               \
    X(SS_SITE_ATTN_MIX, "attention heads")                                                                   \
    X(SS_SITE_ATTN_OUT, "after attention")                                                                   \
    X(SS_SITE_FFN_NORM, "feed-forward norm")                                                                 \
    X(SS_SITE_FFN_HIDDEN, "feed-forward hidden")                                                             \
    X(SS_SITE_BLOCK, "block output")                                                                         \
    X(SS_SITE_FINAL_NORM, "final norm")                                                                      \
    X(SS_SITE_LOGITS, "logits")

typedef enum ss_site {
#define SS_SITE_ENUM(site, name) site,
    SS_SITE_LIST(SS_SITE_ENUM)
#undef SS_SITE_ENUM
        SS_SITE_COUNT
} ss_site;

#define SS_SITE_BIT(site) (1u << (site))

const char *ss_site_name(ss_site site);

/* What a pass runs on; constant while it runs. */
typedef struct ss_pass {
    const ss_config *config;
    const ss_compute *compute;
    const uint32_t *ids; /* [T] */
    size_t tokens;       /* T */
} ss_pass;

/* A hidden state of tokens first .. first + rows - 1. The feed-forward sites and the logits come in parts,
 * one after the other; every other site comes whole (first = 0, rows = T). `layer` is 0 outside the layers.
 */
typedef struct ss_hidden_event {
    const ss_pass *pass;
    ss_site site;
    size_t layer, width;
    size_t first, rows;
    const float *x; /* [rows][width] */
} ss_hidden_event;

/* All heads of a layer after its attention: enough to recompute any column of weights exactly:
 * weight(query t, key j) = exp(score(q_t, k_j) - max[h][t]) / total[h][t]. */
typedef struct ss_heads_event {
    const ss_pass *pass;
    size_t layer;
    size_t stride;       /* floats from one token to the next in q, k, v */
    const float *q;      /* token t, head h at q + t * stride + h * E; rotated */
    const float *k, *v;  /* the same with key/value head h / (H / K) */
    const float *mix;    /* [T][H * E] weights times values, before the output projection */
    const float *max;    /* [H][T] */
    const double *total; /* [H][T] */
} ss_heads_event;

/* Logits of tokens first .. first + rows - 1: logits [rows][V]. */
typedef struct ss_logits_event {
    const ss_pass *pass;
    size_t first, rows;
    const float *logits; /* [rows][V] */
    int worker;
} ss_logits_event;

typedef struct ss_probe {
    void *context;
    unsigned sites; /* SS_SITE_BIT of every site that `hidden` wants */
    void (*rows)(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block);
    void (*rows_in_turn)(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block);
    void (*heads)(void *context, const ss_heads_event *event);
    void (*hidden)(void *context, const ss_hidden_event *event);
    void (*logits)(void *context, const ss_logits_event *event);
} ss_probe;

#endif
