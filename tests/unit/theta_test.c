/* Exact theta: against all subsets, against facts that are known, at every instruction set level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "math/isa.h"
#include "measure/row.h"
#include "measure/theta.h"
#include "support/row_ref.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 9000 };
static void *workspace; /* for rows of MOST keys */

static int make_workspace(void **state) {
    (void)state;
    workspace = aligned_alloc(64, (ss_theta_workspace(MOST) + 63) / 64 * 64);
    return workspace == NULL;
}
static int free_workspace(void **state) {
    (void)state;
    free(workspace);
    return 0;
}

static double sum_of(const double *atoms, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += atoms[i];
    return sum;
}

/* ---- kinds of rows ---------------------------------------------------------------------------------- */

typedef double atom_maker(ref_random *random, size_t i, size_t n);
static double uniform_atom(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return ref_uniform(r);
}
static double gaussian_logits(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return exp(2 * ref_normal(r));
}
static double wide_logits(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return exp(6 * ref_normal(r));
}
static double near_uniform(ref_random *r, size_t i, size_t n) {
    (void)i;
    return 1 + 0.3 / (double)n * ref_normal(r);
}
static double nearly_equal(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return 1 + 1e-6 * ref_uniform(r);
}
static double zipf(ref_random *r, size_t i, size_t n) {
    (void)r, (void)n;
    return 1.0 / (double)(i + 1);
}
static double geometric(ref_random *r, size_t i, size_t n) {
    (void)n;
    return pow(0.55 + 0.4 * (double)(r->state % 7) / 7, (double)i);
}
static double few_values(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return (double)(1 + ref_bits(r) % 3);
}
static double small_integers(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return (double)(1 + ref_bits(r) % 1000);
}
static double powers_of_two(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return ldexp(1, -(int)(ref_bits(r) % 60));
}
static double heavy_no_tail(ref_random *r, size_t i, size_t n) {
    (void)n;
    return i < 5 ? 1 + ref_uniform(r) : 1e-12 * ref_uniform(r);
}
static double sink_and_uniform(ref_random *r, size_t i, size_t n) {
    return i == 0 ? 0.6 * (double)n : 1 + 1e-7 * ref_uniform(r);
}
static double subnormal(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return (double)(1 + ref_bits(r) % 100000) * 0x1p-149;
}
static double with_zeros(ref_random *r, size_t i, size_t n) {
    (void)i, (void)n;
    return ref_bits(r) % 3 ? ref_uniform(r) : 0;
}

static const struct kind {
    const char *name;
    atom_maker *atom;
} kinds[] = {{"uniform", uniform_atom},      {"gaussian logits", gaussian_logits},
             {"wide logits", wide_logits},   {"near uniform", near_uniform},
             {"nearly equal", nearly_equal}, {"zipf", zipf},
             {"geometric", geometric},       {"few values", few_values},
             {"integers", small_integers},   {"few heavy, no tail", heavy_no_tail},
             {"a sink", sink_and_uniform},   {"subnormal", subnormal},
             {"with zeros", with_zeros},     {"powers of two", powers_of_two}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void make_row(const struct kind *kind, ref_random *random, size_t n, double *atoms) {
    for (size_t i = 0; i < n; i++) atoms[i] = (float)kind->atom(random, i, n);
    if (sum_of(atoms, n) == 0) atoms[n - 1] = 1;
}

/* ---- against all subsets ---------------------------------------------------------------------------- */

/* What the solver says of a row, from the weights in float32 or in double. */
static ss_row_measures measure(ss_isa isa, const double *atoms, size_t n, bool quick) {
    ss_row_measures m = {0};
    double total = sum_of(atoms, n);
    if (quick) {
        static float weights[MOST];
        for (size_t i = 0; i < n; i++) weights[i] = (float)atoms[i];
        ss_row row = {.weights = weights, .total = total, .n = n};
        ss_row_measure(isa, &row, SS_ROW_THETA | SS_ROW_CERT, SS_THETA_BUDGET, workspace, &m);
        return m;
    }
    ss_theta_gap gap;
    ss_theta_solve(isa, atoms, n, SS_THETA_BUDGET, NULL, workspace, &gap);
    m.theta = m.theta_lower = ss_theta_from_gap(gap.distance, total);
    m.theta_upper = gap.proved ? m.theta : 1;
    m.theta_exact = gap.proved;
    m.theta_cert = ss_theta_from_gap(gap.greedy, total);
    return m;
}

/* The bracket holds the truth, and exact means equal. */
static bool honest(const ss_row_measures *m, double truth) {
    double slack = 1e-15;
    if (!(m->theta_lower <= truth + slack && m->theta_upper >= truth - slack)) return false;
    if (m->theta_exact && fabs(m->theta - truth) > slack) return false;
    return m->theta_cert <= m->theta + slack;
}

static double truth_of(const double *atoms, size_t n) {
    double gap = n <= 16 ? ref_gap_exhaustive(atoms, n) : ref_gap_two_lists(atoms, n);
    return ss_theta_from_gap(gap, sum_of(atoms, n));
}

static bool row_fails(ss_isa isa, const double *atoms, size_t n, bool quick) {
    if (sum_of(atoms, n) == 0) return false;
    ss_row_measures m = measure(isa, atoms, n, quick);
    double truth = n < 2 ? 0 : truth_of(atoms, n);
    if (n < 2) m.theta = m.theta_lower = 0, m.theta_upper = 0, m.theta_cert = 0;
    return !honest(&m, truth) || (n <= 24 && !m.theta_exact);
}

/* Leave out atoms as long as the row still fails; print what remains. */
static void shrink_and_print(ss_isa isa, double *atoms, size_t n, bool quick) {
    for (size_t i = 0; i < n;) {
        double without[MOST];
        memcpy(without, atoms, i * sizeof *atoms);
        memcpy(without + i, atoms + i + 1, (n - i - 1) * sizeof *atoms);
        if (n > 1 && row_fails(isa, without, n - 1, quick)) {
            memcpy(atoms, without, --n * sizeof *atoms);
            i = 0;
        } else {
            i++;
        }
    }
    ss_row_measures m = measure(isa, atoms, n, quick);
    print_error("level %s, %s: theta %.17g in [%.17g, %.17g], exact %d, cert %.17g; truth %.17g\n",
                ss_isa_name(isa), quick ? "float" : "double", m.theta, m.theta_lower, m.theta_upper,
                m.theta_exact, m.theta_cert, truth_of(atoms, n));
    for (size_t i = 0; i < n; i++) print_error(" %a", atoms[i]);
    print_error("\n");
}

static void compare(const struct kind *kind, size_t n, size_t rows, uint64_t seed) {
    ref_random random = {seed};
    double atoms[64];
    for (size_t row = 0; row < rows; row++) {
        make_row(kind, &random, n, atoms);
        for (int quick = 0; quick < 2; quick++) {
            ss_isa isa = (ss_isa)(row % ((size_t)ss_isa_best() + 1));
            if (!row_fails(isa, atoms, n, quick)) continue;
            print_error("%s, n = %zu, row %zu\n", kind->name, n, row);
            shrink_and_print(isa, atoms, n, quick);
            fail();
        }
    }
}

static void short_rows_agree_with_every_subset(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++)
        for (size_t n = 1; n <= 16; n++) compare(&kinds[k], n, n <= 10 ? 100 : n <= 13 ? 20 : 3, 17 * n + k);
}

static void middling_rows_agree_with_two_lists(void **state) {
    (void)state;
    for (size_t k = 0; k < KINDS; k++) {
        for (size_t n = 17; n <= 28; n++) compare(&kinds[k], n, 2, 1000 * n + k);
        for (size_t n = 31; n <= 33; n++) compare(&kinds[k], n, 1, 2000 * n + k);
    }
    compare(&kinds[1], 40, 1, 5);
    compare(&kinds[8], 40, 1, 6);
}

/* ---- facts ------------------------------------------------------------------------------------------ */

static double theta_of(const double *p, size_t n) {
    ss_theta_result r;
    assert_int_equal(ss_theta_double(p, n, NULL, workspace, &r, NULL), SS_OK);
    assert_true(r.exact);
    assert_true(r.theta >= 1 - r.p_max * r.p_max - 1e-15);
    return r.theta;
}

static void known_rows_have_known_theta(void **state) {
    (void)state;
    static const struct {
        double p[5];
        size_t n;
        double theta;
    } rows[] = {
        {{.4, .1, .4, .1}, 4, 1}, {{1, 0, 0}, 3, 0},        {{.5, .5}, 2, 1},
        {{.7, .2, .1}, 3, .84},   {{.5, .3, .2}, 3, 1},     {{.2, .2, .2, .2, .2}, 5, 1 - 1.0 / 25},
        {{.6, .3, .1}, 3, .96},   {{.45, .45, .1}, 3, .99}, {{1}, 1, 0},
        {{.5, .5, 0, 0}, 4, 1},   {{.4, .35, .25}, 3, .96}, {{.34, .33, .33}, 3, 1 - .32 * .32},
    };
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        assert_true(fabs(theta_of(rows[k].p, rows[k].n) - rows[k].theta) < 2e-15);
}

static void uniform_rows_follow_parity(void **state) {
    (void)state;
    static double p[MOST];
    static const size_t sizes[] = {2, 3, 5, 8, 15, 16, 17, 31, 64, 65, 127, 128, 129, 1000, 1001, 8191, 8192};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        size_t n = sizes[s];
        for (size_t k = 1; k <= n; k = 3 * k + 1) { /* uniform on k of n */
            for (size_t i = 0; i < n; i++) p[i] = i < k ? 1.0 / (double)k : 0;
            double off = 1 - 2 * (double)(k / 2) / (double)k;
            assert_true(fabs(theta_of(p, n) - (1 - off * off)) < 1e-13);
        }
    }
}

static void a_dominant_atom_keeps_its_digits(void **state) {
    (void)state;
    for (double rest = 1e-3; rest > 1e-300; rest *= 1e-9) {
        double p[3] = {1 - rest, 0.25 * rest, 0.75 * rest};
        ss_theta_result r;
        assert_int_equal(ss_theta_double(p, 3, NULL, workspace, &r, NULL), SS_OK);
        double sum = p[0] + p[1] + p[2], truth = 4 * (p[0] / sum) * (rest / sum);
        assert_true(fabs(r.theta - truth) <= 1e-15 * truth);
        assert_true(r.theta_cert == r.theta);
    }
}

/* Theorem 3.2: the norm by all sign vectors, theta by all subsets and by the solver. */
static void the_norm_is_theta(void **state) {
    (void)state;
    static const size_t sizes[] = {8, 16};
    for (size_t s = 0; s < 2; s++) {
        ref_random random = {s};
        size_t n = sizes[s], vectors = n == 8 ? 500 : 4; /* the full 500 run in softscope theta --verify */
        for (size_t v = 0; v < vectors; v++) {
            double p[16], total = 0;
            for (size_t i = 0; i < n; i++) total += p[i] = exp((v % 2 ? 5 : 1) * ref_normal(&random));
            for (size_t i = 0; i < n; i++) p[i] /= total;
            double norm = ref_norm_inf_1(p, n), theta = theta_of(p, n);
            assert_true(fabs(theta - norm) < 1e-13 * norm);
        }
    }
}

/* ---- long rows -------------------------------------------------------------------------------------- */

/* Heavy atoms that a light tail cannot balance: the quick way says what the search proves. */
static void few_heavy_atoms_decide_a_long_row(void **state) {
    (void)state;
    static double atoms[MOST];
    static float weights[MOST];
    ref_random random = {11};
    size_t decided = 0;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t row = 0; row < 100; row++) {
            size_t n = 80 + 13 * row, heavy = 3 + row % 10;
            for (size_t i = 0; i < n; i++)
                atoms[i] = (float)(i % 7 == 3 && i / 7 < heavy ? 1 + ref_uniform(&random)
                                                               : 0.1 / (double)n * ref_uniform(&random));
            double total = sum_of(atoms, n);
            float largest = 0;
            for (size_t i = 0; i < n; i++) weights[i] = (float)atoms[i], largest = fmaxf(largest, weights[i]);
            double quick = ss_theta_quick(isa, weights, n, total, largest, workspace);
            if (quick == 0 || quick == INFINITY) continue;
            decided++;
            ss_theta_gap gap;
            ss_theta_solve(isa, atoms, n, SS_THETA_BUDGET, NULL, workspace, &gap);
            assert_true(gap.proved && fabs(gap.distance - quick) <= 1e-14 * total);
        }
    assert_true(decided >= 100);
}

/* As many atoms above total / 64 as there can be. */
static void sixty_three_heavy_atoms_are_cut_at_every_level(void **state) {
    (void)state;
    static double atoms[MOST];
    for (size_t n = 63 + 64; n < 300; n += 7)
        for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
            for (size_t i = 0; i < n; i++)
                atoms[i] = (float)(i < 63 ? 1 + 1e-3 * (double)(i % 7) : 1e-4 * (double)(1 + i % 5));
            ss_row_measures quick = measure(isa, atoms, n, true), m = measure(isa, atoms, n, false);
            assert_true(quick.theta_lower <= m.theta_upper && m.theta_lower <= quick.theta_upper);
            assert_true(quick.theta > 0.999);
        }
}

/* Integers with an odd sum W: no subset is nearer to W/2 than 1/2, and among many atoms one is that near. */
static void odd_integers_are_never_halved(void **state) {
    (void)state;
    static double atoms[MOST];
    static float weights[MOST];
    ref_random random = {3};
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
        for (size_t n = 130; n < 1500; n += 117) {
            for (size_t i = 0; i < n; i++) atoms[i] = small_integers(&random, i, n);
            atoms[0] += fmod(sum_of(atoms, n), 2) == 0;
            double total = sum_of(atoms, n);
            for (size_t i = 0; i < n; i++) weights[i] = (float)atoms[i];
            assert_true(ss_theta_quick(isa, weights, n, total, 1000, workspace) == INFINITY);
            ss_row_measures m = measure(isa, atoms, n, true);
            assert_true(m.theta_exact);
            assert_true(fabs(m.theta - (1 - 1 / total / total)) < 1e-15);
        }
}

/* Near-uniform with an odd count: the middle window is missed, its nearest end is the median's half. */
static void near_uniform_odd_rows_are_proved_by_windows(void **state) {
    (void)state;
    static double atoms[MOST];
    ref_random random = {4};
    for (size_t n = 101; n < 3000; n += 606) {
        for (size_t i = 0; i < n; i++) atoms[i] = 1 + 1e-2 / (double)n * ref_uniform(&random);
        ss_row_measures m = measure(ss_isa_best(), atoms, n, false);
        assert_true(m.theta_exact && m.theta < 1 - 0.9 / (double)n / (double)n);
        assert_true(fabs(m.theta - m.theta_cert) < 1e-15);
    }
}

/* An odd row whose gaps cancel out, three heavy ones against all others, which is no cut of its atoms: they
 * and W / 2 differ by odd multiples of 1/256. */
static void gaps_that_cancel_out_do_not_halve_an_odd_row(void **state) {
    (void)state;
    enum { HALF = 67, N = 2 * HALF + 1 };
    double atoms[N];
    for (size_t i = 0; i < HALF; i++) atoms[i] = 1, atoms[i + HALF] = i < 3 ? 2 : 1 + 0x1p-6;
    atoms[N - 1] = 1.5 + 0x1p-7;
    for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
        ss_row_measures m = measure(isa, atoms, N, true);
        assert_true(m.theta <= ss_theta_from_gap(0x1p-8, sum_of(atoms, N)) + 1e-15);
    }
}

static void ordinary_long_rows_are_proved(void **state) {
    (void)state;
    static double atoms[MOST];
    ref_random random = {5};
    static const size_t sizes[] = {128, 200, 511, 1024, 8192};
    static const size_t ordinary[] = {0, 1, 2, 3, 5};
    for (size_t s = 0; s < 5; s++)
        for (size_t k = 0; k < 5; k++)
            for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
                make_row(&kinds[ordinary[k]], &random, sizes[s], atoms);
                for (int quick = 0; quick < 2; quick++) {
                    ss_row_measures m = measure(isa, atoms, sizes[s], quick);
                    if (!m.theta_exact) print_error("%s n = %zu\n", kinds[ordinary[k]].name, sizes[s]);
                    assert_true(m.theta_exact);
                }
            }
}

/* Every level decides alike; what is left is the order in which their lanes add up a row, one or two units in
 * the last place where theta is 4 p q. */
static void levels_agree(void **state) {
    (void)state;
    static double atoms[MOST];
    static const size_t sizes[] = {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 33, 63, 65, 128, 129, 250, 1000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < KINDS; k++) {
            ref_random random = {s * 100 + k};
            make_row(&kinds[k], &random, sizes[s], atoms);
            ss_row_measures base = measure(SS_ISA_BASE, atoms, sizes[s], true);
            for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
                ss_row_measures m = measure(isa, atoms, sizes[s], true);
                assert_true(fabs(m.theta - base.theta) <= 4e-16);
                assert_int_equal(m.theta_exact, base.theta_exact);
                assert_true(fabs(m.theta_cert - base.theta_cert) <= 4e-16);
            }
        }
}

/* ---- witness ---------------------------------------------------------------------------------------- */

static void the_witness_adds_up(void **state) {
    (void)state;
    static double atoms[MOST];
    static uint8_t subset[MOST];
    static const size_t sizes[] = {2, 3, 9, 16, 24, 26, 27, 40, 100, 129, 1000};
    ref_random random = {6};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < KINDS; k++) {
            size_t n = sizes[s];
            make_row(&kinds[k], &random, n, atoms);
            double total = sum_of(atoms, n), sum = 0;
            ss_theta_gap gap;
            memset(subset, 7, n);
            ss_theta_solve(ss_isa_best(), atoms, n, SS_THETA_BUDGET, subset, workspace, &gap);
            for (size_t i = 0; i < n; i++) {
                assert_true(subset[i] <= 1);
                sum += subset[i] ? atoms[i] : 0;
            }
            assert_true(fabs(fabs(sum - total / 2) - gap.distance) <= 1e-13 * total);
            double theta = ss_theta_from_gap(fabs(sum - total / 2), total);
            assert_true(fabs(theta - ss_theta_from_gap(gap.distance, total)) <= 1e-15);
        }
}

/* ---- budget ----------------------------------------------------------------------------------------- */

static void a_budget_ends_hopeless_rows_with_a_bracket(void **state) {
    (void)state;
    double atoms[60];
    for (size_t i = 0; i < 60; i++) atoms[i] = pow(0.62, (double)i) * (1 + 0.01 * sin((double)(7 * i)));
    ss_theta_gap gap;
    ss_theta_solve(ss_isa_best(), atoms, 60, 1, NULL, workspace, &gap);
    assert_true(gap.nodes < 1000);
    assert_true(gap.proved || isfinite(gap.distance));
}

/* ---- the public call -------------------------------------------------------------------------------- */

static ss_status status_of(const float *row, size_t n, ss_error *error) {
    ss_theta_result untouched = {.theta = 42}, r = untouched;
    ss_status status = ss_theta(row, n, NULL, workspace, &r, error);
    if (status != SS_OK) assert_true(r.theta == 42);
    return status;
}

static void rows_that_are_no_distribution_are_refused(void **state) {
    (void)state;
    static const struct {
        float row[3];
        const char *part;
    } rows[] = {{{-.5f, .25f, .25f}, "negative"}, {{.625f, .375f, .25f}, "sum to 1.25"},
                {{0, 0, .25f}, "sum to 0.25"},    {{0, 0, 0}, "masked"},
                {{NAN, .5f, .5f}, "NaN"},         {{INFINITY, 0, 0}, "infinity"}};
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
        ss_error error = {0};
        assert_int_equal(status_of(rows[k].row, 3, &error), SS_E_VALUE);
        if (!strstr(error.message, rows[k].part)) fail_msg("%s lacks %s", error.message, rows[k].part);
    }
    assert_int_equal(status_of(rows[0].row, 0, NULL), SS_E_VALUE);
    assert_int_equal(status_of((const float[]){.625f, .375f, 0}, 3, NULL), SS_OK);
}

static void scores_are_weighed_at_their_temperature(void **state) {
    (void)state;
    ss_theta_result r;
    ss_theta_options o = {.scores = true};
    float scores[] = {1000, 999, 0};
    assert_int_equal(ss_theta(scores, 3, &o, workspace, &r, NULL), SS_OK);
    assert_true(fabs(r.theta - .7864477) < 1e-7);
    o.tau = 2;
    double doubled[] = {2000, 1998, -INFINITY};
    assert_int_equal(ss_theta_double(doubled, 3, &o, workspace, &r, NULL), SS_OK);
    assert_true(fabs(r.theta - .7864477) < 1e-7);
    o.tau = -1;
    assert_int_equal(ss_theta(scores, 3, &o, workspace, &r, NULL), SS_E_VALUE);
    o.tau = 1;
    assert_int_equal(ss_theta((const float[]){-INFINITY, -INFINITY}, 2, &o, workspace, &r, NULL), SS_E_VALUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_rows_agree_with_every_subset),
        cmocka_unit_test(middling_rows_agree_with_two_lists),
        cmocka_unit_test(known_rows_have_known_theta),
        cmocka_unit_test(uniform_rows_follow_parity),
        cmocka_unit_test(a_dominant_atom_keeps_its_digits),
        cmocka_unit_test(the_norm_is_theta),
        cmocka_unit_test(few_heavy_atoms_decide_a_long_row),
        cmocka_unit_test(sixty_three_heavy_atoms_are_cut_at_every_level),
        cmocka_unit_test(odd_integers_are_never_halved),
        cmocka_unit_test(near_uniform_odd_rows_are_proved_by_windows),
        cmocka_unit_test(gaps_that_cancel_out_do_not_halve_an_odd_row),
        cmocka_unit_test(ordinary_long_rows_are_proved),
        cmocka_unit_test(levels_agree),
        cmocka_unit_test(the_witness_adds_up),
        cmocka_unit_test(a_budget_ends_hopeless_rows_with_a_bracket),
        cmocka_unit_test(rows_that_are_no_distribution_are_refused),
        cmocka_unit_test(scores_are_weighed_at_their_temperature),
    };
    return cmocka_run_group_tests(tests, make_workspace, free_workspace);
}
