/* The measures of one row against plain references, at every instruction set level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/certificate.h"
#include "measure/check.h"
#include "measure/row.h"
#include "measure/row_simd.h"
#include "measure/theta.h"
#include "support/row_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 4096 };
static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 1000};
enum { SIZES = sizeof sizes / sizeof *sizes };

static float scores[MOST], weights[MOST];
static double p[MOST];
static void *workspace;

static int make_workspace(void **state) {
    (void)state;
    workspace = aligned_alloc(64, (ss_row_workspace(MOST) + 63) / 64 * 64);
    return workspace == NULL;
}
static int free_workspace(void **state) {
    (void)state;
    free(workspace);
    return 0;
}

/* A row of normal scores of deviation `spread`, softmax not yet divided; p gets the distribution. */
static ss_row make_row(ref_random *random, size_t n, double spread) {
    ss_row row = {.weights = weights, .scores = scores, .max = -INFINITY, .n = n};
    for (size_t i = 0; i < n; i++) scores[i] = (float)(spread * ref_normal(random));
    for (size_t i = 0; i < n; i++) row.max = fmaxf(row.max, scores[i]);
    for (size_t i = 0; i < n; i++) {
        weights[i] = (float)exp((double)scores[i] - row.max);
        row.total += weights[i];
    }
    for (size_t i = 0; i < n; i++) p[i] = weights[i] / row.total;
    return row;
}

#define assert_near(value, truth, relative)                                                                  \
    do {                                                                                                     \
        double near_value = (value), near_truth = (truth);                                                   \
        if (!(fabs(near_value - near_truth) <= (relative)*fabs(near_truth)))                                 \
            fail_msg("%s = %.17g, not %.17g", #value, near_value, near_truth);                               \
    } while (0)

static void check_row(ss_isa isa, const ss_row *row) {
    ss_row_measures m;
    ss_row_measure(isa, row, SS_ROW_ALL, SS_THETA_BUDGET, workspace, &m);
    size_t n = row->n, key = 0;
    for (size_t i = 0; i < n; i++) key = p[i] > p[key] ? i : key;
    assert_int_equal(m.p_max_key, key);
    assert_near(m.p_max, p[key], 1e-15);
    if (n == 1) {
        assert_true(m.entropy == 0 && isnan(m.entropy_norm) && m.theta == 0 && m.theta_exact &&
                    m.theta_cert == 0);
        assert_true(m.jac_2 == 0 && m.jac_inf == 0 && m.jac_frob == 0);
        return;
    }
    /* scores and weights differ by the rounding of float32 */
    assert_near(m.entropy, ref_entropy(p, n), 1e-6);
    assert_near(m.entropy_norm, m.entropy / log((double)n), 1e-15);
    ss_row unscored = *row;
    unscored.scores = NULL;
    ss_row_measures w = m;
    ss_row_measure(isa, &unscored, SS_ROW_ENTROPY, 0, workspace, &w);
    assert_near(w.entropy, ref_entropy(p, n), 1e-13);
    assert_true(w.theta == m.theta && w.jac_2 == m.jac_2); /* not asked for, not touched */

    double half[MOST];
    for (size_t i = 0; i < n; i++) half[i] = row->weights[i];
    if (m.p_max < 0.5)
        assert_near(m.theta_cert, ss_theta_from_gap(ref_gap_greedy(half, n), row->total), 1e-14);
    if (!m.theta_exact) print_error("n = %zu, cert %.17g, theta %.17g\n", n, m.theta_cert, m.theta);
    assert_true(m.theta_exact && m.theta_cert <= m.theta && m.theta_upper >= m.theta_lower);
    assert_true(m.jac_2 <= m.jac_inf * (1 + 1e-14) && m.jac_inf <= 0.5 * m.theta_upper * (1 + 1e-14));
    assert_near(m.jac_2, ref_norm_two(p, n),
                n > 64 ? 1e-10 : 1e-13); /* light atoms of long rows: by powers */
    if (n > 64) return;
    ref_norms norms = ref_jacobian_norms(p, n);
    assert_near(m.jac_2, norms.two, 1e-12); /* what Jacobi rotations reach */
    assert_near(m.jac_inf, norms.inf, 1e-13);
    assert_near(m.jac_frob, norms.frobenius, 1e-13);
}

static void measures_agree_with_references(void **state) {
    (void)state;
    static const double spreads[] = {0, 1e-4, 0.1, 1, 3, 10, 40};
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t s = 0; s < SIZES; s++)
            for (size_t k = 0; k < sizeof spreads / sizeof *spreads; k++)
                for (uint64_t seed = 0; seed < 3; seed++) {
                    ref_random random = {seed * 1000 + s * 10 + k};
                    ss_row row = make_row(&random, sizes[s], spreads[k]);
                    check_row(isa, &row);
                }
}

/* A row of these weights, and p. */
static ss_row row_of_weights(size_t n) {
    ss_row row = {.weights = weights, .n = n};
    for (size_t i = 0; i < n; i++) row.total += weights[i];
    for (size_t i = 0; i < n; i++) p[i] = weights[i] / row.total;
    return row;
}

/* Heavy atoms and a tail that weighs `share` of them together: do the atoms near the largest decide the
 * certificate, or not? Tail atoms lie on both sides of a sixteenth of the second largest, where near ends. */
static void long_rows_agree_with_the_secular_equation(void **state) {
    (void)state;
    static const size_t lengths[] = {65, 66, 79, 128, 500, 1001, MOST};
    static const double shares[] = {1e-6, 0.5, 0.999, 1, 1.001, 3, 1e3};
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
            for (size_t k = 0; k < sizeof shares / sizeof *shares; k++)
                for (size_t heavy = 2; heavy <= 12; heavy += 5) {
                    ref_random random = {100 * l + 10 * k + heavy};
                    const size_t n = lengths[l];
                    double unit = shares[k] * (double)heavy / (double)n;
                    for (size_t i = 0; i < n; i++) weights[i] = (float)(unit * 2 * ref_uniform(&random));
                    for (size_t i = 0; i < heavy; i++)
                        weights[ref_bits(&random) % n] = (float)(1 + ref_uniform(&random));
                    ss_row row = row_of_weights(n);
                    ss_row_measures m;
                    ss_row_measure(isa, &row, SS_ROW_ALL, SS_THETA_BUDGET, workspace, &m);
                    assert_near(m.jac_2, ref_norm_two(p, n), 1e-10);
                    double gap = ref_gap_greedy(p, n);
                    if (m.p_max < 0.5) assert_near(m.theta_cert, ss_theta_from_gap(gap, 1), 1e-13);
                    assert_true(m.theta_cert <= m.theta * (1 + 1e-15));
                    assert_true(m.jac_2 <= m.jac_inf * (1 + 1e-13));
                }
}

/* Nothing is written behind the workspace, whatever is asked for. */
static void the_workspace_is_as_large_as_it_says(void **state) {
    (void)state;
    enum { LONGEST = 300, CANARY = 0x5A, CANARIES = 64 };
    static const unsigned asked[] = {SS_ROW_ALL, SS_ROW_THETA, SS_ROW_CERT, SS_ROW_JACOBIANS};
    unsigned char *space = workspace;
    for (size_t n = 1; n <= LONGEST; n++) {
        const size_t bytes = ss_row_workspace(n);
        const ss_isa isa = (ss_isa)(n % ((size_t)ss_isa_best() + 1));
        for (size_t k = 0; k < sizeof asked / sizeof *asked; k++)
            for (size_t kind = 0; kind < 2; kind++) {
                ref_random random = {n};
                for (size_t i = 0; i < n; i++)
                    weights[i] =
                        (float)(kind ? exp(4 * ref_normal(&random)) : 1 + 1e-4 * ref_uniform(&random));
                ss_row row = row_of_weights(n);
                ss_row_measures m;
                memset(space + bytes, CANARY, CANARIES);
                ss_row_measure(isa, &row, asked[k], 1000, space, &m);
                for (size_t i = 0; i < CANARIES; i++) assert_int_equal(space[bytes + i], CANARY);
            }
    }
}

/* Two equal atoms and light others: 1 - p cancels nowhere. */
static void near_one_hot_rows_keep_their_digits(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (float gap = 5; gap < 80; gap += 7.5f) {
            ss_row row = {.weights = weights, .scores = scores, .n = 3};
            scores[0] = -gap, scores[1] = 0, scores[2] = -gap - 1;
            double q = 0;
            for (size_t i = 0; i < 3; i++) weights[i] = (float)exp((double)scores[i]);
            row.total = (double)weights[0] + weights[1] + weights[2];
            q = ((double)weights[0] + weights[2]) / row.total;
            for (size_t i = 0; i < 3; i++) p[i] = weights[i] / row.total;
            ss_row_measures m;
            ss_row_measure(isa, &row, SS_ROW_ALL, 0, workspace, &m);
            assert_near(m.theta, 4 * p[1] * q, 1e-15);
            assert_near(m.theta_cert, 4 * p[1] * q, 1e-15);
            assert_near(m.jac_inf, 2 * p[1] * q, 1e-15);
            ref_norms norms = ref_jacobian_norms(p, 3);
            assert_near(m.jac_2, norms.two, 1e-12);
            assert_near(m.jac_frob, norms.frobenius, 1e-13);
            double shift = (double)weights[0] * gap + (double)weights[2] * (gap + 1);
            assert_near(m.entropy, log1p((double)weights[0] + weights[2]) + shift / row.total, 1e-14);
        }
}

static void ties_name_the_first_key(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t first = 0; first < 40; first++) {
            for (size_t i = 0; i < 70; i++) weights[i] = 0.25f;
            for (size_t i = first; i < 70; i += 3) weights[i] = 1;
            assert_true(SS_PICK_LEVEL(isa, ss_row_top)(weights, 70) == 1);
            assert_int_equal(SS_PICK_LEVEL(isa, ss_row_find)(weights, 70, 1), first);
            assert_int_equal(SS_PICK_LEVEL(isa, ss_row_find)(weights, 70, 2), 70);
        }
}

/* CASES 3: zeros add nothing to entropy, whatever their score. */
static void zeros_are_no_entropy(void **state) {
    (void)state;
    const float halves[] = {.5f, .5f, 0, 0}, far[] = {1000, 999, 0};
    const float far_weights[] = {1, 0.36787944f, 0}, lost[] = {1000, 999, -INFINITY};
    ss_row_measures m;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
        ss_row row = {.weights = halves, .total = 1, .n = 4};
        ss_row_measure(isa, &row, SS_ROW_ALL, 0, workspace, &m);
        assert_near(m.entropy, .6931471806, 1e-10);
        row = (ss_row){
            .weights = far_weights, .total = 1.0 + far_weights[1], .scores = far, .max = 1000, .n = 3};
        ss_row_measure(isa, &row, SS_ROW_ALL, 0, workspace, &m);
        assert_near(m.entropy, .5822031, 1e-7);
        assert_near(m.theta, .7864477, 1e-7);
        row.scores = lost;
        ss_row_measure(isa, &row, SS_ROW_ENTROPY, 0, workspace, &m);
        assert_near(m.entropy, .5822031, 1e-7);
    }
}

/* CASES 11: a learned sink logit is one more atom. */
static void a_sink_logit_is_an_atom(void **state) {
    (void)state;
    const float logits[] = {1, 1, 2}, sunk[] = {0.36787944f, 0.36787944f, 1};
    ss_row row = {.weights = sunk, .total = 1 + 2 * (double)sunk[0], .scores = logits, .max = 2, .n = 3};
    ss_row_measures m;
    ss_row_measure(ss_isa_best(), &row, SS_ROW_ALL, 0, workspace, &m);
    assert_near(m.p_max, .576117, 1e-6);
    assert_near(m.theta, 4 * .576117 * .423883, 2e-6);
    assert_near(sunk[0] / row.total, .211942, 3e-6);
}

/* CASES 2, 4, 5: what is a distribution and what is not. */
static void rows_are_checked(void **state) {
    (void)state;
    static const struct {
        float row[4];
        size_t n;
        ss_row_state state;
        double error;
        size_t at;
    } rows[] = {
        {{0, 0, 0, 0}, 4, SS_ROW_MASKED, 1, 0},
        {{-.5f, .25f, .25f}, 3, SS_ROW_NEGATIVE, 1, 0},
        {{.625f, .375f, 0}, 3, SS_ROW_OK, 0, 0},
        {{.625f, .375f, .25f}, 3, SS_ROW_SUM, .25, 0},
        {{0, 0, .25f}, 3, SS_ROW_SUM, .75, 0},
        {{.5f, -.5f, NAN, 1}, 4, SS_ROW_NOT_FINITE, NAN, 2},
        {{.5f, -INFINITY, INFINITY, 1}, 4, SS_ROW_NOT_FINITE, NAN, 1},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ss_row_check_result r = ss_row_check(rows[k].row, rows[k].n, SS_ROW_FLOAT32);
        assert_int_equal(r.state, rows[k].state);
        assert_true(isnan(rows[k].error) ? isnan(r.sum_error) : fabs(r.sum_error - rows[k].error) < 1e-15);
        assert_int_equal(r.at, rows[k].at);
        double wide[4];
        for (size_t i = 0; i < rows[k].n; i++) wide[i] = rows[k].row[i];
        assert_int_equal(ss_row_check_double(wide, rows[k].n, SS_ROW_FLOAT64).state, rows[k].state);
        assert_true(strlen(ss_row_state_sentence(r.state)) > 10);
    }
    /* 1000 times the float16 0x1419, nearest to .001: sums to 1.0004 */
    for (size_t i = 0; i < 1000; i++) weights[i] = (1 + 25.0f / 1024) * 0x1p-10f;
    assert_int_equal(ss_row_check(weights, 1000, SS_ROW_FLOAT16).state, SS_ROW_OK);
    assert_int_equal(ss_row_check(weights, 1000, SS_ROW_FLOAT32).state, SS_ROW_SUM);
    assert_string_equal(ss_row_state_name(SS_ROW_SUM), "sum");
}

/* The kernels of the certificate, each alone, at sizes around the vector widths. */
static void weights_are_picked_in_order(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t s = 0; s < SIZES; s++) {
            size_t n = sizes[s], count = 0, count_above, larger = 0;
            ref_random random = {s};
            float picked[MOST + SS_ROW_PAD], expected[MOST];
            double above, sum = 0;
            for (size_t i = 0; i < n; i++) {
                weights[i] = (float)(ref_bits(&random) % 8);
                if (weights[i] > 2 && weights[i] <= 5) expected[count++] = weights[i];
                if (weights[i] > 5) sum += weights[i], larger++;
            }
            assert_int_equal(SS_PICK_LEVEL(isa, ss_row_pick)(weights, n, 2, 5, picked, &above, &count_above),
                             count);
            assert_memory_equal(picked, expected, count * sizeof *picked);
            assert_true(above == sum && count_above == larger);
        }
}

/* Kernels store whole vectors: the row and the workspace are as small as may be, for the sanitizer to see. */
static void a_row_needs_no_more_than_its_workspace(void **state) {
    (void)state;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t n = 1; n <= 200; n++)
            for (int spread = 0; spread < 3; spread++) {
                ref_random random = {n};
                ss_row row = make_row(&random, n, spread);
                float *alone = malloc(n * sizeof *alone);
                void *least = aligned_alloc(64, ss_row_workspace(n));
                ss_row_measures m, again;
                ss_row_measure(isa, &row, SS_ROW_ALL, SS_THETA_BUDGET, workspace, &m);
                row.weights = memcpy(alone, weights, n * sizeof *alone);
                ss_row_measure(isa, &row, SS_ROW_ALL, SS_THETA_BUDGET, least, &again);
                assert_true(m.theta == again.theta && m.theta_cert == again.theta_cert &&
                            m.jac_2 == again.jac_2);
                free(alone), free(least);
            }
}

/* Equal weights in the thousands, weights one rounding apart, a single heavy one. */
static void the_certificate_copes_with_ties(void **state) {
    (void)state;
    static float picked[2 * (MOST + SS_ROW_PAD)];
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t n = 2; n <= MOST; n = 2 * n + 1)
            for (int kind = 0; kind < 4; kind++) {
                double atoms[MOST], total = 0;
                float top = 0;
                for (size_t i = 0; i < n; i++) {
                    float step = (float)(i * 7 % 3);
                    weights[i] = kind == 0   ? 1
                                 : kind == 1 ? 1 + 0x1p-23f * step
                                 : kind == 2 ? step
                                             : 1 + step;
                    atoms[i] = weights[i], total += weights[i];
                    top = fmaxf(top, weights[i]);
                }
                double gap = ss_certify(isa, weights, n, total, total, top, picked).gap;
                assert_true(fabs(gap - ref_gap_greedy(atoms, n)) <= 1e-14 * total);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measures_agree_with_references),
        cmocka_unit_test(long_rows_agree_with_the_secular_equation),
        cmocka_unit_test(the_workspace_is_as_large_as_it_says),
        cmocka_unit_test(near_one_hot_rows_keep_their_digits),
        cmocka_unit_test(ties_name_the_first_key),
        cmocka_unit_test(zeros_are_no_entropy),
        cmocka_unit_test(a_sink_logit_is_an_atom),
        cmocka_unit_test(rows_are_checked),
        cmocka_unit_test(weights_are_picked_in_order),
        cmocka_unit_test(a_row_needs_no_more_than_its_workspace),
        cmocka_unit_test(the_certificate_copes_with_ties),
    };
    return cmocka_run_group_tests(tests, make_workspace, free_workspace);
}
