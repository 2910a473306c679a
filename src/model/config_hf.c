/* The keys of config.json, architecture by architecture. Source: the configuration classes of Hugging Face
 * transformers, whose defaults hold for keys that a file leaves out. Relies on: model/config_keys. */
#include "model/config_hf.h"

#include <stdio.h>
#include <string.h>

static const ss_word activations[] = {
    {"gelu", SS_GELU_ERF},
    {"gelu_python", SS_GELU_ERF},
    {"gelu_new", SS_GELU_TANH},
    {"gelu_fast", SS_GELU_TANH},
    {"gelu_pytorch_tanh", SS_GELU_TANH},
    {"gelu_accurate", SS_GELU_TANH},
    {"silu", SS_SILU},
    {"swish", SS_SILU},
    {"relu", SS_RELU},
    {NULL, 0},
};

static const ss_word rope_types[] = {
    {"default", SS_ROTARY_PLAIN}, {"linear", SS_ROTARY_LINEAR}, {"llama3", SS_ROTARY_LLAMA3}, {NULL, 0}};

/* rope_scaling (transformers 4) and rope_parameters (5) */
static const ss_key rope_keys[] = {
    SS_WORD_KEY("rope_type", config.rotary.scaling, rope_types),
    SS_WORD_KEY("type", config.rotary.scaling, rope_types),
    SS_NUMBER_KEY("rope_theta", config.rotary.base),
    SS_NUMBER_KEY("factor", config.rotary.factor),
    SS_NUMBER_KEY("low_freq_factor", config.rotary.low_freq_factor),
    SS_NUMBER_KEY("high_freq_factor", config.rotary.high_freq_factor),
    SS_NUMBER_KEY("original_max_position_embeddings", config.rotary.original_context),
    SS_NUMBER_KEY("partial_rotary_factor", rotary_share),
    SS_ONLY_KEY("attention_factor", "1"),
    SS_ONLY_KEY("mscale", "1"),
    SS_ONLY_KEY("mscale_all_dim", "1"),
    SS_ONLY_KEY("mrope_section", "null"),
    {0},
};

/* Keys that every architecture knows. */
static const ss_key common_keys[] = {
    SS_ONLY_KEY("quantization_config", "null"),
    SS_ONLY_KEY("add_cross_attention", "false"),
    SS_ONLY_KEY("is_encoder_decoder", "false"),
    SS_ONLY_KEY("cross_attention_hidden_size", "null"),
    SS_HARMLESS_KEY("model_type"),
    SS_HARMLESS_KEY("architectures"),
    SS_HARMLESS_KEY("_*"), /* _name_or_path, _attn_implementation, ... */
    SS_HARMLESS_KEY("transformers*version"),
    SS_HARMLESS_KEY("torch_dtype"),
    SS_HARMLESS_KEY("dtype"),
    SS_HARMLESS_KEY("transformers.js_config"),
    SS_HARMLESS_KEY("auto_map"),
    SS_HARMLESS_KEY("*dropout*"),
    SS_HARMLESS_KEY("*_pdrop"),
    SS_HARMLESS_KEY("initializer_*"),
    SS_HARMLESS_KEY("use_cache"),
    SS_HARMLESS_KEY("use_return_dict"),
    SS_HARMLESS_KEY("return_dict"),
    SS_HARMLESS_KEY("output_*"),
    SS_HARMLESS_KEY("gradient_checkpointing"),
    SS_HARMLESS_KEY("*_token_id"),
    SS_HARMLESS_KEY("tokenizer_class"),
    SS_HARMLESS_KEY("id2label"),
    SS_HARMLESS_KEY("label2id"),
    SS_HARMLESS_KEY("num_labels"),
    SS_HARMLESS_KEY("problem_type"),
    SS_HARMLESS_KEY("finetuning_task"),
    SS_HARMLESS_KEY("task_specific_params"),
    SS_HARMLESS_KEY("chunk_size_feed_forward"),
    SS_HARMLESS_KEY("pruned_heads"),
    SS_HARMLESS_KEY("prefix"),
    SS_HARMLESS_KEY("torchscript"),
    SS_HARMLESS_KEY("tf_legacy_loss"),
    SS_HARMLESS_KEY("use_bfloat16"),
    SS_HARMLESS_KEY("remove_invalid_values"),
    /* settings of generation, which never happens here */
    SS_HARMLESS_KEY("max_length"),
    SS_HARMLESS_KEY("min_length"),
    SS_HARMLESS_KEY("do_sample"),
    SS_HARMLESS_KEY("early_stopping"),
    SS_HARMLESS_KEY("num_beam*"),
    SS_HARMLESS_KEY("num_return_sequences"),
    SS_HARMLESS_KEY("temperature"),
    SS_HARMLESS_KEY("top_*"),
    SS_HARMLESS_KEY("typical_p"),
    SS_HARMLESS_KEY("*_penalty"),
    SS_HARMLESS_KEY("*no_repeat_ngram_size"),
    SS_HARMLESS_KEY("bad_words_ids"),
    SS_HARMLESS_KEY("suppress_tokens"),
    SS_HARMLESS_KEY("begin_suppress_tokens"),
    SS_HARMLESS_KEY("exponential_decay_length_penalty"),
    {0},
};

static const ss_key gpt2_keys[] = {
    SS_REQUIRED_KEY("vocab_size", config.vocabulary),
    SS_REQUIRED_KEY("n_embd", config.width),
    SS_REQUIRED_KEY("n_layer", config.layers),
    SS_REQUIRED_KEY("n_head", config.heads),
    SS_SIZE_KEY("n_positions", config.context),
    SS_SIZE_KEY("n_inner", config.ffn_width), /* null: 4 x n_embd */
    SS_WORD_KEY("activation_function", config.activation, activations),
    SS_NUMBER_KEY("layer_norm_epsilon", config.norm_epsilon),
    SS_BOOL_KEY("scale_attn_weights", scaled),
    SS_BOOL_KEY("tie_word_embeddings", config.tied),
    SS_ONLY_KEY("scale_attn_by_inverse_layer_idx", "false"),
    SS_HARMLESS_KEY("is_decoder"),              /* GPT-2 is one either way */
    SS_HARMLESS_KEY("reorder_and_upcast_attn"), /* precision only */
    SS_HARMLESS_KEY("n_ctx"),
    SS_HARMLESS_KEY("summary_*"),
    {0},
};

static const ss_key llama_keys[] = {
    SS_REQUIRED_KEY("vocab_size", config.vocabulary),
    SS_REQUIRED_KEY("hidden_size", config.width),
    SS_REQUIRED_KEY("intermediate_size", config.ffn_width),
    SS_REQUIRED_KEY("num_hidden_layers", config.layers),
    SS_REQUIRED_KEY("num_attention_heads", config.heads),
    SS_SIZE_KEY("num_key_value_heads", config.kv_heads),
    SS_SIZE_KEY("head_dim", config.head_width),
    SS_SIZE_KEY("max_position_embeddings", config.context),
    SS_WORD_KEY("hidden_act", config.activation, activations),
    SS_NUMBER_KEY("rms_norm_eps", config.norm_epsilon),
    SS_NUMBER_KEY("rope_theta", config.rotary.base),
    SS_NUMBER_KEY("partial_rotary_factor", rotary_share),
    SS_OBJECT_KEY("rope_scaling", rope_keys),
    SS_OBJECT_KEY("rope_parameters", rope_keys),
    SS_BIAS_KEY("attention_bias", attn_bias),
    SS_BIAS_KEY("mlp_bias", ffn_bias),
    SS_BOOL_KEY("tie_word_embeddings", config.tied),
    SS_SOFT_CAP_KEY("attn_logit_softcapping"),
    SS_ONLY_KEY("final_logit_softcapping", "null"),
    SS_ONLY_KEY("query_pre_attn_scalar", "null"),
    SS_ONLY_KEY("sliding_window", "null"),
    SS_ONLY_KEY("num_local_experts", "null"),
    SS_HARMLESS_KEY("is_decoder"),
    SS_HARMLESS_KEY("pretraining_tp"), /* the same sums in another order */
    SS_ONLY_KEY("rope_interleaved", "false"),
    SS_HARMLESS_KEY("is_llama_config"),
    {0},
};

static const ss_key bert_keys[] = {
    SS_REQUIRED_KEY("vocab_size", config.vocabulary),
    SS_REQUIRED_KEY("hidden_size", config.width),
    SS_REQUIRED_KEY("intermediate_size", config.ffn_width),
    SS_REQUIRED_KEY("num_hidden_layers", config.layers),
    SS_REQUIRED_KEY("num_attention_heads", config.heads),
    SS_SIZE_KEY("max_position_embeddings", config.context),
    SS_SIZE_KEY("type_vocab_size", config.segments),
    SS_WORD_KEY("hidden_act", config.activation, activations),
    SS_NUMBER_KEY("layer_norm_eps", config.norm_epsilon),
    SS_ONLY_KEY("position_embedding_type", "absolute"),
    SS_ONLY_KEY("is_decoder", "false"),
    SS_HARMLESS_KEY("tie_word_embeddings"), /* its head predicts masked tokens and is not read */
    SS_HARMLESS_KEY("pooler_*"),
    SS_HARMLESS_KEY("directionality"),
    {0},
};

static const struct {
    const char *architecture;
    const ss_key *keys;
} tables[] = {{"gpt2", gpt2_keys}, {"llama", llama_keys}, {"bert", bert_keys}};

static const ss_key *keys_of(const char *architecture) {
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (strcmp(tables[i].architecture, architecture) == 0) return tables[i].keys;
    return common_keys;
}

static ss_value value_of(const json_t *json) {
    switch (json_typeof(json)) {
    case JSON_NULL:
        return (ss_value){.kind = SS_VALUE_NULL};
    case JSON_TRUE:
        return (ss_value){.kind = SS_VALUE_BOOL, .number = 1};
    case JSON_FALSE:
        return (ss_value){.kind = SS_VALUE_BOOL};
    case JSON_INTEGER:
    case JSON_REAL:
        return (ss_value){.kind = SS_VALUE_NUMBER, .number = json_number_value(json)};
    case JSON_STRING:
        return (ss_value){
            .kind = SS_VALUE_TEXT, .text = json_string_value(json), .length = json_string_length(json)};
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    return (ss_value){.kind = SS_VALUE_OTHER};
}

typedef struct reader {
    const char *file;
    ss_warnings *warnings;
    ss_config_draft *draft;
    ss_error *error;
} reader;

/* "FILE, key OUTER.KEY" */
static const char *place(const reader *r, const char *outer, const char *key, char where[256]) {
    snprintf(where, 256, "%s, key %.60s%s%.100s", r->file, outer ? outer : "", outer ? "." : "", key);
    return where;
}

static ss_status read_object(const reader *r, const json_t *object, const char *outer, const ss_key *keys,
                             const ss_key *more);

static ss_status read_key(const reader *r, const char *outer, const char *name, const json_t *json,
                          const ss_key *keys, const ss_key *more) {
    char where[256];
    place(r, outer, name, where);
    const ss_key *key = ss_key_find(keys, name);
    if (!key && more) key = ss_key_find(more, name);
    if (!key) return ss_warn(r->warnings, r->error, "unknown configuration key ignored: %s", where);
    if (key->kind == SS_KEY_OBJECT && json_is_object(json))
        return read_object(r, json, name, key->inner, NULL);
    const ss_value value = value_of(json);
    if (key->kind == SS_KEY_OBJECT && value.kind != SS_VALUE_NULL)
        return ss_fail(r->error, SS_E_CONFIG, where, "must be an object");
    return ss_key_apply(key, &value, where, r->draft, r->error);
}

static ss_status read_object(const reader *r, const json_t *object, const char *outer, const ss_key *keys,
                             const ss_key *more) {
    const char *name;
    const json_t *json;
    json_object_foreach((json_t *)(uintptr_t)object, name, json)
        SS_TRY(read_key(r, outer, name, json, keys, more));
    for (const ss_key *key = keys; key->name; key++)
        if (key->required && !ss_json_has(object, key->name))
            return ss_fail(r->error, SS_E_CONFIG, r->file, "the key \"%s\" is missing", key->name);
    return SS_OK;
}

static ss_status find_architecture(const json_t *json, const char *file, const ss_architecture **found,
                                   ss_error *error) {
    const char *type = NULL;
    SS_TRY(ss_json_string(json, "model_type", SS_REQUIRED, file, &type, error));
    *found = ss_architecture_find(type, strlen(type));
    if (*found) return SS_OK;
    char list[128];
    return ss_fail(error, SS_E_UNSUPPORTED, file, "model_type \"%.80s\" is not supported; supported are %s",
                   type, ss_architecture_list(list, sizeof list));
}

ss_status ss_config_from_hf(const json_t *json, const char *file, ss_warnings *warnings,
                            ss_config_draft *draft, ss_error *error) {
    if (!json_is_object(json)) return ss_fail(error, SS_E_FORMAT, file, "not a JSON object");
    const ss_architecture *architecture;
    SS_TRY(find_architecture(json, file, &architecture, error));
    ss_config_draft made = ss_config_begin(architecture);
    const reader r = {file, warnings, &made, error};
    SS_TRY(read_object(&r, json, NULL, keys_of(architecture->name), common_keys));
    SS_TRY(ss_config_finish(&made, file, error));
    *draft = made;
    return SS_OK;
}
