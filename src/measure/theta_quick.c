/* Exact theta of a long row without a sort: set aside the lightest atoms of every column, fill one side of
 * the cut with heavy atoms, then whole blocks, then single atoms, and let signs of the reserve close what is
 * left. Relies on: measure/theta_simd, measure/theta_signs, measure/theta_sort. */
#include "measure/theta.h"

#include "base/mem.h"
#include "measure/theta_signs.h"
#include "measure/theta_simd.h"
#include "measure/theta_sort.h"

#include <math.h>
#include <string.h>

enum {
    MOST_HEAVY = 64, /* atoms above total / 64: fewer than 64 */
    MOST_MOVES = 20, /* single atoms that fill a side */
    PAIRS = 16,      /* differences of neighbours that the last step signs */
    MOST_TRIED = 12  /* heavy atoms whose combinations are all tried */
};

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
    float heavies[MOST_HEAVY + SS_THETA_BLOCK];
    size_t heavy_count;
    const double *before; /* [blocks + 1][4] */
    double total;         /* of all atoms */
    double proved;        /* distance of the best cut if heavy atoms alone decide it, else infinite */
} parts;

/* the sum of the first k blocks */
static double sum_before(const parts *p, size_t k) {
    const double *four = p->before + 4 * k;
    return (four[0] + four[1]) + (four[2] + four[3]);
}

/* Where to cut the row so that the blocks before the cut have at most `gap`, and one more would have more; or
 * those behind it, if `behind`. What they have is taken off the gap. */
static size_t take_blocks(const parts *p, bool behind, double *gap) {
    double bulk = sum_before(p, p->blocks), most = behind ? bulk - *gap : *gap;
    size_t under = 0, over = p->blocks + 1;
    while (over - under > 1) {
        size_t middle = (under + over) / 2;
        if (sum_before(p, middle) <= most)
            under = middle;
        else
            over = middle;
    }
    size_t cut = behind && under < p->blocks ? under + 1 : under;
    *gap -= behind ? bulk - sum_before(p, cut) : sum_before(p, cut);
    return cut * SS_THETA_BLOCK < p->n ? cut * SS_THETA_BLOCK : p->n;
}

/* The single atom that leaves the least, again and again, until at most `enough` is left. Atoms move from the
 * open side of the cut to the filled one while it lacks something, and back while it has too much. On each
 * side every atom is lighter than the one before, so none is moved twice. */
static double move_atoms(const parts *p, size_t cut, bool behind, double gap, double enough) {
    float most[2] = {p->heavy, p->heavy}, around[2];
    for (int round = 0; fabs(gap) > enough && round < MOST_MOVES; round++) {
        bool back = gap < 0, before = back != behind;
        size_t begin = before ? 0 : cut, count = before ? cut : p->n - cut;
        double want = fabs(gap);
        SS_PICK_LEVEL(p->isa, ss_theta_around)
        (p->atoms + begin, count, p->fence, (float)want, most[back], around);
        bool one_way = 4 * (p->n - count) < p->n; /* too few on the other side to make up for too much */
        bool under = around[0] > 0 && (one_way || want - around[0] <= around[1] - want);
        float atom = under ? around[0] : around[1];
        if (!(atom < INFINITY)) break;
        gap += back ? atom : -atom;
        most[back] = nextafterf(atom, 0);
    }
    return gap;
}

/* The least abs(signed sum) of the heavy atoms, from all combinations. */
static double heavy_apart(const parts *p) {
    double sums[1 << (MOST_TRIED - 1)], least = INFINITY;
    size_t count = 1;
    sums[0] = p->heavies[0];
    for (size_t k = 1; k < p->heavy_count; k++, count *= 2)
        for (size_t j = 0; j < count; j++) {
            double sum = sums[j];
            sums[j] = sum - p->heavies[k], sums[j + count] = sum + p->heavies[k];
        }
    for (size_t j = 0; j < count; j++) least = fmin(least, fabs(sums[j]));
    return least;
}

/* What misses of `gap` after taking each heavy atom that fits. */
static double take_greedily(const parts *p, double gap) {
    for (size_t k = 0; k < p->heavy_count; k++) {
        const float heavy = p->heavies[k]; /* NOLINT(clang-analyzer-core.*): ss_theta_blocks filled them */
        gap -= heavy <= gap ? heavy : 0;
    }
    return gap;
}

/* What misses of `gap` after taking heavy atoms, mostly by greed, in their order if that will do. If more is
 * left than the blocks can give, a few heavy atoms are set against each other as evenly as they can be; where
 * all other atoms cannot make up for that, the best cut is found, and proved. */
static double take_heavies(parts *p, double gap, double bulk) {
    double left = take_greedily(p, gap);
    if (left <= bulk || p->heavy_count == 0) return left;
    ss_sort_few(p->heavies, p->heavy_count);
    left = take_greedily(p, gap);
    if (left <= bulk || p->heavy_count > MOST_TRIED) return left;
    double sum = 0;
    for (size_t k = 0; k < p->heavy_count; k++) sum += p->heavies[k];
    double apart = heavy_apart(p), tail = p->total - sum;
    if (apart >= tail) p->proved = 0.5 * (apart - tail);
    return gap - 0.5 * (sum + apart);
}

/* Fill one side with all but the reserve until at most `enough` misses of `gap`; returns what misses. Where
 * the open blocks had no atoms that fit, the others may. */
static double fill(parts *p, double gap, double enough) {
    double bulk = sum_before(p, p->blocks);
    gap = take_heavies(p, gap, bulk);
    if (gap > 0.5 * bulk) gap = bulk - gap; /* the other side misses less */
    if (gap < 0) return gap;
    double left = gap;
    for (int behind = 0; behind < 2; behind++) {
        left = gap;
        size_t cut = take_blocks(p, behind, &left);
        left = move_atoms(p, cut, behind, left, enough);
        if (fabs(left) <= enough) break;
    }
    return left;
}

/* Neighbours of the sorted reserve are set against each other, which leaves differences some 64 times
 * smaller: so small that hits are dense among the signs of 16 of them. `sum` first becomes as small as they
 * are, by the single atom next to it; then the differences of the heavier neighbours are signed against it.
 */
static bool sign_pairs(ss_isa isa, const double *x, size_t count, double sum, double limit) {
    double items[PAIRS + 1];
    for (; count > 2 * PAIRS + 1 && sum > *x; count--) sum = against(sum, *x++);
    if (count % 2 == 0) sum = against(sum, *x++), count--;
    size_t next = 0; /* the first atom below the sum */
    for (size_t step = 64; step > 0; step /= 2)
        if (next + step < count && x[next + step] >= sum) next += step;
    if (next + 1 < count && against(sum, x[next + 1]) < against(sum, x[next])) next++;
    sum = against(sum, x[next]);
    /* those left of x[next] move up by one, so that pairs are where they were */
    size_t pairs = count / 2, kept = 0;
    for (size_t k = 0; k < pairs; k++) {
        const double *pair = x + 2 * k + (2 * k >= next);
        double difference = 2 * k + 1 == next ? pair[0] - pair[2] : pair[0] - pair[1];
        if (k + PAIRS < pairs)
            sum = against(sum, difference);
        else
            items[kept++] = difference;
    }
    items[kept] = sum;
    return kept >= 6 && ss_signs_all(isa, items, kept + 1, limit) <= limit;
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
                         double limit, ss_lists *lists) {
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

/* Find signs with abs(sum of signed atoms - offset) <= 2 hit and return 0. total is the sum of the atoms.
 * Infinite where none were found, but what ss_theta_quick returns where no signs can come as near. */
static double sign_row(ss_isa isa, const float *atoms, size_t n, double total, double offset, double hit,
                       void *workspace) {
    ss_lists *lists = workspace;
    parts p; /* not cleared: only what is written is read */
    p.isa = isa, p.atoms = atoms, p.n = n, p.blocks = (n + SS_THETA_BLOCK - 1) / SS_THETA_BLOCK;
    p.total = total, p.proved = INFINITY;
    double *before = (double *)((char *)workspace + ss_whole_lines(sizeof *lists));
    p.before = before;
    float lightest[SS_THETA_RESERVE];
    double reserve[SS_THETA_RESERVE], reserve_sum;
    SS_PICK_LEVEL(isa, ss_theta_lightest)(atoms, n, (float)(hit / 8), lightest);
    memcpy(p.fence, lightest + SS_THETA_RESERVE - SS_THETA_BLOCK, sizeof p.fence);
    size_t count = SS_PICK_LEVEL(isa, ss_theta_sort)(lightest, reserve, &reserve_sum);
    if (count < FEW) return INFINITY;

    p.heavy = (float)(total / MOST_HEAVY);
    p.heavy_count = SS_PICK_LEVEL(isa, ss_theta_blocks)(atoms, n, p.fence, p.heavy, before, p.heavies);
    /* half of the reserve stays on the filled side, give or take what its signs change; what is neither heavy
     * nor in a block nor reserve stays on the other */
    double spread = reserve[0] - reserve[count - 1], enough = 0.2 * reserve_sum;
    if (spread < reserve[count - 1]) enough = fmin(enough, 4 * spread); /* nearly equal: only gaps are left */
    double gap = fill(&p, 0.5 * (total - offset - reserve_sum), enough);
    double sum = fabs(2 * gap);
    if (sum > reserve_sum) return offset > 0 ? INFINITY : p.proved; /* what is proved is for a sum of zero */
    bool light = ss_signs_expected(reserve + count - FEW, FEW, 2 * hit) >= 40;
    if (!light && count == SS_THETA_RESERVE && sign_pairs(isa, reserve, count, sum, 2 * hit)) return 0;
    return sign_reserve(isa, reserve, count, sum, light ? FEW : count, 2 * hit, lists) ? 0 : INFINITY;
}

/* Nearly equal atoms: each side must have half of them. Two and two are set against each other, which leaves
 * the signs of their gaps to choose; of an odd count, one atom is left to be made up for. */
static bool sign_gaps(ss_isa isa, const float *atoms, size_t n, float largest, double hit, void *workspace) {
    size_t half = n / 2;
    /* at the end of the workspace; sign_row uses its beginning */
    float *gaps = (float *)((char *)workspace + ss_theta_solve_workspace(n)) - half;
    double sum, odd = n % 2 ? atoms[n - 1] : 0;
    float least = SS_PICK_LEVEL(isa, ss_theta_fold)(atoms, n, half, gaps, &sum);
    return largest <= 2 * least && odd <= sum && sign_row(isa, gaps, half, sum, odd, hit, workspace) == 0;
}

double ss_theta_quick(ss_isa isa, const float *atoms, size_t n, double total, float largest,
                      void *workspace) {
    double hit = 0.999 * SS_THETA_HIT * total;
    if (largest * (double)n < 4 * total && sign_gaps(isa, atoms, n, largest, hit, workspace)) return 0;
    return sign_row(isa, atoms, n, total, 0, hit, workspace);
}
