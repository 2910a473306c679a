/* Plain references for the measures of a row. */
#include "support/row_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double ref_gap_exhaustive(const double *atoms, size_t n) {
    double total = 0, best = INFINITY;
    for (size_t i = 0; i < n; i++) total += atoms[i];
    for (size_t subset = 0; subset < (size_t)1 << n; subset++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++) sum += subset >> i & 1 ? atoms[i] : 0;
        best = fmin(best, fabs(sum - total / 2));
    }
    return best;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double *subset_sums(const double *atoms, size_t n) {
    double *sums = malloc(sizeof *sums << n);
    for (size_t subset = 0; subset < (size_t)1 << n; subset++) {
        sums[subset] = 0;
        for (size_t i = 0; i < n; i++) sums[subset] += subset >> i & 1 ? atoms[i] : 0;
    }
    qsort(sums, (size_t)1 << n, sizeof *sums, ascending);
    return sums;
}

double ref_gap_two_lists(const double *atoms, size_t n) {
    size_t in_a = n / 2, in_b = n - in_a;
    double *a = subset_sums(atoms, in_a), *b = subset_sums(atoms + in_a, in_b);
    double total = 0, best = INFINITY;
    for (size_t i = 0; i < n; i++) total += atoms[i];
    for (size_t i = 0, j = (size_t)1 << in_b; i < (size_t)1 << in_a && j > 0;) {
        double off = a[i] + b[j - 1] - total / 2;
        best = fmin(best, fabs(off));
        if (off < 0)
            i++;
        else
            j--;
    }
    free(a), free(b);
    return best;
}

double ref_gap_greedy(const double *atoms, size_t n) {
    double *sorted = malloc(n * sizeof *sorted), total = 0, sum = 0, best = INFINITY;
    memcpy(sorted, atoms, n * sizeof *sorted);
    qsort(sorted, n, sizeof *sorted, ascending);
    for (size_t i = 0; i < n; i++) total += sorted[i];
    for (size_t i = n; i-- > 0;) {
        sum += sorted[i];
        best = fmin(best, fabs(sum - total / 2));
    }
    free(sorted);
    return best;
}

double ref_norm_inf_1(const double *p, size_t n) {
    double largest = 0;
    for (size_t signs = 0; signs < (size_t)1 << n; signs++) {
        double norm = 0;
        for (size_t i = 0; i < n; i++) {
            double entry = 0; /* (J x)_i = p_i sum over j of p_j (x_i - x_j) */
            for (size_t j = 0; j < n; j++)
                entry += p[j] * ((signs >> i & 1 ? 1.0 : -1.0) - (signs >> j & 1 ? 1.0 : -1.0));
            norm += fabs(p[i] * entry);
        }
        largest = fmax(largest, norm);
    }
    return largest;
}

double ref_entropy(const double *p, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) {
        double others = 0;
        for (size_t j = 0; j < n; j++) others += j == i ? 0 : p[j];
        if (p[i] > 0) sum -= p[i] * (p[i] > 0.5 ? log1p(-others) : log(p[i]));
    }
    return sum;
}

/* largest eigenvalue of a symmetric matrix by Jacobi rotations */
static double largest_eigenvalue(double *a, size_t n) {
    for (int sweep = 0; sweep < 60; sweep++)
        for (size_t p = 0; p < n; p++)
            for (size_t q = p + 1; q < n; q++) {
                double off = a[p * n + q];
                if (off == 0) continue;
                double angle = (a[q * n + q] - a[p * n + p]) / (2 * off);
                double t = (angle >= 0 ? 1 : -1) / (fabs(angle) + sqrt(angle * angle + 1));
                double c = 1 / sqrt(t * t + 1), s = t * c;
                for (size_t k = 0; k < n; k++) {
                    double kp = a[k * n + p], kq = a[k * n + q];
                    a[k * n + p] = c * kp - s * kq, a[k * n + q] = s * kp + c * kq;
                }
                for (size_t k = 0; k < n; k++) {
                    double pk = a[p * n + k], qk = a[q * n + k];
                    a[p * n + k] = c * pk - s * qk, a[q * n + k] = s * pk + c * qk;
                }
            }
    double largest = -INFINITY;
    for (size_t i = 0; i < n; i++) largest = fmax(largest, a[i * n + i]);
    return largest;
}

ref_norms ref_jacobian_norms(const double *p, size_t n) {
    double *a = malloc(n * n * sizeof *a), square = 0;
    ref_norms norms = {0};
    for (size_t i = 0; i < n; i++) {
        double others = 0, row = 0;
        for (size_t j = 0; j < n; j++) others += j == i ? 0 : p[j];
        for (size_t j = 0; j < n; j++) {
            a[i * n + j] = j == i ? p[i] * others : -p[i] * p[j];
            row += fabs(a[i * n + j]);
            square += a[i * n + j] * a[i * n + j];
        }
        norms.inf = fmax(norms.inf, row);
    }
    norms.frobenius = sqrt(square);
    norms.two = largest_eigenvalue(a, n);
    free(a);
    return norms;
}

double ref_norm_two(const double *p, size_t n) {
    size_t key = 0;
    double low = 0;
    for (size_t i = 1; i < n; i++) key = p[i] > p[key] ? i : key;
    for (size_t i = 0; i < n; i++) low = i != key ? fmax(low, p[i]) : low;
    double high = p[key];
    for (int round = 0; round < 300; round++) {
        double x = 0.5 * (low + high), sum = 0;
        if (!(x > low && x < high)) break;
        for (size_t i = 0; i < n; i++) sum += p[i] / (p[i] - x); /* falls to minus infinity at `low` */
        if (sum < 0)
            low = x;
        else
            high = x;
    }
    return 0.5 * (low + high);
}

uint64_t ref_bits(ref_random *random) { /* splitmix64 */
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double ref_uniform(ref_random *random) {
    return ((double)(ref_bits(random) >> 11) + 0.5) * 0x1p-53;
}

double ref_normal(ref_random *random) {
    double radius = sqrt(-2 * log(ref_uniform(random)));
    return radius * cos(6.283185307179586 * ref_uniform(random));
}
