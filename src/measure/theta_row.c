/* The public ss_theta: a row from anywhere is checked, then solved. Relies on: measure/check, measure/row,
 * measure/theta, base/status. */
#include "base/status.h"
#include "measure/check.h"
#include "measure/row.h"
#include "measure/theta.h"

#include <math.h>
#include <string.h>

#define SS_THETA_ALIGNMENT ((size_t)64)

size_t ss_theta_workspace(size_t n) {
    if (n > UINT32_MAX) return 0;
    return 2 * SS_THETA_ALIGNMENT + ss_row_workspace(n);
}

static ss_status refuse(ss_error *error, const char *what) {
    return ss_fail(error, SS_E_VALUE, "row", "%s", what);
}

static ss_status check_call(size_t n, const ss_theta_options *options, ss_error *error) {
    if (n == 0 || n > UINT32_MAX) return refuse(error, "a row has 1 to 2^32 - 1 keys");
    if (options->scores && !(options->tau >= 0 && isfinite(options->tau)))
        return refuse(error, "the temperature tau must be positive and finite");
    return SS_OK;
}

static ss_status check_sum(ss_row_check_result check, ss_error *error) {
    if (check.state == SS_ROW_OK) return SS_OK;
    const char *sentence = ss_row_state_sentence(check.state);
    if (check.state == SS_ROW_SUM)
        return ss_fail(error, SS_E_VALUE, "row", "%s (they sum to %.9g)", sentence, check.sum);
    if (check.state == SS_ROW_MASKED) return refuse(error, sentence);
    return ss_fail(error, SS_E_VALUE, "row", "%s, first at key %zu", sentence, check.at);
}

/* Scores in atoms[0..n) become weights, the largest 1. */
static ss_status weigh(double *atoms, size_t n, double tau, ss_error *error) {
    double top = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        if (isnan(atoms[i]) || atoms[i] == INFINITY)
            return refuse(error, ss_row_state_sentence(SS_ROW_NOT_FINITE));
        top = fmax(top, atoms[i]);
    }
    if (top == -INFINITY) return refuse(error, ss_row_state_sentence(SS_ROW_MASKED));
    for (size_t i = 0; i < n; i++) atoms[i] = exp((atoms[i] - top) / (tau > 0 ? tau : 1));
    return SS_OK;
}

/* atoms are weights now, in the first n doubles of the workspace; the solver has what follows */
static void solve(double *atoms, size_t n, const ss_theta_options *options, ss_theta_result *result) {
    double total = 0, rest = 0;
    size_t key = 0;
    for (size_t i = 0; i < n; i++) {
        total += atoms[i];
        if (atoms[i] > atoms[key]) key = i;
    }
    for (size_t i = 0; i < n; i++) rest += i == key ? 0 : atoms[i];
    double p = atoms[key] / total, q = rest / total;
    ss_theta_result r = {.p_max = n > 1 ? p : 1, .exact = true, .sum_error = result->sum_error};
    if (n > 1 && p >= 0.5) {
        r.theta = r.lower = r.upper = r.theta_cert = 4 * p * q;
        for (size_t i = 0; options->witness && i < n; i++) options->witness[i] = i == key;
    } else if (n > 1) {
        char *workspace = (char *)(atoms + n);
        workspace += -(uintptr_t)workspace % SS_THETA_ALIGNMENT;
        uint64_t budget = options->budget ? options->budget : SS_THETA_BUDGET;
        ss_theta_gap gap;
        ss_theta_solve(ss_isa_best(), atoms, n, budget, options->witness, workspace, &gap);
        r.theta = r.lower = ss_theta_from_gap(gap.distance, total);
        r.upper = ss_theta_upper(r.theta, gap.proved);
        r.theta_cert = ss_theta_from_gap(gap.greedy, total);
        r.exact = r.upper - r.lower <= SS_THETA_TOLERANCE, r.nodes = gap.nodes;
    } else if (options->witness) {
        options->witness[0] = 1;
    }
    *result = r;
}

static const ss_theta_options defaults = {.tau = 1};

static double *align(void *workspace) {
    return (double *)((char *)workspace + -(uintptr_t)workspace % SS_THETA_ALIGNMENT);
}

/* The end of both public calls: `atoms` holds the row in double, `r` what is known of it so far. */
static ss_status settle(double *atoms, size_t n, const ss_theta_options *o, ss_theta_result r,
                        ss_theta_result *result, ss_error *error) {
    if (o->scores) SS_TRY(weigh(atoms, n, o->tau, error));
    solve(atoms, n, o, &r);
    *result = r;
    return SS_OK;
}

ss_status ss_theta_double(const double *row, size_t n, const ss_theta_options *options, void *workspace,
                          ss_theta_result *result, ss_error *error) {
    const ss_theta_options *o = options ? options : &defaults;
    SS_TRY(check_call(n, o, error));
    double *atoms = align(workspace);
    ss_theta_result r = {0};
    if (!o->scores) {
        ss_row_check_result check = ss_row_check_double(row, n, SS_ROW_FLOAT64);
        SS_TRY(check_sum(check, error));
        r.sum_error = check.sum_error;
    }
    memcpy(atoms, row, n * sizeof *row);
    return settle(atoms, n, o, r, result, error);
}

/* Weights in float32 with no witness asked for: the quick way of measure/row. */
static void measure(const float *row, size_t n, double total, uint64_t budget, void *workspace,
                    ss_theta_result *result) {
    ss_row_measures m;
    ss_row r = {.weights = row, .total = total, .n = n};
    ss_row_measure(ss_isa_best(), &r, SS_ROW_THETA | SS_ROW_CERT | SS_ROW_P_MAX,
                   budget ? budget : SS_THETA_BUDGET, workspace, &m);
    result->theta = m.theta, result->lower = m.theta_lower, result->upper = m.theta_upper;
    result->exact = m.theta_exact, result->nodes = m.theta_nodes;
    result->theta_cert = m.theta_cert, result->p_max = m.p_max;
}

ss_status ss_theta(const float *row, size_t n, const ss_theta_options *options, void *workspace,
                   ss_theta_result *result, ss_error *error) {
    const ss_theta_options *o = options ? options : &defaults;
    SS_TRY(check_call(n, o, error));
    double *atoms = align(workspace);
    ss_theta_result r = {0};
    if (!o->scores) {
        ss_row_check_result check = ss_row_check(row, n, SS_ROW_FLOAT32);
        SS_TRY(check_sum(check, error));
        r.sum_error = check.sum_error;
        if (!o->witness) {
            measure(row, n, check.sum, o->budget, atoms, &r);
            *result = r;
            return SS_OK;
        }
    }
    for (size_t i = 0; i < n; i++) atoms[i] = row[i];
    return settle(atoms, n, o, r, result, error);
}
