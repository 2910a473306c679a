/* Summaries against a sort; the metric table; the measures of a head and of a hidden state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/isa.h"
#include "measure/massive.h"
#include "measure/metric.h"
#include "measure/sink.h"
#include "measure/summary.h"
#include "support/row_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- summaries -------------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* numpy.percentile(values, 100 level) */
static double quantile(const double *sorted, size_t count, double level) {
    double at = level * (double)(count - 1);
    size_t below = (size_t)floor(at), above = (size_t)ceil(at);
    return sorted[below] + (at - floor(at)) * (sorted[above] - sorted[below]);
}

static bool same(double a, double b) {
    return fabs(a - b) <= 1e-12 * (1 + fabs(b));
}

static void check_summary(const double *values, size_t count) {
    double *sorted = malloc((count + 1) * sizeof *sorted), sum = 0;
    double *spent = malloc((count + 1) * sizeof *spent);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        spent[i] = values[i];
        if (!isnan(values[i])) sum += sorted[kept++] = values[i];
    }
    qsort(sorted, kept, sizeof *sorted, ascending);
    const ss_summary s = ss_summarize(spent, count);
    assert_int_equal(s.count, kept);
    if (kept == 0) {
        assert_true(isnan(s.mean) && isnan(s.min) && isnan(s.median) && isnan(s.max));
    } else {
        assert_true(same(s.mean, sum / (double)kept) && s.min == sorted[0] && s.max == sorted[kept - 1]);
        assert_true(same(s.p5, quantile(sorted, kept, .05)) && same(s.p25, quantile(sorted, kept, .25)));
        assert_true(same(s.median, quantile(sorted, kept, .5)) && same(s.p75, quantile(sorted, kept, .75)));
        assert_true(same(s.p95, quantile(sorted, kept, .95)));
    }
    free(sorted), free(spent);
}

static void summaries_agree_with_a_sort(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 2, 3, 5, 7, 8, 21, 22, 31, 33, 63, 65, 100, 1000, 9216};
    static double values[9216];
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int kind = 0; kind < 6; kind++) {
            ref_random random = {s * 10 + (size_t)kind};
            for (size_t i = 0; i < sizes[s]; i++) {
                float normal = (float)ref_normal(&random), step = (float)(ref_bits(&random) % 4);
                double of_kind[] = {normal, (double)i, -(double)i, step, 7, i % 3 ? normal : NAN};
                values[i] = of_kind[kind];
            }
            check_summary(values, sizes[s]);
        }
    check_summary((const double[]){NAN, NAN}, 2);
}

/* ---- the metric table ------------------------------------------------------------------------------- */

static void every_metric_is_complete_and_unique(void **state) {
    (void)state;
    size_t count;
    const ss_metric *m = ss_metrics(&count);
    assert_true(count > 30);
    for (size_t k = 0; k < count; k++) {
        assert_ptr_equal(ss_metric_find(m[k].name), &m[k]);
        assert_true(*m[k].label && strlen(m[k].definition) > 10 && *m[k].source && !(m[k].min >= m[k].max));
        assert_true(strlen(ss_direction_name(m[k].direction)) >= 3 && strlen(ss_scope_name(m[k].scope)) >= 3);
    }
    assert_null(ss_metric_find("thetaa"));
}

/* ---- one head --------------------------------------------------------------------------------------- */

/* CASES 10: causal column 0 is 1, .5, .2, .1 */
static void the_sink_is_the_heaviest_key_of_those_who_see_it(void **state) {
    (void)state;
    const double sums[] = {.8, .9, .4, .9}, none[] = {0};
    const size_t rows[] = {3, 3, 0, 3}, nobody[] = {0};
    ss_sink top[3], sink = ss_sink_find(sums, rows, 4);
    assert_true(sink.found && sink.key == 1 && fabs(sink.weight - .3) < 1e-15);
    assert_int_equal(ss_sink_top(sums, rows, 4, top, 2), 2);
    assert_true(top[0].key == 1 && top[1].key == 3);
    assert_int_equal(ss_sink_top(sums, rows, 4, top, 3), 3);
    assert_true(top[2].key == 0 && fabs(top[2].weight - .266667) < 1e-6);
    assert_false(ss_sink_find(none, nobody, 1).found);
    assert_true(ss_sink_rate(.266667, SS_SINK_THRESHOLD) == 0 && ss_sink_rate(.45, SS_SINK_THRESHOLD) == 1);
    assert_true(isnan(ss_sink_rate(NAN, SS_SINK_THRESHOLD)));
}

/* ---- one hidden state ------------------------------------------------------------------------------- */

enum { TOKENS = 5, WIDTH = 37 };

static ss_compute at_level(ss_isa isa, int workers) {
    return (ss_compute){.workers = workers, .isa = isa};
}

/* CASES 18: all .1 but one entry */
static void a_massive_activation_is_named(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
        const ss_compute compute = at_level(isa, 2);
        float x[TOKENS * WIDTH];
        ss_massive found[2];
        for (size_t i = 0; i < TOKENS * WIDTH; i++) x[i] = .1f;
        x[3] = -150;
        ss_hidden h = ss_measure_hidden(&compute, x, TOKENS, WIDTH, found, 2);
        assert_true(h.finite && h.massive_count == 1 && h.max_token == 0 && h.max_dimension == 3 &&
                    h.max_abs == 150);
        assert_true(found[0].token == 0 && found[0].dimension == 3 && found[0].value == -150);
        assert_true(fabs(h.block_inf_rms - sqrt((22500 + 36 * .01) / WIDTH)) < 1e-6);
        x[3] = 90;
        assert_int_equal(ss_measure_hidden(&compute, x, TOKENS, WIDTH, found, 2).massive_count, 0);
        x[3] = 120, x[WIDTH + 1] = 200, x[4 * WIDTH + 36] = -170, x[2 * WIDTH] = 170;
        h = ss_measure_hidden(&compute, x, TOKENS, WIDTH, found, 2);
        assert_int_equal(h.massive_count, 4);
        assert_true(found[0].value == 200 && found[1].value == 170);
        for (size_t i = 0; i < TOKENS * WIDTH; i++)
            x[i] = fabsf(x[i]) < 100 ? 1 : x[i]; /* median 1: not 1000 times */
        assert_int_equal(ss_measure_hidden(&compute, x, TOKENS, WIDTH, found, 2).massive_count, 0);
    }
}

static void the_first_bad_entry_is_found(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t at = 0; at < TOKENS * WIDTH; at += 7) {
            const ss_compute compute = at_level(isa, 1 + (int)at % 3);
            float x[TOKENS * WIDTH] = {0};
            x[TOKENS * WIDTH - 1] = INFINITY;
            x[at] = at % 2 ? NAN : -INFINITY;
            ss_hidden h = ss_measure_hidden(&compute, x, TOKENS, WIDTH, NULL, 0);
            assert_true(!h.finite && h.bad_token == at / WIDTH && h.bad_dimension == at % WIDTH);
        }
}

static void the_median_is_exact(void **state) {
    (void)state;
    static float x[30000];
    static double sorted[30000];
    static const size_t sizes[] = {1, 2, 3, 16, 17, 255, 1024, 1025, 4096, 4097, 29999, 30000};
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (int kind = 0; kind < 6; kind++) {
                ref_random random = {s * 10 + (size_t)kind};
                size_t n = sizes[s];
                for (size_t i = 0; i < n; i++) {
                    double normal = ref_normal(&random), step = (double)(ref_bits(&random) % 3);
                    double of_kind[] = {normal,           step,          i < n / 2 ? 0 : normal, 0,
                                        exp(20 * normal), normal * 1e-40};
                    x[i] = (float)of_kind[kind];
                    sorted[i] = fabsf(x[i]);
                }
                qsort(sorted, n, sizeof *sorted, ascending);
                double median = n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
                const ss_compute one = at_level(isa, 1), three = at_level(isa, 3);
                const ss_hidden h = ss_measure_hidden(&one, x, 1, n, NULL, 0);
                assert_true(h.median_abs == median && fabsf(x[h.max_dimension]) == sorted[n - 1]);
                assert_true(ss_measure_hidden(&three, x, n, 1, NULL, 0).median_abs == median);
            }
    const ss_compute compute = at_level(SS_ISA_BASE, 1);
    assert_true(ss_measure_hidden(&compute, x, 0, 0, NULL, 0).median_abs == 0);
}

/* A state of as many tokens as there are parts and more, against loops; ties go to the first token. */
static void any_number_of_workers_measures_the_same_state(void **state) {
    (void)state;
    enum { MANY = 300, FEW = 21 };
    static float x[MANY * FEW];
    for (size_t i = 0; i < MANY * FEW; i++) x[i] = (float)(i * 7919 % 1000) * 1e-4f;
    const size_t large[] = {20 * FEW + 3, 140 * FEW, 140 * FEW + 20, 299 * FEW + 20};
    for (size_t i = 0; i < 4; i++) x[large[i]] = i == 1 || i == 3 ? -200.0f : 150.0f;
    for (int workers = 1; workers <= 7; workers += 2) {
        const ss_compute compute = at_level(SS_ISA_BASE, workers);
        ss_massive found[4];
        ss_hidden h = ss_measure_hidden(&compute, x, MANY, FEW, found, 4);
        assert_true(h.max_abs == 200 && h.max_token == 140 && h.max_dimension == 0 && h.massive_count == 4);
        const size_t want[] = {140, 299, 20, 140}; /* by size, then by position */
        for (size_t i = 0; i < 4; i++) assert_int_equal(found[i].token, want[i]);
        double square = 0;
        for (size_t d = 0; d < FEW; d++) square += (double)x[140 * FEW + d] * x[140 * FEW + d];
        assert_true(fabs(h.block_inf_rms - sqrt(square / FEW)) < 1e-6);
        assert_true(fabs(h.median_abs - .05) < 1e-4);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(summaries_agree_with_a_sort),
        cmocka_unit_test(every_metric_is_complete_and_unique),
        cmocka_unit_test(the_sink_is_the_heaviest_key_of_those_who_see_it),
        cmocka_unit_test(a_massive_activation_is_named),
        cmocka_unit_test(the_first_bad_entry_is_found),
        cmocka_unit_test(the_median_is_exact),
        cmocka_unit_test(any_number_of_workers_measures_the_same_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
