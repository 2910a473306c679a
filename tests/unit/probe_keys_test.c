/* The keys probe against dense plain sums, and its column kernels against loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/columns.h"
#include "probe/previous.h"
#include "support/json_path.h"
#include "support/nn_ref.h"
#include "support/staged_pass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ss_result *measure(const staged_pass *s, size_t block_rows) {
    return staged_measure(s, "keys", block_rows);
}

static double head_number(const ss_result *result, size_t head, const char *name) {
    return staged_head_number(result, head, name);
}

/* ---- the cases of the field ---- */

/* Weight on key 0 is 1, .5, .2, .1 in a causal head of four tokens. */
static staged_pass *sink_stage(void) {
    static const double first[] = {1, .5, .2, .1};
    ss_config config = staged_config(1, 1, true);
    staged_pass *s = staged_pass_new(&config, 4, 1, 1);
    for (size_t t = 0; t < 4; t++)
        for (size_t j = 0; j <= t; j++)
            staged_row(s->scores, s, 0, t)[j] = log(j == 0 ? first[t] : (1 - first[t]) / (double)t);
    staged_pass_softmax(s);
    return s;
}

static void first_key_is_the_mean_over_rows_with_two_or_more_keys(void **state) {
    (void)state;
    staged_pass *s = sink_stage();
    ss_result *result = measure(s, 2);
    assert_true(fabs(head_number(result, 0, "first_key") - .8 / 3) < 1e-7);
    assert_true(head_number(result, 0, "sink_rate") == 0);
    ss_result_free(result);
    staged_pass_free(s);
}

static void sink_rate_is_one_above_the_threshold(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, true);
    staged_pass *s = staged_pass_new(&config, 6, 1, 1);
    for (size_t t = 1; t < 6; t++) staged_row(s->scores, s, 0, t)[0] = 3;
    staged_pass_softmax(s);
    ss_result *result = measure(s, 6);
    assert_true(head_number(result, 0, "sink_rate") == 1);
    assert_true(head_number(result, 0, "sink_key") == 0);
    ss_result_free(result);
    staged_pass_free(s);
}

static void a_key_that_few_rows_see_is_no_sink(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, true);
    staged_pass *s = staged_pass_new(&config, 40, 1, 1);
    for (size_t t = 0; t < 40; t++) staged_row(s->scores, s, 0, t)[5] = 4; /* the sink is key 5 ... */
    staged_row(s->scores, s, 0, 39)[39] = 40; /* ... and one row looks at the last key alone */
    staged_pass_softmax(s);
    ss_result *result = measure(s, 16);
    assert_true(head_number(result, 0, "sink_key") == 5);
    ss_result_free(result);
    staged_pass_free(s);
}

/* ---- against dense sums ---- */

typedef struct mean {
    double sum, count;
} mean;

static void add(mean *m, double value) {
    m->sum += value;
    m->count++;
}

static double value_of(mean m) {
    return m.count > 0 ? m.sum / m.count : NAN;
}

static bool sees(const staged_pass *s, size_t t, size_t j) {
    return j >= s->first[t] && j - s->first[t] < s->support[t];
}

static void assert_near(double got, double want) {
    if (isnan(want) && isnan(got)) return;
    if (!(fabs(got - want) < 2e-6)) fail_msg("got %.9g, want %.9g", got, want);
}

static void check_single_keys(staged_pass *s, ss_result *result, size_t h) {
    mean first = {0}, previous = {0}, same = {0}, induction = {0};
    for (size_t t = 0; t < s->tokens; t++) {
        const double *row = staged_row(s->weights, s, h, t);
        if (s->support[t] < 2) continue;
        add(&first, row[0]);
        add(&same, row[t]);
        if (t > 0 && sees(s, t, t - 1)) add(&previous, row[t - 1]);
        for (size_t p = t; p-- > 0;) {
            if (s->ids[p] != s->ids[t]) continue;
            if (sees(s, t, p + 1)) add(&induction, row[p + 1]);
            break;
        }
    }
    assert_near(head_number(result, h, "first_key"), value_of(first));
    assert_near(head_number(result, h, "prev_token"), value_of(previous));
    assert_near(head_number(result, h, "same_token"), value_of(same));
    assert_near(head_number(result, h, "induction"), value_of(induction));
}

/* The mean weight on a key over the rows that see it; -1 for a key that too few rows see. */
static double key_weight(staged_pass *s, size_t h, size_t j) {
    size_t most = 0, views_here = 0;
    mean weight = {0};
    for (size_t key = 0; key < s->tokens; key++) {
        size_t views = 0;
        for (size_t t = 0; t < s->tokens; t++) views += s->support[t] >= 2 && sees(s, t, key);
        most = views > most ? views : most;
        if (key == j) views_here = views;
    }
    for (size_t t = 0; t < s->tokens; t++)
        if (s->support[t] >= 2 && sees(s, t, j)) add(&weight, staged_row(s->weights, s, h, t)[j]);
    return views_here > 0 && 4 * views_here >= most ? value_of(weight) : -1;
}

static void check_sink(staged_pass *s, ss_result *result, size_t h) {
    size_t sink = 0;
    for (size_t j = 1; j < s->tokens; j++)
        if (key_weight(s, h, j) > key_weight(s, h, sink)) sink = j;
    assert_true(head_number(result, h, "sink_key") == (double)sink);
    assert_near(head_number(result, h, "sink_weight"), key_weight(s, h, sink));
    assert_near(head_number(result, h, "top_keys.0.weight"), key_weight(s, h, sink));
    size_t width = s->config.head_width;
    const float *value = staged_value(s, h / (s->config.heads / s->config.kv_heads), sink);
    mean share = {0};
    for (size_t t = 0; t < s->tokens; t++) {
        if (s->support[t] < 2 || !sees(s, t, sink)) continue;
        double part = 0, whole = 0;
        for (size_t e = 0; e < width; e++) {
            double mix = s->mix[(t * s->config.heads + h) * width + e];
            part += (double)value[e] * value[e];
            whole += mix * mix;
        }
        add(&share, staged_row(s->weights, s, h, t)[sink] * sqrt(part / whole));
    }
    if (fabs(head_number(result, h, "sink_value_share") - value_of(share)) > 1e-5 * value_of(share))
        fail_msg("sink_value_share %g, want %g", head_number(result, h, "sink_value_share"), value_of(share));
}

static int base64_digit(char c) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return (int)(strchr(digits, c) - digits);
}

static int base64_byte(const char *text, size_t i) {
    const char *group = text + i / 3 * 4;
    int bits = base64_digit(group[0]) << 18 | base64_digit(group[1]) << 12;
    if (group[2] != '=') bits |= base64_digit(group[2]) << 6;
    if (group[3] != '=') bits |= base64_digit(group[3]);
    return bits >> (16 - 8 * (i % 3)) & 255;
}

static size_t bin_begin(size_t tokens, size_t bins, size_t b) {
    return b * tokens / bins;
}

/* Every cell against plain sums over its bins. */
static void check_map(staged_pass *s, ss_result *result, size_t h, size_t most) {
    char path[64];
    snprintf(path, sizeof path, "layers.0.heads.%zu.map.data", h);
    const char *data = json_string_value(json_at(result->root, path));
    size_t bins = s->tokens < most ? s->tokens : most;
    snprintf(path, sizeof path, "layers.0.heads.%zu.map.keys", h);
    assert_true(number_at(result->root, path) == (double)bins);
    for (size_t a = 0; a < bins; a++) {
        for (size_t b = 0; b < bins; b++) {
            mean cell = {0};
            for (size_t t = bin_begin(s->tokens, bins, a); t < bin_begin(s->tokens, bins, a + 1); t++) {
                if (s->support[t] < 2) continue;
                double sum = 0;
                for (size_t j = bin_begin(s->tokens, bins, b); j < bin_begin(s->tokens, bins, b + 1); j++)
                    sum += staged_row(s->weights, s, h, t)[j];
                add(&cell, sum);
            }
            double level = cell.count > 0 ? 255 * sqrt(value_of(cell)) : 0;
            if (fabs(base64_byte(data, a * bins + b) - level) > .501)
                fail_msg("cell %zu, %zu is %d, want %g", a, b, base64_byte(data, a * bins + b), level);
        }
    }
}

static void check_profile(staged_pass *s, ss_result *result, size_t h) {
    char path[64];
    size_t bins = s->tokens < 64 ? s->tokens : 64;
    for (size_t a = 0; a < bins; a++) {
        mean first_key = {0};
        for (size_t t = bin_begin(s->tokens, bins, a); t < bin_begin(s->tokens, bins, a + 1); t++)
            if (s->support[t] >= 2) add(&first_key, staged_row(s->weights, s, h, t)[0]);
        snprintf(path, sizeof path, "profile.first_key.%zu", a);
        assert_near(head_number(result, h, path), value_of(first_key));
    }
}

static void everything_agrees_with_dense_sums(void **state) {
    (void)state;
    static const struct {
        size_t heads, kv_heads, tokens, block, window;
        bool causal;
    } shapes[] = {{1, 1, 1, 1, 0, true},   {1, 1, 2, 1, 0, true},    {4, 2, 37, 16, 0, true},
                  {2, 1, 64, 64, 0, true}, {3, 3, 131, 32, 0, true}, {2, 2, 90, 32, 7, true},
                  {2, 2, 33, 8, 0, false}, {1, 1, 70, 64, 100, true}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        ss_config config = staged_config(shapes[i].heads, shapes[i].kv_heads, shapes[i].causal);
        config.window = shapes[i].window;
        staged_pass *s = staged_pass_new(&config, shapes[i].tokens, 2, 7 + i);
        staged_pass_attend(s);
        ss_result *result = measure(s, shapes[i].block);
        for (size_t h = 0; h < config.heads && s->tokens > 1; h++) {
            check_single_keys(s, result, h);
            check_sink(s, result, h);
            check_map(s, result, h, 64);
            check_profile(s, result, h);
        }
        if (s->tokens == 1) assert_non_null(json_at(result->root, "layers.0.heads.0.absent.first_key"));
        ss_result_free(result);
        staged_pass_free(s);
    }
}

static void chosen_heads_have_fine_maps_and_the_same_profiles(void **state) {
    (void)state;
    static const size_t lengths[] = {40, 150, 256, 301};
    static const uint8_t fine[] = {0, 1};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        ss_config config = staged_config(2, 1, true);
        staged_pass *s = staged_pass_new(&config, lengths[i], 2, 40 + i);
        s->fine_maps = fine;
        staged_pass_attend(s);
        ss_result *result = measure(s, 32);
        check_map(s, result, 0, 64);
        check_map(s, result, 1, 256);
        check_profile(s, result, 0);
        check_profile(s, result, 1);
        check_single_keys(s, result, 1);
        ss_result_free(result);
        staged_pass_free(s);
    }
}

static void pooled_numbers_are_means_over_heads(void **state) {
    (void)state;
    ss_config config = staged_config(4, 2, true);
    staged_pass *s = staged_pass_new(&config, 20, 1, 3);
    staged_pass_attend(s);
    ss_result *result = measure(s, 8);
    double sum = 0;
    for (size_t h = 0; h < 4; h++) sum += head_number(result, h, "prev_token");
    assert_near(number_at(result->root, "layers.0.pooled.prev_token"), sum / 4);
    ss_result_free(result);
    staged_pass_free(s);
}

static void dominance_is_of_the_first_row_where_attention_is_not_causal(void **state) {
    (void)state;
    for (int causal = 0; causal < 2; causal++) {
        ss_config config = staged_config(1, 1, causal);
        staged_pass *s = staged_pass_new(&config, 9, 1, 5);
        staged_pass_attend(s);
        ss_result *result = measure(s, 4);
        double top = 0;
        for (size_t j = 0; j < 9; j++) top = fmax(top, staged_row(s->weights, s, 0, 0)[j]);
        if (causal)
            assert_null(json_at(result->root, "layers.0.heads.0.dominance"));
        else
            assert_near(head_number(result, 0, "dominance"), top);
        ss_result_free(result);
        staged_pass_free(s);
    }
}

static void a_row_that_is_not_finite_is_left_out(void **state) {
    (void)state;
    staged_pass *s = sink_stage();
    s->total[2] = NAN; /* rows 1 and 3 stay: .5 and .1 */
    ss_result *result = measure(s, 4);
    assert_near(head_number(result, 0, "first_key"), .3);
    ss_result_free(result);
    staged_pass_free(s);
}

static void two_workers_find_what_one_finds(void **state) {
    (void)state;
    ss_config config = staged_config(3, 3, true);
    config.layers = 2; /* a layer must leave nothing behind for the next */
    ss_result *results[2];
    for (int workers = 1; workers <= 2; workers++) {
        staged_pass *s = staged_pass_new(&config, 75, workers, 11);
        staged_pass_attend(s);
        results[workers - 1] = measure(s, 16);
        staged_pass_free(s);
    }
    assert_json_near(results[0]->root, results[1]->root, 1e-12);
    assert_json_near(json_at(results[0]->root, "layers.0.heads"), json_at(results[0]->root, "layers.1.heads"),
                     1e-12);
    ss_result_free(results[0]);
    ss_result_free(results[1]);
}

/* ---- the kernels ---- */

static void column_kernels_agree_with_loops_at_every_level(void **state) {
    (void)state;
    static const size_t columns[] = {0, 1, 3, 4, 15, 16, 17, 63, 64, 127, 128, 129, 331};
    float weights[7 * 340], scale[7], sums[340], want[340];
    double totals[340], want_totals[340];
    ref_fill(weights, 7 * 340, 1, 5);
    ref_fill(scale, 7, 1, 6);
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
            for (size_t rows = 0; rows <= 7; rows++) {
                ref_fill(sums, 340, 1, 8);
                memcpy(want, sums, sizeof sums);
                double whole = 0;
                for (size_t j = 0; j < 340; j++) totals[j] = want_totals[j] = (double)j;
                for (size_t j = 0; j < columns[c]; j++) {
                    for (size_t r = 0; r < rows; r++) want[j] += scale[r] * weights[r * 340 + j];
                    whole += want[j];
                    want_totals[j] += want[j];
                }
                ss_columns_add(isa, weights, 340, scale, rows, columns[c], sums);
                for (size_t j = 0; j < 340; j++) assert_true(fabsf(sums[j] - want[j]) < 1e-5f);
                assert_true(fabs(ss_columns_total(isa, sums, columns[c]) - whole) < 1e-4);
                ss_columns_close(isa, sums, columns[c], totals);
                for (size_t j = 0; j < 340; j++) assert_true(fabs(totals[j] - want_totals[j]) < 1e-5);
                for (size_t j = 0; j < columns[c]; j++) assert_true(sums[j] == 0);
            }
}

static void previous_occurrences_are_found(void **state) {
    (void)state;
    static const uint32_t ids[] = {5, 6, 5, UINT32_MAX, 5, 6, UINT32_MAX, 0};
    static const uint32_t want[] = {SS_NO_PREVIOUS, SS_NO_PREVIOUS, 0, SS_NO_PREVIOUS, 2, 1, 3,
                                    SS_NO_PREVIOUS};
    uint32_t previous[8];
    assert_true(ss_previous_occurrences(NULL, ids, 8, previous));
    assert_memory_equal(previous, want, sizeof want);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_key_is_the_mean_over_rows_with_two_or_more_keys),
        cmocka_unit_test(sink_rate_is_one_above_the_threshold),
        cmocka_unit_test(a_key_that_few_rows_see_is_no_sink),
        cmocka_unit_test(everything_agrees_with_dense_sums),
        cmocka_unit_test(chosen_heads_have_fine_maps_and_the_same_profiles),
        cmocka_unit_test(pooled_numbers_are_means_over_heads),
        cmocka_unit_test(dominance_is_of_the_first_row_where_attention_is_not_causal),
        cmocka_unit_test(a_row_that_is_not_finite_is_left_out),
        cmocka_unit_test(two_workers_find_what_one_finds),
        cmocka_unit_test(column_kernels_agree_with_loops_at_every_level),
        cmocka_unit_test(previous_occurrences_are_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
