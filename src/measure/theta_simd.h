/* Kernels of exact theta, one set per instruction set level (math/isa.h). Every level sees a row as blocks of
 * 16 atoms, so all levels take the same decisions. Relies on: math/isa. */
#ifndef SS_MEASURE_THETA_SIMD_H
#define SS_MEASURE_THETA_SIMD_H

#include "math/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SS_THETA_BLOCK = 16,   /* atoms a block */
    SS_THETA_DEPTH = 4,    /* atoms set aside a column */
    SS_THETA_RESERVE = 64, /* = SS_THETA_BLOCK * SS_THETA_DEPTH */
    SS_THETA_SLOT = 7,     /* bits of a value that its slot in a table leaves out */
    SS_THETA_LOOKUPS = 64, /* in one call of ss_theta_meet */
    SS_THETA_PAD = 8       /* infinite doubles next to the sorted lists that a scan reads */
};

/* gaps[i] = abs(atoms[i] - atoms[i + half]), 2 half <= n; *sum is their sum in double. Returns the least atom
 * of all n: the gaps are exact in float32 when the largest atom is at most twice that. */
SS_DECLARE_LEVELS(float, ss_theta_fold,
                  (const float *atoms /* [n] */, size_t n, size_t half, float *gaps /* [half] */,
                   double *sum))

/* Of every column (atom index mod 16), the 4 least atoms >= floor, ascending; infinity where there are fewer.
 */
SS_DECLARE_LEVELS(void, ss_theta_lightest,
                  (const float *atoms /* [n] */, size_t n, float floor, float *lightest /* [4][16] */))

/* Running sums over the blocks, leaving out atoms at or below their column's fence and atoms above `heavy`:
 * the four numbers before[k] add up to the sum of the first k blocks. (Four, as adding lanes up costs more
 * than all else here, and few of the sums are asked for.) The heavy atoms go to heavies[], whose count is
 * returned; it has room for SS_THETA_BLOCK more than there are atoms above `heavy`. */
SS_DECLARE_LEVELS(size_t, ss_theta_blocks,
                  (const float *atoms /* [n] */, size_t n, const float *fence /* [16] */, float heavy,
                   double *before /* [ceil(n / 16) + 1][4] */, float *heavies))

/* The atoms above their column's fence and at most `most` next to `want`: around[0] is the largest up to it
 * or 0, around[1] the least above it or infinity. */
SS_DECLARE_LEVELS(void, ss_theta_around,
                  (const float *atoms /* [n] */, size_t n, const float *fence /* [16] */, float want,
                   float most, float *around /* [2] */))

/* The 64 atoms, largest first; infinite ones stand for none and come last as 0. Near-equal atoms, up to 2^-17
 * of themselves, come in any order. Returns how many atoms are above 0, and their sum. */
SS_DECLARE_LEVELS(size_t, ss_theta_sort,
                  (const float *atoms /* [64] */, double *sorted /* [64] */, double *sum))

/* Is there a choice of signs with abs(sum of +-items + offset[j]) <= limit? The 16 sums of four items are
 * base[], of the others offset[]. Returns j * 16 + lane of the first, or count * 16. */
SS_DECLARE_LEVELS(size_t, ss_theta_hit,
                  (const float *base /* [16] */, const float *offset, size_t count, float limit))

/* Is one of the values from - base[k] within the limit of what a table keeps for values like it? A table has
 * a slot for each of mask + 1 values of (x >> SS_THETA_SLOT) & mask, which holds x + limit for one such x.
 * All wraps round at 2^32. */
SS_DECLARE_LEVELS(bool, ss_theta_meet,
                  (const uint32_t *slots /* [mask + 1] */, uint32_t mask,
                   const uint32_t *base /* [SS_THETA_LOOKUPS] */, uint32_t from, uint32_t limit))

/* Nearest pair of two ascending lists: the least abs(a + b - c) over all of `a` and b[begin..end), scanned
 * from the end, stopped once it is <= stop. SS_THETA_PAD infinities follow a[], as many minus infinities come
 * before b[]. Improves *best, with the indices of the pair, only if a nearer one is found. */
SS_DECLARE_LEVELS(void, ss_theta_nearest,
                  (const double *a /* [count] */, size_t count, const double *b, size_t begin, size_t end,
                   double c, double stop, double *best, size_t *best_a, size_t *best_b))

#endif
