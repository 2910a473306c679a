/* Loading: little models written here, every weight told by its value; each fault of names, shapes and ties;
 * the first bad number found; and memory running out at any point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "model/model_impl.h"
#include "support/failing_allocator.h"
#include "support/tiny_model.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const ss_compute plain = {.workers = 2, .isa = SS_ISA_BASE, .dtype = SS_DTYPE_F32};

typedef struct opened {
    ss_status status;
    ss_error error;
    ss_model *model;
} opened;

static opened open_path(const char *path, const ss_compute *compute) {
    opened o = {0};
    o.status = ss_model_open(path, NULL, compute, &o.model, &o.error);
    return o;
}

/* Write, open, and remove the files: a model does not need them any more. Frees `tiny`. */
static opened open_folder(tiny_model *tiny, const ss_compute *compute) {
    temp_path folder = temp_folder_make();
    tiny_write_folder(tiny, &folder);
    opened o = open_path(folder.text, compute);
    temp_folder_remove(&folder);
    tiny_free(tiny);
    return o;
}

static opened open_gguf(tiny_model *tiny) {
    temp_path folder = temp_folder_make();
    temp_path path = tiny_write_gguf(tiny, &folder);
    opened o = open_path(path.text, &plain);
    temp_folder_remove(&folder);
    tiny_free(tiny);
    return o;
}

static const ss_model *loaded(const opened *o) {
    if (o->status) print_error("%s: %s\n", o->error.where, o->error.message);
    assert_int_equal(o->status, SS_OK);
    return o->model;
}

static void check_refused(opened o, ss_status status, const char *where, const char *message) {
    if (o.status != status || !strstr(o.error.where, where) || !strstr(o.error.message, message))
        print_error("%d, %s: %s\n", o.status, o.error.where, o.error.message);
    assert_int_equal(o.status, status);
    assert_non_null(strstr(o.error.where, where));
    assert_non_null(strstr(o.error.message, message));
    assert_null(o.model);
}

/* Value i of the tensor called `name`, as tiny_model makes it. */
static float first_value(tiny_model *tiny, const char *name) {
    return tiny_find(tiny, name)->values[0];
}

/* values[count] = first, first + 1, ... */
static void check_run(const float *values, size_t count, float first) {
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) assert_true(values[i] == first + (float)i);
}

static const char *warning_of(const ss_model *model, size_t expected) {
    size_t count;
    const char *const *warnings = ss_model_warnings(model, &count);
    if (count != expected) print_error("%zu warnings: %s\n", count, count ? warnings[0] : "");
    assert_int_equal(count, expected);
    return count ? warnings[0] : "";
}

/* ---- where weights lie ------------------------------------------------------------------------- */

static void llama_weights_that_are_read_together_lie_together(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    const float q = first_value(tiny, "model.layers.1.self_attn.q_proj.weight"),
                k = first_value(tiny, "model.layers.1.self_attn.k_proj.weight"),
                v = first_value(tiny, "model.layers.1.self_attn.v_proj.weight"),
                gate = first_value(tiny, "model.layers.1.mlp.gate_proj.weight"),
                up = first_value(tiny, "model.layers.1.mlp.up_proj.weight"),
                down = first_value(tiny, "model.layers.1.mlp.down_proj.weight"),
                out = first_value(tiny, "model.layers.1.self_attn.o_proj.weight"),
                norm = first_value(tiny, "model.layers.1.post_attention_layernorm.weight"),
                final = first_value(tiny, "model.norm.weight"), head = first_value(tiny, "lm_head.weight");
    opened o = open_folder(tiny, &plain);
    const ss_model *model = loaded(&o);
    const ss_layer_weights *layer = &model->weights.layers[1];
    const size_t q_size = TINY_H * TINY_E * TINY_D, k_size = TINY_K * TINY_E * TINY_D;
    assert_true(layer->qkv.out == (TINY_H + 2 * TINY_K) * TINY_E && layer->qkv.in == TINY_D);
    check_run(layer->qkv.f32, q_size, q);
    check_run(layer->qkv.f32 + q_size, k_size, k);
    check_run(layer->qkv.f32 + q_size + k_size, k_size, v);
    assert_true(layer->up.out == 2 * TINY_F && layer->up.in == TINY_D);
    check_run(layer->up.f32, TINY_F * TINY_D, gate);
    check_run(layer->up.f32 + TINY_F * TINY_D, TINY_F * TINY_D, up);
    assert_true(layer->down.out == TINY_D && layer->down.in == TINY_F);
    check_run(layer->down.f32, TINY_D * TINY_F, down);
    check_run(layer->attn_out.f32, TINY_D * TINY_H * TINY_E, out);
    check_run(layer->ffn_norm.gamma, TINY_D, norm);
    check_run(model->weights.final_norm.gamma, TINY_D, final);
    check_run(model->weights.head.f32, TINY_V * TINY_D, head);
    assert_true(model->weights.head.out == TINY_V && model->weights.head.in == TINY_D);
    assert_null(layer->ffn_norm.beta);
    assert_null(layer->qkv_bias);
    assert_null(layer->up_bias);
    assert_null(model->weights.position_embed);
    assert_null(model->weights.rotary_factors);
    assert_int_equal((uintptr_t)layer->qkv.f32 % SS_ALIGNMENT, 0);
    warning_of(model, 0);
    ss_model_free(o.model);
}

/* CASES 24: Hugging Face stores GPT-2's weights as [in][out], and nothing else does. */
static void conv1d_weights_are_transposed_in_safetensors_only(void **state) {
    (void)state;
    for (ss_naming naming = SS_NAMING_HF; naming < SS_NAMING_COUNT; naming++) {
        tiny_model *tiny = tiny_gpt2(naming);
        const bool hf = naming == SS_NAMING_HF;
        const float fused = first_value(tiny,
                                        hf ? "transformer.h.1.attn.c_attn.weight" : "blk.1.attn_qkv.weight"),
                    bias = first_value(tiny, hf ? "transformer.h.1.attn.c_attn.bias" : "blk.1.attn_qkv.bias"),
                    down =
                        first_value(tiny, hf ? "transformer.h.1.mlp.c_proj.weight" : "blk.1.ffn_down.weight");
        opened o = hf ? open_folder(tiny, &plain) : open_gguf(tiny);
        const ss_layer_weights *layer = &loaded(&o)->weights.layers[1];
        const size_t outs = 3 * TINY_D;
        assert_true(layer->qkv.out == outs && layer->qkv.in == TINY_D);
        for (size_t out = 0; out < outs; out++)
            for (size_t in = 0; in < TINY_D; in++)
                assert_true(layer->qkv.f32[out * TINY_D + in] ==
                            fused + (float)(hf ? in * outs + out : out * TINY_D + in));
        for (size_t out = 0; out < TINY_D; out++)
            for (size_t in = 0; in < TINY_F; in++)
                assert_true(layer->down.f32[out * TINY_F + in] ==
                            down + (float)(hf ? in * TINY_D + out : out * TINY_F + in));
        check_run(layer->qkv_bias, outs, bias);
        assert_ptr_equal(o.model->weights.head.f32, o.model->weights.token_embed);
        warning_of(o.model, 0);
        ss_model_free(o.model);
    }
}

typedef struct row {
    const char *name;
    size_t rows, columns;
} row;

/* A model of other tensors than the ready ones. */
static tiny_model *make_rows(const char *config, const row *rows, size_t count) {
    tiny_model *tiny = calloc(1, sizeof *tiny);
    assert_non_null(tiny);
    snprintf(tiny->config, sizeof tiny->config, "%s", config);
    for (size_t i = 0; i < count; i++) tiny_add(tiny, rows[i].name, rows[i].rows, rows[i].columns);
    return tiny;
}

/* past the edges of the tiles in which a large weight is turned */
static void large_conv1d_weights_are_transposed_whole(void **state) {
    (void)state;
    enum { D = 70, F = 131 };
    static const row rows[] = {
        {"wte.weight", 1, D},
        {"wpe.weight", 1, D},
        {"h.0.ln_1.weight", 0, D},
        {"h.0.ln_1.bias", 0, D},
        {"h.0.ln_2.weight", 0, D},
        {"h.0.ln_2.bias", 0, D},
        {"h.0.attn.c_attn.weight", D, 3 * D},
        {"h.0.attn.c_attn.bias", 0, 3 * D},
        {"h.0.attn.c_proj.weight", D, D},
        {"h.0.attn.c_proj.bias", 0, D},
        {"h.0.mlp.c_fc.weight", D, F},
        {"h.0.mlp.c_fc.bias", 0, F},
        {"h.0.mlp.c_proj.weight", F, D},
        {"h.0.mlp.c_proj.bias", 0, D},
        {"ln_f.weight", 0, D},
        {"ln_f.bias", 0, D},
    };
    tiny_model *tiny = make_rows("{\"model_type\": \"gpt2\", \"n_embd\": 70, \"n_layer\": 1, \"n_head\": 1,"
                                 "\"n_inner\": 131, \"vocab_size\": 1, \"n_positions\": 1}",
                                 rows, sizeof rows / sizeof *rows);
    const float fused = first_value(tiny, "h.0.attn.c_attn.weight"),
                up = first_value(tiny, "h.0.mlp.c_fc.weight");
    opened o = open_folder(tiny, &plain);
    const ss_layer_weights *layer = &loaded(&o)->weights.layers[0];
    for (size_t out = 0; out < 3 * D; out++)
        for (size_t in = 0; in < D; in++)
            assert_true(layer->qkv.f32[out * D + in] == fused + (float)(in * 3 * D + out));
    for (size_t out = 0; out < F; out++)
        for (size_t in = 0; in < D; in++)
            assert_true(layer->up.f32[out * D + in] == up + (float)(in * F + out));
    ss_model_free(o.model);
}

/* CASES 31: ne = [3, 2] with data 1..6 is the rows [1, 2, 3], [4, 5, 6]; here a [V][D] embedding. */
static void gguf_rows_follow_the_last_extent(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_GGUF);
    const float embed = first_value(tiny, "token_embd.weight"), up = first_value(tiny, "blk.0.ffn_up.weight");
    opened o = open_gguf(tiny);
    const ss_model *model = loaded(&o);
    check_run(model->weights.token_embed, TINY_V * TINY_D, embed);
    check_run(model->weights.layers[0].up.f32 + TINY_F * TINY_D, TINY_F * TINY_D, up);
    const ss_tensor *tensor = ss_tensor_find(ss_model_tensors(model), SS_ROLE_UP, 0);
    assert_true(tensor->rows == TINY_F && tensor->columns == TINY_D);
    ss_model_free(o.model);
}

static void bert_loads_with_and_without_prefix_and_with_old_names(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tiny_model *tiny = tiny_bert(kind == 2 ? SS_NAMING_GGUF : SS_NAMING_HF);
        if (kind == 1) { /* "bert.", gamma and beta, a pooler and a masked-language head */
            for (size_t i = 0; i < tiny->count; i++) {
                char name[96];
                snprintf(name, sizeof name, "bert.%.90s", tiny->tensors[i].name);
                char *norm = strstr(name, "LayerNorm.");
                if (norm) snprintf(norm + 10, 8, "%s", strstr(norm, "weight") ? "gamma" : "beta");
                snprintf(tiny->tensors[i].name, sizeof tiny->tensors[i].name, "%s", name);
            }
            tiny_add(tiny, "bert.pooler.dense.weight", TINY_D, TINY_D);
            tiny_add(tiny, "bert.embeddings.position_ids", 1, TINY_C);
            tiny_add(tiny, "cls.predictions.bias", 0, TINY_V);
        }
        opened o = kind == 2 ? open_gguf(tiny) : open_folder(tiny, &plain);
        const ss_model *model = loaded(&o);
        assert_non_null(model->weights.segment_embed);
        assert_non_null(model->weights.embed_norm.beta);
        assert_non_null(model->weights.layers[1].ffn_norm.gamma);
        assert_int_equal(model->weights.layers[0].qkv.out, 3 * TINY_D);
        assert_int_equal(model->weights.head.out, 0);
        assert_null(model->weights.final_norm.gamma);
        warning_of(model, 0);
        ss_model_free(o.model);
    }
}

static void the_table_lists_every_weight_in_the_order_of_memory(void **state) {
    (void)state;
    opened o = open_folder(tiny_gpt2(SS_NAMING_HF), &plain);
    const ss_tensor_table *table = ss_model_tensors(loaded(&o));
    assert_int_equal(table->count, 2 + TINY_LAYERS * 16 + 2);
    for (size_t i = 0; i < table->count; i++) {
        const ss_tensor *tensor = &table->tensors[i];
        assert_ptr_equal(ss_tensor_find(table, tensor->role, tensor->layer), tensor);
        assert_true(i == 0 || tensor->offset >= tensor[-1].offset + tensor[-1].rows * tensor[-1].columns);
        assert_true(tensor->first_bad == SS_NO_BAD && tensor->type == SS_TYPE_F32 && !tensor->in_bf16);
    }
    assert_string_equal(ss_tensor_find(table, SS_ROLE_K, 1)->name, "transformer.h.1.attn.c_attn.weight");
    assert_null(ss_tensor_find(table, SS_ROLE_GATE, 0));
    assert_null(ss_tensor_find(table, SS_ROLE_Q, TINY_LAYERS));
    ss_model_free(o.model);
}

static void threads_do_not_change_what_is_loaded(void **state) {
    (void)state;
    const ss_compute many = {.workers = 5, .isa = SS_ISA_BASE};
    opened one = open_folder(tiny_gpt2(SS_NAMING_HF), &plain),
           five = open_folder(tiny_gpt2(SS_NAMING_HF), &many);
    const ss_tensor_table *table = ss_model_tensors(loaded(&one));
    for (size_t i = 0; i < table->count; i++) {
        const ss_tensor *tensor = &table->tensors[i];
        assert_memory_equal(one.model->f32_block + tensor->offset, loaded(&five)->f32_block + tensor->offset,
                            tensor->rows * tensor->columns * sizeof(float));
    }
    ss_model_free(one.model);
    ss_model_free(five.model);
}

/* ---- biases ------------------------------------------------------------------------------------ */

static void a_missing_part_of_a_bias_is_zero(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    const float first = tiny_add(tiny, "model.layers.1.self_attn.k_proj.bias", 0, TINY_K * TINY_E)->values[0];
    opened o = open_folder(tiny, &plain);
    const float *bias = loaded(&o)->weights.layers[1].qkv_bias;
    const size_t q = TINY_H * TINY_E, k = TINY_K * TINY_E;
    for (size_t i = 0; i < q; i++) assert_true(bias[i] == 0);
    check_run(bias + q, k, first);
    for (size_t i = 0; i < k; i++) assert_true(bias[q + k + i] == 0);
    assert_null(o.model->weights.layers[0].qkv_bias);
    ss_model_free(o.model);
}

static void biases_are_as_the_configuration_says(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_configure(tiny, "{\"attention_bias\": true}");
    check_refused(open_folder(tiny, &plain), SS_E_FORMAT, "model.layers.0.self_attn.q_proj.bias", "missing");
    tiny = tiny_llama(SS_NAMING_HF);
    tiny_configure(tiny, "{\"mlp_bias\": false}");
    tiny_add(tiny, "model.layers.0.mlp.up_proj.bias", 0, TINY_F);
    opened o = open_folder(tiny, &plain);
    assert_null(loaded(&o)->weights.layers[0].up_bias); /* as transformers does */
    assert_non_null(strstr(warning_of(o.model, 1), "model.layers.0.mlp.up_proj.bias"));
    ss_model_free(o.model);
}

/* ---- heads (CASES 25) -------------------------------------------------------------------------- */

static void a_tied_and_absent_head_is_the_embedding(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_configure(tiny, "{\"tie_word_embeddings\": true}");
    tiny_remove(tiny, "lm_head.weight");
    opened o = open_folder(tiny, &plain);
    assert_ptr_equal(loaded(&o)->weights.head.f32, o.model->weights.token_embed);
    assert_int_equal(o.model->weights.head.out, TINY_V);
    warning_of(o.model, 0);
    ss_model_free(o.model);
}

static void a_tied_and_present_head_is_accepted_and_compared(void **state) {
    (void)state;
    for (int equal = 0; equal < 2; equal++) {
        tiny_model *tiny = tiny_llama(SS_NAMING_HF);
        tiny_configure(tiny, "{\"tie_word_embeddings\": true}");
        if (equal)
            memcpy(tiny_find(tiny, "lm_head.weight")->values,
                   tiny_find(tiny, "model.embed_tokens.weight")->values, TINY_V * TINY_D * sizeof(float));
        opened o = open_folder(tiny, &plain);
        assert_ptr_equal(loaded(&o)->weights.head.f32, o.model->weights.token_embed);
        const char *warning = warning_of(o.model, equal ? 0 : 1);
        assert_true(equal || strstr(warning, "lm_head.weight"));
        ss_model_free(o.model);
    }
}

static void an_untied_and_absent_head_is_an_error(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_remove(tiny, "lm_head.weight");
    check_refused(open_folder(tiny, &plain), SS_E_FORMAT, "lm_head.weight", "not tied");
}

static void a_gguf_without_a_head_is_tied(void **state) {
    (void)state;
    for (int present = 0; present < 2; present++) {
        tiny_model *tiny = tiny_llama(SS_NAMING_GGUF);
        if (!present) tiny_remove(tiny, "output.weight");
        opened o = open_gguf(tiny);
        assert_int_equal(ss_model_config(loaded(&o))->tied, !present);
        assert_int_equal(o.model->weights.head.f32 == o.model->weights.token_embed, !present);
        ss_model_free(o.model);
    }
}

/* ---- what is wrong with the tensors -------------------------------------------------------------------- */

static void a_missing_tensor_is_named(void **state) {
    (void)state;
    static const char *const names[] = {"model.embed_tokens.weight", "model.layers.1.self_attn.k_proj.weight",
                                        "model.layers.0.mlp.gate_proj.weight", "model.norm.weight"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tiny_model *tiny = tiny_llama(SS_NAMING_HF);
        tiny_remove(tiny, names[i]);
        check_refused(open_folder(tiny, &plain), SS_E_FORMAT, names[i], "missing");
    }
}

static void a_wrong_shape_is_named_with_what_was_expected(void **state) {
    (void)state;
    static const struct {
        const char *change, *tensor, *message;
    } cases[] = {
        {"{\"vocab_size\": 6}", "model.embed_tokens.weight",
         "[5, 4], but the configuration asks for [6, 4] (vocabulary, width)"},
        {"{\"intermediate_size\": 7}", "model.layers.0.mlp.gate_proj.weight",
         "asks for [7, 4] (feed-forward width, width)"},
        {"{\"num_key_value_heads\": 2}", "model.layers.0.self_attn.k_proj.weight",
         "asks for [4, 4] (key/value heads x head width, width)"},
        {"{\"head_dim\": 4}", "model.layers.0.self_attn.q_proj.weight",
         "asks for [8, 4] (heads x head width, width)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tiny_model *tiny = tiny_llama(SS_NAMING_HF);
        tiny_configure(tiny, cases[i].change);
        check_refused(open_folder(tiny, &plain), SS_E_FORMAT, cases[i].tensor, cases[i].message);
    }
    tiny_model *tiny = tiny_gpt2(SS_NAMING_HF);
    tiny_tensor *fused = tiny_find(tiny, "transformer.h.0.attn.c_attn.weight");
    fused->shape[0] = 3 * TINY_D; /* as if it were not transposed */
    fused->shape[1] = TINY_D;
    check_refused(open_folder(tiny, &plain), SS_E_FORMAT, "transformer.h.0.attn.c_attn.weight",
                  "[12, 4], but the configuration asks for [4, 12]");
}

static void vectors_may_keep_a_leading_extent_of_one(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_tensor *norm = tiny_find(tiny, "model.norm.weight");
    norm->dims = 2;
    norm->shape[0] = 1;
    norm->shape[1] = TINY_D;
    opened o = open_folder(tiny, &plain);
    assert_non_null(loaded(&o)->weights.final_norm.gamma);
    ss_model_free(o.model);
}

static void left_over_tensors_are_warned_of_and_buffers_are_not(void **state) {
    (void)state;
    tiny_model *tiny = tiny_gpt2(SS_NAMING_HF);
    tiny_add(tiny, "transformer.h.0.attn.bias", TINY_C, TINY_C);
    tiny_add(tiny, "transformer.h.1.attn.masked_bias", 0, 1);
    tiny_add(tiny, "transformer.h.2.ln_1.weight", 0, TINY_D); /* one layer too many */
    opened o = open_folder(tiny, &plain);
    assert_non_null(strstr(warning_of(loaded(&o), 1), "transformer.h.2.ln_1.weight"));
    ss_model_free(o.model);
}

static void a_promise_of_many_layers_costs_little(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_configure(tiny, "{\"num_hidden_layers\": 65536}");
    temp_path folder = temp_folder_make();
    tiny_write_folder(tiny, &folder);
    failing_allocator memory;
    failing_allocator_init(&memory, 0);
    ss_model *model = NULL;
    ss_error error;
    assert_int_equal(ss_model_open(folder.text, &memory.allocator, &plain, &model, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.where, "model.layers.2."));
    assert_true(memory.state.live == 0 && memory.state.peak < 100000);
    temp_folder_remove(&folder);
    tiny_free(tiny);
}

/* ---- bad numbers (CASES 19) -------------------------------------------------------------------- */

static void the_first_bad_number_of_a_tensor_is_found(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_find(tiny, "model.layers.1.mlp.down_proj.weight")->values[9] = NAN;
    tiny_find(tiny, "model.layers.1.mlp.down_proj.weight")->values[11] = NAN;
    tiny_find(tiny, "model.norm.weight")->values[3] = -INFINITY;
    opened o = open_folder(tiny, &plain);
    const ss_tensor_table *table = ss_model_tensors(loaded(&o));
    size_t bad = 0;
    for (size_t i = 0; i < table->count; i++) bad += table->tensors[i].first_bad != SS_NO_BAD;
    assert_int_equal(bad, 2);
    const ss_tensor *down = ss_tensor_find(table, SS_ROLE_DOWN, 1);
    assert_string_equal(down->name, "model.layers.1.mlp.down_proj.weight");
    assert_int_equal(down->first_bad, 9);
    assert_int_equal(ss_tensor_find(table, SS_ROLE_FINAL_NORM_GAMMA, 0)->first_bad, 3);
    ss_model_free(o.model);
}

static void in_a_fused_transposed_tensor_the_index_is_the_files(void **state) {
    (void)state;
    const size_t wide = 3 * TINY_D;
    tiny_model *tiny = tiny_gpt2(SS_NAMING_HF);
    float *fused = tiny_find(tiny, "transformer.h.0.attn.c_attn.weight")->values;
    fused[2 * wide + TINY_D + 1] = NAN; /* input 2 of key 1 */
    fused[3 * wide + TINY_D] = NAN;     /* input 3 of key 0: later in the file */
    opened o = open_folder(tiny, &plain);
    const ss_tensor_table *table = ss_model_tensors(loaded(&o));
    assert_int_equal(ss_tensor_find(table, SS_ROLE_K, 0)->first_bad, 2 * wide + TINY_D + 1);
    assert_true(ss_tensor_find(table, SS_ROLE_Q, 0)->first_bad == SS_NO_BAD);
    assert_true(ss_tensor_find(table, SS_ROLE_V, 0)->first_bad == SS_NO_BAD);
    ss_model_free(o.model);
}

/* an embedding of several chunks, one bad number in each of the last two */
static void in_a_large_tensor_the_first_one_counts(void **state) {
    (void)state;
    enum { V = 7000, D = 32 };
    static const row rows[] = {
        {"embed_tokens.weight", V, D},
        {"layers.0.input_layernorm.weight", 0, D},
        {"layers.0.post_attention_layernorm.weight", 0, D},
        {"layers.0.self_attn.q_proj.weight", D, D},
        {"layers.0.self_attn.k_proj.weight", D, D},
        {"layers.0.self_attn.v_proj.weight", D, D},
        {"layers.0.self_attn.o_proj.weight", D, D},
        {"layers.0.mlp.gate_proj.weight", 1, D},
        {"layers.0.mlp.up_proj.weight", 1, D},
        {"layers.0.mlp.down_proj.weight", D, 1},
        {"norm.weight", 0, D},
    };
    tiny_model *tiny = make_rows("{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_hidden_layers\": 1,"
                                 "\"num_attention_heads\": 1, \"intermediate_size\": 1, \"vocab_size\": 7000,"
                                 "\"tie_word_embeddings\": true}",
                                 rows, sizeof rows / sizeof *rows);
    float *embed = tiny_find(tiny, "embed_tokens.weight")->values;
    embed[150001] = NAN;
    embed[219999] = INFINITY;
    opened o = open_folder(tiny, &plain);
    assert_int_equal(ss_tensor_find(ss_model_tensors(loaded(&o)), SS_ROLE_TOKEN_EMBED, 0)->first_bad, 150001);
    ss_model_free(o.model);
}

/* ---- bfloat16 ---------------------------------------------------------------------------------- */

/* 257 + i and the like: more than the 8 bits that a bfloat16 keeps */
static float rounded(float x) {
    uint16_t half;
    SS_PICK_LEVEL(ss_isa_best(), ss_f32_to_bf16)(&x, 1, &half);
    ss_to_f32(SS_TYPE_BF16, &half, 1, &x);
    return x;
}

static float matrix_value(const ss_matrix *matrix, size_t i) {
    float x;
    if (matrix->f32) return matrix->f32[i];
    assert_non_null(matrix->bf16);
    ss_to_f32(SS_TYPE_BF16, matrix->bf16 + i, 1, &x);
    return x;
}

static void matmul_inputs_of_a_bfloat16_model_are_rounded_and_the_rest_is_not(void **state) {
    (void)state;
    const ss_isa levels[] = {SS_ISA_BASE, ss_isa_best()};
    for (size_t i = 0; i < 2; i++) {
        const ss_compute compute = {.workers = 2, .isa = levels[i], .dtype = SS_DTYPE_BF16};
        for (int llama = 0; llama < 2; llama++) {
            opened exact = open_folder(llama ? tiny_llama(SS_NAMING_HF) : tiny_gpt2(SS_NAMING_HF), &plain),
                   half = open_folder(llama ? tiny_llama(SS_NAMING_HF) : tiny_gpt2(SS_NAMING_HF), &compute);
            const ss_weights *e = &loaded(&exact)->weights, *h = &loaded(&half)->weights;
            const ss_matrix *const pairs[][2] = {{&e->layers[1].qkv, &h->layers[1].qkv},
                                                 {&e->layers[1].up, &h->layers[1].up},
                                                 {&e->layers[0].down, &h->layers[0].down},
                                                 {&e->head, &h->head}};
            bool differ = false;
            for (size_t p = 0; p < 4; p++) {
                assert_true(pairs[p][1]->out == pairs[p][0]->out && pairs[p][1]->in == pairs[p][0]->in);
                assert_int_equal(pairs[p][1]->bf16 != NULL, ss_has_bf16_matmul(levels[i]));
                assert_int_equal(pairs[p][1]->f32 != NULL, !ss_has_bf16_matmul(levels[i]));
                for (size_t k = 0; k < pairs[p][0]->out * pairs[p][0]->in; k++) {
                    const float x = pairs[p][0]->f32[k];
                    assert_true(matrix_value(pairs[p][1], k) == rounded(x));
                    differ = differ || rounded(x) != x;
                }
            }
            assert_true(differ);
            assert_memory_equal(h->token_embed, e->token_embed, TINY_V * TINY_D * sizeof(float));
            assert_memory_equal(h->layers[1].ffn_norm.gamma, e->layers[1].ffn_norm.gamma,
                                TINY_D * sizeof(float));
            ss_model_free(exact.model);
            ss_model_free(half.model);
        }
    }
}

/* ---- which files ------------------------------------------------------------------------------- */

static void shards_are_read_through_their_index(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    temp_path folder = temp_folder_make();
    tiny_write_shards(tiny, &folder, 7);
    const float first = first_value(tiny, "model.embed_tokens.weight"),
                last = first_value(tiny, "lm_head.weight");
    opened o = open_path(folder.text, &plain);
    check_run(loaded(&o)->weights.token_embed, TINY_V * TINY_D, first);
    check_run(o.model->weights.head.f32, TINY_V * TINY_D, last);
    assert_string_equal(ss_model_describe(o.model).file, "model.safetensors.index.json");
    ss_model_free(o.model);
    temp_folder_remove(&folder);
    tiny_free(tiny);
}

static void a_safetensors_file_finds_its_configuration_beside_it(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    temp_path folder = temp_folder_make();
    tiny_write_folder(tiny, &folder);
    opened o = open_path(temp_path_in(&folder, "model.safetensors").text, &plain);
    assert_int_equal(loaded(&o)->config.layers, TINY_LAYERS);
    assert_string_equal(ss_model_describe(o.model).name, strrchr(folder.text, '/') + 1);
    ss_model_free(o.model);
    temp_folder_remove(&folder);
    tiny_free(tiny);
}

static void files_that_make_no_model_are_refused_with_advice(void **state) {
    (void)state;
    temp_path folder = temp_folder_make();
    check_refused(open_path(folder.text, &plain), SS_E_IO, folder.text, "neither model.safetensors nor");
    temp_path pickle = temp_file_write(&folder, "pytorch_model.bin", "x", 1);
    check_refused(open_path(folder.text, &plain), SS_E_UNSUPPORTED, "pytorch_model.bin", "convert");
    check_refused(open_path(pickle.text, &plain), SS_E_UNSUPPORTED, "pytorch_model.bin", "convert");
    temp_file_write(&folder, "model.safetensors", "x", 1);
    check_refused(open_path(folder.text, &plain), SS_E_IO, "config.json", "");
    check_refused(open_path(temp_path_in(&folder, "none.gguf").text, &plain), SS_E_IO, "none.gguf", "");
    check_refused(open_path(temp_path_in(&folder, "none").text, &plain), SS_E_IO, "none", "");
    temp_path text = temp_file_write(&folder, "notes.txt", "hello, this is no model at all", 30);
    check_refused(open_path(text.text, &plain), SS_E_FORMAT, "notes.txt", "");
    temp_folder_remove(&folder);
}

/* ---- tokenizer and facts ----------------------------------------------------------------------- */

static void a_model_without_a_tokenizer_loads_and_says_why(void **state) {
    (void)state;
    const char *why = NULL;
    opened o = open_folder(tiny_bert(SS_NAMING_HF), &plain);
    assert_null(ss_model_tokenizer(loaded(&o), &why));
    assert_true(why && why[0]);
    ss_model_free(o.model);
    o = open_gguf(tiny_bert(SS_NAMING_GGUF));
    assert_null(ss_model_tokenizer(loaded(&o), &why));
    assert_true(why && why[0]);
    ss_model_free(o.model);
}

static const char vocabulary[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n";

static void a_tokenizer_beside_the_weights_is_found(void **state) {
    (void)state;
    tiny_model *tiny = tiny_bert(SS_NAMING_HF);
    temp_path folder = temp_folder_make();
    tiny_write_folder(tiny, &folder);
    temp_file_write(&folder, "vocab.txt", vocabulary, strlen(vocabulary));
    opened o = open_path(folder.text, &plain);
    const char *why = "unset";
    const ss_tokenizer *tokenizer = ss_model_tokenizer(loaded(&o), &why);
    assert_non_null(tokenizer);
    assert_int_equal(ss_tokenizer_size(tokenizer), 5);
    ss_model_free(o.model);
    temp_folder_remove(&folder);
    tiny_free(tiny);
}

static void facts_count_each_weight_once(void **state) {
    (void)state;
    const uint64_t layer = 2 * TINY_D + (2 * TINY_H + 2 * TINY_K) * TINY_E * TINY_D + 3 * TINY_F * TINY_D;
    const uint64_t rest = TINY_V * TINY_D + TINY_D;
    for (int tied = 0; tied < 2; tied++) {
        tiny_model *tiny = tiny_llama(SS_NAMING_GGUF);
        tiny_set_text(tiny, "general.name", "A <name>");
        tiny_add(tiny, "rope_freqs.weight", 0, TINY_E / 2);
        if (tied) tiny_remove(tiny, "output.weight");
        opened o = open_gguf(tiny);
        const ss_model_facts facts = ss_model_describe(loaded(&o));
        assert_int_equal(facts.parameters, TINY_LAYERS * layer + rest + (tied ? 0 : TINY_V * TINY_D));
        assert_string_equal(facts.name, "A <name>");
        assert_string_equal(facts.file, "model.gguf");
        assert_string_equal(facts.weights, "F32");
        assert_non_null(o.model->weights.rotary_factors);
        ss_model_free(o.model);
    }
}

/* ---- memory ------------------------------------------------------------------------------------ */

/* Open `path` with each single allocation failing. */
static void check_every_allocation(const char *path, const ss_compute *compute) {
    failing_allocator memory;
    ss_model *model = NULL;
    failing_allocator_init(&memory, 0);
    assert_int_equal(ss_model_open(path, &memory.allocator, compute, &model, NULL), SS_OK);
    ss_model_free(model);
    assert_int_equal(memory.state.live, 0);
    const size_t requests = memory.state.requests;
    assert_true(requests > 10);
    for (size_t n = 1; n <= requests; n++) {
        failing_allocator_init(&memory, n);
        model = NULL;
        assert_int_equal(ss_model_open(path, &memory.allocator, compute, &model, NULL), SS_E_MEMORY);
        assert_null(model);
        assert_int_equal(memory.state.live, 0);
    }
}

static void memory_that_runs_out_anywhere_leaves_nothing_behind(void **state) {
    (void)state;
    const ss_compute compute = {.workers = 1, .isa = ss_isa_best(), .dtype = SS_DTYPE_BF16};
    temp_path folder = temp_folder_make();
    tiny_model *tiny = tiny_bert(SS_NAMING_HF);
    tiny_configure(tiny, "{\"an_unknown_key\": 1}");
    tiny_write_folder(tiny, &folder);
    temp_file_write(&folder, "vocab.txt", vocabulary, strlen(vocabulary));
    check_every_allocation(folder.text, &plain);
    check_every_allocation(folder.text, &compute);
    tiny_free(tiny);
    tiny = tiny_llama(SS_NAMING_GGUF);
    check_every_allocation(tiny_write_gguf(tiny, &folder).text, &compute);
    tiny_free(tiny);
    temp_folder_remove(&folder);
}

/* ---- the committed models of many odd configurations ------------------------------------------- */

static bool open_golden(const char *name) {
    char folder[1024], path[2048];
    snprintf(folder, sizeof folder, "%s/golden/models/%s", SS_TEST_DATA, name);
    snprintf(path, sizeof path, "%s/%s.gguf", folder, name);
    if (!ss_is_file(path)) {
        snprintf(path, sizeof path, "%s/config.json", folder);
        if (!ss_is_file(path)) return false;
        snprintf(path, sizeof path, "%s", folder);
    }
    opened o = open_path(path, &plain);
    const ss_tensor_table *table = ss_model_tensors(loaded(&o));
    for (size_t i = 0; i < table->count; i++) assert_true(table->tensors[i].first_bad == SS_NO_BAD);
    warning_of(o.model, 0);
    ss_model_free(o.model);
    return true;
}

static void the_golden_models_load_without_a_warning(void **state) {
    (void)state;
    DIR *entries = opendir(SS_TEST_DATA "/golden/models");
    size_t count = 0;
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (entry->d_name[0] != '.') count += open_golden(entry->d_name);
    if (entries) closedir(entries);
    if (count == 0) skip();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(llama_weights_that_are_read_together_lie_together),
        cmocka_unit_test(conv1d_weights_are_transposed_in_safetensors_only),
        cmocka_unit_test(large_conv1d_weights_are_transposed_whole),
        cmocka_unit_test(gguf_rows_follow_the_last_extent),
        cmocka_unit_test(bert_loads_with_and_without_prefix_and_with_old_names),
        cmocka_unit_test(the_table_lists_every_weight_in_the_order_of_memory),
        cmocka_unit_test(threads_do_not_change_what_is_loaded),
        cmocka_unit_test(a_missing_part_of_a_bias_is_zero),
        cmocka_unit_test(biases_are_as_the_configuration_says),
        cmocka_unit_test(a_tied_and_absent_head_is_the_embedding),
        cmocka_unit_test(a_tied_and_present_head_is_accepted_and_compared),
        cmocka_unit_test(an_untied_and_absent_head_is_an_error),
        cmocka_unit_test(a_gguf_without_a_head_is_tied),
        cmocka_unit_test(a_missing_tensor_is_named),
        cmocka_unit_test(a_wrong_shape_is_named_with_what_was_expected),
        cmocka_unit_test(vectors_may_keep_a_leading_extent_of_one),
        cmocka_unit_test(left_over_tensors_are_warned_of_and_buffers_are_not),
        cmocka_unit_test(a_promise_of_many_layers_costs_little),
        cmocka_unit_test(the_first_bad_number_of_a_tensor_is_found),
        cmocka_unit_test(in_a_fused_transposed_tensor_the_index_is_the_files),
        cmocka_unit_test(in_a_large_tensor_the_first_one_counts),
        cmocka_unit_test(matmul_inputs_of_a_bfloat16_model_are_rounded_and_the_rest_is_not),
        cmocka_unit_test(shards_are_read_through_their_index),
        cmocka_unit_test(a_safetensors_file_finds_its_configuration_beside_it),
        cmocka_unit_test(files_that_make_no_model_are_refused_with_advice),
        cmocka_unit_test(a_model_without_a_tokenizer_loads_and_says_why),
        cmocka_unit_test(a_tokenizer_beside_the_weights_is_found),
        cmocka_unit_test(facts_count_each_weight_once),
        cmocka_unit_test(memory_that_runs_out_anywhere_leaves_nothing_behind),
        cmocka_unit_test(the_golden_models_load_without_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
