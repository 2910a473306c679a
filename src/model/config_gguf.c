/* The keys of GGUF metadata. Source: docs/gguf.md of ggml and llama.cpp's list of architecture keys.
 * Relies on: model/config_keys, model/names. */
#include "model/config_gguf.h"

#include "model/names.h"

#include <stdio.h>
#include <string.h>

static const ss_word rope_types[] = {{"none", SS_ROTARY_PLAIN},
                                     {"linear", SS_ROTARY_LINEAR},
                                     {NULL, 0}}; /* llama3 comes as rope_freqs.weight */

/* after "llama.", "gpt2.", "bert." */
static const ss_key keys[] = {
    SS_REQUIRED_KEY("block_count", config.layers),
    SS_REQUIRED_KEY("embedding_length", config.width),
    SS_REQUIRED_KEY("attention.head_count", config.heads),
    SS_REQUIRED_KEY("context_length", config.context),
    SS_REQUIRED_KEY("feed_forward_length", config.ffn_width),
    SS_SIZE_KEY("vocab_size", config.vocabulary),
    SS_SIZE_KEY("attention.head_count_kv", config.kv_heads),
    SS_SIZE_KEY("attention.key_length", config.head_width),
    SS_SIZE_KEY("attention.value_length", value_width),
    SS_NUMBER_KEY("attention.layer_norm_epsilon", config.norm_epsilon),
    SS_NUMBER_KEY("attention.layer_norm_rms_epsilon", config.norm_epsilon),
    SS_BOOL_KEY("attention.causal", causal),
    SS_SIZE_KEY("rope.dimension_count", config.rotary.width),
    SS_NUMBER_KEY("rope.freq_base", config.rotary.base),
    SS_WORD_KEY("rope.scaling.type", config.rotary.scaling, rope_types),
    SS_NUMBER_KEY("rope.scaling.factor", config.rotary.factor),
    SS_ONLY_KEY("rope.scale_linear", "1"),
    SS_ONLY_KEY("rope.scaling.attn_factor", "1"),
    SS_HARMLESS_KEY("rope.scaling.original_context_length"), /* only yarn and longrope read it */
    SS_HARMLESS_KEY("rope.scaling.finetuned"),
    SS_SOFT_CAP_KEY("attn_logit_softcapping"),
    SS_ONLY_KEY("final_logit_softcapping", "0"),
    SS_ONLY_KEY("attention.sliding_window", "0"),
    SS_ONLY_KEY("attention.scale", "0"),
    SS_ONLY_KEY("attention.max_alibi_bias", "0"),
    SS_ONLY_KEY("attention.clamp_kqv", "0"),
    SS_ONLY_KEY("expert_count", "0"),
    SS_ONLY_KEY("expert_used_count", "0"),
    SS_ONLY_KEY("use_parallel_residual", "false"),
    SS_ONLY_KEY("logit_scale", "1"),
    SS_ONLY_KEY("embedding_scale", "1"),
    SS_ONLY_KEY("residual_scale", "1"),
    SS_HARMLESS_KEY("tensor_data_layout"),
    SS_HARMLESS_KEY("pooling_type"),
    {0},
};

/* keys outside the architecture's own that matter */
static const ss_key other_keys[] = {
    SS_ONLY_KEY("split.count", "1"),
    SS_SIZE_KEY("tokenizer.ggml.token_type_count", config.segments),
    {0},
};

static ss_value value_of(const ss_gguf *gguf, const char *key) {
    bool truth;
    double number;
    ss_string_view text;
    if (ss_gguf_bool(gguf, key, SS_REQUIRED, &truth, NULL) == SS_OK)
        return (ss_value){.kind = SS_VALUE_BOOL, .number = truth};
    if (ss_gguf_f64(gguf, key, SS_REQUIRED, &number, NULL) == SS_OK)
        return (ss_value){.kind = SS_VALUE_NUMBER, .number = number};
    if (ss_gguf_string(gguf, key, SS_REQUIRED, &text, NULL) == SS_OK)
        return (ss_value){.kind = SS_VALUE_TEXT, .text = text.bytes, .length = text.length};
    return (ss_value){.kind = SS_VALUE_OTHER};
}

static ss_status read_key(const ss_gguf *gguf, const char *name, const char *architecture,
                          ss_warnings *warnings, ss_config_draft *draft, ss_error *error) {
    const size_t length = strlen(architecture);
    const bool own = strncmp(name, architecture, length) == 0 && name[length] == '.';
    const ss_key *key = own ? ss_key_find(keys, name + length + 1) : ss_key_find(other_keys, name);
    char where[256];
    snprintf(where, sizeof where, "%s, key %.100s", ss_gguf_file(gguf), name);
    if (!key) return own ? ss_warn(warnings, error, "unknown configuration key ignored: %s", where) : SS_OK;
    const ss_value value = value_of(gguf, name);
    return ss_key_apply(key, &value, where, draft, error);
}

static ss_status check_required(const ss_gguf *gguf, const ss_architecture *architecture, ss_error *error) {
    char name[SS_NAME_SIZE];
    const char *epsilon = architecture->options.norm == SS_NORM_RMS ? ".attention.layer_norm_rms_epsilon"
                                                                    : ".attention.layer_norm_epsilon";
    ss_name_fill(architecture->name, epsilon, 0, name);
    bool found = ss_gguf_has(gguf, name);
    for (const ss_key *key = keys; found && key->name; key++) {
        if (!key->required) continue;
        snprintf(name, sizeof name, "%s.%s", architecture->name, key->name);
        found = ss_gguf_has(gguf, name);
    }
    return found ? SS_OK : ss_fail(error, SS_E_CONFIG, ss_gguf_file(gguf), "the key \"%s\" is missing", name);
}

static ss_status find_architecture(const ss_gguf *gguf, const ss_architecture **found, ss_error *error) {
    ss_string_view name = {0};
    SS_TRY(ss_gguf_string(gguf, "general.architecture", SS_REQUIRED, &name, error));
    *found = ss_architecture_find(name.bytes, name.length);
    if (*found) return SS_OK;
    char list[128];
    return ss_fail(error, SS_E_UNSUPPORTED, ss_gguf_file(gguf),
                   "the architecture \"%.*s\" is not supported; supported are %s",
                   (int)(name.length < 80 ? name.length : 80), name.bytes,
                   ss_architecture_list(list, sizeof list));
}

/* What the file may leave to its tensors: the rows of the role's tensor, where it has one. */
static void rows_of(const ss_gguf *gguf, const ss_architecture *architecture, ss_role role, size_t *rows) {
    for (size_t i = 0; i < architecture->name_count && *rows == 0; i++) {
        const ss_tensor_name *name = &architecture->names[i];
        if (name->role != role || !name->pattern[SS_NAMING_GGUF]) continue;
        const ss_tensor_view *view = ss_tensors_find(ss_gguf_tensors(gguf), name->pattern[SS_NAMING_GGUF]);
        if (view) *rows = view->dims == 2 ? view->shape[0] : 1;
    }
}

static ss_status check_agreement(const ss_config_draft *draft, const char *file, ss_error *error) {
    const ss_config *c = &draft->config;
    if (draft->value_width && draft->value_width != c->head_width)
        return ss_fail(error, SS_E_UNSUPPORTED, file,
                       "values are %zu wide and keys %zu; only equal widths are supported",
                       draft->value_width, c->head_width);
    if (draft->causal != c->causal)
        return ss_fail(error, SS_E_UNSUPPORTED, file, "attention.causal = %s is not supported for %s",
                       draft->causal ? "true" : "false", c->architecture);
    return SS_OK;
}

ss_status ss_config_from_gguf(const ss_gguf *gguf, ss_warnings *warnings, ss_config_draft *draft,
                              ss_error *error) {
    const ss_architecture *architecture;
    SS_TRY(find_architecture(gguf, &architecture, error));
    SS_TRY(check_required(gguf, architecture, error));
    ss_config_draft made = ss_config_begin(architecture);
    made.config.segments = 0;
    made.config.rotary.layout = architecture->gguf_rotary_layout;
    for (size_t i = 0; i < ss_gguf_key_count(gguf); i++)
        SS_TRY(read_key(gguf, ss_gguf_key(gguf, i), architecture->name, warnings, &made, error));
    rows_of(gguf, architecture, SS_ROLE_TOKEN_EMBED, &made.config.vocabulary);
    rows_of(gguf, architecture, SS_ROLE_SEGMENT_EMBED, &made.config.segments);
    SS_TRY(ss_config_finish(&made, ss_gguf_file(gguf), error));
    SS_TRY(check_agreement(&made, ss_gguf_file(gguf), error));
    *draft = made;
    return SS_OK;
}
