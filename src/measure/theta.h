/* Exact theta of one row: how near to one half a subset of its atoms can get. docs/theta.md explains it.
 *
 *     theta = 4 max over subsets S of p(S) (1 - p(S)) = 1 - (2 d / W)^2
 *
 * with W the sum of the atoms and d the least distance of a subset sum from W / 2 (seed 000, Theorem 3.2).
 * Atoms are unnormalised: nothing here divides before the end.
 *
 * What `exact` promises: upper - lower <= SS_THETA_TOLERANCE, where lower is attained by a subset that was
 * found and upper was proved, both up to the rounding of sums in double (sums of float32 atoms are exact
 * unless the atoms span more than 29 bits). A subset closer to W / 2 than W 2^-28 ends every search, since
 * no other could change theta by more than 2^-54.
 * Relies on: math/isa, the *_simd kernels of this room. Pure functions, safe from any thread. */
#ifndef SS_MEASURE_THETA_H
#define SS_MEASURE_THETA_H

#include "math/isa.h"
#include "softscope.h"

#define SS_THETA_TOLERANCE 0x1p-52
#define SS_THETA_HIT       0x1p-28 /* of the total: theta is 1 to double precision */

/* How near a subset comes to half the total. */
typedef struct ss_theta_gap {
    double distance; /* least distance found, in units of the atoms */
    double greedy;   /* of the nearest sum of k largest atoms, k >= 1: the certificate of seed 000, D.2 */
    bool proved;     /* no subset is nearer, or none could change theta by more than SS_THETA_TOLERANCE */
    uint64_t nodes;
} ss_theta_gap;

/* Any row, any length: `atoms` [n] >= 0. `subset` [n], optional, gets 1 for every atom of
 * the best subset, else 0. `workspace`: ss_theta_solve_workspace(n) bytes, 64-byte aligned. */
void ss_theta_solve(ss_isa isa, const double *atoms, size_t n, uint64_t budget, uint8_t *subset,
                    void *workspace, ss_theta_gap *gap);
size_t ss_theta_solve_workspace(size_t n);

/* The quick way for rows with many atoms: no sort, a few passes. Returns the distance of the best subset: 0
 * for one within total x SS_THETA_HIT of half, or what is proved of a row that a few heavy atoms decide;
 * infinity says nothing. `largest` is the largest atom. Workspace as above. */
double ss_theta_quick(ss_isa isa, const float *atoms, size_t n, double total, float largest, void *workspace);

/* The upper end of the bracket. Near 1 a proof says no more than that theta is 1 to the tolerance. */
static inline double ss_theta_upper(double theta, bool proved) {
    return proved && 1 - theta > SS_THETA_TOLERANCE ? theta : 1;
}

/* theta from a distance. */
static inline double ss_theta_from_gap(double distance, double total) {
    double off = 2 * distance / total;
    return (1 - off) * (1 + off);
}

#endif
