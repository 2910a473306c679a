/* Two sorted lists of signed sums: measure/theta_lists.h. Relies on: measure/theta_simd. */
#include "measure/theta_lists.h"

#include <math.h>

/* ---- one list -------------------------------------------------------------------------------------- */

static void begin(ss_sums *list) {
    for (size_t k = 0; k < SS_THETA_PAD; k++) list->room[0][k] = list->room[1][k] = -INFINITY;
    list->sums = list->room[0] + SS_THETA_PAD;
    list->sums[0] = 0;
    list->count = 1, list->items = 0;
}

/* how many of the sums are below x */
static size_t below(const double *sums, size_t count, double x) {
    size_t place = 0;
    for (size_t step = (size_t)1 << SS_LISTS_HALF; step > 0; step /= 2)
        if (place + step <= count && sums[place + step - 1] < x) place += step;
    return place;
}

/* Two streams under way to be merged: sums less an item and sums plus it. */
typedef struct merge {
    const double *sums;
    double item;
    size_t minus, plus; /* how many of either are behind */
} merge;

static inline double next_up(merge *m) {
    double minus = m->sums[m->minus] - m->item, plus = m->sums[m->plus] + m->item;
    bool first = minus <= plus;
    m->minus += first, m->plus += !first;
    return minus < plus ? minus : plus;
}
static inline double next_down(merge *m) {
    double minus = m->sums[(ptrdiff_t)m->minus - 1] - m->item,
           plus = m->sums[(ptrdiff_t)m->plus - 1] + m->item;
    bool last = minus >= plus;
    m->minus -= last, m->plus -= !last;
    return minus > plus ? minus : plus;
}

/* the merge `count` values further up, as next_up would leave it */
static merge skip(merge m, size_t count) {
    size_t low = 0, high = count, minus = m.minus, plus = m.plus;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m.sums[minus + middle] - m.item <= m.sums[plus + count - 1 - middle] + m.item)
            low = middle + 1;
        else
            high = middle;
    }
    m.minus += low, m.plus += count - low;
    return m;
}

/* The list with one more item: the sums less the item and the sums plus it, merged, as far as within +-limit.
 * Only the lower half is merged, the upper half is its mirror image. A merge waits for its own compares: both
 * ends of both quarters make four chains that do not wait for each other. False, and nothing done, if there
 * are more sums than room. */
static bool add_item(ss_sums *list, double item, double limit) {
    const double *sums = list->sums;
    size_t zero = below(sums, list->count, item); /* the lower half ends here, and at count - zero */
    merge a = {sums, item, below(sums, zero, item - limit), below(sums, list->count - zero, -item - limit)};
    merge d = {sums, item, zero, list->count - zero};
    size_t half = d.minus - a.minus + d.plus - a.plus, quarter = half / 2;
    if (2 * half > (size_t)1 << SS_LISTS_HALF) return false;
    double *to = list->room[sums == list->room[0] + SS_THETA_PAD] + SS_THETA_PAD;
    double *up = to, *down = to + 2 * half - 1;
    if (half % 2) *up++ = next_up(&a), *down-- = -to[0];
    merge c = skip(a, quarter), b = c;
    for (size_t k = 0, last = quarter - 1; 2 * k < quarter; k++) {
        double low = next_up(&a), under = next_down(&b), over = next_up(&c), high = next_down(&d);
        up[k] = low, *(down - k) = -low;
        up[last - k] = under, *(down - (last - k)) = -under;
        up[quarter + k] = over, *(down - (quarter + k)) = -over;
        up[quarter + last - k] = high, *(down - (quarter + last - k)) = -high;
    }
    list->sums = to, list->count = 2 * half, list->items++;
    return true;
}

/* ---- both ------------------------------------------------------------------------------------------ */

void ss_lists_make(ss_lists *lists, const double *items, size_t count, double reach) {
    ss_sums *heavy = &lists->heavy, *light = &lists->light;
    begin(heavy), begin(light);
    lists->items = items, lists->count = lists->open = count, lists->light_total = 0;
    double rest = 0; /* of all items that are not in the heavy list */
    for (size_t k = count; k-- > 0;) rest += items[k];
    bool room = true; /* in the heavy list */
    while (lists->open > SS_LISTS_OPEN) {
        double heaviest = items[heavy->items], lightest = items[count - 1 - light->items];
        if (room && (heavy->count <= light->count || light->items == SS_LISTS_HALF)) {
            room = add_item(heavy, heaviest, reach + (rest - heaviest));
            if (room) rest -= heaviest, lists->open--;
        } else {
            if (!add_item(light, lightest, INFINITY)) break;
            lists->light_total += lightest, lists->open--;
        }
    }
    for (size_t k = 0; k < SS_THETA_PAD; k++) light->sums[light->count + k] = INFINITY;
}

/* Signs of items[0], items[step], ... are sought that make `sum`, to the last bit, as they are added up in
 * the order of the list. */
typedef struct sought {
    const double *items;
    ptrdiff_t step;
    size_t count;
    double sum;
    double rest[SS_LISTS_DEEPEST + 1]; /* [count + 1] rest[k] = sum of the items from the k-th on */
} sought;

/* Of the items from the k-th on. What is left can change the sum by what it weighs, and by rounding, which is
 * little beside all items and no more than the item that was added. So no level is wider than the list was on
 * its way. */
static bool signs_of(const sought *s, size_t k, double so_far, int8_t *signs) {
    if (k == s->count) return so_far == s->sum;
    if (fabs(s->sum - so_far) > s->rest[k] + fmin(s->rest[k], 1e-12 * s->rest[0])) return false;
    const ptrdiff_t place = (ptrdiff_t)k * s->step;
    for (int sign = -1; sign <= 1; sign += 2) {
        signs[place] = (int8_t)sign;
        if (signs_of(s, k + 1, so_far + sign * s->items[place], signs)) return true;
    }
    return false;
}

static void find_signs_of(const double *items, ptrdiff_t step, size_t count, double sum, int8_t *signs) {
    sought s; /* not cleared: only what is written is read */
    s.items = items, s.step = step, s.count = count, s.sum = sum;
    s.rest[count] = 0;
    for (size_t k = count; k-- > 0;) s.rest[k] = s.rest[k + 1] + items[(ptrdiff_t)k * step];
    signs_of(&s, 0, 0, signs);
}

static void find_signs(const ss_lists *l, size_t choice, double heavy, double light, int8_t *signs) {
    const size_t last = l->count - 1;
    find_signs_of(l->items, 1, l->heavy.items, heavy, signs);
    find_signs_of(l->items + last, -1, l->light.items, light, signs + last);
    for (size_t k = 0; k < l->open; k++) signs[l->heavy.items + k] = choice >> k & 1 ? -1 : 1;
}

double ss_lists_nearest(ss_isa isa, const ss_lists *lists, double c, double stop, double best,
                        int8_t *signs) {
    const ss_sums *heavy = &lists->heavy, *light = &lists->light;
    const double *open = lists->items + heavy->items;
    /* for c = 0 a sum and its mirror image are as near */
    size_t choices = (size_t)1 << lists->open >> (c == 0 && lists->open > 0);
    for (size_t choice = 0; choice < choices && best > stop; choice++) {
        double target = -c, room = lists->light_total + best, before = best;
        for (size_t k = 0; k < lists->open; k++) target += choice >> k & 1 ? open[k] : -open[k];
        size_t from = below(heavy->sums, heavy->count, target - room), at_heavy = 0, at_light = 0;
        size_t to = below(heavy->sums, heavy->count, target + room);
        SS_PICK_LEVEL(isa, ss_theta_nearest)
        (light->sums, light->count, heavy->sums, from, to, target, stop, &best, &at_light, &at_heavy);
        if (best < before && signs)
            find_signs(lists, choice, heavy->sums[at_heavy], light->sums[at_light], signs);
    }
    return best;
}
