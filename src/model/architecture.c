/* The architecture tables. Sources: the modules of Hugging Face transformers (gpt2, llama, bert) and the
 * tensor names of llama.cpp's converter. Relies on: nothing. */
#include "model/architecture.h"

#include <stdio.h>
#include <string.h>

#define BOTH(hf, gguf)                                                                                       \
    {                                                                                                        \
        hf, gguf                                                                                             \
    }

/* ---- GPT-2: pre-LN, learned positions, fused queries, keys and values, tied head ---------------------- */

static const ss_tensor_name gpt2_names[] = {
    {SS_ROLE_TOKEN_EMBED, SS_ALWAYS, BOTH("wte.weight", "token_embd.weight")},
    {SS_ROLE_POSITION_EMBED, SS_ALWAYS, BOTH("wpe.weight", "position_embd.weight")},
    {SS_ROLE_ATTN_NORM_GAMMA, SS_ALWAYS, BOTH("h.#.ln_1.weight", "blk.#.attn_norm.weight")},
    {SS_ROLE_ATTN_NORM_BETA, SS_ALWAYS, BOTH("h.#.ln_1.bias", "blk.#.attn_norm.bias")},
    {SS_ROLE_Q, SS_ALWAYS, BOTH("h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight"), .conv1d = true,
     .fused = true},
    {SS_ROLE_Q_BIAS, SS_ALWAYS, BOTH("h.#.attn.c_attn.bias", "blk.#.attn_qkv.bias"), .fused = true},
    {SS_ROLE_ATTN_OUT, SS_ALWAYS, BOTH("h.#.attn.c_proj.weight", "blk.#.attn_output.weight"),
     .conv1d = true},
    {SS_ROLE_ATTN_OUT_BIAS, SS_ALWAYS, BOTH("h.#.attn.c_proj.bias", "blk.#.attn_output.bias")},
    {SS_ROLE_FFN_NORM_GAMMA, SS_ALWAYS, BOTH("h.#.ln_2.weight", "blk.#.ffn_norm.weight")},
    {SS_ROLE_FFN_NORM_BETA, SS_ALWAYS, BOTH("h.#.ln_2.bias", "blk.#.ffn_norm.bias")},
    {SS_ROLE_UP, SS_ALWAYS, BOTH("h.#.mlp.c_fc.weight", "blk.#.ffn_up.weight"), .conv1d = true},
    {SS_ROLE_UP_BIAS, SS_ALWAYS, BOTH("h.#.mlp.c_fc.bias", "blk.#.ffn_up.bias")},
    {SS_ROLE_DOWN, SS_ALWAYS, BOTH("h.#.mlp.c_proj.weight", "blk.#.ffn_down.weight"), .conv1d = true},
    {SS_ROLE_DOWN_BIAS, SS_ALWAYS, BOTH("h.#.mlp.c_proj.bias", "blk.#.ffn_down.bias")},
    {SS_ROLE_FINAL_NORM_GAMMA, SS_ALWAYS, BOTH("ln_f.weight", "output_norm.weight")},
    {SS_ROLE_FINAL_NORM_BETA, SS_ALWAYS, BOTH("ln_f.bias", "output_norm.bias")},
    {SS_ROLE_HEAD, SS_IF_UNTIED, BOTH("lm_head.weight", "output.weight"), .root = true},
};

/* ---- Llama: pre-RMSNorm, rotary, grouped queries, gated SiLU ------------------------------------------ */

static const ss_tensor_name llama_names[] = {
    {SS_ROLE_TOKEN_EMBED, SS_ALWAYS, BOTH("embed_tokens.weight", "token_embd.weight")},
    {SS_ROLE_ROTARY_FACTORS, SS_MAYBE, BOTH(NULL, "rope_freqs.weight")},
    {SS_ROLE_ATTN_NORM_GAMMA, SS_ALWAYS, BOTH("layers.#.input_layernorm.weight", "blk.#.attn_norm.weight")},
    {SS_ROLE_Q, SS_ALWAYS, BOTH("layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight")},
    {SS_ROLE_K, SS_ALWAYS, BOTH("layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight")},
    {SS_ROLE_V, SS_ALWAYS, BOTH("layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight")},
    {SS_ROLE_Q_BIAS, SS_IF_BIASED, BOTH("layers.#.self_attn.q_proj.bias", "blk.#.attn_q.bias")},
    {SS_ROLE_K_BIAS, SS_IF_BIASED, BOTH("layers.#.self_attn.k_proj.bias", "blk.#.attn_k.bias")},
    {SS_ROLE_V_BIAS, SS_IF_BIASED, BOTH("layers.#.self_attn.v_proj.bias", "blk.#.attn_v.bias")},
    {SS_ROLE_ATTN_OUT, SS_ALWAYS, BOTH("layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight")},
    {SS_ROLE_ATTN_OUT_BIAS, SS_IF_BIASED, BOTH("layers.#.self_attn.o_proj.bias", "blk.#.attn_output.bias")},
    {SS_ROLE_FFN_NORM_GAMMA, SS_ALWAYS,
     BOTH("layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight")},
    {SS_ROLE_GATE, SS_ALWAYS, BOTH("layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight")},
    {SS_ROLE_UP, SS_ALWAYS, BOTH("layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight")},
    {SS_ROLE_GATE_BIAS, SS_IF_FFN_BIASED, BOTH("layers.#.mlp.gate_proj.bias", "blk.#.ffn_gate.bias")},
    {SS_ROLE_UP_BIAS, SS_IF_FFN_BIASED, BOTH("layers.#.mlp.up_proj.bias", "blk.#.ffn_up.bias")},
    {SS_ROLE_DOWN, SS_ALWAYS, BOTH("layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight")},
    {SS_ROLE_DOWN_BIAS, SS_IF_FFN_BIASED, BOTH("layers.#.mlp.down_proj.bias", "blk.#.ffn_down.bias")},
    {SS_ROLE_FINAL_NORM_GAMMA, SS_ALWAYS, BOTH("norm.weight", "output_norm.weight")},
    {SS_ROLE_HEAD, SS_IF_UNTIED, BOTH("lm_head.weight", "output.weight"), .root = true},
};

/* ---- BERT: post-LN, learned positions, segments, every token sees every token -------------------------- */

/* files of transformers 2 and before call a norm's weight gamma and its bias beta */
#define BERT_NORM(gamma, beta, hf, gguf)                                                                     \
    {gamma, SS_ALWAYS, BOTH(hf ".weight", gguf ".weight")}, {gamma, SS_ALWAYS, BOTH(hf ".gamma", NULL)},     \
        {beta, SS_ALWAYS, BOTH(hf ".bias", gguf ".bias")}, {                                                 \
        beta, SS_ALWAYS, BOTH(hf ".beta", NULL)                                                              \
    }
#define BERT_LAYER "encoder.layer.#."

static const ss_tensor_name bert_names[] = {
    {SS_ROLE_TOKEN_EMBED, SS_ALWAYS, BOTH("embeddings.word_embeddings.weight", "token_embd.weight")},
    {SS_ROLE_POSITION_EMBED, SS_ALWAYS,
     BOTH("embeddings.position_embeddings.weight", "position_embd.weight")},
    {SS_ROLE_SEGMENT_EMBED, SS_ALWAYS,
     BOTH("embeddings.token_type_embeddings.weight", "token_types.weight")},
    BERT_NORM(SS_ROLE_EMBED_NORM_GAMMA, SS_ROLE_EMBED_NORM_BETA, "embeddings.LayerNorm", "token_embd_norm"),
    {SS_ROLE_Q, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.query.weight", "blk.#.attn_q.weight")},
    {SS_ROLE_K, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.key.weight", "blk.#.attn_k.weight")},
    {SS_ROLE_V, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.value.weight", "blk.#.attn_v.weight")},
    {SS_ROLE_Q_BIAS, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.query.bias", "blk.#.attn_q.bias")},
    {SS_ROLE_K_BIAS, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.key.bias", "blk.#.attn_k.bias")},
    {SS_ROLE_V_BIAS, SS_ALWAYS, BOTH(BERT_LAYER "attention.self.value.bias", "blk.#.attn_v.bias")},
    {SS_ROLE_ATTN_OUT, SS_ALWAYS,
     BOTH(BERT_LAYER "attention.output.dense.weight", "blk.#.attn_output.weight")},
    {SS_ROLE_ATTN_OUT_BIAS, SS_ALWAYS,
     BOTH(BERT_LAYER "attention.output.dense.bias", "blk.#.attn_output.bias")},
    BERT_NORM(SS_ROLE_ATTN_NORM_GAMMA, SS_ROLE_ATTN_NORM_BETA, BERT_LAYER "attention.output.LayerNorm",
              "blk.#.attn_output_norm"),
    {SS_ROLE_UP, SS_ALWAYS, BOTH(BERT_LAYER "intermediate.dense.weight", "blk.#.ffn_up.weight")},
    {SS_ROLE_UP_BIAS, SS_ALWAYS, BOTH(BERT_LAYER "intermediate.dense.bias", "blk.#.ffn_up.bias")},
    {SS_ROLE_DOWN, SS_ALWAYS, BOTH(BERT_LAYER "output.dense.weight", "blk.#.ffn_down.weight")},
    {SS_ROLE_DOWN_BIAS, SS_ALWAYS, BOTH(BERT_LAYER "output.dense.bias", "blk.#.ffn_down.bias")},
    BERT_NORM(SS_ROLE_FFN_NORM_GAMMA, SS_ROLE_FFN_NORM_BETA, BERT_LAYER "output.LayerNorm",
              "blk.#.layer_output_norm"),
};

/* ---- the table ----------------------------------------------------------------------------------------- */

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})
#define NAMES(table) .names = table, .name_count = sizeof table / sizeof *table

static const ss_architecture architectures[] = {
    {.name = "gpt2",
     .options = {.context = 1024,
                 .norm = SS_NORM_LAYER,
                 .norm_place = SS_NORM_PRE,
                 .norm_epsilon = 1e-5,
                 .positions = SS_POSITION_LEARNED,
                 .activation = SS_GELU_TANH,
                 .causal = true,
                 .final_norm = true,
                 .has_head = true,
                 .tied = true},
     .prefixes = LIST("transformer.", ""),
     .ignored = LIST("h.*.attn.bias", "h.*.attn.masked_bias", "score.weight"),
     NAMES(gpt2_names)},
    {.name = "llama",
     .options = {.context = 2048,
                 .norm = SS_NORM_RMS,
                 .norm_place = SS_NORM_PRE,
                 .norm_epsilon = 1e-6,
                 .positions = SS_POSITION_ROTARY,
                 .rotary = {.base = 10000, .layout = SS_ROTARY_HALF},
                 .activation = SS_SILU,
                 .gated = true,
                 .causal = true,
                 .final_norm = true,
                 .has_head = true},
     .gguf_rotary_layout = SS_ROTARY_INTERLEAVED, /* its converter permutes the rows of q and k */
     .prefixes = LIST("model.", ""),
     .ignored = LIST("layers.*.self_attn.rotary_emb.inv_freq", "rotary_emb.inv_freq"),
     NAMES(llama_names)},
    {.name = "bert",
     .options = {.context = 512,
                 .segments = 2,
                 .norm = SS_NORM_LAYER,
                 .norm_place = SS_NORM_POST,
                 .norm_epsilon = 1e-12,
                 .positions = SS_POSITION_LEARNED,
                 .activation = SS_GELU_ERF,
                 .embed_norm = true},
     .prefixes = LIST("bert.", ""),
     .ignored = LIST("embeddings.position_ids", "embeddings.token_type_ids", "pooler.*", "cls.*",
                     "classifier.*", "qa_outputs.*"),
     NAMES(bert_names)},
};

enum { ARCHITECTURES = sizeof architectures / sizeof *architectures };

const ss_architecture *ss_architecture_at(size_t index) {
    return index < ARCHITECTURES ? &architectures[index] : NULL;
}

const ss_architecture *ss_architecture_find(const char *name, size_t length) {
    for (size_t i = 0; i < ARCHITECTURES; i++)
        if (strlen(architectures[i].name) == length && memcmp(architectures[i].name, name, length) == 0)
            return &architectures[i];
    return NULL;
}

char *ss_architecture_list(char *text, size_t size) {
    size_t used = 0;
    for (size_t i = 0; i < ARCHITECTURES && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", architectures[i].name);
    return text;
}
