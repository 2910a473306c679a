/* One row, measured: measure/row.h. Few passes: the largest weight, the sums over the others, then theta, the
 * certificate and the spectral norm only as far as the row needs them.
 * Relies on: measure/row_simd, measure/theta, measure/certificate. */
#include "measure/row.h"

#include "base/mem.h"
#include "measure/certificate.h"
#include "measure/row_simd.h"
#include "measure/theta.h"

#include <math.h>

/* What the passes found. Near one-hot rows keep their digits because the largest weight stays out of the
 * sums. */
typedef struct summed {
    double total;
    float top; /* the largest weight ... */
    size_t key;
    ss_row_sums rest; /* ... and sums over the others; rest.largest is the second largest */
    double p, q;      /* top / total and rest.sum / total = 1 - p */
} summed;

size_t ss_row_workspace(size_t n) {
    return ss_theta_solve_workspace(n) + ss_whole_lines((n + 1) * sizeof(double));
}

/* Sums over all weights but the one at s->key. */
static void sum_others(ss_isa isa, const ss_row *row, summed *s) {
    const float *scores = row->scores, *after = scores ? scores + s->key + 1 : NULL;
    s->top = row->weights[s->key];
    s->rest = (ss_row_sums){0};
    SS_PICK_LEVEL(isa, ss_row_add)(row->weights, scores, row->max, s->key, &s->rest);
    SS_PICK_LEVEL(isa, ss_row_add)(row->weights + s->key + 1, after, row->max, row->n - s->key - 1, &s->rest);
}

static summed sum_row(ss_isa isa, const ss_row *row) {
    summed s = {.total = row->total};
    /* where scores are known the largest weight is exp(0): mostly found sooner than the whole row is read */
    s.key = row->scores ? SS_PICK_LEVEL(isa, ss_row_find)(row->weights, row->n, 1) : row->n;
    if (s.key < row->n) sum_others(isa, row, &s);
    if (s.key == row->n || s.rest.largest > s.top) {
        float top = SS_PICK_LEVEL(isa, ss_row_top)(row->weights, row->n);
        s.key = SS_PICK_LEVEL(isa, ss_row_find)(row->weights, row->n, top);
        if (s.key == row->n) s.key = 0; /* no number at all: what follows is NaN */
        sum_others(isa, row, &s);
    }
    s.p = s.top / s.total;
    s.q = s.rest.sum / s.total;
    return s;
}

/* ---- entropy --------------------------------------------------------------------------------------- */

/* log Z - sum p (score - max), with the largest weight's part kept apart: it is log1p of what the others
 * weigh */
static double entropy_of_scores(const ss_row *row, const summed *s) {
    double top_score = (double)row->scores[s->key] - row->max;
    double log_total = log1p((s->top - 1.0) + s->rest.sum);
    return log_total - (s->top * top_score + s->rest.score) / s->total;
}

/* -sum p log p; log p of the largest is log1p(-q) */
static double entropy_of_weights(const ss_row *row, const summed *s) {
    double sum = s->p * log1p(-s->q);
    for (size_t i = 0; i < row->n; i++) {
        double p = row->weights[i] / s->total;
        if (i != s->key && p > 0) sum += p * log(p);
    }
    return -sum;
}

static double entropy(const ss_row *row, const summed *s) {
    double value = row->scores ? entropy_of_scores(row, s) : entropy_of_weights(row, s);
    return value > 0 ? value : 0;
}

/* ---- the norms of diag(p) - p p^T ------------------------------------------------------------------ */

/* sum over atoms of w / (x - w), and of w / (x - w)^2 */
typedef struct poles {
    double value, slope;
} poles;

/* over all atoms but the largest */
static poles poles_of_row(ss_isa isa, const ss_row *row, size_t key, double x) {
    poles p = {0, 0};
    SS_PICK_LEVEL(isa, ss_row_poles)(row->weights, key, x, &p.value, &p.slope);
    SS_PICK_LEVEL(isa, ss_row_poles)(row->weights + key + 1, row->n - key - 1, x, &p.value, &p.slope);
    return p;
}

/* What stands for the row right of its second largest weight: the atoms near it, and the tail as two poles, 0
 * and `mean`, that have the tail's sums of w, w^2 and w^3 (a Gauss-Radau rule). What that misses of the whole
 * row was measured at `at`, and `off` is added on that account. */
typedef struct few_poles {
    ss_isa isa;
    const float *near; /* [count] */
    size_t count;
    double at_zero, at_mean, mean;
    poles off;
    double at;
} few_poles;

static poles poles_of_few(const few_poles *f, double x) {
    double a = 1 / x, b = 1 / (x - f->mean);
    poles p = {f->at_zero * a + f->at_mean * b + f->off.value - f->off.slope * (x - f->at),
               f->at_zero * a * a + f->at_mean * b * b + f->off.slope};
    SS_PICK_LEVEL(f->isa, ss_row_poles)(f->near, f->count, x, &p.value, &p.slope);
    return p;
}

/* A step of Newton's method on 1 / value - (top - x) / top. That function is concave and increasing right of
 * the second largest weight, so from the left of its root the steps rise to it and never pass it. */
static double newton_step(double top, double x, poles p) {
    double square = p.value * p.value;
    return (square * (top - x) - p.value * top) / (p.slope * top + square);
}

/* The root for the few poles, from x on, by steps until one is within `close` of the room it has. */
static double root_of_few(const few_poles *f, double second, double top, double x, double close) {
    for (int round = 0; round < 60; round++) {
        if (!(x > second)) x = second + 1e-15 * second;
        if (!(x < top)) return top;
        double step = newton_step(top, x, poles_of_few(f, x)), room = fmin(x - second, top - x);
        x += step;
        if (fabs(step) <= close * room || fabs(step) <= 1e-15 * x) break;
    }
    return fmin(fmax(x, second), top);
}

enum { NEAR = 64 /* atoms that stand for themselves */ };
/* A step of Newton's method is as the square of the one before: after these, the next changes nothing, or
 * less than the pass over the row will. */
static const double SETTLED = 1e-8, NEARLY = 0.05;

/* Atoms above second / 16, or all of a short row, into near[]. Where they are too many only the second
 * largest is left. */
static few_poles gather(ss_isa isa, const ss_row *row, const summed *s, float *near) {
    float second = s->rest.largest, low = row->n <= NEAR ? 0 : second / 16;
    double above;
    size_t count_above;
    few_poles f = {.isa = isa, .near = near};
    f.count =
        SS_PICK_LEVEL(isa, ss_row_pick)(row->weights, row->n, low, INFINITY, near, &above, &count_above);
    if (f.count <= NEAR)
        near[SS_PICK_LEVEL(isa, ss_row_find)(near, f.count, s->top)] = near[f.count - 1], f.count--;
    else
        near[0] = second, f.count = 1;
    if (f.count > 1 && low == 0) return f;
    ss_row_sums sums = {0};
    SS_PICK_LEVEL(isa, ss_row_add)(near, NULL, 0, f.count, &sums);
    double sum = fmax(s->rest.sum - sums.sum, 0), square = fmax(s->rest.square - sums.square, 0);
    double cube = s->rest.cube - sums.cube;
    f.mean = cube > 0 ? fmin(cube / square, second) : 0;
    f.at_mean = f.mean > 0 ? fmin(square / f.mean, sum) : 0;
    f.at_zero = sum - f.at_mean;
    return f;
}

/* Largest eigenvalue of diag(w) - w w^T / total, times total: the root of sum w / (w - x) = 0 between the
 * second largest and the largest weight. A few poles give it nearly; a pass over the row at that place says
 * what they miss, which hardly varies around it. */
static double spectral(ss_isa isa, const ss_row *row, const summed *s, float *near) {
    double top = s->top, second = s->rest.largest;
    if (!(second > 0) || second == top) return second;
    few_poles few = gather(isa, row, s, near);
    bool whole = few.at_zero + few.at_mean == 0;
    double x = 2 * top * second / (top + second);
    x = root_of_few(&few, second, top, x, whole ? SETTLED : NEARLY);
    for (int round = 0; round < 60 && !whole && x > second && x < top; round++) {
        few.off = (poles){0, 0};
        poles all = poles_of_row(isa, row, s->key, x), known = poles_of_few(&few, x);
        few.off = (poles){all.value - known.value, all.slope - known.slope}, few.at = x;
        double next = x + newton_step(top, x, all);
        next = root_of_few(&few, second, top, next, SETTLED);
        double step = next - x;
        /* powers up to w^3 are right, so what is missed falls at least as x^-4, and its slope as x^-5 */
        double bent = 4 * fabs(few.off.slope) * step * step / x;
        x = next;
        if (bent <= 1e-16 * x * all.slope || fabs(step) <= 1e-15 * x) break;
    }
    return x;
}

/* ---- theta and its certificate --------------------------------------------------------------------- */

enum { QUICK_FROM = 80 /* shorter rows are sorted sooner than passed over */ };

static ss_certificate certify(ss_isa isa, const ss_row *row, const summed *s, void *workspace) {
    return ss_certify(isa, row->weights, row->n, s->total, s->top, workspace);
}

/* Best subset of a row without an atom of half its mass. `known` is its certificate, or NULL. */
static ss_theta_gap theta_gap(ss_isa isa, const ss_row *row, const summed *s, const ss_certificate *known,
                              uint64_t budget, void *workspace) {
    size_t n = row->n;
    ss_theta_gap gap = {.distance = 0, .proved = true};
    if (n % 2 &&
        s->p * (double)n < 4) { /* nearly equal atoms, an odd count: the certificate may be a proof */
        ss_certificate certificate = known ? *known : certify(isa, row, s, workspace);
        gap.distance = certificate.gap;
        if (n == 2 * certificate.under + 1) return gap;
    }
    gap.distance =
        n < QUICK_FROM ? (double)INFINITY : ss_theta_quick(isa, row->weights, n, s->total, s->top, workspace);
    if (gap.distance < (double)INFINITY) return gap;
    double *atoms = (double *)((char *)workspace + ss_theta_solve_workspace(n));
    for (size_t i = 0; i < n; i++) atoms[i] = row->weights[i];
    ss_theta_solve(isa, atoms, n, budget, NULL, workspace, &gap);
    return gap;
}

static void measure_theta(ss_isa isa, const ss_row *row, const summed *s, const ss_certificate *known,
                          uint64_t budget, void *workspace, ss_row_measures *out) {
    if (s->p >= 0.5) {
        /* the largest atom against all others is the best cut; both sides are sums of their own */
        out->theta = out->theta_lower = out->theta_upper = 4 * s->p * s->q;
        out->theta_exact = true, out->theta_nodes = 0;
        return;
    }
    ss_theta_gap gap = theta_gap(isa, row, s, known, budget, workspace);
    /* a search that was cut short, or rounding, may leave the certificate ahead */
    double distance = known ? fmin(gap.distance, known->gap) : gap.distance;
    out->theta = out->theta_lower = ss_theta_from_gap(distance, s->total);
    out->theta_upper = ss_theta_upper(out->theta, gap.proved);
    out->theta_exact = out->theta_upper - out->theta_lower <= SS_THETA_TOLERANCE;
    out->theta_nodes = gap.nodes;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static void measure_single(unsigned which, ss_row_measures *out) {
    if (which & SS_ROW_ENTROPY) out->entropy = 0, out->entropy_norm = (double)NAN;
    if (which & SS_ROW_P_MAX) out->p_max = 1, out->p_max_key = 0;
    if (which & SS_ROW_THETA) {
        out->theta = out->theta_lower = out->theta_upper = 0;
        out->theta_exact = true, out->theta_nodes = 0;
    }
    if (which & SS_ROW_CERT) out->theta_cert = 0;
    if (which & SS_ROW_JACOBIANS) out->jac_2 = out->jac_inf = out->jac_frob = 0;
}

static void measure_jacobians(ss_isa isa, const ss_row *row, const summed *s, float *near,
                              ss_row_measures *out) {
    double p = s->p, q = s->q, scale = 1 / s->total;
    double square = s->rest.square * scale * scale, cube = s->rest.cube * scale * scale * scale;
    /* p (1 - p) grows up to 1/2, and no other atom is above 1 - p: the largest gives the largest row sum */
    out->jac_inf = 2 * p * q;
    out->jac_frob = sqrt(p * p * (q * q + square) + square * (1 + p * p + square) - 2 * cube);
    out->jac_2 = spectral(isa, row, s, near) * scale;
}

void ss_row_measure(ss_isa isa, const ss_row *row, unsigned which, uint64_t theta_budget, void *workspace,
                    ss_row_measures *out) {
    if (row->n <= 1) {
        measure_single(which, out);
        return;
    }
    summed s = sum_row(isa, row);
    if (which & SS_ROW_ENTROPY) {
        out->entropy = entropy(row, &s);
        out->entropy_norm = out->entropy / log((double)row->n);
    }
    if (which & SS_ROW_P_MAX) out->p_max = s.p, out->p_max_key = s.key;
    if (which & SS_ROW_JACOBIANS) measure_jacobians(isa, row, &s, workspace, out);
    ss_certificate certificate, *known = NULL;
    if (which & SS_ROW_CERT) {
        certificate = certify(isa, row, &s, workspace);
        known = &certificate;
        out->theta_cert = s.p >= 0.5 ? 4 * s.p * s.q : ss_theta_from_gap(certificate.gap, s.total);
    }
    if (which & SS_ROW_THETA) measure_theta(isa, row, &s, known, theta_budget, workspace, out);
}
