/* Signs that bring a sum near zero: measure/theta_signs.h. Relies on: measure/theta_simd,
 * measure/theta_lists. */
#include "measure/theta_signs.h"

#include "measure/theta_simd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- differencing ---------------------------------------------------------------------------------- */

static const double root_two_pi = 2.5066282746310002;

double ss_signs_expected(const double *items, size_t count, double limit) {
    double square = 0;
    for (size_t k = 1; k < count; k++) square += items[k] * items[k];
    /* normal density at items[0], both signs */
    return ldexp(limit, (int)count) * exp(-0.5 * items[0] * items[0] / square) / (root_two_pi * sqrt(square));
}

enum {
    NODES = 2 * SS_SIGNS_ITEMS,
    ALL_AT_ONCE = SS_SIGNS_ALL, /* items whose combinations the float kernel runs through */
    FIXED = 4,                  /* of them, items in one block of 16 sums */
    OFFSETS = 7,                /* in the offsets of blocks */
    SHIFTS = ALL_AT_ONCE - 1 - FIXED - OFFSETS,
    MOST_LEFT = 26, /* differencing goes on while there are more items */
    FEWEST = 12     /* and stops here: fewer save nothing */
};
/* Expected hits h leave odds of e^-h for a miss. A meeting costs more than the float kernel, and than another
 * try. */
static const double enough = 12, enough_to_meet = 4;

/* Items that descend from `head` on. Each is a node: one of the first, or a difference of two, its first
 * child minus its second. */
typedef struct queued {
    double value;
    size_t node;
} queued;
typedef struct queue {
    queued items[NODES];
    uint8_t first[NODES], second[NODES];
    size_t head, end, nodes;
} queue;

static void difference(queue *q) {
    queued a = q->items[q->head], b = q->items[q->head + 1], *at = q->items + q->end++;
    queued *begin = q->items + (q->head += 2), made = {a.value - b.value, q->nodes};
    q->first[q->nodes] = (uint8_t)a.node, q->second[q->nodes++] = (uint8_t)b.node;
    for (; at > begin && at[-1].value < made.value; at--) *at = at[-1];
    *at = made;
}

/* would one more difference leave enough combinations? */
static bool may_difference(const queue *q, double limit) {
    size_t count = q->end - q->head;
    if (count <= FEWEST) return false;
    if (count > MOST_LEFT) return true;
    const queued *item = q->items + q->head;
    double square = (item[0].value - item[1].value) * (item[0].value - item[1].value);
    for (size_t k = 2; k < count; k++) square += item[k].value * item[k].value;
    double wanted = count - 1 <= ALL_AT_ONCE ? enough : enough_to_meet;
    return ldexp(limit, (int)count - 1) >= wanted * root_two_pi * sqrt(square);
}

/* all signed sums of items[0..count); bit k of the place is the sign of items[k] */
static void signed_sums(const double *items, size_t count, float *restrict sums) {
    sums[0] = 0;
    for (size_t k = 0, filled = 1; k < count; k++, filled *= 2) {
        float item = (float)items[k], *restrict plus = sums + filled;
        for (size_t j = 0; j < filled; j++) plus[j] = sums[j] + item;
        for (size_t j = 0; j < filled; j++) sums[j] -= item;
    }
}

/* abs(sum of items with the signs of `choice`) in double, and the signs, if that is within the limit */
static double take(const double *items, size_t count, size_t choice, double limit, int8_t *signs) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += choice >> k & 1 ? items[k] : -items[k];
    if (!(fabs(sum) <= limit)) return INFINITY;
    for (size_t k = 0; signs && k < count; k++) signs[k] = choice >> k & 1 ? 1 : -1;
    return fabs(sum);
}

/* Every combination of up to ALL_AT_ONCE items in float32: sixteen sums of the first four, shifted by each
 * sum of the last ones, offset by each sum of those between. The very last item's sign is fixed. */
static double try_all(ss_isa isa, const double *items, size_t count, double limit, int8_t *signs) {
    float base[1 << FIXED], shifted[1 << FIXED], offset[1 << OFFSETS], shifts[1 << SHIFTS];
    const size_t fixed = 1 << FIXED, free_items = count - 1 - FIXED;
    const size_t middle = free_items < OFFSETS ? free_items : OFFSETS, last = free_items - middle;
    const size_t offsets = (size_t)1 << middle;
    signed_sums(items, FIXED, base);
    signed_sums(items + FIXED, middle, offset);
    signed_sums(items + FIXED + middle, last, shifts);
    for (size_t shift = 0; shift < (size_t)1 << last; shift++) {
        const size_t high = shift << (FIXED + middle) | (size_t)1 << (count - 1);
        for (size_t k = 0; k < fixed; k++) shifted[k] = base[k] + (shifts[shift] + (float)items[count - 1]);
        for (size_t from = 0; from < offsets;) {
            size_t hit = SS_PICK_LEVEL(isa, ss_theta_hit)(shifted, offset + from, offsets - from,
                                                          (float)(0.98 * limit));
            if (hit >= (offsets - from) * fixed) break;
            size_t choice = high | ((from << FIXED) + hit);
            double sum = take(items, count, choice, limit, signs);
            if (sum <= limit) return sum;
            from += hit / fixed + 1;
        }
    }
    return INFINITY;
}

double ss_signs_all(ss_isa isa, const double *items, size_t count, double limit) {
    return try_all(isa, items, count, limit, NULL);
}

/* ---- meeting in the middle ------------------------------------------------------------------------- */

enum {
    MOST_KEPT = (MOST_LEFT - 3) / 2,
    BASE = 6, /* 2^BASE = SS_THETA_LOOKUPS */
    MOST_OFFSETS = MOST_LEFT - 1 - MOST_KEPT - BASE,
    LIMIT = 15 /* in fixed point; an eighth of a slot */
};

/* Sums of some items, by their value. A slot keeps the last that came. */
typedef struct table {
    uint32_t sums[1 << MOST_KEPT], slots[2 << MOST_KEPT];
    uint32_t count, mask;
} table;

/* in fixed point, which wraps round; a difference of items that are not quite sorted may be negative */
static inline uint32_t fixed(double value, double scale) {
    return (uint32_t)(int64_t)(value * scale + 0.5);
}

/* all signed sums; bit k of the place is the sign of items[k] */
static void fixed_sums(const double *items, size_t count, double scale, uint32_t *restrict sums) {
    sums[0] = 0;
    for (size_t k = 0, filled = 1; k < count; k++, filled *= 2) {
        uint32_t item = fixed(items[k], scale), *restrict plus = sums + filled;
        for (size_t j = 0; j < filled; j++) plus[j] = sums[j] + item;
        for (size_t j = 0; j < filled; j++) sums[j] -= item;
    }
}

static void keep_sums(table *t, const double *items, size_t count, double scale) {
    t->count = 1u << count, t->mask = 2 * t->count - 1;
    fixed_sums(items, count, scale, t->sums);
    for (size_t k = 0; k <= t->mask; k++) t->slots[k] = 1u << 31; /* as far from any sum as can be */
    for (size_t k = 0; k < t->count; k++)
        t->slots[t->sums[k] >> SS_THETA_SLOT & t->mask] = t->sums[k] + LIMIT;
}

/* the place of a sum within the limit of `value` that its slot keeps, or the count of sums */
static size_t find_sum(const table *t, uint32_t value) {
    uint32_t sum = t->slots[value >> SS_THETA_SLOT & t->mask] - LIMIT;
    size_t place = 0;
    if (sum - value + LIMIT > 2 * LIMIT) return t->count;
    while (place < t->count && t->sums[place] != sum) place++;
    return place;
}

/* Sums of the last items go to a table, by their value; sums of the others look for their opposite there. The
 * first item's sign is given. Some hits are missed, as a slot keeps only one sum and a hit may straddle two
 * slots: to expect a few more costs less than to sort. Fixed point makes a slot of a value by a shift; it
 * rounds by a small part of the limit, and hits are confirmed in double. */
static double meet(ss_isa isa, const double *items, size_t count, double limit, int8_t *signs) {
    table t; /* not cleared: only what is written is read */
    uint32_t base[SS_THETA_LOOKUPS], offsets[1 << MOST_OFFSETS], first;
    const size_t kept = (count - 3) / 2, offset_items = count - 1 - BASE - kept;
    const double scale = LIMIT / limit;
    keep_sums(&t, items + (count - kept), kept, scale);
    fixed_sums(items + 1, BASE, scale, base);
    fixed_sums(items + 1 + BASE, offset_items, scale, offsets);
    first = fixed(items[0], scale);
    for (size_t k = 0; k < (size_t)1 << offset_items; k++) {
        uint32_t from = -first - offsets[k];
        if (!SS_PICK_LEVEL(isa, ss_theta_meet)(t.slots, t.mask, base, from, LIMIT)) continue;
        for (size_t j = 0; j < SS_THETA_LOOKUPS; j++) {
            size_t place = find_sum(&t, from - base[j]);
            if (place == t.count) continue;
            size_t choice = 1 | j << 1 | k << (1 + BASE) | place << (count - kept);
            double sum = take(items, count, choice, limit, signs);
            if (sum <= limit) return sum;
        }
    }
    return INFINITY;
}

/* ---- the whole ------------------------------------------------------------------------------------- */

double ss_signs_seek(ss_isa isa, const double *items, size_t count, double limit, ss_lists *lists,
                     int8_t *signs) {
    queue q; /* not cleared: only what is written is read */
    q.head = 0, q.end = count, q.nodes = count;
    for (size_t k = 0; k < count; k++) q.items[k] = (queued){items[k], k};
    while (may_difference(&q, limit)) difference(&q);
    double rest[MOST_LEFT];
    size_t left = q.end - q.head;
    for (size_t k = 0; k < left; k++) rest[k] = q.items[q.head + k].value;
    int8_t chosen[MOST_LEFT], node_sign[NODES];
    double best;
    if (left > ALL_AT_ONCE) {
        best = meet(isa, rest, left, limit, signs ? chosen : NULL);
    } else if (left > FIXED) {
        best = try_all(isa, rest, left, limit, signs ? chosen : NULL);
    } else {
        ss_lists_make(lists, rest, left, INFINITY);
        best = ss_lists_nearest(isa, lists, 0, limit, INFINITY, signs ? chosen : NULL);
    }
    if (!signs || best == INFINITY) return best;
    for (size_t k = 0; k < left; k++) node_sign[q.items[q.head + k].node] = chosen[k];
    for (size_t node = q.nodes; node-- > count;) {
        node_sign[q.first[node]] = node_sign[node];
        node_sign[q.second[node]] = (int8_t)-node_sign[node];
    }
    memcpy(signs, node_sign, count);
    return best;
}
