/* The rows probe: which rows count, what their summaries say, and where profiles put them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/json_path.h"
#include "support/staged_pass.h"

#include <math.h>
#include <string.h>

static void assert_near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("got %.9g, want %.9g", got, want);
}

static void sliding_window_of_equal_logits(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, true);
    config.window = 3;
    staged_pass *s = staged_pass_new(&config, 5, 1, 1);
    staged_pass_softmax(s); /* supports 1, 2, 3, 3, 3 */
    ss_result *result = staged_measure(s, "rows", 2);
    assert_near(staged_head_number(result, 0, "entropy.mean"), .997246, 5e-7);
    assert_near(staged_head_number(result, 0, "entropy_norm.min"), 1, 1e-6);
    assert_true(staged_head_number(result, 0, "entropy.count") == 4);
    assert_true(staged_head_number(result, 0, "rows") == 4);
    assert_true(staged_head_number(result, 0, "single_key_rows") == 1);
    ss_result_free(result);
    staged_pass_free(s);
}

static void zeros_in_entropy_and_theta(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, false);
    staged_pass *s = staged_pass_new(&config, 3, 1, 1);
    for (size_t t = 0; t < 3; t++)
        memcpy(staged_row(s->scores, s, 0, t), (double[]){1000, 999, 0}, 3 * sizeof(double));
    staged_pass_softmax(s);
    ss_result *result = staged_measure(s, "rows", 3);
    assert_near(staged_head_number(result, 0, "entropy.mean"), .5822031, 1e-6);
    assert_near(staged_head_number(result, 0, "theta.mean"), .7864477, 1e-6);
    assert_near(staged_head_number(result, 0, "jac_inf_1.mean"), .7864477, 1e-6);
    assert_near(staged_head_number(result, 0, "p_max.mean"), .7310586, 1e-6);
    assert_near(staged_head_number(result, 0, "sparsity"), .7310586, 1e-6);
    assert_true(staged_head_number(result, 0, "theta_exact_share") == 1);
    ss_result_free(result);
    staged_pass_free(s);
}

static void masked_and_broken_rows_are_counted_and_left_out(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, false);
    staged_pass *s = staged_pass_new(&config, 4, 1, 1);
    s->support[1] = 0; /* every key masked */
    staged_pass_softmax(s);
    s->total[2] = NAN;
    s->max[3] = INFINITY;
    ss_result *result = staged_measure(s, "rows", 4);
    assert_true(staged_head_number(result, 0, "rows") == 1);
    assert_true(staged_head_number(result, 0, "masked_rows") == 1);
    assert_true(staged_head_number(result, 0, "non_finite_rows") == 2);
    assert_true(staged_head_number(result, 0, "entropy.count") == 1);
    assert_near(staged_head_number(result, 0, "entropy.mean"), log(4), 1e-6);
    ss_result_free(result);
    staged_pass_free(s);
}

static void no_row_leaves_measures_absent_with_the_reason(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, true);
    staged_pass *s = staged_pass_new(&config, 1, 1, 1);
    staged_pass_softmax(s);
    ss_result *result = staged_measure(s, "rows", 1);
    assert_true(json_is_null(json_at(result->root, "layers.0.heads.0.theta")));
    assert_true(json_is_string(json_at(result->root, "layers.0.heads.0.absent.theta")));
    assert_true(json_is_null(json_at(result->root, "layers.0.pooled.entropy")));
    assert_true(json_is_null(json_at(result->root, "layers.0.heads.0.profile.theta.0")));
    ss_result_free(result);
    staged_pass_free(s);
}

/* Row t of a causal head puts nearly everything on one key when t is odd. */
static staged_pass *alternating_stage(size_t heads, int workers) {
    ss_config config = staged_config(heads, heads, true);
    config.layers = 2;
    staged_pass *s = staged_pass_new(&config, 200, workers, 1);
    for (size_t h = 0; h < heads; h++)
        for (size_t t = 1; t < 200; t += 2) staged_row(s->scores, s, h, t)[t] = 20 + (double)h;
    staged_pass_softmax(s);
    return s;
}

static void saturated_rows_are_those_of_small_theta(void **state) {
    (void)state;
    staged_pass *s = alternating_stage(1, 1);
    ss_result *result = staged_measure(s, "rows", 64);
    assert_true(staged_head_number(result, 0, "saturated") == 100);
    assert_near(staged_head_number(result, 0, "saturated_share"), 100. / 199, 1e-12);
    ss_result_free(result);
    staged_pass_free(s);
}

static void profiles_hold_the_mean_of_each_bin(void **state) {
    (void)state;
    staged_pass *s = alternating_stage(1, 1);
    ss_result *result = staged_measure(s, "rows", 64);
    for (size_t b = 0; b < 64; b++) {
        double sum = 0, count = 0;
        for (size_t t = b * 200 / 64; t < (b + 1) * 200 / 64; t++) {
            if (t == 0) continue;
            double top = 0;
            for (size_t j = 0; j <= t; j++) top = fmax(top, staged_row(s->weights, s, 0, t)[j]);
            sum += top;
            count++;
        }
        char name[32];
        snprintf(name, sizeof name, "profile.p_max.%zu", b);
        assert_near(staged_head_number(result, 0, name), sum / count, 1e-6);
    }
    assert_int_equal(json_array_size(json_at(result->root, "layers.0.heads.0.profile.theta")), 64);
    ss_result_free(result);
    staged_pass_free(s);
}

static void pooled_summaries_are_over_all_rows_of_a_layer(void **state) {
    (void)state;
    staged_pass *s = alternating_stage(3, 1);
    ss_result *result = staged_measure(s, "rows", 64);
    double sum = 0, top = 0;
    for (size_t h = 0; h < 3; h++) {
        sum += staged_head_number(result, h, "p_max.mean") / 3;
        top = fmax(top, staged_head_number(result, h, "p_max.max"));
    }
    assert_near(number_at(result->root, "layers.1.pooled.p_max.mean"), sum, 1e-9);
    assert_true(number_at(result->root, "layers.1.pooled.p_max.max") == top);
    assert_true(number_at(result->root, "layers.1.pooled.p_max.count") == 597);
    assert_true(number_at(result->root, "layers.1.pooled.saturated") == 300);
    ss_result_free(result);
    staged_pass_free(s);
}

static void two_workers_measure_what_one_measures(void **state) {
    (void)state;
    ss_result *results[2];
    for (int workers = 1; workers <= 2; workers++) {
        staged_pass *s = alternating_stage(3, workers);
        results[workers - 1] = staged_measure(s, "rows", 32);
        staged_pass_free(s);
    }
    assert_json_near(results[0]->root, results[1]->root, 0);
    ss_result_free(results[0]);
    ss_result_free(results[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding_window_of_equal_logits),
        cmocka_unit_test(zeros_in_entropy_and_theta),
        cmocka_unit_test(masked_and_broken_rows_are_counted_and_left_out),
        cmocka_unit_test(no_row_leaves_measures_absent_with_the_reason),
        cmocka_unit_test(saturated_rows_are_those_of_small_theta),
        cmocka_unit_test(profiles_hold_the_mean_of_each_bin),
        cmocka_unit_test(pooled_summaries_are_over_all_rows_of_a_layer),
        cmocka_unit_test(two_workers_measure_what_one_measures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
