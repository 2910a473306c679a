/* What a transformer is: sizes and options that the one forward pass understands. Architectures differ only
 * in these options and in the names of their tensors (model/architecture.h).
 * Letters: T tokens, D width, H query heads, K key/value heads, E head width, F feed-forward width,
 * V vocabulary, N layers. */
#ifndef SS_MODEL_CONFIG_H
#define SS_MODEL_CONFIG_H

#include "nn/activation.h"
#include "nn/norm.h"
#include "nn/rotary.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum ss_norm_place { SS_NORM_PRE, SS_NORM_POST } ss_norm_place;
typedef enum ss_position_kind { SS_POSITION_LEARNED, SS_POSITION_ROTARY } ss_position_kind;

typedef struct ss_config {
    const char *architecture; /* "gpt2", "llama", "bert": the row of the architecture table */
    size_t layers, width, heads, kv_heads, head_width, ffn_width, vocabulary, context, segments;
    ss_norm_kind norm;
    ss_norm_place norm_place;
    double norm_epsilon;
    ss_position_kind positions;
    ss_rotary rotary;
    ss_activation activation;
    bool gated; /* down(act(gate x) * up x) */
    bool causal;
    bool final_norm;    /* a norm after the last block (pre-LN models) */
    bool embed_norm;    /* a norm right after the embedding (BERT) */
    bool has_head;      /* gives next-token logits */
    bool tied;          /* the head is the token embedding */
    double score_scale; /* 1/sqrt(E) unless the model says otherwise */
    double soft_cap;    /* 0: none; else scores become cap tanh(score / cap) */
    size_t window;      /* 0: none; else a query sees itself and window - 1 keys before it */
} ss_config;

#endif
