/* The dump study: rows of the field's cases, what is no distribution, masks, groups, the measures of double
 * rows, and the paper's check. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/npy.h"
#include "measure/row_double.h"
#include "study/dump.h"
#include "study/places.h"
#include "study/verify.h"
#include "support/row_ref.h"
#include "support/temp_folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 12, THETA = 2, LOWER, UPPER, EXACT, CERT, ENTROPY, P_MAX };

static temp_path folder;

static int make_folder(void **state) {
    (void)state;
    folder = temp_folder_make();
    return 0;
}
static int remove_folder(void **state) {
    (void)state;
    temp_folder_remove(&folder);
    return 0;
}

static void assert_near(double value, double truth, double within) {
    if (!(fabs(value - truth) <= within)) fail_msg("%.17g, not %.17g", value, truth);
}

/* ---- running the study -------------------------------------------------------------------------- */

typedef struct outcome {
    ss_result *result;
    const json_t *rows;
    ss_array table; /* [rows][12] */
    bool failed;
} outcome;

static temp_path path_of(const char *name) {
    return temp_path_in(&folder, name);
}

static ss_dump_options options_for_one_worker(void) {
    ss_dump_options o = ss_dump_options_default();
    o.compute.workers = 1;
    return o;
}

static outcome study(const char *path, ss_dump_options o) {
    outcome out = {0};
    ss_error error = {0};
    const temp_path rows = path_of("rows.npy");
    o.rows_path = rows.text;
    if (ss_dump_study(path, &o, &out.result, &out.failed, &error) != SS_OK)
        fail_msg("%s: %s", error.where, error.message);
    assert_int_equal(ss_npy_open(rows.text, NULL, NULL, &out.table, &error), SS_OK);
    assert_int_equal(out.table.shape[1], COLUMNS);
    out.rows = json_object_get(out.result->root, "rows");
    return out;
}

static void done(outcome *out) {
    ss_array_free(&out->table);
    ss_result_free(out->result);
}

static outcome study_text(const char *text, ss_dump_options o) {
    return study(temp_file_write(&folder, "rows.csv", text, strlen(text)).text, o);
}

static outcome study_array(ss_type type, unsigned dims, const size_t *shape, const void *data,
                           ss_dump_options o) {
    const temp_path path = path_of("array.npy");
    assert_int_equal(ss_npy_save(path.text, type, dims, shape, data, NULL), SS_OK);
    return study(path.text, o);
}

static double cell(const outcome *out, size_t row, size_t column) {
    double value;
    memcpy(&value, (const char *)out->table.data + (row * COLUMNS + column) * sizeof value, sizeof value);
    return value;
}

static double number(const outcome *out, const char *path) {
    return ss_number_at(out->rows, path);
}

static void assert_absent(const outcome *out, size_t row) {
    for (size_t column = THETA; column < COLUMNS; column++) assert_true(isnan(cell(out, row, column)));
}

static void refuse(const char *text, ss_dump_options o, ss_status code, const char *word) {
    ss_error error = {0};
    ss_result *result = NULL;
    const temp_path path = temp_file_write(&folder, "rows.csv", text, strlen(text));
    assert_int_equal(ss_dump_study(path.text, &o, &result, NULL, &error), code);
    assert_null(result);
    if (!strstr(error.message, word)) fail_msg("\"%s\" does not say \"%s\"", error.message, word);
}

/* ---- cases from the field ------------------------------------------------------------------------ */

static void a_fully_masked_row_is_counted_and_left_out(void **state) { /* case 2 */
    (void)state;
    ss_dump_options o = options_for_one_worker();
    o.logits = true;
    outcome out = study_text("-inf,-inf,-inf,-inf\n0,0,-inf,-inf\n", o);
    assert_absent(&out, 0);
    assert_near(cell(&out, 1, ENTROPY), log(2), 1e-15);
    assert_near(number(&out, "masked_rows"), 1, 0);
    assert_near(number(&out, "theta.count"), 1, 0);
    assert_near(number(&out, "not_distribution.count"), 0, 0);
    assert_false(out.failed);
    done(&out);
    out = study_text("0,0,0,0\n", options_for_one_worker());
    assert_absent(&out, 0);
    assert_near(number(&out, "masked_rows"), 1, 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(out.rows, "absent"), "theta")),
                        "all keys of every row are masked");
    done(&out);
}

static void zeros_add_no_entropy(void **state) { /* case 3 */
    (void)state;
    ss_dump_options o = options_for_one_worker();
    outcome out = study_text(".5,.5,0,0\n", o);
    assert_near(cell(&out, 0, ENTROPY), .6931471806, 1e-10);
    done(&out);
    o.logits = true;
    out = study_text("1000,999,0\n", o);
    assert_near(cell(&out, 0, ENTROPY), .5822031, 5e-8);
    assert_near(cell(&out, 0, THETA), .7864477, 5e-8);
    done(&out);
}

static void negative_weights_get_only_a_sparsity(void **state) { /* case 4 */
    (void)state;
    outcome out = study_text("-.5,.25,.25\n", options_for_one_worker());
    assert_absent(&out, 0);
    assert_near(number(&out, "not_distribution.reasons.negative"), 1, 0);
    assert_near(number(&out, "sparsity"), .5, 1e-15);
    assert_true(json_is_null(json_object_get(out.rows, "entropy")));
    done(&out);
}

static void dropout_is_found_and_not_renormalised(void **state) { /* case 5 */
    (void)state;
    outcome out = study_text(".625,.375,0\n.625,.375,.25\n0,0,.25\n", options_for_one_worker());
    assert_near(number(&out, "not_distribution.count"), 2, 0);
    assert_near(number(&out, "not_distribution.reasons.sum"), 2, 0);
    assert_near(number(&out, "not_distribution.max_sum_error"), .75, 1e-15);
    assert_absent(&out, 1);
    assert_absent(&out, 2);
    assert_near(cell(&out, 0, P_MAX), .625, 1e-15);
    assert_true(ss_result_has_finding(out.result, "looks-like-dropout"));
    done(&out);
}

/* An NPY file of items that ss_npy_save does not write. */
static temp_path write_halves(const char *descr, uint16_t item, size_t count) {
    char header[118] = {0};
    uint8_t file[10 + sizeof header + 2 * 2048];
    int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }",
                          descr, count);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[sizeof header - 1] = '\n';
    memcpy(file, "\x93NUMPY\x01\x00", 8);
    file[8] = sizeof header, file[9] = 0;
    memcpy(file + 10, header, sizeof header);
    for (size_t i = 0; i < count; i++) memcpy(file + 10 + sizeof header + 2 * i, &item, 2);
    return temp_file_write(&folder, "halves.npy", file, 10 + sizeof header + 2 * count);
}

static void float16_rows_may_be_off_by_their_rounding(void **state) { /* case 5 */
    (void)state;
    outcome out = study(write_halves("<f2", 0x1419, 1000).text, options_for_one_worker());
    assert_near(number(&out, "not_distribution.count"), 0, 0);
    assert_near(number(&out, "max_sum_error"), 0.00040, 5e-6);
    assert_near(cell(&out, 0, ENTROPY), log(1000), 1e-12);
    done(&out);
}

static void untyped_halves_are_bfloat16_only_when_said(void **state) { /* case 32 */
    (void)state;
    const temp_path path = write_halves("<V2", 0x3E00 /* .125 */, 8);
    ss_dump_options o = options_for_one_worker();
    ss_error error;
    ss_result *result = NULL;
    assert_int_equal(ss_dump_study(path.text, &o, &result, NULL, &error), SS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "--bf16"));
    o.raw_is_bf16 = true;
    outcome out = study(path.text, o);
    assert_near(cell(&out, 0, THETA), 1, 0);
    done(&out);
}

static void a_lost_causal_mask_is_found(void **state) { /* case 6 */
    (void)state;
    static const double leaked[] = {.75, .5, .25, 0};
    ss_dump_options o = options_for_one_worker();
    o.causal = true;
    outcome out = study_text(".25,.25,.25,.25\n.25,.25,.25,.25\n.25,.25,.25,.25\n.25,.25,.25,.25\n", o);
    assert_near(number(&out, "outside_support.entries"), 6, 0);
    const json_t *profile = json_object_get(json_object_get(out.rows, "outside_support"), "profile");
    for (size_t i = 0; i < 4; i++) assert_near(json_number_value(json_array_get(profile, i)), leaked[i], 0);
    for (size_t row = 0; row < 3; row++) assert_absent(&out, row);
    assert_near(cell(&out, 3, THETA), 1, 0);
    assert_true(ss_result_has_finding(out.result, "lost-mask"));
    done(&out);
}

static void sliding_windows_count_their_keys(void **state) { /* case 9 */
    (void)state;
    static const double support[] = {1, 2, 3, 3, 3};
    static const size_t shape[] = {5, 5};
    double logits[25];
    for (size_t i = 0; i < 25; i++) logits[i] = i % 5 <= i / 5 && i % 5 + 3 > i / 5 ? 2.5 : -INFINITY;
    ss_dump_options o = options_for_one_worker();
    o.logits = true;
    outcome out = study_array(SS_TYPE_F64, 2, shape, logits, o);
    for (size_t row = 0; row < 5; row++) assert_near(cell(&out, row, 1), support[row], 0);
    assert_near(number(&out, "entropy.mean"), .997246, 5e-7);
    assert_near(number(&out, "entropy.count"), 4, 0);
    assert_near(number(&out, "single_key_rows"), 1, 0);
    done(&out);
}

static void the_first_key_is_averaged_over_rows_with_two_or_more_keys(void **state) { /* case 10 */
    (void)state;
    ss_dump_options o = options_for_one_worker();
    o.causal = true;
    outcome out = study_text("1,0,0,0\n.5,.5,0,0\n.2,.4,.4,0\n.1,.3,.3,.3\n", o);
    assert_near(number(&out, "first_key"), .8 / 3, 1e-15);
    assert_near(number(&out, "sink_rate"), 0, 0);
    const json_t *settings = json_object_get(out.result->root, "settings");
    assert_string_equal(json_string_value(json_object_get(settings, "row_range")),
                        "rows with two or more keys");
    assert_near(ss_number_at(settings, "sink_threshold"), .3, 0);
    done(&out);
    o.probe.sink_threshold = .25;
    out = study_text("1,0,0,0\n.5,.5,0,0\n.2,.4,.4,0\n.1,.3,.3,.3\n", o);
    assert_near(number(&out, "sink_rate"), 1, 0);
    done(&out);
}

static void a_learned_sink_is_one_more_atom(void **state) { /* case 11 */
    (void)state;
    ss_dump_options o = options_for_one_worker();
    o.logits = o.has_sink = true;
    o.sink = 2;
    outcome out = study_text("1,1\n", o);
    const double key = .211942, sink = .576117;
    assert_near(number(&out, "sink_mass.mean"), sink, 5e-7);
    assert_near(number(&out, "first_key"), key, 5e-7);
    assert_near(cell(&out, 0, P_MAX), sink, 5e-7);
    assert_near(cell(&out, 0, THETA), 4 * sink * 2 * key, 5e-6);
    assert_near(cell(&out, 0, 1), 2, 0);
    assert_near(number(&out, "sparsity"), .5, 1e-15);
    assert_near(number(&out, "not_distribution.count"), 0, 0);
    done(&out);
}

/* ---- logits, masks, groups ------------------------------------------------------------------------ */

static void jacobian_norms_are_over_tau(void **state) {
    (void)state;
    enum { N = 9 };
    double p[N], logits[N], total = 0;
    ref_random random = {7};
    ss_dump_options o = options_for_one_worker();
    o.logits = true;
    o.tau = 0.25;
    for (size_t i = 0; i < N; i++) total += p[i] = exp((logits[i] = ref_normal(&random)) / o.tau);
    for (size_t i = 0; i < N; i++) p[i] /= total;
    outcome out = study_array(SS_TYPE_F64, 1, (const size_t[]){N}, logits, o);
    const ref_norms norms = ref_jacobian_norms(p, N);
    assert_near(cell(&out, 0, 9), norms.two / o.tau, 1e-12);
    assert_near(cell(&out, 0, 10), norms.inf / o.tau, 1e-12);
    assert_near(cell(&out, 0, 11), norms.frobenius / o.tau, 1e-12);
    assert_near(number(&out, "jac_inf_1.mean"), ref_norm_inf_1(p, N) / o.tau, 1e-9);
    assert_near(cell(&out, 0, THETA), ref_norm_inf_1(p, N), 1e-13);
    done(&out);
}

/* The mask [3][1][4] lies over [2][3][2][4]: repeated over the first axis and the queries. */
static void masks_broadcast_as_numpy_does(void **state) {
    (void)state;
    static const uint8_t mask[] = {1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0};
    static const double support[] = {4, 4, 2, 2, 0, 0, 4, 4, 2, 2, 0, 0};
    int64_t whole[12];
    float logits[48] = {0};
    for (size_t i = 0; i < 12; i++) whole[i] = (int64_t)mask[i] << 40; /* set in a high byte only */
    const temp_path path = path_of("mask.npy");
    assert_int_equal(ss_npy_save(path.text, SS_TYPE_I64, 3, (const size_t[]){3, 1, 4}, whole, NULL), SS_OK);
    ss_dump_options o = options_for_one_worker();
    o.logits = true;
    o.mask = path.text;
    outcome out = study_array(SS_TYPE_F32, 4, (const size_t[]){2, 3, 2, 4}, logits, o);
    for (size_t row = 0; row < 12; row++) assert_near(cell(&out, row, 1), support[row], 0);
    const json_t *groups = json_object_get(out.result->root, "groups"), *last = json_array_get(groups, 4);
    assert_int_equal(json_array_size(groups), 6);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(last, "index"), 0)), 1);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(last, "index"), 1)), 1);
    assert_near(ss_number_at(last, "entropy.mean"), log(2), 1e-15);
    assert_near(ss_number_at(json_array_get(groups, 2), "masked_rows"), 2, 0);
    done(&out);
}

/* T queries over n keys: the last query sees all keys. */
static void causality_ends_at_the_last_key(void **state) {
    (void)state;
    static const struct {
        size_t queries, keys;
        double support[4];
    } cases[] = {{2, 5, {4, 5}}, {4, 2, {0, 0, 1, 2}}, {3, 3, {1, 2, 3}}, {1, 4, {4}}};
    static const float logits[10];
    ss_dump_options o = options_for_one_worker();
    o.logits = o.causal = true;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        outcome out =
            study_array(SS_TYPE_F32, 2, (const size_t[]){cases[i].queries, cases[i].keys}, logits, o);
        for (size_t row = 0; row < cases[i].queries; row++)
            assert_near(cell(&out, row, 1), cases[i].support[row], 0);
        done(&out);
    }
}

static void not_a_number_fails_the_run(void **state) {
    (void)state;
    outcome out = study_text("nan,nan\n.5,.5\n", options_for_one_worker());
    assert_near(number(&out, "non_finite_rows"), 1, 0);
    assert_near(number(&out, "theta.mean"), 1, 0);
    assert_true(out.failed);
    done(&out);
}

static void conditions_name_the_group(void **state) {
    (void)state;
    static const float weights[] = {.5f, .5f, 1, 0}; /* [2][1][2] */
    ss_dump_options o = options_for_one_worker();
    o.fail_on = "theta.min<0.5";
    outcome out = study_array(SS_TYPE_F32, 3, (const size_t[]){2, 1, 2}, weights, o);
    assert_true(out.failed);
    const json_t *text =
        json_object_get(json_array_get(json_object_get(out.result->root, "findings"), 0), "text");
    assert_non_null(strstr(json_string_value(text), "theta.min is 0 "));
    done(&out);
    o.fail_on = "theta.max<0.5";
    out = study_array(SS_TYPE_F32, 3, (const size_t[]){2, 1, 2}, weights, o);
    text = json_object_get(json_array_get(json_object_get(out.result->root, "findings"), 0), "text");
    assert_non_null(strstr(json_string_value(text), "in group [1]"));
    done(&out);
}

/* NumPy has no bfloat16: such weights arrive as float32, and sum to 1 only as bfloat16 does. */
static void widened_weights_are_judged_as_what_they_were(void **state) {
    (void)state;
    static const float bfloat[] = {.3984375f, .3984375f, .19921875f}, dropped[] = {.4f, .4f, .196f};
    outcome out = study_array(SS_TYPE_F32, 1, (const size_t[]){3}, bfloat, options_for_one_worker());
    assert_near(number(&out, "rows"), 1, 0);
    assert_near(number(&out, "max_sum_error"), .00390625, 1e-12);
    done(&out);
    out = study_array(SS_TYPE_F32, 1, (const size_t[]){3}, dropped, options_for_one_worker());
    assert_near(number(&out, "not_distribution.reasons.sum"), 1, 0);
    done(&out);
}

static void logits_taken_for_weights_get_a_hint(void **state) {
    (void)state;
    outcome out = study_text("3,-1,2\n0,1,-2\n", options_for_one_worker());
    assert_true(ss_result_has_finding(out.result, "looks-like-logits"));
    done(&out);
    out = study_text("1,0,0\n.5,.5,0\n.2,.3,.5\n", options_for_one_worker());
    assert_true(ss_result_has_finding(out.result, "undeclared-causal"));
    done(&out);
}

static void workers_do_not_change_a_row(void **state) {
    (void)state;
    enum { ROWS = 3000, N = 50 };
    float *logits = malloc(sizeof(float[ROWS][N]));
    assert_non_null(logits);
    ref_random random = {3};
    for (size_t i = 0; i < ROWS * N; i++) logits[i] = (float)(3 * ref_normal(&random));
    ss_dump_options o = options_for_one_worker();
    o.logits = true;
    outcome one = study_array(SS_TYPE_F32, 2, (const size_t[]){ROWS, N}, logits, o);
    o.compute.workers = 3;
    double *kept = malloc(one.table.bytes);
    assert_non_null(kept);
    memcpy(kept, one.table.data, one.table.bytes);
    done(&one);
    outcome three = study_array(SS_TYPE_F32, 2, (const size_t[]){ROWS, N}, logits, o);
    assert_memory_equal(kept, three.table.data, three.table.bytes);
    done(&three);
    free(kept);
    free(logits);
}

static void contradictions_are_usage_errors(void **state) {
    (void)state;
    static const double taus[] = {0, -1, (double)NAN, (double)INFINITY};
    for (size_t i = 0; i < sizeof taus / sizeof *taus; i++) {
        ss_dump_options o = options_for_one_worker();
        o.logits = true;
        o.tau = taus[i];
        refuse("1,2\n", o, SS_E_USAGE, "temperature");
    }
    ss_dump_options o = options_for_one_worker();
    o.has_sink = true;
    refuse("1,0\n", o, SS_E_USAGE, "--logits");
    o = options_for_one_worker();
    o.rows_path = "rows.txt";
    refuse("1,0\n", o, SS_E_USAGE, ".npy");
    o = options_for_one_worker();
    o.array = "a";
    refuse("1,0\n", o, SS_E_USAGE, "NPZ");
    refuse("", options_for_one_worker(), SS_E_FORMAT, "no row");
    const temp_path mask = path_of("mask.npy");
    assert_int_equal(ss_npy_save(mask.text, SS_TYPE_I64, 1, (const size_t[]){3}, (int64_t[]){1, 1, 1}, NULL),
                     SS_OK);
    o = options_for_one_worker();
    o.mask = mask.text;
    refuse("1,0\n", o, SS_E_VALUE, "(3) does not fit an array of shape (1, 2)");
}

/* ---- double rows ----------------------------------------------------------------------------------- */

static void double_rows_keep_their_digits(void **state) {
    (void)state;
    enum { MOST = 16, TIMES = 400 };
    static const double deviations[] = {.3, 1, 4, 12};
    ref_random random = {11};
    void *workspace = aligned_alloc(64, (ss_row_double_workspace(MOST) + 63) / 64 * 64);
    assert_non_null(workspace);
    for (size_t i = 0; i < TIMES; i++) {
        double w[MOST], p[MOST], total = 0;
        const size_t n = 2 + ref_bits(&random) % (MOST - 1);
        for (size_t j = 0; j < n; j++) total += w[j] = exp(deviations[i % 4] * ref_normal(&random));
        for (size_t j = 0; j < n; j++) p[j] = w[j] / total;
        ss_row_measures m;
        ss_row_measure_double(ss_isa_best(), w, n, SS_THETA_BUDGET, workspace, &m);
        const ref_norms norms = ref_jacobian_norms(p, n);
        const double theta = ref_norm_inf_1(p, n);
        assert_near(m.theta, theta, 1e-13 * theta);
        assert_true(m.theta_exact);
        assert_true(m.theta_cert <= m.theta);
        assert_near(m.entropy, ref_entropy(p, n), 1e-13);
        assert_near(m.jac_2, norms.two, 1e-12 * norms.two);
        assert_near(m.jac_inf, norms.inf, 1e-13 * norms.inf);
        assert_near(m.jac_frob, norms.frobenius, 1e-13 * norms.frobenius);
    }
    free(workspace);
}

/* A float would make this row one-hot. */
static void float64_dumps_stay_float64(void **state) {
    (void)state;
    static const double weights[] = {1 - 1e-12, 1e-12};
    outcome out = study_array(SS_TYPE_F64, 1, (const size_t[]){2}, weights, options_for_one_worker());
    assert_near(cell(&out, 0, THETA), 4e-12, 1e-22);
    done(&out);
}

static void the_papers_check_holds(void **state) {
    (void)state;
    ss_verify_check checks[SS_VERIFY_MOST];
    size_t count = 0, rows = 0;
    assert_int_equal(ss_verify(checks, &count, NULL), SS_OK);
    assert_int_equal(count, 11);
    for (size_t i = 0; i < count; i++) {
        if (!(checks[i].error <= checks[i].limit)) fail_msg("%s: %g", checks[i].claim, checks[i].error);
        assert_true(checks[i].rows > 0);
        rows += checks[i].rows;
    }
    assert_true(rows >= 2500);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fully_masked_row_is_counted_and_left_out),
        cmocka_unit_test(zeros_add_no_entropy),
        cmocka_unit_test(negative_weights_get_only_a_sparsity),
        cmocka_unit_test(dropout_is_found_and_not_renormalised),
        cmocka_unit_test(float16_rows_may_be_off_by_their_rounding),
        cmocka_unit_test(untyped_halves_are_bfloat16_only_when_said),
        cmocka_unit_test(a_lost_causal_mask_is_found),
        cmocka_unit_test(sliding_windows_count_their_keys),
        cmocka_unit_test(the_first_key_is_averaged_over_rows_with_two_or_more_keys),
        cmocka_unit_test(a_learned_sink_is_one_more_atom),
        cmocka_unit_test(jacobian_norms_are_over_tau),
        cmocka_unit_test(masks_broadcast_as_numpy_does),
        cmocka_unit_test(causality_ends_at_the_last_key),
        cmocka_unit_test(not_a_number_fails_the_run),
        cmocka_unit_test(conditions_name_the_group),
        cmocka_unit_test(widened_weights_are_judged_as_what_they_were),
        cmocka_unit_test(logits_taken_for_weights_get_a_hint),
        cmocka_unit_test(workers_do_not_change_a_row),
        cmocka_unit_test(contradictions_are_usage_errors),
        cmocka_unit_test(double_rows_keep_their_digits),
        cmocka_unit_test(float64_dumps_stay_float64),
        cmocka_unit_test(the_papers_check_holds),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
