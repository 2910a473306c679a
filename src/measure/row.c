/* One row, measured: measure/row.h. Few passes: the largest weight, the sums over the others, then theta, the
 * certificate and the spectral norm only as far as the row needs them.
 * Relies on: measure/row_simd, measure/theta, measure/certificate. */
#include "measure/row.h"

#include "base/mem.h"
#include "measure/certificate.h"
#include "measure/row_simd.h"
#include "measure/theta.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* What the passes found. Near one-hot rows keep their digits because the largest weight stays out of the
 * sums. */
typedef struct summed {
    double total;
    float top; /* the largest weight ... */
    size_t key;
    ss_row_sums rest;  /* ... and sums over the others; rest.largest is the second largest */
    double p, q;       /* top / total and rest.sum / total = 1 - p */
    const float *near; /* [near_count] the heaviest weights, once the norms have asked for them */
    size_t near_count;
    double near_sum;
} summed;

/* The workspace: what theta and the certificate need, then the row once more, as doubles or its near weights.
 */
static size_t copy_place(size_t n) {
    return ss_theta_solve_workspace(n);
}

size_t ss_row_workspace(size_t n) {
    return copy_place(n) + ss_whole_lines((n + 1) * sizeof(double) + SS_ROW_PAD * sizeof(float));
}

/* Sums over all weights but the one at s->key. */
static void sum_others(ss_isa isa, const ss_row *row, summed *s) {
    s->top = row->weights[s->key];
    SS_PICK_LEVEL(isa, ss_row_add)(row->weights, row->scores, row->max, row->n, s->key, &s->rest);
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

/* Newton's method on 1 / value - (top - x) / top, where value and slope are sums of w / (x - w) and of
 * w / (x - w)^2 over all atoms but the largest. That function is concave and increasing right of the second
 * largest weight, so from the left of its root the steps rise to it and never pass it. */
static double root_between(ss_isa isa, const ss_row_spectrum *others, double second, double top, double x) {
    /* a step is as the square of the one before: after one this small the next changes nothing */
    const double settled = 1e-8;
    for (int round = 0; round < 60; round++) {
        if (!(x > second)) x = second + 1e-15 * second;
        if (!(x < top)) return top;
        double value, slope;
        SS_PICK_LEVEL(isa, ss_row_poles)(others, x, &value, &slope);
        double square = value * value, room = fmin(x - second, top - x);
        double step = (square * (top - x) - value * top) / (slope * top + square);
        x += step;
        if (fabs(step) <= settled * room || fabs(step) <= 1e-15 * x) break;
    }
    return fmin(fmax(x, second), top);
}

/* The largest power of two up to x > 0: a unit that rounds nothing. 0 where it or its reciprocal is no normal
 * number; fourth powers of weights that small are nothing. */
static float power_of_two(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= 0x7f800000u; /* the exponent alone */
    memcpy(&x, &bits, sizeof x);
    return x >= FLT_MIN && x <= 1 / FLT_MIN ? x : 0;
}

enum {
    ALL_NEAR = 64,  /* rows up to this long have no others */
    NEAR_SHARE = 16 /* near: above the second largest / 16 */
};

/* All atoms but the largest, which is left at the end of near[]. */
static ss_row_spectrum spectrum_of(ss_isa isa, const ss_row *row, summed *s, float *near) {
    const float second = s->rest.largest, unit = power_of_two(second);
    ss_row_spectrum made = {.near = near, .unit = unit > 0 ? (double)unit : 1};
    made.count =
        SS_PICK_LEVEL(isa, ss_row_split)(row->weights, row->n, row->n <= ALL_NEAR ? 0 : second / NEAR_SHARE,
                                         unit > 0 ? 1 / unit : 0, near, made.powers + 3);
    made.count--;
    near[SS_PICK_LEVEL(isa, ss_row_find)(near, made.count, s->top)] = near[made.count];
    near[made.count] = s->top;
    if (row->n <= ALL_NEAR) return made;
    ss_row_sums sums;
    SS_PICK_LEVEL(isa, ss_row_add)(near, NULL, 0, made.count, made.count, &sums);
    s->near = near, s->near_count = made.count + 1, s->near_sum = s->top + sums.sum;
    const double scale = 1 / made.unit;
    made.powers[0] = fmax(s->rest.sum - sums.sum, 0) * scale;
    made.powers[1] = fmax(s->rest.square - sums.square, 0) * scale * scale;
    made.powers[2] = fmax(s->rest.cube - sums.cube, 0) * scale * scale * scale;
    if (made.powers[5] > 0) { /* from the eighth on they go on as they did */
        double ratio = made.powers[6] / made.powers[5];
        made.powers[7] = made.powers[6] * ratio / (1 - ratio * made.unit / second);
    }
    for (size_t k = 0; k < SS_ROW_POWERS; k++) made.slopes[k] = (double)(k + 1) * made.powers[k];
    return made;
}

/* Largest eigenvalue of diag(w) - w w^T / total, times total: the root of sum w / (w - x) = 0 between the
 * second largest and the largest weight. */
static double spectral(ss_isa isa, const ss_row *row, summed *s, float *near) {
    double top = s->top, second = s->rest.largest;
    if (!(second > 0) || second == top) return second;
    ss_row_spectrum others = spectrum_of(isa, row, s, near);
    return root_between(isa, &others, second, top, 2 * top * second / (top + second));
}

/* ---- theta and its certificate --------------------------------------------------------------------- */

enum { QUICK_FROM = 80 /* shorter rows are sorted sooner than passed over */ };

/* Heavy atoms that weigh half together decide it: it takes atoms from the largest down. */
static ss_certificate certify(ss_isa isa, const ss_row *row, const summed *s, void *workspace) {
    if (s->near_sum > 0.5 * s->total * (1 + 1e-9))
        return ss_certify(isa, s->near, s->near_count, s->near_sum, s->total, s->top, workspace);
    return ss_certify(isa, row->weights, row->n, s->total, s->total, s->top, workspace);
}

/* Best subset of a row without an atom of half its mass. `known` is its certificate, or NULL. */
static ss_theta_gap theta_gap(ss_isa isa, const ss_row *row, const summed *s, const ss_certificate *known,
                              uint64_t budget, void *workspace) {
    size_t n = row->n;
    ss_theta_gap gap = {.distance = 0, .proved = true};
    /* nearly equal atoms, an odd count: the certificate may be a proof */
    if (n % 2 && s->p * (double)n < 4) {
        ss_certificate certificate = known ? *known : certify(isa, row, s, workspace);
        gap.distance = certificate.gap;
        if (n == 2 * certificate.under + 1) return gap;
    }
    gap.distance =
        n < QUICK_FROM ? (double)INFINITY : ss_theta_quick(isa, row->weights, n, s->total, s->top, workspace);
    if (gap.distance < (double)INFINITY) return gap;
    double *atoms = (double *)((char *)workspace + copy_place(n));
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

static void measure_jacobians(ss_isa isa, const ss_row *row, summed *s, void *workspace,
                              ss_row_measures *out) {
    double p = s->p, q = s->q, scale = 1 / s->total;
    double square = s->rest.square * scale * scale, cube = s->rest.cube * scale * scale * scale;
    /* p (1 - p) grows up to 1/2, and no other atom is above 1 - p: the largest gives the largest row sum */
    out->jac_inf = 2 * p * q;
    out->jac_frob = sqrt(p * p * (q * q + square) + square * (1 + p * p + square) - 2 * cube);
    out->jac_2 = spectral(isa, row, s, (float *)((char *)workspace + copy_place(row->n))) * scale;
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
