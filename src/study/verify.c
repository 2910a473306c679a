/* Both sides of Theorem 3.2 by enumeration, the exact solver against them, and the corollaries.
 *
 * Enumerating 2^16 choices one by one would cost 16 additions each; choices of the lower and of the upper
 * half of the keys are listed instead, and every pair of them is one addition. Complements are listed beside
 * the sums: near one-hot rows 1 - p(S) would lose the digits that the check is about.
 * Relies on: measure/theta through the public ss_theta_double. */
#include "study/verify.h"

#include "base/mem.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_KEYS = 16, HALF = MOST_KEYS / 2, CHOICES = 1 << HALF, VECTORS = 500, LONGEST = 1024 };

static const char THEOREM[] = "Theorem 3.2, both sides by enumeration",
                  SOLVER[] = "Exact theta of this program", COROLLARIES[] = "Corollaries, by exact theta";

/* ---- random rows -------------------------------------------------------------------------------- */

/* splitmix64: the same rows on every machine. */
static uint64_t next_bits(uint64_t *state) {
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static double uniform(uint64_t *state) { /* in (0, 1) */
    return ((double)(next_bits(state) >> 11) + 0.5) * 0x1p-53;
}

static double normal(uint64_t *state) { /* Box and Muller */
    const double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* p = softmax of normal logits */
static void random_row(uint64_t *state, double deviation, double *p, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += p[i] = exp(deviation * normal(state));
    for (size_t i = 0; i < n; i++) p[i] /= sum;
}

/* ---- the left side: ||J|| from l_inf to l_1 over all sign vectors ---------------------------------- */

/* products[c] = J x for the signs of choice c on keys begin .. begin + HALF - 1, and 0 elsewhere */
static void list_products(double jacobian[MOST_KEYS][MOST_KEYS], size_t begin, size_t end,
                          double products[CHOICES][MOST_KEYS]) {
    for (size_t c = 0; c < (size_t)1 << (end - begin); c++) {
        memset(products[c], 0, sizeof products[c]);
        for (size_t j = begin; j < end; j++)
            for (size_t i = 0; i < MOST_KEYS; i++)
                products[c][i] += c >> (j - begin) & 1 ? -jacobian[j][i] : jacobian[j][i];
    }
}

static void fill_jacobian(const double *p, size_t n, double jacobian[MOST_KEYS][MOST_KEYS]) {
    memset(jacobian, 0, sizeof(double[MOST_KEYS][MOST_KEYS]));
    for (size_t i = 0; i < n; i++) {
        double others = 0; /* 1 - p_i with its digits */
        for (size_t j = 0; j < n; j++) {
            if (j == i) continue;
            jacobian[i][j] = -p[i] * p[j];
            others += p[j];
        }
        jacobian[i][i] = p[i] * others;
    }
}

typedef struct halves {
    double low[CHOICES][MOST_KEYS], high[CHOICES][MOST_KEYS];
} halves;

static double norm_by_signs(const double *p, size_t n, halves *h) {
    double jacobian[MOST_KEYS][MOST_KEYS], largest = 0;
    fill_jacobian(p, n, jacobian);
    list_products(jacobian, 0, n / 2, h->low);
    list_products(jacobian, n / 2, n, h->high);
    for (size_t a = 0; a < (size_t)1 << n / 2; a++) {
        for (size_t b = 0; b < (size_t)1 << (n - n / 2); b++) {
            double norm = 0;
            for (size_t i = 0; i < MOST_KEYS; i++) norm += fabs(h->low[a][i] + h->high[b][i]);
            largest = fmax(largest, norm);
        }
    }
    return largest;
}

/* ---- the right side: theta over all subsets -------------------------------------------------------- */

/* inside[c] and outside[c]: what choice c takes of the keys begin..end-1, and what it leaves */
static void list_sums(const double *p, size_t begin, size_t end, double *inside, double *outside) {
    for (size_t c = 0; c < (size_t)1 << (end - begin); c++) {
        inside[c] = outside[c] = 0;
        for (size_t j = begin; j < end; j++) *(c >> (j - begin) & 1 ? &inside[c] : &outside[c]) += p[j];
    }
}

static double theta_by_subsets(const double *p, size_t n) {
    double in_low[CHOICES], out_low[CHOICES], in_high[CHOICES], out_high[CHOICES], largest = 0;
    list_sums(p, 0, n / 2, in_low, out_low);
    list_sums(p, n / 2, n, in_high, out_high);
    for (size_t a = 0; a < (size_t)1 << n / 2; a++)
        for (size_t b = 0; b < (size_t)1 << (n - n / 2); b++)
            largest = fmax(largest, (in_low[a] + in_high[b]) * (out_low[a] + out_high[b]));
    return 4 * largest;
}

/* ---- the table ------------------------------------------------------------------------------------- */

typedef struct verification {
    ss_verify_check *checks; /* [SS_VERIFY_MOST] */
    size_t count;
    void *workspace; /* of ss_theta, for LONGEST keys */
    halves *halves;
} verification;

static ss_verify_check *add(verification *v, const char *group, double limit, const char *claim) {
    ss_verify_check *check = &v->checks[v->count++];
    *check = (ss_verify_check){.group = group, .limit = limit};
    snprintf(check->claim, sizeof check->claim, "%s", claim);
    return check;
}

static void tried(ss_verify_check *check, double error) {
    check->rows++;
    if (!(error <= check->error)) check->error = error; /* a NaN stays */
}

/* Exact theta by the library; NaN where it refuses the row or does not prove it. */
static double exact_theta(const verification *v, const double *p, size_t n) {
    ss_theta_result result;
    const ss_status status = ss_theta_double(p, n, NULL, v->workspace, &result, NULL);
    return status == SS_OK && result.exact ? result.theta : (double)NAN;
}

/* The deviations take turns: from nearly uniform rows to nearly one-hot ones. */
static const double deviations[] = {0.5, 1, 2, 5};
enum { DEVIATIONS = sizeof deviations / sizeof *deviations };

static void theorem(verification *v, size_t n, ss_verify_check *sides, ss_verify_check *solver) {
    uint64_t state = n;
    double p[MOST_KEYS];
    for (size_t i = 0; i < VECTORS; i++) {
        random_row(&state, deviations[i % DEVIATIONS], p, n);
        const double left = norm_by_signs(p, n, v->halves), right = theta_by_subsets(p, n);
        tried(sides, fabs(left - right) / right);
        tried(solver, fabs(exact_theta(v, p, n) - right) / right);
    }
}

/* Uniform on the first k of n keys. */
static void uniform_row(double *p, size_t k, size_t n) {
    for (size_t i = 0; i < n; i++) p[i] = i < k ? 1 / (double)k : 0;
}

static void uniform_rows(verification *v) {
    ss_verify_check *even = add(v, COROLLARIES, 1e-15, "uniform, n even: theta = 1"),
                    *odd = add(v, COROLLARIES, 1e-15, "uniform, n odd: theta = 1 - 1/n^2"),
                    *part =
                        add(v, COROLLARIES, 1e-15, "uniform on k of n: theta = 1 - (1 - 2 floor(k/2)/k)^2"),
                    *one = add(v, COROLLARIES, 0, "one-hot: theta = 0");
    double p[LONGEST];
    for (size_t n = 2; n <= LONGEST; n = n < 65 ? n + 1 : n * 3 / 2) {
        const double size = (double)n;
        uniform_row(p, n, n);
        tried(n % 2 ? odd : even, fabs(exact_theta(v, p, n) - (n % 2 ? 1 - 1 / (size * size) : 1)));
        const size_t k = n / 3 + 1;
        const double off = (double)(k % 2) / (double)k; /* 1 - 2 floor(k/2)/k */
        uniform_row(p, k, n);
        tried(part, fabs(exact_theta(v, p, n) - (1 - off * off)));
        uniform_row(p, 1, n);
        tried(one, fabs(exact_theta(v, p, n)));
    }
}

static void random_rows(verification *v) {
    ss_verify_check *dominant = add(v, COROLLARIES, 1e-13, "p_max >= 1/2: theta = 4 p_max (1 - p_max)"),
                    *bound = add(v, COROLLARIES, 1e-15, "always: theta >= 1 - p_max^2");
    double p[LONGEST];
    uint64_t state = 1;
    for (size_t i = 0; i < VECTORS; i++) {
        const size_t n = 2 + next_bits(&state) % 255;
        random_row(&state, deviations[i % DEVIATIONS], p, n);
        size_t key = 0;
        double others = 0;
        for (size_t j = 1; j < n; j++)
            if (p[j] > p[key]) key = j;
        for (size_t j = 0; j < n; j++) others += j == key ? 0 : p[j];
        const double theta = exact_theta(v, p, n), predicted = 4 * p[key] * others;
        if (p[key] >= 0.5) tried(dominant, fabs(theta - predicted) / predicted);
        tried(bound, isnan(theta) ? theta : fmax(others * (1 + p[key]) - theta, 0));
    }
}

static void example(verification *v) {
    static const double p[] = {.4, .1, .4, .1};
    tried(add(v, COROLLARIES, 1e-15, "(.4, .1, .4, .1): theta = 1"), fabs(exact_theta(v, p, 4) - 1));
}

static void verify(verification *v) {
    static const struct {
        size_t keys;
        const char *sides, *solver;
    } sizes[] = {
        {8, "n = 8: 2^8 sign vectors = 2^8 subsets", "n = 8: against all subsets"},
        {16, "n = 16: 2^16 sign vectors = 2^16 subsets", "n = 16: against all subsets"},
    };
    ss_verify_check *sides[2], *solver[2];
    for (size_t i = 0; i < 2; i++) sides[i] = add(v, THEOREM, 1e-13, sizes[i].sides);
    for (size_t i = 0; i < 2; i++) solver[i] = add(v, SOLVER, 1e-13, sizes[i].solver);
    for (size_t i = 0; i < 2; i++) theorem(v, sizes[i].keys, sides[i], solver[i]);
    uniform_rows(v);
    random_rows(v);
    example(v);
}

ss_status ss_verify(ss_verify_check checks[SS_VERIFY_MOST], size_t *count, ss_error *error) {
    verification v = {.checks = checks};
    v.workspace = ss_alloc(NULL, ss_theta_workspace(LONGEST), 1);
    v.halves = ss_alloc(NULL, 1, sizeof *v.halves);
    const bool ready = v.workspace && v.halves;
    if (ready) verify(&v);
    ss_free(NULL, v.workspace);
    ss_free(NULL, v.halves);
    if (!ready) return ss_fail_memory(error, "verification");
    *count = v.count;
    return SS_OK;
}
