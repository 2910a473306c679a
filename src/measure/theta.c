/* Exact theta of any row: sort, look for a hit by signs, else list all sums, else branch and bound with
 * windows. docs/theta.md tells the reasoning. Relies on: measure/theta_lists, measure/theta_signs,
 * measure/theta_sort. */
#include "measure/theta.h"

#include "base/mem.h"
#include "measure/theta_lists.h"
#include "measure/theta_signs.h"
#include "measure/theta_sort.h"

#include <math.h>
#include <string.h>

enum {
    FIRST_LOOK = 8, /* nodes before any list is made: a few heavy atoms often leave windows only */
    LEAF = 20,      /* open atoms that lists settle: few enough to be solved many times */
    MOST_OPEN = 20  /* atoms that lists of all may leave open: a bound for shifts, the budget ends sooner */
};

/* One search. Atoms descend; a branch decides them in that order, so what is open is always a tail. */
typedef struct search {
    ss_isa isa;
    size_t n;            /* atoms above zero */
    const double *atoms; /* [n] descending */
    const double *tail;  /* [n + 1] tail[i] = sum of atoms[i..n) */
    uint8_t *taken;      /* [n] the branch being tried */
    uint8_t *tried;      /* [n] how many of the choices for an atom were tried: 1 or 2 */
    double *need;        /* [n + 1] need[i] = target less what the branch took of atoms[0..i) */
    uint8_t *best;       /* [n] the best subset, or NULL where nobody asks for it */
    double hit;          /* a distance this small ends the search */
    double tolerated;    /* one this small leaves theta known to SS_THETA_TOLERANCE */
    double distance;     /* of the best subset */
    ss_lists *lists;     /* signed sums of the last `leaf` atoms */
    size_t leaf;
    uint64_t nodes;
} search;

/* ---- candidates ------------------------------------------------------------------------------------ */

/* The branch's choices for atoms[0..i), then `count` atoms from `begin` on, and none of the other open ones.
 */
static void offer(search *s, double distance, size_t i, size_t begin, size_t count) {
    if (!(distance < s->distance)) return;
    s->distance = distance;
    if (!s->best) return;
    memcpy(s->best, s->taken, i);
    memset(s->best + i, 0, s->n - i);
    memset(s->best + begin, 1, count);
}

/* ---- windows --------------------------------------------------------------------------------------- */

/* Subsets with k of the open atoms weigh between the k smallest and the k largest: a window whose ends are
 * attained. If `need` lies in none of the windows, the ends next to it are the best this branch can do; they
 * are offered, and the branch is closed (true). */
static bool close_by_windows(search *s, size_t i) {
    size_t open = s->n - i;
    double need = s->need[i];
    const double *tail = s->tail;
    if (need <= 0 || open == 0) {
        offer(s, fabs(need), i, i, 0);
        return true;
    }
    if (need >= tail[i]) {
        offer(s, need - tail[i], i, i, open);
        return true;
    }
    /* the fewest atoms whose largest choice reaches `need`: tail[i] - tail[i + k] >= need */
    size_t under = 0, over = open;
    while (over - under > 1) {
        size_t middle = (under + over) / 2;
        if (tail[i] - tail[i + middle] >= need)
            over = middle;
        else
            under = middle;
    }
    double smallest = tail[s->n - over];
    if (smallest <= need) return false;
    offer(s, fabs(need - (tail[i] - tail[i + under])), i, i, under);
    offer(s, smallest - need, i, s->n - over, over);
    return true;
}

/* ---- a hit by signs -------------------------------------------------------------------------------- */

/* How a search for a hit goes about it. */
typedef struct way {
    bool gaps; /* signs for gaps between atoms, not for atoms */
    uint8_t spared, stride;
    uint8_t seed; /* which of the scattered choices */
} way;

/* Which items are left to the search: of every `stride` items from `heavy` on, one, at a place that looks
 * random. A run of neighbours would be as evenly spaced as a smooth row, and evenly spaced items have evenly
 * spaced sums. */
static bool is_spared(size_t i, size_t heavy, way w) {
    if (i < heavy) return false;
    if (w.stride == 1) return true;
    size_t group = (i - heavy) / w.stride;
    return (i - heavy) % w.stride == ((group + 1) * (0x9e3779b1u + 2u * w.seed) >> 16) % w.stride;
}

/* Signs for items[0..count), which descend, so that sum + signed items is near zero. Items below a floor all
 * get minus; the others are signed one by one, each against the sum so far, but for the spared ones: one of
 * every `stride` of the lightest above the floor. These, and that sum as one more item, are left to
 * ss_signs_seek. Returns the abs(sum) reached; fills sign[count] if `witness`. */
static double sign_items(const search *s, const double *items, size_t count, double sum, way w, bool witness,
                         int8_t *sign) {
    size_t light = count;
    for (; light > 0 && items[light - 1] < s->hit / 8; light--) {
        sign[light - 1] = -1; /* NOLINT(clang-analyzer-core.NullDereference): cut from the workspace */
        sum -= items[light - 1];
    }
    size_t range = (size_t)w.spared * w.stride;
    size_t heavy = light - (range < light ? range : light / w.stride * w.stride);
    double spared[SS_SIGNS_ITEMS], left[SS_SIGNS_ITEMS];
    size_t place[SS_SIGNS_ITEMS], spared_count = 0, at = 0;
    for (size_t i = 0; i < light; i++) {
        if (is_spared(i, heavy, w)) {
            place[spared_count] = i;
            spared[spared_count++] = items[i];
            continue;
        }
        sign[i] = sum > 0 ? -1 : 1; /* NOLINT(clang-analyzer-core.NullDereference): the same */
        sum += sign[i] * items[i];
    }
    int8_t signs[SS_SIGNS_ITEMS];
    for (; at < spared_count && spared[at] > fabs(sum); at++) left[at] = spared[at];
    left[at] = fabs(sum);
    for (size_t k = at; k < spared_count; k++) left[k + 1] = spared[k];
    double reached =
        ss_signs_seek(s->isa, left, spared_count + 1, 2 * s->hit, s->lists, witness ? signs : NULL);
    if (!witness || reached == INFINITY) return reached;
    int8_t flip = (signs[at] > 0) == (sum > 0) ? 1 : -1; /* the sum's own sign is given */
    for (size_t k = 0; k < spared_count; k++) sign[place[k]] = (int8_t)(flip * signs[k < at ? k : k + 1]);
    return reached;
}

/* Signs for the atoms themselves. */
static void seek_atoms(search *s, way w) {
    int8_t *sign = (int8_t *)s->taken;
    double distance = 0.5 * sign_items(s, s->atoms, s->n, 0, w, s->best != NULL, sign);
    s->nodes += w.spared;
    if (!(distance < s->distance)) return;
    s->distance = distance;
    for (size_t i = 0; s->best && i < s->n; i++) s->best[i] = sign[i] > 0;
}

/* Signs for gaps: the heaviest atom against the lightest, the next against the next; of an odd count the
 * median is left to be made up for. Both sides get as many atoms: what nearly equal atoms need. The gaps are
 * spread from large to none, which the search likes. */
static void seek_gaps(search *s, way w) {
    size_t half = s->n / 2;
    double *gaps = s->need + 1, middle = s->n % 2 ? s->atoms[half] : 0;
    int8_t *sign = (int8_t *)s->taken;
    for (size_t i = 0; i < half; i++) gaps[i] = s->atoms[i] - s->atoms[s->n - 1 - i];
    double distance = 0.5 * sign_items(s, gaps, half, middle, w, s->best != NULL, sign);
    s->nodes += w.spared;
    if (!(distance < s->distance)) return;
    s->distance = distance;
    if (!s->best) return;
    s->best[half] = 1; /* the median of an odd count; else overwritten below */
    for (size_t i = 0; i < half; i++) {
        s->best[i] = sign[i] > 0;
        s->best[s->n - 1 - i] = sign[i] <= 0;
    }
}

/* ---- branch and bound ------------------------------------------------------------------------------ */

/* What going through the lists once costs, in nodes. */
static uint64_t nodes_of(const ss_lists *lists) {
    return 1 + ((uint64_t)(lists->heavy.count + lists->light.count) << lists->open) / 64;
}

/* The open atoms are exactly those of the lists: their best subset is the nearest pair. */
static void solve_leaf(search *s, size_t i) {
    int8_t signs[SS_LISTS_ITEMS];
    /* subset sum = (sum of all + signed sum) / 2 */
    double c = s->tail[i] - 2 * s->need[i];
    double off = ss_lists_nearest(s->isa, s->lists, c, 2 * s->hit, 2 * s->distance, s->best ? signs : NULL);
    s->nodes += nodes_of(s->lists);
    if (!(0.5 * off < s->distance)) return;
    s->distance = 0.5 * off;
    if (!s->best) return;
    memcpy(s->best, s->taken, i);
    for (size_t k = 0; k < s->leaf; k++) s->best[i + k] = signs[k] > 0;
}

/* Decide atom i and return the next atom that is open. Equal atoms are alike: leaving one out leaves out all
 * that equal it and follow, so that of a run some first ones are taken. */
static size_t decide(search *s, size_t i, bool take) {
    size_t next = i + 1;
    s->taken[i] = take;
    s->need[i + 1] = s->need[i] - (take ? s->atoms[i] : 0);
    if (take) return next;
    for (; next < s->n && s->atoms[next] == s->atoms[i]; next++) {
        s->taken[next] = 0;
        s->tried[next] = 2;
        s->need[next + 1] = s->need[i];
    }
    return next;
}

/* Try every branch that windows do not close. The heaviest atom is always taken: the complement of a subset
 * is as near. Of both choices for an atom, first comes the one that leaves what is needed nearer to half of
 * what is open, where most subsets are. True when the whole tree was seen or a hit was found. */
static bool branch_and_bound(search *s, size_t leaf, uint64_t budget) {
    s->leaf = leaf;
    if (leaf) ss_lists_make(s->lists, s->atoms + (s->n - leaf), leaf, INFINITY);
    size_t i = 0;
    for (;;) {
        if (s->distance <= s->hit) return true;
        if (s->nodes++ >= budget) return false;
        bool open = !close_by_windows(s, i);
        if (open && leaf && i == s->n - leaf) {
            solve_leaf(s, i);
            open = false;
        }
        if (open) {
            s->tried[i] = i == 0 ? 2 : 1;
            i = decide(s, i, i == 0 || s->need[i] > 0.5 * s->tail[i]);
            continue;
        }
        while (i > 0 && s->tried[i - 1] == 2) i--;
        if (i == 0) return true;
        s->tried[i - 1] = 2;
        i = decide(s, i - 1, !s->taken[i - 1]);
    }
}

/* The best of all subsets, from two lists, if that is within the budget. What greed finds bounds how far the
 * lists must reach. */
static bool list_all(search *s, uint64_t budget) {
    if (s->n > SS_LISTS_DEEPEST) return false;
    seek_atoms(s, (way){.stride = 1});
    ss_lists_make(s->lists, s->atoms, s->n, 2 * s->distance);
    if (s->lists->open > MOST_OPEN) return false;
    uint64_t cost = nodes_of(s->lists);
    if (s->n > SS_LISTS_ITEMS && s->nodes + cost > budget) return false;
    s->nodes += cost;
    int8_t *sign = (int8_t *)s->taken;
    double off = ss_lists_nearest(s->isa, s->lists, 0, 2 * s->hit, 2 * s->distance, s->best ? sign : NULL);
    if (!(0.5 * off < s->distance)) return true;
    s->distance = 0.5 * off;
    for (size_t i = 0; s->best && i < s->n; i++) s->best[i] = sign[i] > 0;
    return true;
}

/* ---- when to stop ---------------------------------------------------------------------------------- */

/* The coarsest power of two that divides every atom: the least of their last bits. */
static double unit_of(const double *atoms, size_t n) {
    int least = 1 << 20;
    for (size_t i = 0; i < n; i++) {
        uint64_t bits, leading = (uint64_t)1 << 52;
        memcpy(&bits, &atoms[i], sizeof bits);
        int exponent = (int)(bits >> 52); /* 0 and 1 mean the same, but 0 goes without the leading bit */
        int last = (exponent > 0 ? exponent : 1) + __builtin_ctzll(bits | leading);
        least = last < least ? last : least;
    }
    return ldexp(1, least - 1075);
}

/* A distance that ends the search. Besides the one at which theta is 1 to double precision: all sums are
 * multiples of a unit, so no distance is below half a unit if the total is odd, and one below a unit is 0 if
 * it is even. This settles rows that were stored in few bits. */
static double hit_distance(const double *atoms, size_t n, double total) {
    double hit = 0.999 * SS_THETA_HIT * total, unit = unit_of(atoms, n), units = total / unit;
    if (!(units < 0x1p53)) return hit;
    double lattice = (uint64_t)units % 2 == 1 ? 0.5 * unit : 0.25 * unit;
    return fmax(hit, lattice);
}

/* ---- the whole ------------------------------------------------------------------------------------- */

size_t ss_theta_solve_workspace(size_t n) {
    size_t an_atom = 2 * sizeof(ss_sort_item) + 3 * sizeof(double) + 3;
    return ss_whole_lines(sizeof(ss_lists)) + ss_whole_lines((n + 1) * an_atom);
}

/* Ways to look for a hit, the most promising first; gaps are for nearly equal atoms. A stride that the row is
 * too short for is cut down to what fits. */
static bool seek(search *s) {
    static const way ways[] = {{true, 64, 1, 0},  {false, 64, 1, 0}, {false, 64, 4, 0}, {true, 64, 4, 0},
                               {false, 40, 1, 0}, {false, 34, 1, 0}, {false, 29, 1, 0}, {false, 120, 1, 0},
                               {false, 64, 8, 1}, {false, 64, 8, 2}, {true, 64, 8, 3}};
    bool nearly_equal = s->atoms[0] <= 4 * s->atoms[s->n - 1];
    for (size_t k = nearly_equal ? 0 : 1; k < sizeof ways / sizeof *ways; k++) {
        way w = ways[k];
        size_t fits = s->n / w.spared;
        if (k > 1 && (w.stride > 1 ? fits < 2 : fits < 1)) continue; /* the same again */
        if (w.stride > fits) w.stride = fits > 0 ? (uint8_t)fits : 1;
        (w.gaps ? seek_gaps : seek_atoms)(s, w);
        if (s->distance <= s->hit) return true;
    }
    return false;
}

/* Rows whose signs can be expected to hit are not worth lists before some ways have failed. */
static bool run(search *s, uint64_t budget) {
    if (close_by_windows(s, 0)) return true;
    if (s->n > SS_LISTS_ITEMS && branch_and_bound(s, 0, budget < FIRST_LOOK ? budget : FIRST_LOOK))
        return true;
    bool dense = ss_signs_expected(s->atoms, s->n, 2 * s->hit) >= 12;
    if (dense && seek(s)) return true;
    if (s->distance <= s->tolerated) return true; /* not worth a search */
    if (list_all(s, budget)) return true;
    if (!dense && seek(s)) return true;
    return branch_and_bound(s, LEAF, budget) || s->distance <= s->tolerated;
}

/* distance of the nearest sum of k largest atoms, k >= 1; tail[0] - tail[k] is that sum */
static double greedy_gap(const double *tail, size_t n) {
    double half = 0.5 * tail[0];
    size_t under = 0, over = n;
    while (over - under > 1) {
        size_t middle = (under + over) / 2;
        if (tail[middle] > half)
            under = middle;
        else
            over = middle;
    }
    double gap = fabs(half - tail[over]);
    return under > 0 ? fmin(gap, fabs(half - tail[under])) : gap;
}

void ss_theta_solve(ss_isa isa, const double *atoms, size_t n, uint64_t budget, uint8_t *subset,
                    void *workspace, ss_theta_gap *gap) {
    ss_lists *lists = workspace;
    char *rest = (char *)workspace + ss_whole_lines(sizeof *lists);
    ss_sort_item *items = (ss_sort_item *)rest, *spare = items + n + 1;
    double *sorted = (double *)(spare + n + 1), *tail = sorted + n + 1, *need = tail + n + 1;
    uint8_t *taken = (uint8_t *)(need + n + 1), *tried = taken + n + 1, *best = tried + n + 1;
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (!(atoms[i] > 0)) continue;
        memcpy(&items[count].key, &atoms[i], sizeof atoms[i]);
        items[count++].index = i;
    }
    ss_sort_descending(items, count, spare);
    tail[count] = 0;
    for (size_t i = count; i-- > 0;) {
        memcpy(&sorted[i], &items[i].key, sizeof sorted[i]);
        tail[i] = tail[i + 1] + sorted[i];
    }
    search s = {.isa = isa,
                .n = count,
                .atoms = sorted,
                .tail = tail,
                .taken = taken,
                .tried = tried,
                .need = need,
                .best = subset ? best : NULL,
                .hit = count ? hit_distance(sorted, count, tail[0]) : 0,
                .tolerated = 0.999 * 2 * SS_THETA_HIT * tail[0],
                .distance = INFINITY,
                .lists = lists};
    need[0] = 0.5 * tail[0];
    gap->proved = run(&s, budget);
    gap->greedy = count ? greedy_gap(tail, count) : 0;
    gap->distance = s.distance;
    gap->nodes = s.nodes;
    if (!s.best) return;
    memset(subset, 0, n); /* NOLINT(clang-analyzer-core.NonNullParamChecker): s.best says it is there */
    for (size_t i = 0; i < count; i++) subset[items[i].index] = s.best[i];
}
