/* The output probe against plain softmax in double; and sets of probes: names, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/json_path.h"
#include "support/nn_ref.h"
#include "support/staged_pass.h"

#include <math.h>
#include <string.h>

enum { TOKENS = 5, VOCABULARY = 50 };

static ss_config output_config(void) {
    ss_config config = staged_config(1, 1, true);
    config.has_head = true;
    return config;
}

static void assert_near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("got %.9g, want %.9g", got, want);
}

/* Show logits [TOKENS][VOCABULARY] in two parts by two workers. */
static ss_result *measure(const staged_pass *s, const float *logits) {
    const ss_probe_setup setup = staged_setup(s);
    uint32_t bits;
    ss_probe_set *set;
    ss_result *result;
    assert_int_equal(ss_probes_parse("output", &bits, NULL), SS_OK);
    assert_int_equal(ss_probe_set_create(&setup, bits, &set, NULL), SS_OK);
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    const ss_probe *probe = ss_probe_set_list(set)[0];
    for (int worker = 0; worker < 2 && probe->logits; worker++) {
        size_t first = worker ? 2 : 0;
        const ss_logits_event event = {.pass = &s->pass,
                                       .first = first,
                                       .rows = worker ? TOKENS - 2 : 2,
                                       .logits = logits + first * VOCABULARY,
                                       .worker = worker};
        probe->logits(probe->context, &event);
    }
    assert_int_equal(ss_probe_set_report(set, result, NULL), SS_OK);
    ss_probe_set_free(set);
    return result;
}

static double plain_nll(const float *logits, size_t target) {
    double total = 0;
    for (size_t i = 0; i < VOCABULARY; i++) total += exp(logits[i]);
    return log(total) - logits[target];
}

static void likelihood_agrees_with_plain_softmax(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    float logits[TOKENS * VOCABULARY];
    ref_fill(logits, TOKENS * VOCABULARY, 4, 9);
    ss_result *result = measure(s, logits);
    double sum = 0;
    for (size_t t = 0; t + 1 < TOKENS; t++) {
        double nll = plain_nll(logits + t * VOCABULARY, s->ids[t + 1]);
        char path[64];
        snprintf(path, sizeof path, "output.tokens.nll.%zu", t);
        assert_near(number_at(result->root, path), nll, 1e-6);
        snprintf(path, sizeof path, "output.tokens.target_p.%zu", t);
        assert_near(number_at(result->root, path), exp(-nll), 1e-6);
        sum += nll;
    }
    assert_near(number_at(result->root, "output.nll_mean"), sum / (TOKENS - 1), 1e-6);
    assert_near(number_at(result->root, "output.perplexity"), exp(sum / (TOKENS - 1)), 1e-4);
    assert_true(json_is_null(json_at(result->root, "output.tokens.nll.4"))); /* the last has no target */
    assert_true(json_is_number(json_at(result->root, "output.tokens.entropy.4")));
    assert_true(number_at(result->root, "output.entropy.count") == TOKENS);
    assert_true(number_at(result->root, "output.rows") == TOKENS);
    ss_result_free(result);
    staged_pass_free(s);
}

static void confident_and_numerically_saturated_rows_are_counted(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    float logits[TOKENS * VOCABULARY] = {0};
    logits[0 * VOCABULARY + s->ids[1]] = 10;       /* right, p = .9978 */
    logits[1 * VOCABULARY + (s->ids[2] + 1)] = 10; /* wrong */
    logits[2 * VOCABULARY + s->ids[3]] = 30;       /* right, and 1 in float32 */
    logits[3 * VOCABULARY + s->ids[4]] = 2;        /* not confident */
    logits[4 * VOCABULARY] = 10;                   /* confident, but there is no target */
    ss_result *result = measure(s, logits);
    assert_true(number_at(result->root, "output.confident_correct") == 2);
    assert_true(number_at(result->root, "output.confident_wrong") == 1);
    assert_true(number_at(result->root, "output.numeric") == 1);
    ss_result_free(result);
    staged_pass_free(s);
}

static void a_likelihood_keeps_its_digits_when_the_target_is_certain(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    float logits[TOKENS * VOCABULARY] = {0};
    for (size_t t = 0; t + 1 < TOKENS; t++) logits[t * VOCABULARY + s->ids[t + 1]] = 14;
    ss_result *result = measure(s, logits);
    double want = log1p(49 * exp(-14));
    assert_near(number_at(result->root, "output.nll_mean"), want, 1e-6 * want);
    ss_result_free(result);
    staged_pass_free(s);
}

static void rows_of_broken_logits_are_counted(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    float logits[TOKENS * VOCABULARY] = {0};
    logits[3] = NAN;
    ss_result *result = measure(s, logits);
    assert_true(number_at(result->root, "output.rows") == TOKENS - 1);
    assert_true(number_at(result->root, "output.non_finite_rows") == 1);
    assert_true(json_is_null(json_at(result->root, "output.tokens.theta.0")));
    ss_result_free(result);
    staged_pass_free(s);
}

static void a_model_without_a_head_says_so(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, false);
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    ss_result *result = measure(s, NULL);
    assert_true(json_is_null(json_at(result->root, "output")));
    assert_string_equal(json_string_value(json_at(result->root, "absent.output")),
                        "the model has no next-token head");
    ss_result_free(result);
    staged_pass_free(s);
}

/* ---- sets of probes ---- */

static void names_choose_probes(void **state) {
    (void)state;
    uint32_t bits = 7, all;
    ss_error error;
    size_t count;
    ss_probe_kinds(&count);
    assert_int_equal(ss_probes_parse("all", &all, &error), SS_OK);
    assert_int_equal(all, (UINT32_C(1) << count) - 1);
    assert_int_equal(ss_probes_parse("rows,scale", &bits, &error), SS_OK);
    assert_int_equal(bits, 1 | 4);
    static const char *const wrong[] = {"", "row", "rows,", "rows,,keys", "Rows", "rows keys"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(ss_probes_parse(wrong[i], &bits, &error), SS_E_USAGE);
        assert_non_null(strstr(error.message, "rows, keys, scale"));
        assert_int_equal(bits, 1 | 4);
    }
}

static void hidden_heads_are_not_reported(void **state) {
    (void)state;
    ss_config config = staged_config(3, 3, true);
    staged_pass *s = staged_pass_new(&config, 8, 1, 3);
    staged_pass_attend(s);
    ss_probe_setup setup = staged_setup(s);
    setup.options.heads = (const uint8_t[]){1, 0, 1};
    ss_probe_set *set;
    ss_result *result;
    assert_int_equal(ss_probe_set_create(&setup, 1 | 2 | 4, &set, NULL), SS_OK);
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    for (size_t i = 0; i < 3; i++) staged_pass_show(s, ss_probe_set_list(set)[i], 0, 8);
    assert_int_equal(ss_probe_set_report(set, result, NULL), SS_OK);
    assert_int_equal(json_array_size(json_at(result->root, "layers.0.heads")), 2);
    assert_true(number_at(result->root, "layers.0.heads.1.index") == 2);
    assert_true(number_at(result->root, "layers.0.pooled.theta.count") == 14);
    ss_probe_set_free(set);
    ss_result_free(result);
    staged_pass_free(s);
}

/* Create every probe, show them a pass, report; the first failure ends it. */
static ss_status run_everything(const staged_pass *s, const ss_allocator *memory, ss_result *result) {
    ss_probe_setup setup = staged_setup(s);
    setup.memory = memory;
    ss_probe_set *set;
    uint32_t all;
    SS_TRY(ss_probes_parse("all", &all, NULL));
    SS_TRY(ss_probe_set_create(&setup, all, &set, NULL));
    for (size_t i = 0; i < ss_probe_set_count(set); i++) {
        const ss_probe *probe = ss_probe_set_list(set)[i];
        staged_pass_show(s, probe, 0, 4);
    }
    ss_status status = ss_probe_set_report(set, result, NULL);
    ss_probe_set_free(set);
    return status;
}

static void every_failing_allocation_is_reported_and_nothing_leaks(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 2, 3);
    staged_pass_attend(s);
    for (size_t n = 1;; n++) {
        failing_allocator memory;
        failing_allocator_init(&memory, n);
        ss_result *result;
        assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
        ss_status status = run_everything(s, &memory.allocator, result);
        ss_result_free(result);
        assert_int_equal(memory.state.live, 0);
        if (status == SS_OK) {
            assert_true(n > 30);
            break;
        }
        assert_int_equal(status, SS_E_MEMORY);
    }
    staged_pass_free(s);
}

static void memory_of_the_document_that_runs_out_is_reported(void **state) {
    (void)state;
    ss_config config = output_config();
    staged_pass *s = staged_pass_new(&config, TOKENS, 1, 3);
    staged_pass_attend(s);
    failing_allocator_state jansson;
    size_t failures = 0;
    for (size_t n = 1;; n += 1 + n / 16) {
        ss_result *result = NULL;
        failing_jansson_init(&jansson, n);
        ss_status status = ss_result_create(&result, "test", NULL);
        if (status == SS_OK) status = run_everything(s, NULL, result);
        ss_result_free(result);
        failing_jansson_end();
        assert_int_equal(jansson.live, 0);
        if (jansson.requests < n) break; /* more than there are */
        assert_int_equal(status, SS_E_MEMORY);
        failures++;
    }
    assert_true(failures > 50);
    staged_pass_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(likelihood_agrees_with_plain_softmax),
        cmocka_unit_test(confident_and_numerically_saturated_rows_are_counted),
        cmocka_unit_test(a_likelihood_keeps_its_digits_when_the_target_is_certain),
        cmocka_unit_test(rows_of_broken_logits_are_counted),
        cmocka_unit_test(a_model_without_a_head_says_so),
        cmocka_unit_test(names_choose_probes),
        cmocka_unit_test(hidden_heads_are_not_reported),
        cmocka_unit_test(every_failing_allocation_is_reported_and_nothing_leaks),
        cmocka_unit_test(memory_of_the_document_that_runs_out_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
