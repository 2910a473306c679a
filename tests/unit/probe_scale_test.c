/* The scale probe: largest scores, and rows computed again at unit scale. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "probe/values.h"
#include "support/json_path.h"
#include "support/nn_ref.h"
#include "support/staged_pass.h"

#include <math.h>
#include <string.h>

static void assert_near(double got, double want, double tolerance) {
    if (!(fabs(got - want) <= tolerance)) fail_msg("got %.9g, want %.9g", got, want);
}

static void the_largest_score_is_told_before_and_after_the_soft_cap(void **state) {
    (void)state;
    ss_config config = staged_config(2, 1, true);
    config.soft_cap = 50;
    staged_pass *s = staged_pass_new(&config, 6, 2, 1);
    for (size_t e = 0; e < 8; e++) {
        staged_query(s, 1, 4)[e] = 10;
        staged_key(s, 0, 3)[e] = (float)(200 / (80 * config.score_scale)); /* raw score 200 */
    }
    staged_pass_attend(s);
    ss_result *result = staged_measure(s, "scale", 2);
    assert_near(staged_head_number(result, 1, "max_logit"), 49.966465, 1e-5);
    assert_near(staged_head_number(result, 1, "max_logit_raw"), 200, 1e-4);
    assert_true(number_at(result->root, "layers.0.pooled.max_logit") ==
                fmax(staged_head_number(result, 0, "max_logit"), staged_head_number(result, 1, "max_logit")));
    ss_result_free(result);
    staged_pass_free(s);
}

static void scores_beyond_float16_are_reported_as_they_are(void **state) {
    (void)state;
    ss_config config = staged_config(1, 1, false);
    config.head_width = config.width = 128;
    config.score_scale = 1 / sqrt(128.0);
    staged_pass *s = staged_pass_new(&config, 2, 1, 1);
    for (size_t t = 0; t < 2; t++)
        for (size_t e = 0; e < 128; e++) staged_query(s, 0, t)[e] = staged_key(s, 0, t)[e] = 256;
    staged_pass_attend(s);
    ss_result *result = staged_measure(s, "scale", 2);
    assert_near(staged_head_number(result, 0, "max_logit"), 741455.2, .05);
    assert_null(json_at(result->root, "layers.0.heads.0.max_logit_raw"));
    ss_result_free(result);
    staged_pass_free(s);
}

static double rms(const float *x, size_t width) {
    double sum = 0;
    for (size_t e = 0; e < width; e++) sum += (double)x[e] * x[e];
    return sqrt(sum / (double)width);
}

/* p_max of a row at unit scale, by plain loops. */
static double unit_p_max(const staged_pass *s, size_t h, size_t t) {
    const ss_config *c = &s->config;
    double scores[64], max = -INFINITY, total = 0;
    for (size_t j = s->first[t]; j < s->first[t] + s->support[t]; j++) {
        const float *q = staged_query(s, h, t), *k = staged_key(s, h / (c->heads / c->kv_heads), j);
        double dot = 0;
        for (size_t e = 0; e < c->head_width; e++) dot += (double)q[e] * k[e];
        scores[j] = c->score_scale * dot / (rms(q, c->head_width) * rms(k, c->head_width));
        if (c->soft_cap > 0) scores[j] = c->soft_cap * tanh(scores[j] / c->soft_cap);
        max = fmax(max, scores[j]);
    }
    for (size_t j = s->first[t]; j < s->first[t] + s->support[t]; j++) total += exp(scores[j] - max);
    return 1 / total;
}

static void saturated_rows_are_told_apart_at_unit_scale(void **state) {
    (void)state;
    ss_config config = staged_config(4, 2, true);
    config.head_width = 24; /* no multiple of every vector */
    config.score_scale = 1 / sqrt(24.0);
    config.window = 9;
    for (int capped = 0; capped < 2; capped++) {
        config.soft_cap = capped ? 30 : 0;
        staged_pass *s = staged_pass_new(&config, 60, 2, 9);
        for (size_t t = 0; t < 60; t++)
            for (size_t h = 0; h < 4; h++)
                for (size_t e = 0; e < 24; e++) {
                    if (h % 2 == 0 && t % 4 == 1) staged_key(s, h / 2, t)[e] *= 30; /* large keys ... */
                    staged_query(s, h, t)[e] *= 8; /* ... and queries saturate by scale, these mean it: */
                    if (t % 5 == 4) staged_query(s, h, t)[e] = 4 * staged_key(s, h / 2, t)[e];
                }
        staged_pass_attend(s);
        ss_result *result = staged_measure(s, "scale", 16);
        size_t all_driven = 0, all_genuine = 0;
        for (size_t h = 0; h < 4; h++) {
            size_t driven = 0, genuine = 0;
            for (size_t t = 1; t < 60; t++) {
                if (1 / s->total[h * 60 + t] < .99) continue;
                if (unit_p_max(s, h, t) <= .5)
                    driven++;
                else
                    genuine++;
            }
            assert_true(staged_head_number(result, h, "scale_driven") == (double)driven);
            assert_true(staged_head_number(result, h, "genuine") == (double)genuine);
            all_driven += driven;
            all_genuine += genuine;
        }
        assert_true(all_driven > 10 && all_genuine > 10);
        ss_result_free(result);
        staged_pass_free(s);
    }
}

static void dot_products_agree_with_loops_at_every_level(void **state) {
    (void)state;
    float x[140], rows[5 * 150], dots[5], squares[5];
    ref_fill(x, 140, 1, 3);
    ref_fill(rows, 5 * 150, 1, 4);
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t width = 0; width <= 140; width++) {
            ss_dots(isa, x, rows, 150, 5, width, dots);
            ss_squares(isa, rows, 150, 5, width, squares);
            for (size_t j = 0; j < 5; j++) {
                double want = 0, square = 0;
                for (size_t e = 0; e < width; e++) {
                    want += (double)x[e] * rows[j * 150 + e];
                    square += (double)rows[j * 150 + e] * rows[j * 150 + e];
                }
                assert_near(dots[j], want, 1e-5);
                assert_near(squares[j], square, 1e-4);
            }
        }
}

/* To the last bit: the count of rows must not depend on how a score is computed. */
static void unit_scores_are_those_of_one_product_at_every_level(void **state) {
    (void)state;
    enum { MOST = 40 };
    ss_config config = staged_config(1, 1, true);
    float dots[MOST], key_rms[MOST], scores[MOST];
    ref_fill(dots, MOST, 20, 5);
    ref_fill(key_rms, MOST, 1, 6);
    for (size_t j = 0; j < MOST; j++) key_rms[j] = fabsf(key_rms[j]);
    dots[3] = dots[30] = dots[38] = 0;
    key_rms[3] = key_rms[38] = 0; /* a key of zeros */
    for (int capped = 0; capped < 2; capped++)
        for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
            for (size_t count = 0; count <= MOST; count++) {
                config.soft_cap = capped ? 5 : 0;
                memcpy(scores, dots, sizeof scores);
                ss_unit_scores(isa, &config, 1.7, key_rms, count, scores);
                for (size_t j = 0; j < MOST; j++) {
                    double unit = dots[j] == 0 ? 0 : dots[j] / (1.7 * key_rms[j]);
                    assert_true(scores[j] == (j < count ? (float)ss_score_of(&config, unit) : dots[j]));
                }
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_score_is_told_before_and_after_the_soft_cap),
        cmocka_unit_test(scores_beyond_float16_are_reported_as_they_are),
        cmocka_unit_test(saturated_rows_are_told_apart_at_unit_scale),
        cmocka_unit_test(dot_products_agree_with_loops_at_every_level),
        cmocka_unit_test(unit_scores_are_those_of_one_product_at_every_level),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
