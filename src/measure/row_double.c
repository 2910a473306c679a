/* A row of doubles, measured: measure/row_double.h. The largest weight stays out of every sum, so that nearly
 * one-hot rows keep their digits. Relies on: measure/theta. */
#include "measure/row_double.h"

#include "measure/theta.h"

#include <math.h>

typedef struct summed {
    const double *weights; /* [n] */
    size_t n, key;         /* of the largest weight */
    double top, second;
    double sum, square, cube; /* over all weights but the largest */
    double total, p, q;       /* p = top / total, q = sum / total = 1 - p */
} summed;

size_t ss_row_double_workspace(size_t n) {
    return ss_theta_solve_workspace(n);
}

static summed sum_row(const double *weights, size_t n) {
    summed s = {.weights = weights, .n = n};
    for (size_t i = 1; i < n; i++)
        if (weights[i] > weights[s.key]) s.key = i;
    s.top = weights[s.key];
    for (size_t i = 0; i < n; i++) {
        if (i == s.key) continue;
        const double w = weights[i];
        s.sum += w, s.square += w * w, s.cube += w * w * w;
        if (w > s.second) s.second = w;
    }
    s.total = s.top + s.sum;
    s.p = s.top / s.total;
    s.q = s.sum / s.total;
    return s;
}

/* -sum p log p; log p of the largest is log1p(-q) */
static double entropy(const summed *s) {
    double sum = s->p * log1p(-s->q);
    for (size_t i = 0; i < s->n; i++) {
        const double p = s->weights[i] / s->total;
        if (i != s->key && p > 0) sum += p * log(p);
    }
    return sum < 0 ? -sum : 0;
}

/* One step of Newton's method on 1 / v - (top - x) / top, where v = sum of w / (x - w) over all weights but
 * the largest: concave and increasing, so steps from the left of its root never pass it. */
static double newton_step(const summed *s, double x) {
    double value = 0, slope = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (i == s->key) continue;
        const double part = s->weights[i] / (x - s->weights[i]);
        value += part, slope += part / (x - s->weights[i]);
    }
    return ((s->top - x) / s->top - 1 / value) / (slope / (value * value) + 1 / s->top);
}

/* Largest eigenvalue of diag(w) - w w^T / total: the root of sum w / (w - x) = 0 between the second largest
 * and the largest weight. The start is the root for those two alone, which the others can only raise. */
static double spectral(const summed *s) {
    enum { MOST_STEPS = 60 };
    if (!(s->second > 0) || s->second == s->top) return s->second;
    double x = 2 * s->second * (s->top / (s->top + s->second));
    for (int step = 0; step < MOST_STEPS && x > s->second && x < s->top; step++) {
        const double move = newton_step(s, x);
        x += move;
        if (fabs(move) <= 1e-16 * x) break;
    }
    return fmin(fmax(x, s->second), s->top);
}

static void measure_theta(ss_isa isa, const summed *s, uint64_t budget, void *workspace,
                          ss_row_measures *out) {
    out->theta_exact = true, out->theta_nodes = 0;
    if (s->p >= 0.5) { /* the largest weight against all others is the best cut, and the greedy one */
        out->theta = out->theta_lower = out->theta_upper = out->theta_cert = 4 * s->p * s->q;
        return;
    }
    ss_theta_gap gap;
    ss_theta_solve(isa, s->weights, s->n, budget, NULL, workspace, &gap);
    out->theta_cert = ss_theta_from_gap(gap.greedy, s->total);
    out->theta = out->theta_lower = fmax(ss_theta_from_gap(gap.distance, s->total), out->theta_cert);
    out->theta_upper = gap.proved ? out->theta : 1;
    out->theta_exact = out->theta_upper - out->theta_lower <= SS_THETA_TOLERANCE;
    out->theta_nodes = gap.nodes;
}

void ss_row_measure_double(ss_isa isa, const double *weights, size_t n, uint64_t theta_budget,
                           void *workspace, ss_row_measures *out) {
    if (n <= 1) {
        *out = (ss_row_measures){.entropy_norm = (double)NAN, .p_max = 1, .theta_exact = true};
        return;
    }
    const summed s = sum_row(weights, n);
    out->entropy = entropy(&s);
    out->entropy_norm = out->entropy / log((double)n);
    out->p_max = s.p, out->p_max_key = s.key;
    const double scale = 1 / s.total, square = s.square * scale * scale,
                 cube = s.cube * scale * scale * scale;
    out->jac_inf = 2 * s.p * s.q;
    out->jac_frob = sqrt(s.p * s.p * (s.q * s.q + square) + square * (1 + s.p * s.p + square) - 2 * cube);
    out->jac_2 = spectral(&s) * scale;
    measure_theta(isa, &s, theta_budget, workspace, out);
}
