/* Configurations: config.json of transformers 4 and 5 and GGUF metadata read into one form; what the pass
 * cannot do is refused by name, what does not matter is passed over, what is unknown is a warning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/config_gguf.h"
#include "model/config_hf.h"
#include "model/names.h"
#include "support/tiny_model.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef tiny_model *maker(ss_naming naming);

typedef struct outcome {
    ss_status status;
    ss_error error;
    ss_config_draft draft;
    char warning[512]; /* the first one */
    size_t warnings;
} outcome;

/* config.json of a little model, changed by `changes` (may be NULL) */
static outcome read_hf(maker *make, const char *changes) {
    tiny_model *model = make(SS_NAMING_HF);
    if (changes) tiny_configure(model, changes);
    outcome o = {0};
    ss_arena arena = ss_arena_make(NULL);
    ss_warnings warnings = {.arena = &arena};
    json_t *json = json_loads(model->config, 0, NULL);
    o.status = ss_config_from_hf(json, "config.json", &warnings, &o.draft, &o.error);
    o.warnings = warnings.count;
    if (warnings.count) snprintf(o.warning, sizeof o.warning, "%s", warnings.items[0]);
    json_decref(json);
    ss_arena_free(&arena);
    tiny_free(model);
    return o;
}

/* the metadata of a little model; frees it */
static outcome read_gguf(tiny_model *model) {
    outcome o = {0};
    temp_path folder = temp_folder_make();
    temp_path path = tiny_write_gguf(model, &folder);
    ss_arena arena = ss_arena_make(NULL);
    ss_warnings warnings = {.arena = &arena};
    ss_gguf *gguf = NULL;
    assert_int_equal(ss_gguf_open(path.text, NULL, &gguf, NULL), SS_OK);
    o.status = ss_config_from_gguf(gguf, &warnings, &o.draft, &o.error);
    o.warnings = warnings.count;
    if (warnings.count) snprintf(o.warning, sizeof o.warning, "%s", warnings.items[0]);
    ss_gguf_free(gguf);
    ss_arena_free(&arena);
    temp_folder_remove(&folder);
    tiny_free(model);
    return o;
}

static ss_config config_of(const outcome *o) {
    if (o->status) print_error("%s: %s\n", o->error.where, o->error.message);
    assert_int_equal(o->status, SS_OK);
    return o->draft.config;
}

static bool mentions(const outcome *o, const char *word) {
    return strstr(o->error.where, word) || strstr(o->error.message, word);
}

static void check_tiny_sizes(const ss_config *c) {
    assert_int_equal(c->layers, TINY_LAYERS);
    assert_int_equal(c->width, TINY_D);
    assert_int_equal(c->heads, TINY_H);
    assert_int_equal(c->head_width, TINY_E);
    assert_int_equal(c->ffn_width, TINY_F);
    assert_int_equal(c->vocabulary, TINY_V);
    assert_int_equal(c->context, TINY_C);
    assert_true(c->norm_epsilon == 0.25);
    assert_true(c->score_scale == 1 / sqrt(TINY_E));
    assert_true(c->soft_cap == 0 && c->window == 0);
}

/* ---- what the architectures are ----------------------------------------------------------------------- */

static void gpt2_is_read_alike_from_both_containers(void **state) {
    (void)state;
    const outcome both[] = {read_hf(tiny_gpt2, NULL), read_gguf(tiny_gpt2(SS_NAMING_GGUF))};
    for (size_t i = 0; i < 2; i++) {
        const ss_config c = config_of(&both[i]);
        check_tiny_sizes(&c);
        assert_string_equal(c.architecture, "gpt2");
        assert_int_equal(c.kv_heads, TINY_H);
        assert_true(c.norm == SS_NORM_LAYER && c.norm_place == SS_NORM_PRE);
        assert_true(c.positions == SS_POSITION_LEARNED && c.activation == SS_GELU_TANH);
        assert_true(c.causal && c.final_norm && c.has_head && !c.gated && !c.embed_norm);
        assert_int_equal(c.segments, 0);
        assert_int_equal(both[i].warnings, 0);
    }
    assert_true(both[0].draft.config.tied); /* transformers' default for GPT-2 */
}

static void llama_is_read_alike_but_for_the_rotary_layout(void **state) {
    (void)state;
    const outcome both[] = {read_hf(tiny_llama, NULL), read_gguf(tiny_llama(SS_NAMING_GGUF))};
    for (size_t i = 0; i < 2; i++) {
        const ss_config c = config_of(&both[i]);
        check_tiny_sizes(&c);
        assert_int_equal(c.kv_heads, TINY_K);
        assert_true(c.norm == SS_NORM_RMS && c.norm_place == SS_NORM_PRE);
        assert_true(c.positions == SS_POSITION_ROTARY && c.activation == SS_SILU);
        assert_true(c.causal && c.final_norm && c.has_head && c.gated && !c.embed_norm);
        assert_true(c.rotary.base == 10000 && c.rotary.width == TINY_E);
        assert_true(c.rotary.scaling == SS_ROTARY_PLAIN);
        assert_int_equal(both[i].warnings, 0);
    }
    assert_int_equal(both[0].draft.config.rotary.layout, SS_ROTARY_HALF);
    assert_int_equal(both[1].draft.config.rotary.layout, SS_ROTARY_INTERLEAVED);
}

static void bert_is_read_alike_from_both_containers(void **state) {
    (void)state;
    const outcome both[] = {read_hf(tiny_bert, NULL), read_gguf(tiny_bert(SS_NAMING_GGUF))};
    for (size_t i = 0; i < 2; i++) {
        const ss_config c = config_of(&both[i]);
        check_tiny_sizes(&c);
        assert_int_equal(c.segments, 2);
        assert_true(c.norm == SS_NORM_LAYER && c.norm_place == SS_NORM_POST);
        assert_true(c.positions == SS_POSITION_LEARNED && c.activation == SS_GELU_ERF);
        assert_true(!c.causal && !c.final_norm && !c.has_head && !c.tied && !c.gated && c.embed_norm);
        assert_int_equal(both[i].warnings, 0);
    }
}

static void keys_left_out_take_the_defaults_of_transformers(void **state) {
    (void)state;
    outcome o = read_hf(tiny_llama, "{\"num_key_value_heads\": null, \"rms_norm_eps\": null,"
                                    "\"max_position_embeddings\": null, \"tie_word_embeddings\": null}");
    ss_config c = config_of(&o);
    assert_int_equal(c.kv_heads, TINY_H);
    assert_int_equal(c.context, 2048);
    assert_true(c.norm_epsilon == 1e-6 && !c.tied);
    o = read_hf(tiny_gpt2, "{\"n_inner\": null, \"n_positions\": null, \"layer_norm_epsilon\": null}");
    c = config_of(&o);
    assert_int_equal(c.ffn_width, 4 * TINY_D);
    assert_int_equal(c.context, 1024);
    assert_true(c.norm_epsilon == 1e-5);
    o = read_hf(tiny_bert, "{\"type_vocab_size\": null, \"max_position_embeddings\": null,"
                           "\"layer_norm_eps\": null}");
    c = config_of(&o);
    assert_int_equal(c.segments, 2);
    assert_int_equal(c.context, 512);
    assert_true(c.norm_epsilon == 1e-12);
}

/* ---- options ----------------------------------------------------------------------------------- */

static void rotary_keys_of_transformers_4_and_5_agree(void **state) {
    (void)state;
    static const char *const pairs[][2] = {
        {"{\"rope_theta\": 500.0}",
         "{\"rope_parameters\": {\"rope_type\": \"default\", \"rope_theta\": 500.0}}"},
        {"{\"rope_theta\": 500.0, \"rope_scaling\": {\"type\": \"linear\", \"factor\": 4.0}}",
         "{\"rope_parameters\": {\"rope_type\": \"linear\", \"rope_theta\": 500.0, \"factor\": 4}}"},
        {"{\"rope_theta\": 500.0, \"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8.0, "
         "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 64}}",
         "{\"rope_parameters\": {\"rope_type\": \"llama3\", \"rope_theta\": 500.0, \"factor\": 8.0, "
         "\"low_freq_factor\": 1.0, \"high_freq_factor\": 4.0, \"original_max_position_embeddings\": 64}}"},
    };
    static const ss_rotary expected[] = {
        {.base = 500, .width = TINY_E},
        {.base = 500, .width = TINY_E, .scaling = SS_ROTARY_LINEAR, .factor = 4},
        {500, TINY_E, SS_ROTARY_HALF, SS_ROTARY_LLAMA3, 8, 1, 4, 64},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        for (size_t version = 0; version < 2; version++) {
            const outcome o = read_hf(tiny_llama, pairs[i][version]);
            const ss_rotary r = config_of(&o).rotary, e = expected[i];
            assert_int_equal(o.warnings, 0);
            assert_true(r.base == e.base && r.width == e.width && r.layout == e.layout);
            assert_true(r.scaling == e.scaling && r.factor == e.factor);
            assert_true(r.low_freq_factor == e.low_freq_factor && r.high_freq_factor == e.high_freq_factor);
            assert_true(r.original_context == e.original_context);
        }
    }
}

static void options_reach_the_configuration(void **state) {
    (void)state;
    outcome o = read_hf(tiny_llama, "{\"head_dim\": 8, \"partial_rotary_factor\": 0.5}");
    assert_int_equal(config_of(&o).head_width, 8);
    assert_int_equal(o.draft.config.rotary.width, 4);
    assert_true(o.draft.config.score_scale == 1 / sqrt(8));
    o = read_hf(tiny_llama, "{\"attn_logit_softcapping\": 50.0}");
    assert_true(config_of(&o).soft_cap == 50);
    o = read_hf(tiny_llama, "{\"attention_bias\": true, \"mlp_bias\": false}");
    assert_int_equal(config_of(&o).heads, TINY_H);
    assert_true(o.draft.attn_bias == SS_BIAS_YES && o.draft.ffn_bias == SS_BIAS_NO);
    o = read_hf(tiny_gpt2, "{\"scale_attn_weights\": false}");
    assert_true(config_of(&o).score_scale == 1);
    o = read_hf(tiny_gpt2, "{\"activation_function\": \"relu\"}");
    assert_int_equal(config_of(&o).activation, SS_RELU);
    o = read_hf(tiny_bert, "{\"hidden_act\": \"gelu_new\"}");
    assert_int_equal(config_of(&o).activation, SS_GELU_TANH);
    o = read_hf(tiny_llama, "{\"hidden_act\": \"gelu\"}");
    assert_int_equal(config_of(&o).activation, SS_GELU_ERF);
}

/* ---- refusals ---------------------------------------------------------------------------------- */

typedef struct refusal {
    maker *make;
    const char *changes, *named; /* in the place or the message of the error */
} refusal;

static void check_refusals(const refusal *cases, size_t count, ss_status expected) {
    for (size_t i = 0; i < count; i++) {
        const outcome o = read_hf(cases[i].make, cases[i].changes);
        if (o.status != expected || !mentions(&o, cases[i].named))
            print_error("%s -> %d, %s: %s\n", cases[i].changes, o.status, o.error.where, o.error.message);
        assert_int_equal(o.status, expected);
        assert_true(mentions(&o, cases[i].named));
    }
}

static void keys_that_change_the_mathematics_are_refused_by_name(void **state) {
    (void)state;
    static const refusal cases[] = {
        {tiny_gpt2, "{\"scale_attn_by_inverse_layer_idx\": true}", "scale_attn_by_inverse_layer_idx"},
        {tiny_gpt2, "{\"add_cross_attention\": true}", "add_cross_attention"},
        {tiny_gpt2, "{\"quantization_config\": {\"bits\": 4}}", "quantization_config"},
        {tiny_gpt2, "{\"activation_function\": \"quick_gelu\"}", "quick_gelu"},
        {tiny_llama, "{\"sliding_window\": 4096}", "sliding_window"},
        {tiny_llama, "{\"final_logit_softcapping\": 30.0}", "final_logit_softcapping"},
        {tiny_llama, "{\"query_pre_attn_scalar\": 256}", "query_pre_attn_scalar"},
        {tiny_llama, "{\"num_local_experts\": 8}", "num_local_experts"},
        {tiny_llama, "{\"rope_interleaved\": true}", "rope_interleaved"},
        {tiny_llama, "{\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0}}",
         "rope_scaling.rope_type"},
        {tiny_llama, "{\"rope_scaling\": {\"type\": \"dynamic\", \"factor\": 4.0}}", "dynamic"},
        {tiny_llama, "{\"rope_parameters\": {\"rope_type\": \"longrope\"}}", "longrope"},
        {tiny_llama, "{\"rope_parameters\": {\"attention_factor\": 1.2}}", "attention_factor"},
        {tiny_bert, "{\"position_embedding_type\": \"relative_key\"}", "position_embedding_type"},
        {tiny_bert, "{\"is_decoder\": true}", "is_decoder"},
        {tiny_bert, "{\"add_cross_attention\": true}", "add_cross_attention"},
        {tiny_bert, "{\"model_type\": \"roberta\"}", "roberta"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases, SS_E_UNSUPPORTED);
}

static void values_that_make_no_model_are_refused(void **state) {
    (void)state;
    static const refusal cases[] = {
        {tiny_gpt2, "{\"n_head\": 3}", "3 heads"},
        {tiny_gpt2, "{\"n_head\": 0}", "n_head"},
        {tiny_gpt2, "{\"n_layer\": -1}", "n_layer"},
        {tiny_gpt2, "{\"n_layer\": 2.5}", "n_layer"},
        {tiny_gpt2, "{\"n_layer\": \"2\"}", "n_layer"},
        {tiny_gpt2, "{\"n_embd\": 1e300}", "n_embd"},
        {tiny_gpt2, "{\"n_embd\": 9007199254740993}", "n_embd"},
        {tiny_gpt2, "{\"n_embd\": null}", "n_embd"},
        {tiny_gpt2, "{\"layer_norm_epsilon\": 0}", "epsilon"},
        {tiny_gpt2, "{\"layer_norm_epsilon\": -1e-5}", "epsilon"},
        {tiny_gpt2, "{\"layer_norm_epsilon\": true}", "layer_norm_epsilon"},
        {tiny_gpt2, "{\"tie_word_embeddings\": 1}", "tie_word_embeddings"},
        {tiny_llama, "{\"num_key_value_heads\": 3}", "3 key/value heads"},
        {tiny_llama, "{\"head_dim\": 0}", "head_dim"},
        {tiny_llama, "{\"head_dim\": 3}", "even"},
        {tiny_llama, "{\"partial_rotary_factor\": 1.5}", "partial_rotary_factor"},
        {tiny_llama, "{\"partial_rotary_factor\": 0}", "partial_rotary_factor"},
        {tiny_llama, "{\"rope_theta\": 0}", "rotary base"},
        {tiny_llama, "{\"rope_scaling\": 4}", "rope_scaling"},
        {tiny_llama, "{\"rope_scaling\": {\"type\": \"linear\"}}", "factor"},
        {tiny_llama, "{\"rope_scaling\": {\"type\": \"linear\", \"factor\": -2}}", "factor"},
        {tiny_llama, "{\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8}}", "low_freq_factor"},
        {tiny_llama, "{\"attn_logit_softcapping\": 0}", "attn_logit_softcapping"},
        {tiny_llama, "{\"attn_logit_softcapping\": -1}", "attn_logit_softcapping"},
        {tiny_llama, "{\"attn_logit_softcapping\": \"NaN\"}", "attn_logit_softcapping"},
        {tiny_llama, "{\"max_position_embeddings\": 2147483648}", "max_position_embeddings"},
        {tiny_llama, "{\"max_position_embeddings\": 2000000000}", "context"},
    };
    check_refusals(cases, sizeof cases / sizeof *cases, SS_E_CONFIG);
}

static void the_model_type_must_be_there(void **state) {
    (void)state;
    const outcome o = read_hf(tiny_gpt2, "{\"model_type\": null}");
    assert_int_equal(o.status, SS_E_FORMAT);
    assert_true(mentions(&o, "model_type"));
}

/* ---- what does not matter, and what is unknown -------------------------------------------------------- */

static void harmless_keys_say_nothing(void **state) {
    (void)state;
    static const char common[] =
        "{\"_name_or_path\": \"x/y\", \"architectures\": [\"X\"], \"torch_dtype\": \"float16\", \"dtype\": "
        "\"float16\","
        "\"transformers_version\": \"4.48.0\", \"initializer_range\": 0.02, \"use_cache\": true,"
        "\"bos_token_id\": 1, \"eos_token_id\": [2, 3], \"pad_token_id\": null, \"id2label\": {\"0\": \"A\"},"
        "\"task_specific_params\": {}, \"output_hidden_states\": false, \"quantization_config\": null}";
    static const refusal cases[] = {
        {tiny_gpt2, common, NULL},
        {tiny_llama, common, NULL},
        {tiny_bert, common, NULL},
        {tiny_gpt2,
         "{\"attn_pdrop\": 0.1, \"embd_pdrop\": 0.1, \"resid_pdrop\": 0.1, \"n_ctx\": 8,"
         "\"reorder_and_upcast_attn\": true, \"summary_type\": \"cls_index\"}",
         NULL},
        {tiny_llama,
         "{\"attention_dropout\": 0.0, \"pretraining_tp\": 1, \"rope_interleaved\": false,"
         "\"is_llama_config\": true, \"rope_scaling\": null, \"sliding_window\": null}",
         NULL},
        {tiny_bert,
         "{\"hidden_dropout_prob\": 0.1, \"classifier_dropout\": null,"
         "\"position_embedding_type\": \"absolute\", \"gradient_checkpointing\": false}",
         NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const outcome o = read_hf(cases[i].make, cases[i].changes);
        assert_int_equal(config_of(&o).layers, TINY_LAYERS);
        if (o.warnings) print_error("%s\n", o.warning);
        assert_int_equal(o.warnings, 0);
    }
}

static void unknown_keys_are_warned_of_by_name(void **state) {
    (void)state;
    outcome o = read_hf(tiny_llama, "{\"attention_flavour\": 3}");
    assert_int_equal(config_of(&o).layers, TINY_LAYERS);
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.warning, "attention_flavour"));
    o = read_hf(tiny_llama, "{\"rope_scaling\": {\"type\": \"default\", \"spiral\": 3}}");
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.warning, "rope_scaling.spiral"));
    tiny_model *model = tiny_llama(SS_NAMING_GGUF);
    tiny_set(model, "llama.flavour", 3);
    tiny_set(model, "general.flavour", 3); /* not the architecture's */
    o = read_gguf(model);
    assert_int_equal(config_of(&o).layers, TINY_LAYERS);
    assert_int_equal(o.warnings, 1);
    assert_non_null(strstr(o.warning, "llama.flavour"));
}

static void a_flood_of_unknown_keys_gives_a_bounded_list(void **state) {
    (void)state;
    json_t *json = json_loads("{\"model_type\": \"gpt2\", \"n_embd\": 4, \"n_layer\": 1, \"n_head\": 1,"
                              "\"vocab_size\": 5}",
                              0, NULL);
    for (int i = 0; i < 1000; i++) {
        char key[32];
        snprintf(key, sizeof key, "key_%d", i);
        json_object_set_new(json, key, json_null());
    }
    ss_arena arena = ss_arena_make(NULL);
    ss_warnings warnings = {.arena = &arena};
    ss_config_draft draft;
    assert_int_equal(ss_config_from_hf(json, "c", &warnings, &draft, NULL), SS_OK);
    assert_int_equal(warnings.count, SS_MAX_WARNINGS);
    assert_non_null(strstr(warnings.items[SS_MAX_WARNINGS - 1], "left out"));
    ss_arena_free(&arena);
    json_decref(json);
}

/* ---- GGUF -------------------------------------------------------------------------------------- */

static void gguf_options_reach_the_configuration(void **state) {
    (void)state;
    tiny_model *model = tiny_llama(SS_NAMING_GGUF);
    tiny_set(model, "llama.attention.key_length", 8);
    tiny_set(model, "llama.attention.value_length", 8);
    tiny_set(model, "llama.rope.dimension_count", 4);
    tiny_set(model, "llama.rope.freq_base", 500);
    tiny_set_text(model, "llama.rope.scaling.type", "linear");
    tiny_set(model, "llama.rope.scaling.factor", 2);
    tiny_set(model, "llama.attn_logit_softcapping", 50);
    tiny_set(model, "llama.expert_count", 0);
    tiny_set(model, "llama.vocab_size", 7);
    const outcome o = read_gguf(model);
    const ss_config c = config_of(&o);
    assert_int_equal(o.warnings, 0);
    assert_true(c.head_width == 8 && c.rotary.width == 4 && c.rotary.base == 500);
    assert_true(c.rotary.scaling == SS_ROTARY_LINEAR && c.rotary.factor == 2);
    assert_true(c.soft_cap == 50 && c.vocabulary == 7);
}

static void gguf_values_that_cannot_be_are_refused_by_name(void **state) {
    (void)state;
    static const struct {
        const char *key;
        double number;
        const char *text;
        ss_status status;
    } cases[] = {
        {"llama.expert_count", 8, NULL, SS_E_UNSUPPORTED},
        {"llama.attention.sliding_window", 512, NULL, SS_E_UNSUPPORTED},
        {"llama.logit_scale", 4, NULL, SS_E_UNSUPPORTED},
        {"llama.rope.scaling.type", 0, "yarn", SS_E_UNSUPPORTED},
        {"split.count", 2, NULL, SS_E_UNSUPPORTED},
        {"general.architecture", 0, "mamba", SS_E_UNSUPPORTED},
        {"llama.attn_logit_softcapping", 0, NULL, SS_E_CONFIG},
        {"llama.attn_logit_softcapping", -1.5, NULL, SS_E_CONFIG},
        {"llama.attn_logit_softcapping", NAN, NULL, SS_E_CONFIG},
        {"llama.attention.layer_norm_rms_epsilon", NAN, NULL, SS_E_CONFIG},
        {"llama.attention.head_count", 0, NULL, SS_E_CONFIG},
        {"llama.block_count", 0, "two", SS_E_CONFIG},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tiny_model *model = tiny_llama(SS_NAMING_GGUF);
        if (cases[i].text)
            tiny_set_text(model, cases[i].key, cases[i].text);
        else
            tiny_set(model, cases[i].key, cases[i].number);
        const outcome o = read_gguf(model);
        if (o.status != cases[i].status) print_error("%s -> %d\n", cases[i].key, o.status);
        assert_int_equal(o.status, cases[i].status);
        assert_true(
            mentions(&o, cases[i].text && o.status == SS_E_UNSUPPORTED ? cases[i].text : cases[i].key));
    }
}

static void gguf_keys_that_must_be_there_are_named(void **state) {
    (void)state;
    static const char *const keys[] = {
        "llama.block_count",    "llama.embedding_length",    "llama.attention.head_count",
        "llama.context_length", "llama.feed_forward_length", "llama.attention.layer_norm_rms_epsilon"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        tiny_model *model = tiny_llama(SS_NAMING_GGUF);
        tiny_unset(model, keys[i]);
        const outcome o = read_gguf(model);
        assert_int_equal(o.status, SS_E_CONFIG);
        assert_true(mentions(&o, keys[i]));
    }
}

static void gguf_widths_and_directions_must_agree(void **state) {
    (void)state;
    tiny_model *model = tiny_llama(SS_NAMING_GGUF);
    tiny_set(model, "llama.attention.value_length", 4);
    outcome o = read_gguf(model);
    assert_int_equal(o.status, SS_E_UNSUPPORTED);
    assert_true(mentions(&o, "values are 4 wide"));
    model = tiny_bert(SS_NAMING_GGUF);
    tiny_set(model, "bert.attention.causal", 1);
    o = read_gguf(model);
    assert_int_equal(o.status, SS_E_UNSUPPORTED);
    assert_true(mentions(&o, "causal"));
}

/* ---- names ------------------------------------------------------------------------------------- */

static void patterns_fill_and_match_as_data(void **state) {
    (void)state;
    char name[SS_NAME_SIZE];
    assert_string_equal(ss_name_fill("a.", "h.#.w%s", 12, name), "a.h.12.w%s");
    char pattern[400];
    memset(pattern, '#', sizeof pattern);
    pattern[sizeof pattern - 1] = '\0';
    assert_int_equal(strlen(ss_name_fill("", pattern, 10, name)), SS_NAME_SIZE - 1);
    assert_true(ss_name_matches("h.*.attn.bias", "h.0.attn.bias"));
    assert_false(ss_name_matches("h.*.attn.bias", "h.0.attn.c_attn.bias.x"));
    assert_true(ss_name_matches("*dropout*", "dropout") && ss_name_matches("*", ""));
    assert_true(ss_name_matches("*ab", "aab") && ss_name_matches("a*b*c", "a__b_bc"));
    assert_false(ss_name_matches("a*b", "a") || ss_name_matches("", "a") || ss_name_matches("a", ""));
}

static void every_architecture_has_keys_and_an_embedding_first(void **state) {
    (void)state;
    static const char *const names[] = {"gpt2", "llama", "bert"};
    char list[64];
    assert_string_equal(ss_architecture_list(list, sizeof list), "gpt2, llama, bert");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const ss_architecture *a = ss_architecture_find(names[i], strlen(names[i]));
        assert_non_null(a);
        assert_string_equal(a->name, names[i]);
        assert_int_equal(a->names[0].role, SS_ROLE_TOKEN_EMBED);
        json_t *json = json_pack("{s:s}", "model_type", a->name);
        ss_warnings none = {0};
        ss_config_draft draft;
        ss_error error;
        assert_int_equal(ss_config_from_hf(json, "c", &none, &draft, &error), SS_E_CONFIG);
        assert_non_null(strstr(error.message, "is missing")); /* it has required keys, hence a table */
        json_decref(json);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpt2_is_read_alike_from_both_containers),
        cmocka_unit_test(llama_is_read_alike_but_for_the_rotary_layout),
        cmocka_unit_test(bert_is_read_alike_from_both_containers),
        cmocka_unit_test(keys_left_out_take_the_defaults_of_transformers),
        cmocka_unit_test(rotary_keys_of_transformers_4_and_5_agree),
        cmocka_unit_test(options_reach_the_configuration),
        cmocka_unit_test(keys_that_change_the_mathematics_are_refused_by_name),
        cmocka_unit_test(values_that_make_no_model_are_refused),
        cmocka_unit_test(the_model_type_must_be_there),
        cmocka_unit_test(harmless_keys_say_nothing),
        cmocka_unit_test(unknown_keys_are_warned_of_by_name),
        cmocka_unit_test(a_flood_of_unknown_keys_gives_a_bounded_list),
        cmocka_unit_test(gguf_options_reach_the_configuration),
        cmocka_unit_test(gguf_values_that_cannot_be_are_refused_by_name),
        cmocka_unit_test(gguf_keys_that_must_be_there_are_named),
        cmocka_unit_test(gguf_widths_and_directions_must_agree),
        cmocka_unit_test(patterns_fill_and_match_as_data),
        cmocka_unit_test(every_architecture_has_keys_and_an_embedding_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
