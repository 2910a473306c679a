/* Signs that bring a sum near zero: measure/theta_signs.h. Relies on: measure/theta_simd. */
#include "measure/theta_signs.h"

#include "measure/theta_simd.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- two lists ------------------------------------------------------------------------------------- */

/* One merge under way: from[] holds `count` values, ascending and symmetric about 0; to[] gets the 2 count
 * values from[] +- item, likewise. Only the lower half is merged, from its two ends at once; the upper half
 * is its mirror image. A merge waits for its own compares: two ends of two lists make four chains that do not
 * wait for each other. */
typedef struct merge {
    const double *from, *before; /* before[k] is from[k - 1], from minus infinity on */
    double *to, item;
    size_t count, up_minus, up_plus, down_minus, down_plus;
} merge;

static merge merge_begin(const double *from, size_t count, double item, double *to) {
    size_t plus = 0; /* how many of from[] + item are in the lower half */
    for (size_t step = count; step > 0; step /= 2)
        while (plus + step <= count && from[plus + step - 1] < -item) plus += step;
    return (merge){from, from - 1, to, item, count, 0, 0, count - plus, plus};
}

static inline void merge_step(merge *m, size_t k) {
    double minus = m->from[m->up_minus] - m->item, plus = m->from[m->up_plus] + m->item;
    bool first = minus <= plus;
    double low = first ? minus : plus;
    m->up_minus += first, m->up_plus += !first;
    /* before[0] is minus infinity: a side that is used up is never the larger */
    double last_minus = m->before[m->down_minus] - m->item, last_plus = m->before[m->down_plus] + m->item;
    bool last = last_minus >= last_plus;
    double high = last ? last_minus : last_plus;
    m->down_minus -= last, m->down_plus -= !last;
    m->to[k] = low, m->to[2 * m->count - 1 - k] = -low;
    m->to[m->count - 1 - k] = high, m->to[m->count + k] = -high;
}

/* Two lists that grow in step: list a has as many items as b or one more. */
static void list_sums(ss_signs_lists *lists) {
    size_t in_a = (lists->count + 1) / 2, in_b = lists->count / 2;
    const double *items = lists->items;
    lists->a[0] = lists->b[0] = lists->scratch_a[0] = lists->scratch_b[0] = -INFINITY;
    double *a = lists->a + 1, *b = lists->b + 1, *other_a = lists->scratch_a + 1,
           *other_b = lists->scratch_b + 1;
    double *from_a = in_a % 2 ? a : other_a, *to_a = in_a % 2 ? other_a : a;
    double *from_b = in_b % 2 ? b : other_b, *to_b = in_b % 2 ? other_b : b;
    a[0] = b[0] = 0;
    if (in_a) from_a[0] = -items[0], from_a[1] = items[0];
    if (in_b) from_b[0] = -items[1], from_b[1] = items[1];
    for (size_t k = 1; k < in_a; k++) {
        merge one = merge_begin(from_a, (size_t)1 << k, items[2 * k], to_a);
        if (k < in_b) {
            merge two = merge_begin(from_b, (size_t)1 << k, items[2 * k + 1], to_b);
            for (size_t step = 0; step < one.count / 2; step++)
                merge_step(&one, step), merge_step(&two, step);
            to_b = from_b, from_b = two.to;
        } else {
            for (size_t step = 0; step < one.count / 2; step++) merge_step(&one, step);
        }
        to_a = from_a, from_a = one.to;
    }
    for (size_t k = 0; k < SS_THETA_PAD; k++) a[((size_t)1 << in_a) + k] = INFINITY;
}

void ss_signs_list(ss_signs_lists *lists, const double *items, size_t count) {
    memcpy(lists->items, items, count * sizeof *items);
    lists->count = count;
    list_sums(lists);
}

/* which signs of items 0, 2, 4, ... make `sum`: the nearest of all, as their order of adding may differ */
static void signs_of(const double *items, size_t count, double sum, int8_t *signs) {
    size_t used = (count + 1) / 2, nearest = 0;
    double least = INFINITY;
    for (size_t choice = 0; choice < (size_t)1 << used; choice++) {
        double other = 0;
        for (size_t k = 0; k < used; k++) other += choice >> k & 1 ? items[2 * k] : -items[2 * k];
        if (fabs(other - sum) < least) least = fabs(other - sum), nearest = choice;
    }
    for (size_t k = 0; k < used; k++) signs[2 * k] = nearest >> k & 1 ? 1 : -1;
}

double ss_signs_nearest(ss_isa isa, const ss_signs_lists *lists, double c, double stop, double best,
                        int8_t *signs) {
    size_t in_a = (lists->count + 1) / 2, in_b = lists->count / 2, at_a = 0, at_b = 0;
    size_t count_b = (size_t)1 << in_b;
    double before = best;
    /* for c = 0 a pair and its mirror image are as near: the lower half of b does */
    size_t end = c == 0 ? (count_b + 1) / 2 : count_b;
    SS_PICK_LEVEL(isa, ss_theta_nearest)
    (lists->a + 1, (size_t)1 << in_a, lists->b + 1, 0, end, -c, stop, &best, &at_a, &at_b);
    if (best < before && signs) {
        signs_of(lists->items, lists->count, lists->a[1 + at_a], signs);
        if (in_b) signs_of(lists->items + 1, lists->count - 1, lists->b[1 + at_b], signs + 1);
    }
    return best;
}

/* ---- differencing ---------------------------------------------------------------------------------- */

double ss_signs_expected(const double *items, size_t count, double limit) {
    double square = 0;
    for (size_t k = 0; k < count; k++) square += items[k] * items[k];
    return ldexp(limit, (int)count) /
           (2.5066282746310002 * sqrt(square)); /* normal density at 0, both signs */
}

enum {
    NODES = 2 * SS_SIGNS_ITEMS,
    ALL_AT_ONCE = SS_SIGNS_ALL, /* items whose combinations the float kernel runs through */
    FIXED = 4,                  /* of them, items in one block of 16 sums */
    OFFSETS = 7,                /* in the offsets of blocks */
    SHIFTS = ALL_AT_ONCE - 1 - FIXED - OFFSETS,
    FEWEST = 12 /* differencing stops here: fewer items save nothing */
};
/* Expected hits h leave odds of e^-h for a miss. Lists cost much more than the float kernel and than another
 * try. */
static const double enough = 12, enough_of_lists = 4;

/* Items that descend from `head` on; item k is node id[k], and a difference is its first child minus its
 * second. */
typedef struct queue {
    double value[NODES];
    uint8_t id[NODES];
    uint8_t first[NODES], second[NODES];
    size_t head, end, nodes;
} queue;

static void difference(queue *q) {
    size_t a = q->head, b = a + 1, k = q->end;
    double value = q->value[a] - q->value[b];
    q->first[q->nodes] = q->id[a], q->second[q->nodes] = q->id[b];
    q->head += 2;
    for (; k > q->head && q->value[k - 1] < value; k--)
        q->value[k] = q->value[k - 1], q->id[k] = q->id[k - 1];
    q->value[k] = value, q->id[k] = (uint8_t)q->nodes++;
    q->end++;
}

/* would one more difference leave enough combinations? */
static bool may_difference(const queue *q, double limit) {
    size_t count = q->end - q->head;
    if (count <= FEWEST) return false;
    if (count > SS_SIGNS_LISTS) return true;
    const double *value = q->value + q->head;
    double square = (value[0] - value[1]) * (value[0] - value[1]);
    for (size_t k = 2; k < count; k++) square += value[k] * value[k];
    double wanted = count - 1 <= ALL_AT_ONCE ? enough : enough_of_lists;
    return ldexp(limit, (int)count - 1) >= wanted * 2.5066282746310002 * sqrt(square);
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

/* the sum of items with the signs of `choice`, in double */
static double sum_of_choice(const double *items, size_t count, size_t choice) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) sum += choice >> k & 1 ? items[k] : -items[k];
    return sum;
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
            double sum = sum_of_choice(items, count, choice);
            if (fabs(sum) <= limit) {
                for (size_t k = 0; signs && k < count; k++) signs[k] = choice >> k & 1 ? 1 : -1;
                return fabs(sum);
            }
            from += hit / fixed + 1;
        }
    }
    return INFINITY;
}

double ss_signs_all(ss_isa isa, const double *items, size_t count, double limit) {
    return try_all(isa, items, count, limit, NULL);
}

double ss_signs_seek(ss_isa isa, const double *items, size_t count, double limit, ss_signs_lists *lists,
                     int8_t *signs) {
    queue q; /* not cleared: only what is written is read */
    q.head = 0, q.end = count, q.nodes = count;
    memcpy(q.value, items, count * sizeof *items);
    for (size_t k = 0; k < count; k++) q.id[k] = (uint8_t)k;
    while (may_difference(&q, limit)) difference(&q);
    const double *rest = q.value + q.head;
    size_t left = q.end - q.head;
    int8_t chosen[SS_SIGNS_LISTS] = {0}, node_sign[NODES] = {0};
    double best;
    if (left > FIXED && left <= ALL_AT_ONCE) {
        best = try_all(isa, rest, left, limit, signs ? chosen : NULL);
    } else {
        /* the first item's sign is given: all signs may be turned */
        ss_signs_list(lists, rest + 1, left - 1);
        best = ss_signs_nearest(isa, lists, rest[0], limit, INFINITY, signs ? chosen + 1 : NULL);
        chosen[0] = 1;
    }
    if (!signs || best == INFINITY) return best;
    for (size_t k = 0; k < left; k++) node_sign[q.id[q.head + k]] = chosen[k];
    for (size_t node = q.nodes; node-- > count;) {
        node_sign[q.first[node]] = node_sign[node];
        node_sign[q.second[node]] = (int8_t)-node_sign[node];
    }
    memcpy(signs, node_sign, count);
    return best;
}
