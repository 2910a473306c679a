/* Loading what is not right: each fault of names, shapes and ties; the first bad number found; memory running
 * out at any point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/open_model.h"

#include <math.h>
#include <string.h>

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

static void an_untied_and_absent_head_is_an_error(void **state) {
    (void)state;
    tiny_model *tiny = tiny_llama(SS_NAMING_HF);
    tiny_remove(tiny, "lm_head.weight");
    check_refused(open_folder(tiny, &plain), SS_E_FORMAT, "lm_head.weight", "not tied");
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

/* ---- which files --------------------------------------------------------------------------------------- */

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
    static const tiny_row rows[] = {
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
    tiny_model *tiny =
        tiny_of_rows("{\"model_type\": \"llama\", \"hidden_size\": 32, \"num_hidden_layers\": 1,"
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

/* ---- memory ------------------------------------------------------------------------------------ */

static const char vocabulary[] = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nhello\n";

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_tensor_is_named),
        cmocka_unit_test(a_wrong_shape_is_named_with_what_was_expected),
        cmocka_unit_test(biases_are_as_the_configuration_says),
        cmocka_unit_test(an_untied_and_absent_head_is_an_error),
        cmocka_unit_test(a_promise_of_many_layers_costs_little),
        cmocka_unit_test(files_that_make_no_model_are_refused_with_advice),
        cmocka_unit_test(the_first_bad_number_of_a_tensor_is_found),
        cmocka_unit_test(in_a_fused_transposed_tensor_the_index_is_the_files),
        cmocka_unit_test(in_a_large_tensor_the_first_one_counts),
        cmocka_unit_test(memory_that_runs_out_anywhere_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
