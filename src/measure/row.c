/* One row, measured: a plain implementation of measure/row.h. Relies on: the C library. */
#include "measure/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

size_t ss_row_workspace(size_t n) {
    return (n + 64) * 16 + 65536;
}

static int descending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

static double entropy_of(const ss_row *row) {
    double sum = 0;
    for (size_t i = 0; i < row->n; i++) {
        double w = row->weights[i], shift = row->scores ? (double)row->scores[i] - row->max
                                            : w > 0     ? log(w)
                                                        : 0;
        if (w > 0) sum += w * shift;
    }
    double entropy = log(row->total) - sum / row->total;
    return entropy > 0 ? entropy : 0;
}

/* root of w1/(w1 - x) = sum over the others of w/(x - w), by bisection in [w2, w1] */
static double spectral_norm(const double *sorted, size_t n, double total) {
    if (n < 2) return 0;
    double low = sorted[1], high = sorted[0];
    for (int step = 0; step < 200 && low < high; step++) {
        double x = 0.5 * (low + high), others = 0;
        if (x <= low || x >= high) break;
        for (size_t i = 1; i < n; i++) others += sorted[i] / (x - sorted[i]);
        if (sorted[0] / (sorted[0] - x) < others)
            low = x;
        else
            high = x;
    }
    return high / total;
}

void ss_row_measure(ss_isa isa, const ss_row *row, unsigned which, uint64_t theta_budget, void *workspace,
                    ss_row_measures *out) {
    (void)isa, (void)theta_budget;
    double *sorted = workspace, total = row->total, rest = 0, square = 0, cube = 0;
    size_t n = row->n, key = 0;
    for (size_t i = 0; i < n; i++) {
        sorted[i] = row->weights[i];
        if (row->weights[i] > row->weights[key]) key = i;
    }
    qsort(sorted, n, sizeof *sorted, descending);
    for (size_t i = n; i-- > 1;) {
        double p = sorted[i] / total;
        rest += p, square += p * p, cube += p * p * p;
    }
    double top = sorted[0] / total;
    if (which & SS_ROW_ENTROPY) {
        out->entropy = n > 1 ? entropy_of(row) : 0;
        out->entropy_norm = n > 1 ? out->entropy / log((double)n) : (double)NAN;
    }
    if (which & SS_ROW_P_MAX) out->p_max = n > 1 ? top : 1, out->p_max_key = key;
    double mass = 0, best = 0;
    for (size_t i = 0; i < n; i++) {
        mass += sorted[i] / total;
        double complement = i == 0 ? rest : 1 - mass;
        best = fmax(best, 4 * mass * complement);
    }
    if (which & SS_ROW_CERT) out->theta_cert = best;
    if (which & SS_ROW_THETA) {
        out->theta = out->theta_lower = best;
        out->theta_exact = n == 1 || top >= 0.5;
        out->theta_upper = out->theta_exact ? best : 1;
        out->theta_nodes = 0;
    }
    if (which & SS_ROW_JACOBIANS) {
        out->jac_2 = spectral_norm(sorted, n, total);
        out->jac_inf = 2 * top * rest;
        out->jac_frob =
            sqrt(top * top * (rest * rest + square) + square * (1 + top * top + square) - 2 * cube);
    }
}
