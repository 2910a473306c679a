/* Everything softscope says about one row of attention: entropy, largest weight, theta and its certificate,
 * the other norms of the softmax Jacobian. One call measures one row while it is hot in cache.
 *
 * Tau is the caller's: the Jacobian norms here are those of diag(p) - p p^T, to be divided by tau. The norm
 * from l_inf to l_1 is theta itself. Relies on: measure/theta, math/isa. Pure functions, safe from any
 * thread. */
#ifndef SS_MEASURE_ROW_H
#define SS_MEASURE_ROW_H

#include "math/isa.h"
#include "softscope.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One query's distribution over the n keys it may see, as the softmax left it: not divided by the sum.
 * A learned sink logit is one more atom at the end of the arrays; key statistics are the caller's. */
typedef struct ss_row {
    const float *weights; /* [n], >= 0 and finite, not all zero */
    double total;         /* their sum, accumulated in double */
    const float *scores;  /* [n], what entered the softmax; NULL: entropy is taken from the weights */
    float max;            /* the largest score: weights = exp(scores - max); unused without scores */
    size_t n;             /* >= 1 */
} ss_row;

/* What to measure: a set of these. Fields of groups that were not asked for are left as they were. */
enum {
    SS_ROW_ENTROPY = 1u << 0,   /* entropy, entropy_norm */
    SS_ROW_P_MAX = 1u << 1,     /* p_max, p_max_key */
    SS_ROW_THETA = 1u << 2,     /* theta, theta_lower, theta_upper, theta_exact, theta_nodes */
    SS_ROW_CERT = 1u << 3,      /* theta_cert */
    SS_ROW_JACOBIANS = 1u << 4, /* jac_2, jac_inf, jac_frob */
    SS_ROW_ALL = (1u << 5) - 1
};

/* A row with n = 1 says nothing: entropy 0, entropy_norm NaN (it is not defined), p_max 1, theta and norms 0.
 */
typedef struct ss_row_measures {
    double entropy;      /* -sum p log p, in [0, log n] */
    double entropy_norm; /* entropy / log n */
    double p_max;        /* the largest p ... */
    size_t p_max_key;    /* ... and the first key that has it */
    double theta, theta_lower,
        theta_upper;                 /* best subset found (= lower), and what is proved: measure/theta.h */
    bool theta_exact;                /* upper - lower is within double rounding */
    uint64_t theta_nodes;            /* branch-and-bound nodes used, 0 where no search was needed */
    double theta_cert;               /* seed paper's greedy lower bound, D.2 */
    double jac_2, jac_inf, jac_frob; /* norms of diag(p) - p p^T: l_2, l_inf (= l_1), Frobenius */
} ss_row_measures;

/* Bytes of workspace for rows of up to n keys; the workspace is aligned to 64 bytes and may be reused from
 * row to row without clearing, by one thread at a time. */
size_t ss_row_workspace(size_t n);

/* Measure the groups `which` of `row`. `theta_budget` bounds the nodes that exact theta may visit; a row that
 * needs more gets theta_exact = false and both ends of the bracket. */
void ss_row_measure(ss_isa isa, const ss_row *row, unsigned which, uint64_t theta_budget, void *workspace,
                    ss_row_measures *out);

#endif
