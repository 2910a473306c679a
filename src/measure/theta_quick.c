/* Exact theta of a long row without a sort: set aside the lightest atoms of every column, fill one side of
 * the cut with heavy atoms, then whole blocks, then single atoms, and let signs of the reserve close what is
 * left. Relies on: measure/theta_simd, measure/theta_signs. */
#include "measure/theta.h"

#include "measure/theta_signs.h"
#include "measure/theta_simd.h"

#include <math.h>
#include <string.h>

enum { MOST_HEAVY = 64 /* atoms above total / 64: fewer than 64 */ };

/* Sort 64 atoms, largest first. Float bits order as the values do; the last 6 bits make way for the place,
 * which makes keys distinct and costs nothing, as near-equal atoms may stand in any order. */
static void sort_atoms(ss_isa isa, const float *atoms /* [64] */, double *sorted /* [64] */) {
    int32_t keys[SS_THETA_RESERVE], rank[SS_THETA_RESERVE];
    memcpy(keys, atoms, sizeof keys);
    for (int32_t k = 0; k < SS_THETA_RESERVE; k++) keys[k] = (keys[k] & ~(SS_THETA_RESERVE - 1)) | k;
    SS_PICK_LEVEL(isa, ss_theta_rank)(keys, rank);
    for (size_t k = 0; k < SS_THETA_RESERVE; k++) sorted[rank[k]] = atoms[k];
}

static void descend(float *atoms, size_t count) {
    for (size_t i = 1; i < count; i++) {
        float atom = atoms[i];
        size_t k = i;
        for (; k > 0 && atoms[k - 1] < atom; k--) atoms[k] = atoms[k - 1];
        atoms[k] = atom;
    }
}

/* abs(sum) after one more item, whose sign is against it */
static inline double against(double sum, double item) {
    return fabs(sum - item);
}

/* A row in parts: heavy atoms, blocks of the others, and the reserve below the fences. */
typedef struct parts {
    ss_isa isa;
    const float *atoms; /* [n] */
    size_t n, blocks;
    float fence[SS_THETA_BLOCK], heavy;
    float heavies[MOST_HEAVY];
    size_t heavy_count;
    double *sums;  /* [blocks] */
    uint8_t *open; /* [blocks] not taken yet */
} parts;

/* What is left of `gap` after taking whole blocks that fit: those that close much of it, so that many blocks
 * stay open for single atoms; what is too small for the first pass may do for the second. */
static double take_blocks(parts *p, double gap) {
    memset(p->open, 1, p->blocks);
    for (double share = 1.0 / 8; share > 1e-3; share /= 8)
        for (size_t k = 0; k < p->blocks; k++) {
            bool fits = p->open[k] && p->sums[k] <= gap && p->sums[k] >= share * gap;
            gap -= fits ? p->sums[k] : 0;
            p->open[k] &= !fits;
        }
    return gap;
}

/* The largest open atom that fits, again and again, until at most `enough` is left. Each is lighter than the
 * one before, so none is taken twice. */
static double take_atoms(const parts *p, double gap, double enough) {
    float most = p->heavy;
    while (gap > enough) {
        most = fminf(nextafterf(most, 0), nextafterf((float)gap, 0));
        float atom = SS_PICK_LEVEL(p->isa, ss_theta_fit)(p->atoms, p->n, p->fence, p->open, most);
        if (!(atom > 0)) break;
        gap -= atom, most = atom;
    }
    return gap;
}

/* Fill one side with all but the reserve until at most `enough` misses of `gap`; returns what misses. */
static double fill(parts *p, double gap, double enough) {
    double bulk = 0;
    descend(p->heavies, p->heavy_count);
    for (size_t k = 0; k < p->heavy_count; k++) gap -= p->heavies[k] <= gap ? p->heavies[k] : 0;
    for (size_t k = 0; k < p->blocks; k++) bulk += p->sums[k];
    if (gap > 0.5 * bulk) gap = bulk - gap; /* the other side misses less */
    return take_atoms(p, take_blocks(p, gap), enough);
}

/* Nearly equal atoms cannot make up for a sum that is no multiple of them, but their gaps can: sign single
 * ones against the sum until it is less than one and an even count is left, then set the heaviest against the
 * lightest, the next against the next. Atoms that are not nearly equal stay as they are. Returns how many
 * items are left. */
static size_t pair_up(const double **atoms, size_t count, double *sum, double *gaps /* [count / 2] */) {
    const double *x = *atoms;
    if (x[0] > 2 * x[count - 1]) return count;
    if (count % 2) *sum = against(*sum, *x++), count--;
    for (; count > 32 && *sum > x[0]; x += 2, count -= 2) *sum = against(against(*sum, x[0]), x[1]);
    for (size_t k = 0; k < count / 2; k++) gaps[k] = x[k] - x[count - 1 - k];
    *atoms = gaps;
    return count / 2;
}

/* Signs for the reserve that bring `sum` + signed atoms within the limit of zero. The heavier part is signed
 * against the sum; the `spared` lightest are left to the search. */
static bool sign_reserve(ss_isa isa, const double *reserve, size_t count, double sum, size_t spared,
                         double limit, ss_signs_lists *lists) {
    size_t heavier = count - spared, at = 0;
    for (size_t k = 0; k < heavier; k++) sum = against(sum, reserve[k]);
    const double *light = reserve + heavier;
    double items[SS_THETA_RESERVE + 1], gaps[SS_THETA_RESERVE / 2];
    spared = pair_up(&light, spared, &sum, gaps);
    for (; at < spared && light[at] > sum; at++) items[at] = light[at];
    items[at] = sum;
    for (size_t k = at; k < spared; k++) items[k + 1] = light[k];
    return ss_signs_seek(isa, items, spared + 1, limit, lists, NULL) <= limit;
}

enum { FEW = 13 /* atoms that close the gap by themselves if they are light enough */ };

/* Find signs with abs(sum of signed atoms - offset) <= 2 hit. total is the sum of the atoms. */
static bool sign_row(ss_isa isa, const float *atoms, size_t n, double total, double offset, double hit,
                     void *workspace) {
    ss_signs_lists *lists = workspace;
    parts p; /* not cleared: only what is written is read */
    p.isa = isa, p.atoms = atoms, p.n = n, p.blocks = (n + SS_THETA_BLOCK - 1) / SS_THETA_BLOCK;
    p.sums = (double *)((char *)workspace + (sizeof *lists + 63) / 64 * 64);
    p.open = (uint8_t *)(p.sums + p.blocks);
    float lightest[SS_THETA_RESERVE];
    double reserve[SS_THETA_RESERVE], reserve_sum = 0;
    SS_PICK_LEVEL(isa, ss_theta_lightest)(atoms, n, (float)(hit / 8), lightest);
    memcpy(p.fence, lightest + SS_THETA_RESERVE - SS_THETA_BLOCK, sizeof p.fence);
    size_t count = 0;
    for (size_t k = 0; k < SS_THETA_RESERVE; k++) {
        lightest[k] = lightest[k] < INFINITY ? lightest[k] : 0;
        count += lightest[k] > 0, reserve_sum += lightest[k];
    }
    if (count < FEW) return false;
    sort_atoms(isa, lightest, reserve);

    p.heavy = (float)(total / MOST_HEAVY);
    p.heavy_count = SS_PICK_LEVEL(isa, ss_theta_blocks)(atoms, n, p.fence, p.heavy, p.sums, p.heavies);
    /* half of the reserve stays on the filled side, give or take what its signs change; what is neither heavy
     * nor in a block nor reserve stays on the other */
    double gap = fill(&p, 0.5 * (total - offset - reserve_sum), 0.1 * reserve_sum);
    double sum = fabs(2 * gap);
    if (sum > reserve_sum) return false;
    bool light = ss_signs_expected(reserve + count - FEW, FEW, 2 * hit) >= 40;
    return sign_reserve(isa, reserve, count, sum, light ? FEW : count, 2 * hit, lists);
}

/* Nearly equal atoms: each side must have half of them. Two and two are set against each other, which leaves
 * the signs of their gaps to choose; of an odd count, one atom is left to be made up for. */
static bool sign_gaps(ss_isa isa, const float *atoms, size_t n, float largest, double hit, void *workspace) {
    size_t half = n / 2;
    float *gaps = (float *)((char *)workspace + ss_theta_solve_workspace(n)) - (half + SS_THETA_BLOCK);
    double sum, odd = n % 2 ? atoms[n - 1] : 0;
    float least = SS_PICK_LEVEL(isa, ss_theta_fold)(atoms, n, half, gaps, &sum);
    return largest <= 2 * least && odd <= sum && sign_row(isa, gaps, half, sum, odd, hit, workspace);
}

bool ss_theta_quick(ss_isa isa, const float *atoms, size_t n, double total, float largest, void *workspace) {
    double hit = 0.999 * SS_THETA_HIT * total;
    if (largest * (double)n < 4 * total && sign_gaps(isa, atoms, n, largest, hit, workspace)) return true;
    return sign_row(isa, atoms, n, total, 0, hit, workspace);
}
