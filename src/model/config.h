/* What a transformer is: sizes and options that the one forward pass understands. Architectures differ only
 * in these options and in the names of their tensors (model/architecture.h).
 * Letters: T tokens, D width, H query heads, K key/value heads, E head width, F feed-forward width,
 * V vocabulary, N layers. */
#ifndef SS_MODEL_CONFIG_H
#define SS_MODEL_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

typedef enum ss_norm_kind { SS_NORM_LAYER, SS_NORM_RMS } ss_norm_kind;
typedef enum ss_norm_place { SS_NORM_PRE, SS_NORM_POST } ss_norm_place;
typedef enum ss_position_kind { SS_POSITION_LEARNED, SS_POSITION_ROTARY } ss_position_kind;
typedef enum ss_activation { SS_GELU_TANH, SS_GELU_ERF, SS_SILU, SS_RELU } ss_activation;
typedef enum ss_rotary_layout { SS_ROTARY_HALF, SS_ROTARY_INTERLEAVED } ss_rotary_layout;
typedef enum ss_rotary_scaling { SS_ROTARY_PLAIN, SS_ROTARY_LINEAR, SS_ROTARY_LLAMA3 } ss_rotary_scaling;

typedef struct ss_rotary {
    double base;
    size_t width; /* rotated dimensions of a head, even, at most E */
    ss_rotary_layout layout;
    ss_rotary_scaling scaling;
    double factor;                        /* linear, llama3 */
    double low_freq_factor, high_freq_factor; /* llama3 */
    double original_context;              /* llama3 */
} ss_rotary;

typedef struct ss_config {
    const char *architecture; /* "gpt2", "llama", "bert": the row of the architecture table */
    size_t layers, width, heads, kv_heads, head_width, ffn_width, vocabulary, context, segments;
    ss_norm_kind norm;
    ss_norm_place norm_place;
    double norm_epsilon;
    ss_position_kind positions;
    ss_rotary rotary;
    ss_activation activation;
    bool gated;        /* down(act(gate x) * up x) */
    bool causal;
    bool final_norm;   /* a norm after the last block (pre-LN models) */
    bool embed_norm;   /* a norm right after the embedding (BERT) */
    bool has_head;     /* gives next-token logits */
    bool tied;         /* the head is the token embedding */
    double score_scale; /* 1/sqrt(E) unless the model says otherwise */
    double soft_cap;   /* 0: none; else scores become cap tanh(score / cap) */
    size_t window;     /* 0: none; else a query sees itself and window - 1 keys before it */
} ss_config;

#endif
