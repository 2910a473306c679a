/* The architecture tables. Sources: the modules of Hugging Face transformers (gpt2, llama, bert) and the
 * tensor names of llama.cpp's converter. Relies on: nothing. */
#include "model/architecture.h"

#include <stdio.h>
#include <string.h>

/* a role's name in Hugging Face's files and in GGUF; the second form adds what is special about it */
#define NAME(role_, presence_, hf, gguf)                                                                     \
    {                                                                                                        \
        .role = SS_ROLE_##role_, .presence = presence_, .pattern = { hf, gguf }                              \
    }
#define NAME_AS(role_, presence_, hf, gguf, ...)                                                             \
    { .role = SS_ROLE_##role_, .presence = presence_, .pattern = {hf, gguf}, __VA_ARGS__ }

/* ---- GPT-2: pre-LN, learned positions, fused queries, keys and values, tied head ---------------------- */

static const ss_tensor_name gpt2_names[] = {
    NAME(TOKEN_EMBED, SS_ALWAYS, "wte.weight", "token_embd.weight"),
    NAME(POSITION_EMBED, SS_ALWAYS, "wpe.weight", "position_embd.weight"),
    NAME(ATTN_NORM_GAMMA, SS_ALWAYS, "h.#.ln_1.weight", "blk.#.attn_norm.weight"),
    NAME(ATTN_NORM_BETA, SS_ALWAYS, "h.#.ln_1.bias", "blk.#.attn_norm.bias"),
    NAME_AS(Q, SS_ALWAYS, "h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight", .conv1d = true, .fused = true),
    NAME_AS(Q_BIAS, SS_ALWAYS, "h.#.attn.c_attn.bias", "blk.#.attn_qkv.bias", .fused = true),
    NAME_AS(ATTN_OUT, SS_ALWAYS, "h.#.attn.c_proj.weight", "blk.#.attn_output.weight", .conv1d = true),
    NAME(ATTN_OUT_BIAS, SS_ALWAYS, "h.#.attn.c_proj.bias", "blk.#.attn_output.bias"),
    NAME(FFN_NORM_GAMMA, SS_ALWAYS, "h.#.ln_2.weight", "blk.#.ffn_norm.weight"),
    NAME(FFN_NORM_BETA, SS_ALWAYS, "h.#.ln_2.bias", "blk.#.ffn_norm.bias"),
    NAME_AS(UP, SS_ALWAYS, "h.#.mlp.c_fc.weight", "blk.#.ffn_up.weight", .conv1d = true),
    NAME(UP_BIAS, SS_ALWAYS, "h.#.mlp.c_fc.bias", "blk.#.ffn_up.bias"),
    NAME_AS(DOWN, SS_ALWAYS, "h.#.mlp.c_proj.weight", "blk.#.ffn_down.weight", .conv1d = true),
    NAME(DOWN_BIAS, SS_ALWAYS, "h.#.mlp.c_proj.bias", "blk.#.ffn_down.bias"),
    NAME(FINAL_NORM_GAMMA, SS_ALWAYS, "ln_f.weight", "output_norm.weight"),
    NAME(FINAL_NORM_BETA, SS_ALWAYS, "ln_f.bias", "output_norm.bias"),
    NAME_AS(HEAD, SS_IF_UNTIED, "lm_head.weight", "output.weight", .root = true),
};

/* ---- Llama: pre-RMSNorm, rotary, grouped queries, gated SiLU ------------------------------------------ */

static const ss_tensor_name llama_names[] = {
    NAME(TOKEN_EMBED, SS_ALWAYS, "embed_tokens.weight", "token_embd.weight"),
    NAME(ROTARY_FACTORS, SS_MAYBE, NULL, "rope_freqs.weight"),
    NAME(ATTN_NORM_GAMMA, SS_ALWAYS, "layers.#.input_layernorm.weight", "blk.#.attn_norm.weight"),
    NAME(Q, SS_ALWAYS, "layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight"),
    NAME(K, SS_ALWAYS, "layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight"),
    NAME(V, SS_ALWAYS, "layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight"),
    NAME(Q_BIAS, SS_IF_BIASED, "layers.#.self_attn.q_proj.bias", "blk.#.attn_q.bias"),
    NAME(K_BIAS, SS_IF_BIASED, "layers.#.self_attn.k_proj.bias", "blk.#.attn_k.bias"),
    NAME(V_BIAS, SS_IF_BIASED, "layers.#.self_attn.v_proj.bias", "blk.#.attn_v.bias"),
    NAME(ATTN_OUT, SS_ALWAYS, "layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight"),
    NAME(ATTN_OUT_BIAS, SS_IF_BIASED, "layers.#.self_attn.o_proj.bias", "blk.#.attn_output.bias"),
    NAME(FFN_NORM_GAMMA, SS_ALWAYS, "layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight"),
    NAME(GATE, SS_ALWAYS, "layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight"),
    NAME(UP, SS_ALWAYS, "layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight"),
    NAME(GATE_BIAS, SS_IF_FFN_BIASED, "layers.#.mlp.gate_proj.bias", "blk.#.ffn_gate.bias"),
    NAME(UP_BIAS, SS_IF_FFN_BIASED, "layers.#.mlp.up_proj.bias", "blk.#.ffn_up.bias"),
    NAME(DOWN, SS_ALWAYS, "layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight"),
    NAME(DOWN_BIAS, SS_IF_FFN_BIASED, "layers.#.mlp.down_proj.bias", "blk.#.ffn_down.bias"),
    NAME(FINAL_NORM_GAMMA, SS_ALWAYS, "norm.weight", "output_norm.weight"),
    NAME_AS(HEAD, SS_IF_UNTIED, "lm_head.weight", "output.weight", .root = true),
};

/* ---- BERT: post-LN, learned positions, segments, every token sees every token -------------------------- */

/* files of transformers 2 and before call a norm's weight gamma and its bias beta */
#define BERT_NORM(norm, hf, gguf)                                                                            \
    NAME(norm##_GAMMA, SS_ALWAYS, hf ".weight", gguf ".weight"),                                             \
        NAME(norm##_GAMMA, SS_ALWAYS, hf ".gamma", NULL),                                                    \
        NAME(norm##_BETA, SS_ALWAYS, hf ".bias", gguf ".bias"),                                              \
        NAME(norm##_BETA, SS_ALWAYS, hf ".beta", NULL)
#define BERT_LAYER "encoder.layer.#."

static const ss_tensor_name bert_names[] = {
    NAME(TOKEN_EMBED, SS_ALWAYS, "embeddings.word_embeddings.weight", "token_embd.weight"),
    NAME(POSITION_EMBED, SS_ALWAYS, "embeddings.position_embeddings.weight", "position_embd.weight"),
    NAME(SEGMENT_EMBED, SS_ALWAYS, "embeddings.token_type_embeddings.weight", "token_types.weight"),
    BERT_NORM(EMBED_NORM, "embeddings.LayerNorm", "token_embd_norm"),
    NAME(Q, SS_ALWAYS, BERT_LAYER "attention.self.query.weight", "blk.#.attn_q.weight"),
    NAME(K, SS_ALWAYS, BERT_LAYER "attention.self.key.weight", "blk.#.attn_k.weight"),
    NAME(V, SS_ALWAYS, BERT_LAYER "attention.self.value.weight", "blk.#.attn_v.weight"),
    NAME(Q_BIAS, SS_ALWAYS, BERT_LAYER "attention.self.query.bias", "blk.#.attn_q.bias"),
    NAME(K_BIAS, SS_ALWAYS, BERT_LAYER "attention.self.key.bias", "blk.#.attn_k.bias"),
    NAME(V_BIAS, SS_ALWAYS, BERT_LAYER "attention.self.value.bias", "blk.#.attn_v.bias"),
    NAME(ATTN_OUT, SS_ALWAYS, BERT_LAYER "attention.output.dense.weight", "blk.#.attn_output.weight"),
    NAME(ATTN_OUT_BIAS, SS_ALWAYS, BERT_LAYER "attention.output.dense.bias", "blk.#.attn_output.bias"),
    BERT_NORM(ATTN_NORM, BERT_LAYER "attention.output.LayerNorm", "blk.#.attn_output_norm"),
    NAME(UP, SS_ALWAYS, BERT_LAYER "intermediate.dense.weight", "blk.#.ffn_up.weight"),
    NAME(UP_BIAS, SS_ALWAYS, BERT_LAYER "intermediate.dense.bias", "blk.#.ffn_up.bias"),
    NAME(DOWN, SS_ALWAYS, BERT_LAYER "output.dense.weight", "blk.#.ffn_down.weight"),
    NAME(DOWN_BIAS, SS_ALWAYS, BERT_LAYER "output.dense.bias", "blk.#.ffn_down.bias"),
    BERT_NORM(FFN_NORM, BERT_LAYER "output.LayerNorm", "blk.#.layer_output_norm"),
};

/* ---- the table ----------------------------------------------------------------------------------------- */

#define LIST(...)    ((const char *const[]){__VA_ARGS__, NULL})
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
