/* Exact theta on one core: microseconds a row, beside our own softmax of the same row and the share of rows
 * proved.
 *
 *     bench_theta [ROWS.npy ...]    rows of a model, float32 [..., n], each row a distribution
 *
 * Every timing is the least of several passes over all rows of a kind, so that a busy machine disturbs
 * little; a check comes before it. Relies on: measure/row, math/softmax. */
#include "base/clock.h"
#include "base/file.h"
#include "math/isa.h"
#include "math/softmax.h"
#include "measure/row.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PASSES = 7, ROWS = 200 };

typedef struct rows {
    char name[64];
    size_t count, n;
    float *scores;  /* [count][n] logarithms of the weights */
    float *weights; /* [count][n] unnormalised, largest 1 */
    double *totals; /* [count] */
} rows;

/* ---- rows -------------------------------------------------------------------------------------------- */

static uint64_t state = 1;
static double uniform(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return ((double)((z ^ z >> 31) >> 11) + 0.5) * 0x1p-53;
}
static double normal(void) {
    double radius = sqrt(-2 * log(uniform()));
    return radius * cos(6.283185307179586 * uniform());
}

static double near_uniform(size_t i) {
    (void)i;
    return 0.05 * normal();
}
static double zipf(size_t i) {
    return -log((double)i + 1);
}
static double gaussian(size_t i) {
    (void)i;
    return 2 * normal();
}

static rows make(const char *name, size_t count, size_t n) {
    rows r = {.count = count, .n = n};
    snprintf(r.name, sizeof r.name, "%s", name);
    r.scores = malloc(count * n * sizeof *r.scores);
    r.weights = malloc(count * n * sizeof *r.weights);
    r.totals = malloc(count * sizeof *r.totals);
    if (r.scores && r.weights && r.totals) return r;
    fprintf(stderr, "out of memory\n");
    exit(4);
}

static void weigh(rows *r) {
    for (size_t k = 0; k < r->count; k++) {
        float *s = r->scores + k * r->n, *w = r->weights + k * r->n, top = -INFINITY;
        for (size_t i = 0; i < r->n; i++) top = s[i] > top ? s[i] : top;
        r->totals[k] = 0;
        for (size_t i = 0; i < r->n; i++) {
            s[i] -= top; /* the largest score is 0 */
            w[i] = expf(s[i]);
            r->totals[k] += w[i];
        }
    }
}

static rows invent(const char *name, double (*logit)(size_t), size_t n) {
    rows r = make(name, ROWS, n);
    for (size_t k = 0; k < r.count * n; k++) r.scores[k] = (float)logit(k % n);
    weigh(&r);
    return r;
}

/* A float32 NPY file in C order: the last extent is n. */
static rows load(const char *path) {
    ss_map map;
    ss_error error;
    if (ss_map_open(path, &map, &error) != SS_OK || map.size < 12 ||
        memcmp(map.data, "\x93NUMPY\x01", 7) != 0) {
        fprintf(stderr, "%s: not a version 1 NPY file\n", path);
        exit(3);
    }
    size_t header = (size_t)map.data[8] | (size_t)map.data[9] << 8, n = 0;
    char text[1024] = {0};
    memcpy(text, map.data + 10, header < sizeof text - 1 ? header : sizeof text - 1);
    char *end = strchr(text, ')');
    while (end && end > text && end[-1] != ' ' && end[-1] != '(') end--;
    if (end) n = strtoull(end, NULL, 10);
    if (!strstr(text, "<f4") || n < 2) {
        fprintf(stderr, "%s: want float32 rows\n", path);
        exit(3);
    }
    const char *slash = strrchr(path, '/');
    rows r = make(slash ? slash + 1 : path, (map.size - 10 - header) / 4 / n, n);
    memcpy(r.scores, map.data + 10 + header, r.count * n * 4);
    for (size_t k = 0; k < r.count * n; k++) r.scores[k] = fmaxf(logf(r.scores[k]), -150);
    weigh(&r);
    ss_map_close(&map);
    return r;
}

static void drop(rows *r) {
    free(r->scores), free(r->weights), free(r->totals);
}

/* ---- what is timed ----------------------------------------------------------------------------------- */

static void *workspace;
static float *soft;
static double sink; /* keeps results alive */

static double softmax_pass(const rows *r, ss_isa isa) {
    float max;
    double start = ss_seconds();
    for (size_t k = 0; k < r->count; k++) sink += ss_softmax_row(isa, r->scores + k * r->n, r->n, soft, &max);
    return ss_seconds() - start;
}

static double measure_pass(const rows *r, ss_isa isa, unsigned which, size_t *exact) {
    ss_row_measures m = {0};
    *exact = 0;
    double start = ss_seconds();
    for (size_t k = 0; k < r->count; k++) {
        ss_row row = {.weights = r->weights + k * r->n,
                      .total = r->totals[k],
                      .scores = r->scores + k * r->n,
                      .n = r->n};
        ss_row_measure(isa, &row, which, SS_THETA_BUDGET, workspace, &m);
        *exact += m.theta_exact;
        sink += m.theta;
    }
    return ss_seconds() - start;
}

static double least_measure(const rows *r, ss_isa isa, unsigned which, size_t *exact) {
    double least = INFINITY;
    for (int pass = 0; pass < PASSES; pass++) least = fmin(least, measure_pass(r, isa, which, exact));
    return least / (double)r->count * 1e6;
}

static void report(const rows *r) {
    workspace = aligned_alloc(64, (ss_row_workspace(r->n) + 63) / 64 * 64);
    soft = malloc(r->n * sizeof *soft);
    for (ss_isa isa = ss_isa_best(); isa > SS_ISA_BASE; isa--) {
        double base = INFINITY;
        for (int pass = 0; pass < PASSES; pass++) base = fmin(base, softmax_pass(r, isa));
        base = base / (double)r->count * 1e6;
        size_t exact, unused;
        double theta = least_measure(r, isa, SS_ROW_THETA, &exact),
               all = least_measure(r, isa, SS_ROW_ALL, &unused);
        double cert = least_measure(r, isa, SS_ROW_CERT, &unused);
        printf("%-16s %6zu %-7s %9.2f %9.2f %7.1f %9.2f %9.2f %9.2f%%\n", r->name, r->n, ss_isa_name(isa),
               base, theta, theta / base, cert, all, 100.0 * (double)exact / (double)r->count);
    }
    free(workspace), free(soft);
}

int main(int count, char **paths) {
    static const struct {
        const char *name;
        double (*logit)(size_t);
    } kinds[] = {{"near-uniform", near_uniform}, {"zipf", zipf}, {"gaussian logits", gaussian}};
    static const size_t sizes[] = {64, 1024, 8192};
    printf("microseconds a row on one core, least of %d passes\n", PASSES);
    printf("%-16s %6s %-7s %9s %9s %7s %9s %9s %10s\n", "rows", "n", "level", "softmax", "theta", "ratio",
           "cert", "all", "proved");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            rows r = invent(kinds[k].name, kinds[k].logit, sizes[s] - (k == 0 && s % 2));
            report(&r);
            drop(&r);
        }
    for (int k = 1; k < count; k++) {
        rows r = load(paths[k]);
        report(&r);
        drop(&r);
    }
    return sink == 0.12345;
}
