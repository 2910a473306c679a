/* Plain references for the measures of a row: slow and obviously right. */
#ifndef SS_TESTS_ROW_REF_H
#define SS_TESTS_ROW_REF_H

#include <stddef.h>
#include <stdint.h>

/* Least abs(subset sum - total / 2) by trying every subset; n <= 24. */
double ref_gap_exhaustive(const double *atoms /* [n] */, size_t n);

/* The same from two sorted lists of half the atoms each; n <= 40. */
double ref_gap_two_lists(const double *atoms /* [n] */, size_t n);

/* Distance from total / 2 of the nearest sum of k largest atoms, k >= 1, after a full sort. */
double ref_gap_greedy(const double *atoms /* [n] */, size_t n);

/* ||diag(p) - p p^T|| from l_inf to l_1: every sign vector x, every entry of J x; n <= 20. */
double ref_norm_inf_1(const double *p /* [n] */, size_t n);

double ref_entropy(const double *p, size_t n);

/* Norms of the explicit matrix diag(p) - p p^T, whose diagonal is p_i times the sum of the others; n <= 64.
 */
typedef struct ref_norms {
    double two, inf, frobenius;
} ref_norms;
ref_norms ref_jacobian_norms(const double *p, size_t n);

/* The largest eigenvalue of diag(p) - p p^T at any n: bisection on its secular equation, where sum of
 * p / (p - x) passes zero between the second largest and the largest p. */
double ref_norm_two(const double *p, size_t n);

/* Random numbers for tests: the same everywhere. */
typedef struct ref_random {
    uint64_t state;
} ref_random;
uint64_t ref_bits(ref_random *random);
double ref_uniform(ref_random *random); /* in (0, 1) */
double ref_normal(ref_random *random);

#endif
