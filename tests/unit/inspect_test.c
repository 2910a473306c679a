/* The inspect study end to end on a small fixture: conditions of --fail-on, cancelling, memory that runs out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result/result.h"
#include "study/fail_on.h"
#include "support/failing_allocator.h"
#include "support/json_path.h"
#include "support/temp_folder.h"
#include "support/tiny_model.h"

#include <locale.h>
#include <math.h>
#include <string.h>

enum { TOKENS = 12 };
static const uint32_t ids[TOKENS] = {1, 5, 9, 2, 5, 9, 7, 3, 3, 8, 1, 4};
static const ss_inspect_input input = {.name = "ids", .ids = ids, .id_count = TOKENS};

static ss_model *open_fixture(const ss_allocator *memory) {
    ss_model *model = NULL;
    ss_compute compute = ss_compute_default();
    compute.workers = 2;
    ss_error error = {0};
    ss_status status =
        ss_model_open(SS_TEST_DATA "/golden/models/llama-gqa", memory, &compute, &model, &error);
    if (status != SS_OK) fail_msg("%s: %s", error.where, error.message);
    return model;
}

static ss_inspect_options options_for_two(void) {
    ss_inspect_options options = ss_inspect_options_default();
    options.compute.workers = 2;
    return options;
}

/* Inspect the fixture with these conditions; *failed is the answer. */
static ss_result *inspect(const char *fail_on, bool *failed) {
    ss_model *model = open_fixture(NULL);
    ss_inspect_options options = options_for_two();
    options.fail_on = fail_on;
    ss_result *result = NULL;
    assert_int_equal(ss_inspect(model, &input, &options, &result, failed, NULL), SS_OK);
    ss_model_free(model);
    return result;
}

/* ---- --fail-on -------------------------------------------------------------------------------- */

static void conditions_that_cannot_be_read_are_usage_errors(void **state) {
    (void)state;
    static const char *const wrong[] = {"theta",        "theta<",   "theta<x",        "<1",
                                        "theta.mode<1", "thetta<1", "theta<nan",      "nan,max_logit>",
                                        "theta=1",      "theta<1x", "max_logit>1e999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (ss_fail_on_check(wrong[i], NULL) != SS_E_USAGE) fail_msg("'%s' was accepted", wrong[i]);
    static const char *const right[] = {"", "nan", "max_logit>100", "theta.min<=0.5,p_max.p95>=.9,nan",
                                        "first_key>-1"};
    for (size_t i = 0; i < sizeof right / sizeof *right; i++)
        assert_int_equal(ss_fail_on_check(right[i], NULL), SS_OK);
    assert_int_equal(ss_fail_on_check(NULL, NULL), SS_OK);
}

static void a_condition_that_holds_fails_and_names_the_worst_place(void **state) {
    (void)state;
    bool failed = false;
    ss_result *result = inspect("max_logit>-1000", &failed);
    assert_true(failed);
    double worst = -INFINITY, at = NAN;
    for (int h = 0; h < 4; h++) {
        char path[64];
        snprintf(path, sizeof path, "layers.0.heads.%d.max_logit", h);
        worst = fmax(worst, number_at(result->root, path));
        snprintf(path, sizeof path, "layers.1.heads.%d.max_logit", h);
        worst = fmax(worst, number_at(result->root, path));
    }
    assert_string_equal(json_string_value(json_at(result->root, "findings.0.id")), "fail-on");
    assert_true(number_at(result->root, "findings.0.value") == worst);
    char path[64];
    snprintf(path, sizeof path, "layers.%.0f.heads.%.0f.max_logit",
             number_at(result->root, "findings.0.layer"), number_at(result->root, "findings.0.head"));
    at = number_at(result->root, path);
    assert_true(at == worst);
    ss_result_free(result);
}

static void a_condition_that_does_not_hold_does_not_fail(void **state) {
    (void)state;
    bool failed = true;
    ss_result *result = inspect("max_logit>1e6,theta.min<-1,nan", &failed);
    assert_false(failed);
    assert_false(ss_result_has_finding(result, "fail-on"));
    ss_result_free(result);
}

static void a_statistic_is_of_the_rows(void **state) {
    (void)state;
    bool failed = false;
    ss_result *result = inspect("p_max.max<2", &failed); /* every head has it */
    assert_true(failed);
    assert_true(number_at(result->root, "findings.0.value") <= 1);
    ss_result_free(result);
}

static void conditions_and_findings_have_a_point_in_every_locale(void **state) {
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool found = false, failed = false;
    for (size_t i = 0; i < 4 && !found; i++) found = setlocale(LC_ALL, comma[i]) != NULL;
    if (!found) skip(); /* none is installed here */
    ss_result *result = inspect("theta.min<1.5", &failed);
    assert_string_equal(localeconv()->decimal_point, ","); /* the caller's own stays */
    setlocale(LC_ALL, "C");
    assert_true(failed);
    assert_non_null(strstr(json_string_value(json_at(result->root, "findings.0.text")), "fail at <1.5 "));
    ss_result_free(result);
}

/* A tiny model with one bad weight, inspected: *failed and the result. */
static ss_result *inspect_damaged(const char *tensor, size_t index, float value, bool *failed) {
    static const uint32_t few[] = {0, 1, 2, 3};
    const ss_inspect_input short_input = {.name = "ids", .ids = few, .id_count = 4};
    const ss_inspect_options options = options_for_two();
    temp_path folder = temp_folder_make();
    tiny_model *made = tiny_llama(SS_NAMING_HF);
    tiny_find(made, tensor)->values[index] = value;
    tiny_write_folder(made, &folder);
    tiny_free(made);
    ss_model *model = NULL;
    ss_result *result = NULL;
    assert_int_equal(ss_model_open(folder.text, NULL, &options.compute, &model, NULL), SS_OK);
    assert_int_equal(ss_inspect(model, &short_input, &options, &result, failed, NULL), SS_OK);
    ss_model_free(model);
    temp_folder_remove(&folder);
    return result;
}

static void a_value_that_is_not_finite_always_fails_and_is_the_first_finding(void **state) {
    (void)state;
    static const struct {
        const char *tensor;
        float value;
        const char *says[3];
    } cases[] = {
        {"model.layers.1.mlp.down_proj.weight",
         NAN,
         {"layer 1, block output", "NaN at token 0",
          "model.layers.1.mlp.down_proj.weight is not finite at index 5"}},
        {"model.norm.weight",
         INFINITY,
         {"from final norm on", "inf at token 0", "model.norm.weight is not finite"}},
        {"model.layers.0.mlp.up_proj.weight",
         3e38f,
         {"layer 0, feed-forward hidden", "inf at token 0", "every weight is finite, so it overflowed"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool failed = false;
        ss_result *result = inspect_damaged(cases[i].tensor, i == 0 ? 5 : 0, cases[i].value, &failed);
        const char *text = json_string_value(json_at(result->root, "findings.0.text"));
        assert_true(failed);
        assert_string_equal(json_string_value(json_at(result->root, "findings.0.id")), "non-finite");
        for (size_t s = 0; s < 3; s++)
            if (!strstr(text, cases[i].says[s]))
                fail_msg("\"%s\" does not say \"%s\"", text, cases[i].says[s]);
        ss_result_free(result);
    }
}

/* ---- cancelling ------------------------------------------------------------------------------- */

static bool stop_at_half(void *context, double done) {
    *(double *)context = done;
    return done < 0.5;
}

static void a_cancelled_run_gives_no_result(void **state) {
    (void)state;
    ss_model *model = open_fixture(NULL);
    ss_inspect_options options = options_for_two();
    double done = 0;
    options.progress = stop_at_half;
    options.progress_context = &done;
    ss_result *result = NULL;
    bool failed = true;
    ss_error error = {0};
    assert_int_equal(ss_inspect(model, &input, &options, &result, &failed, &error), SS_E_CANCELLED);
    assert_null(result);
    assert_true(failed); /* left as it was */
    assert_true(done >= 0.5 && done <= 1);
    ss_model_free(model);
}

/* ---- input ------------------------------------------------------------------------------------ */

static void only_the_first_tokens_are_read_when_asked(void **state) {
    (void)state;
    ss_model *model = open_fixture(NULL);
    const ss_inspect_options options = options_for_two();
    ss_inspect_input cut = input;
    cut.max_tokens = 5;
    ss_result *result = NULL;
    assert_int_equal(ss_inspect(model, &cut, &options, &result, NULL, NULL), SS_OK);
    assert_true(number_at(result->root, "input.tokens") == 5);
    assert_true(json_is_true(json_object_get(json_object_get(result->root, "input"), "cut")));
    assert_true(ss_result_has_finding(result, "cut"));
    ss_result_free(result);
    ss_model_free(model);
}

static void ids_and_lengths_that_do_not_fit_are_refused(void **state) {
    (void)state;
    ss_model *model = open_fixture(NULL);
    const ss_inspect_options options = options_for_two();
    const size_t vocabulary = ss_model_describe(model).vocabulary, context = ss_model_describe(model).context;
    uint32_t many[4096] = {0};
    assert_true(context < sizeof many / sizeof *many);
    const uint32_t beyond[] = {0, (uint32_t)vocabulary};
    const ss_inspect_input wrong[] = {{.name = "none"},
                                      {.name = "beyond", .ids = beyond, .id_count = 2},
                                      {.name = "long", .ids = many, .id_count = context + 1}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ss_result *result = NULL;
        ss_error error = {0};
        assert_int_equal(ss_inspect(model, &wrong[i], &options, &result, NULL, &error), SS_E_VALUE);
        assert_null(result);
        assert_true(error.message[0] != '\0');
    }
    ss_model_free(model);
}

static void ways_to_compute_that_cannot_be_are_usage_errors(void **state) {
    (void)state;
    ss_model *model = open_fixture(NULL), *none = NULL;
    const ss_compute good = {.workers = 1, .isa = SS_ISA_BASE, .dtype = SS_DTYPE_F32};
    ss_compute wrong[] = {good, good, good};
    wrong[0].workers = 0;
    wrong[1].isa = (ss_isa)(ss_isa_best() + 1);
    wrong[2].dtype = (ss_dtype)7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ss_inspect_options options = options_for_two();
        options.compute = wrong[i];
        ss_result *result = NULL;
        assert_int_equal(ss_inspect(model, &input, &options, &result, NULL, NULL), SS_E_USAGE);
        assert_null(result);
        assert_int_equal(ss_model_open(SS_TEST_DATA "/golden/models/llama-gqa", NULL, &wrong[i], &none, NULL),
                         SS_E_USAGE);
        assert_null(none);
    }
    ss_model_free(model);
}

/* ---- memory ----------------------------------------------------------------------------------- */

static void every_allocation_of_inspect_may_fail(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 0);
    ss_model *model = open_fixture(&memory.allocator);
    ss_inspect_options options = options_for_two();
    options.compute.workers = 1; /* the failing allocator is not thread-safe */
    const size_t live = memory.state.live;
    size_t before = memory.state.requests;
    ss_result *result = NULL;
    assert_int_equal(ss_inspect(model, &input, &options, &result, NULL, NULL), SS_OK);
    const size_t requests = memory.state.requests - before;
    assert_true(requests > 20);
    assert_int_equal(memory.state.live, live);
    ss_result_free(result);
    for (size_t n = 1; n <= requests; n++) {
        ss_error error = {0};
        result = NULL;
        memory.state.fail_at = memory.state.requests + n;
        assert_int_equal(ss_inspect(model, &input, &options, &result, NULL, &error), SS_E_MEMORY);
        assert_null(result);
        assert_int_equal(memory.state.live, live);
    }
    memory.state.fail_at = 0;
    ss_model_free(model);
    assert_int_equal(memory.state.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conditions_that_cannot_be_read_are_usage_errors),
        cmocka_unit_test(a_condition_that_holds_fails_and_names_the_worst_place),
        cmocka_unit_test(a_condition_that_does_not_hold_does_not_fail),
        cmocka_unit_test(a_statistic_is_of_the_rows),
        cmocka_unit_test(conditions_and_findings_have_a_point_in_every_locale),
        cmocka_unit_test(a_value_that_is_not_finite_always_fails_and_is_the_first_finding),
        cmocka_unit_test(a_cancelled_run_gives_no_result),
        cmocka_unit_test(only_the_first_tokens_are_read_when_asked),
        cmocka_unit_test(ids_and_lengths_that_do_not_fit_are_refused),
        cmocka_unit_test(ways_to_compute_that_cannot_be_are_usage_errors),
        cmocka_unit_test(every_allocation_of_inspect_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
