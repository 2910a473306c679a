/* Loading: little models written here, every weight told by its value, and where it lies in memory. What is
 * refused: load_refused_test.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "support/open_model.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Value i of the tensor called `name`, as tiny_model makes it. */
static float first_value(tiny_model *tiny, const char *name) {
    return tiny_find(tiny, name)->values[0];
}

/* values[count] = first, first + 1, ... */
static void check_run(const float *values, size_t count, float first) {
    assert_non_null(values);
    for (size_t i = 0; i < count; i++) assert_true(values[i] == first + (float)i);
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

/* past the edges of the tiles in which a large weight is turned */
static void large_conv1d_weights_are_transposed_whole(void **state) {
    (void)state;
    enum { D = 70, F = 131 };
    static const tiny_row rows[] = {
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
    tiny_model *tiny =
        tiny_of_rows("{\"model_type\": \"gpt2\", \"n_embd\": 70, \"n_layer\": 1, \"n_head\": 1,"
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
        cmocka_unit_test(a_tied_and_absent_head_is_the_embedding),
        cmocka_unit_test(a_tied_and_present_head_is_accepted_and_compared),
        cmocka_unit_test(a_gguf_without_a_head_is_tied),
        cmocka_unit_test(vectors_may_keep_a_leading_extent_of_one),
        cmocka_unit_test(left_over_tensors_are_warned_of_and_buffers_are_not),
        cmocka_unit_test(matmul_inputs_of_a_bfloat16_model_are_rounded_and_the_rest_is_not),
        cmocka_unit_test(shards_are_read_through_their_index),
        cmocka_unit_test(a_safetensors_file_finds_its_configuration_beside_it),
        cmocka_unit_test(a_model_without_a_tokenizer_loads_and_says_why),
        cmocka_unit_test(a_tokenizer_beside_the_weights_is_found),
        cmocka_unit_test(facts_count_each_weight_once),
        cmocka_unit_test(the_golden_models_load_without_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
