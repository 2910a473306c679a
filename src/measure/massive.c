/* One hidden state: measure/massive.h. The state is looked at in parts of whole tokens that the team shares;
 * each part keeps what it found, and findings are joined in the order of the parts, so that no answer depends
 * on the number of workers. Relies on: measure/massive_simd, base/team. */
#include "measure/massive.h"

#include "base/team.h"
#include "measure/massive_simd.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

enum {
    PARTS = 128, /* a part stays in the first cache between two looks at it */
    ROOM = 1024, /* values that are copied at the end of the search for the median */
    BOUNDS = 3,  /* that ss_massive_below counts at once */
};

/* What is known of tokens tokens * p / PARTS .. tokens * (p + 1) / PARTS - 1. */
typedef struct part {
    bool finite;
    double largest_square; /* the largest sum of squares of a token */
    float top;             /* the largest abs(x), -1 in a part without tokens, and the first token with it */
    size_t top_token;
    size_t below[BOUNDS]; /* how many abs(x) are below each bound */
} part;

typedef struct survey {
    const ss_compute *compute;
    const float *state; /* [tokens][width] */
    size_t tokens, width, count;
    part parts[PARTS];
    uint32_t bounds[BOUNDS]; /* ascending */
    uint32_t least, most;    /* abs(x) in [least, most) are picked: at most ROOM */
    uint32_t picked[ROOM];   /* in any order */
    atomic_size_t found;
} survey;

static size_t first_token(const survey *s, size_t p) {
    return s->tokens * p / PARTS;
}
static const float *values_of(const survey *s, size_t p) {
    return s->state + first_token(s, p) * s->width;
}
static size_t count_of(const survey *s, size_t p) {
    return (first_token(s, p + 1) - first_token(s, p)) * s->width;
}

/* ---- what the parts do ------------------------------------------------------------------------------ */

static void count_below(survey *s, size_t p) {
    SS_PICK_LEVEL(s->compute->isa, ss_massive_below)
    (values_of(s, p), count_of(s, p), s->bounds, s->parts[p].below);
}

static void find_norms(survey *s, size_t p) {
    part found = {.finite = true, .top = -1};
    for (size_t t = first_token(s, p); t < first_token(s, p + 1); t++) {
        double square;
        float top =
            SS_PICK_LEVEL(s->compute->isa, ss_massive_norm)(s->state + t * s->width, s->width, &square);
        found.finite &= isfinite(square) != 0;
        if (square > found.largest_square) found.largest_square = square;
        if (top > found.top) found.top = top, found.top_token = t;
    }
    s->parts[p] = found;
}

/* Norms, and the first counts while the part is in cache. */
static void look_first(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    survey *s = context;
    for (size_t p = begin; p < end; p++) {
        find_norms(s, p);
        count_below(s, p);
    }
}

static void count_again(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    for (size_t p = begin; p < end; p++) count_below(context, p);
}

static void pick(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    survey *s = context;
    uint32_t picked[ROOM];
    for (size_t p = begin; p < end; p++) {
        size_t count = SS_PICK_LEVEL(s->compute->isa, ss_massive_pick)(values_of(s, p), count_of(s, p),
                                                                       s->least, s->most, picked, ROOM);
        size_t place = atomic_fetch_add(&s->found, count);
        memcpy(s->picked + place, picked, count * sizeof *picked);
    }
}

static void share(survey *s, ss_range_task *task) {
    ss_team_split(s->compute->workers, PARTS, task, s);
}

/* ---- the median of abs(x) --------------------------------------------------------------------------
 * All in bits, whose order is that of magnitudes: a pass flushes subnormal floats when it compares them. */

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static uint32_t bits_of_abs(float x) {
    return bits_of(x) & INT32_MAX;
}

/* Hoare's quickselect: values[rank] becomes the value of that rank, no larger one is before it and no smaller
 * one after it. */
static void select_rank(uint32_t *values, size_t count, size_t rank) {
    size_t begin = 0, end = count;
    while (end - begin > 1) {
        const uint32_t pivot = values[begin + (end - begin - 1) / 2];
        size_t low = begin, high = end - 1;
        while (true) {
            while (values[low] < pivot) low++;
            while (values[high] > pivot) high--;
            if (low >= high) break;
            const uint32_t swapped = values[low];
            values[low++] = values[high];
            values[high--] = swapped;
        }
        if (rank <= high)
            end = high + 1;
        else
            begin = high + 1;
    }
}

static uint32_t least_of(const uint32_t *values, size_t count) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < count; i++) least = values[i] < least ? values[i] : least;
    return least;
}

/* Values of abs(x): `low` has fewer than or just `rank` values below it, `high` has more. */
typedef struct range {
    uint32_t low, high;
    size_t below_low, below_high; /* how many values are below each */
} range;

static size_t inside(const range *r) {
    return r->below_high - r->below_low;
}

/* Narrow the range to its part that holds the value of rank `rank`, by the counts below all bounds. */
static void narrow(const survey *s, size_t rank, range *r) {
    for (size_t k = 0; k < BOUNDS; k++) {
        const uint32_t cut = s->bounds[k];
        size_t below = 0;
        for (size_t p = 0; p < PARTS; p++) below += s->parts[p].below[k];
        if (below > rank) {
            if (cut < r->high) r->high = cut, r->below_high = below;
            return;
        }
        if (cut > r->low) r->low = cut, r->below_low = below;
    }
}

/* Bounds around the median, guessed from a sample: the median's place in it has a standard deviation of
 * sqrt(SAMPLE) / 2. Steps of SPREAD modulo the count (the golden ratio, Knuth's multiplier) visit all
 * dimensions alike; a fixed step would fall on a few columns, and columns differ in size. */
static void guess_bounds(survey *s) {
    enum { SAMPLE = 512, SIDE = 32 };
    const uint64_t SPREAD = 0x9E3779B97F4A7C15;
    uint32_t sample[SAMPLE];
    for (size_t k = 0; k < SAMPLE; k++) sample[k] = bits_of_abs(s->state[(size_t)(k * SPREAD % s->count)]);
    for (size_t k = 0; k < BOUNDS; k++) {
        const size_t rank = SAMPLE / 2 - SIDE + k * SIDE;
        select_rank(sample, SAMPLE, rank);
        s->bounds[k] = sample[rank];
    }
}

/* Bounds around the rank, as if values were spread evenly over the range: near the median of a hidden state
 * that misses by less than the margin, and what is left fits the room. */
static void interpolate_bounds(survey *s, const range *r, size_t rank) {
    const double margin = ROOM * 0.75, low = float_of(r->low), high = float_of(r->high);
    const double places = (double)inside(r), place = (double)(rank - r->below_low) + 0.5;
    for (size_t k = 0; k < BOUNDS; k++) {
        double cut = place + ((double)k - 1) * margin;
        cut = cut < 0 ? 0 : cut > places ? places : cut;
        s->bounds[k] = bits_of((float)(low + (high - low) * (cut / places)));
    }
}

/* Bounds that quarter the range of bits: however values lie, 16 rounds end the search. */
static void quarter_bounds(survey *s, const range *r) {
    const uint64_t width = r->high - r->low;
    for (uint32_t k = 0; k < BOUNDS; k++) s->bounds[k] = r->low + (uint32_t)(width * (k + 1) / 4);
}

/* The range of the value of rank `rank`: one value, or at most ROOM of them inside. */
static range find_range(survey *s, size_t rank) {
    range r = {.low = 0, .high = bits_of(INFINITY), .below_low = 0, .below_high = s->count};
    narrow(s, rank, &r); /* by the counts of the first look */
    bool even = true;    /* are values spread evenly enough to interpolate? */
    while (inside(&r) > ROOM && r.high - r.low > 1) {
        const size_t before = inside(&r);
        if (even && r.high < bits_of(INFINITY))
            interpolate_bounds(s, &r, rank);
        else
            quarter_bounds(s, &r);
        share(s, count_again);
        narrow(s, rank, &r);
        even = inside(&r) <= before / 2;
    }
    return r;
}

/* The least abs(x) of at least `from`. */
static uint32_t next_from(const survey *s, uint32_t from) {
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < s->count; i++) {
        uint32_t bits = bits_of_abs(s->state[i]);
        if (bits >= from && bits < least) least = bits;
    }
    return least;
}

/* of finite values, after the first look; the mean of the middle two of an even count */
static double median_abs(survey *s) {
    const size_t rank = (s->count - 1) / 2;
    const range r = find_range(s, rank);
    uint32_t at = r.low, next = r.low;
    if (r.high - r.low > 1) {
        s->least = r.low, s->most = r.high;
        atomic_init(&s->found, 0);
        share(s, pick);
        const size_t place = rank - r.below_low;
        select_rank(s->picked, inside(&r), place);
        at = s->picked[place];
        next = least_of(s->picked + place + 1, inside(&r) - place - 1);
    }
    if (s->count % 2) return float_of(at);
    if (rank + 1 >= r.below_high) next = next_from(s, r.high);
    return 0.5 * ((double)float_of(at) + (double)float_of(next));
}

/* ---- massive activations --------------------------------------------------------------------------- */

/* Keep `entry` among the `listed` largest, which descend. Returns how many are listed now. */
static size_t list_massive(ss_massive *massive, size_t listed, size_t capacity, ss_massive entry) {
    size_t k = listed;
    while (k > 0 && fabsf(massive[k - 1].value) < fabsf(entry.value)) k--;
    if (k >= capacity) return listed;
    size_t moved = listed < capacity ? listed - k : listed - k - 1;
    memmove(massive + k + 1, massive + k, moved * sizeof *massive);
    massive[k] = entry;
    return listed < capacity ? listed + 1 : listed;
}

/* Could a value of this size be massive beside that median? */
static bool is_massive(double magnitude, double median) {
    return magnitude > SS_MASSIVE_ABS && magnitude >= SS_MASSIVE_RATIO * median;
}

/* Massive values are few, and few parts have any. */
static void find_massive(const survey *s, ss_massive *massive, size_t capacity, ss_hidden *h) {
    size_t listed = 0;
    for (size_t p = 0; p < PARTS; p++) {
        if (!is_massive(s->parts[p].top, h->median_abs)) continue;
        for (size_t t = first_token(s, p); t < first_token(s, p + 1); t++)
            for (size_t d = 0; d < s->width; d++) {
                float value = s->state[t * s->width + d];
                if (!is_massive(fabsf(value), h->median_abs)) continue;
                h->massive_count++;
                listed = list_massive(massive, listed, capacity, (ss_massive){t, d, value});
            }
    }
}

/* ---- the whole ------------------------------------------------------------------------------------- */

static ss_hidden first_bad(const survey *s) {
    size_t i = 0;
    while (i + 1 < s->count && isfinite(s->state[i])) i++;
    return (ss_hidden){.finite = false, .bad_token = i / s->width, .bad_dimension = i % s->width};
}

/* By bits: were all values subnormal, the maximum that the team found would be equal to none of them. */
static size_t first_largest(const float *x, size_t width) {
    size_t largest = 0;
    for (size_t d = 1; d < width; d++)
        if (bits_of_abs(x[d]) > bits_of_abs(x[largest])) largest = d;
    return largest;
}

/* The parts in their order: the first token of the largest magnitude stays. */
static ss_hidden join_parts(const survey *s) {
    ss_hidden h = {.finite = true, .max_abs = -1};
    double largest_square = 0;
    for (size_t p = 0; p < PARTS; p++) {
        const part *found = &s->parts[p];
        h.finite &= found->finite;
        if (found->largest_square > largest_square) largest_square = found->largest_square;
        if (found->top > h.max_abs) h.max_abs = found->top, h.max_token = found->top_token;
    }
    h.block_inf_rms = sqrt(largest_square / (double)s->width);
    return h;
}

ss_hidden ss_measure_hidden(const ss_compute *compute, const float *state, size_t tokens, size_t width,
                            ss_massive *massive, size_t capacity) {
    survey s = {.compute = compute, .state = state, .tokens = tokens, .width = width};
    s.count = tokens * width;
    if (s.count == 0) return (ss_hidden){.finite = true};
    guess_bounds(&s);
    share(&s, look_first);
    ss_hidden h = join_parts(&s);
    if (!h.finite) return first_bad(&s);
    h.max_dimension = first_largest(state + h.max_token * width, width);
    h.median_abs = median_abs(&s);
    find_massive(&s, massive, capacity, &h);
    return h;
}
