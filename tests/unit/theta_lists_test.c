/* Signed sums, the parts exact theta is made of: lists, meetings and the sort, against plain twins that try
 * everything, at every instruction set level. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "measure/theta_lists.h"
#include "measure/theta_signs.h"
#include "measure/theta_sort.h"
#include "support/row_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ss_lists lists;

/* ---- items ------------------------------------------------------------------------------------------ */

typedef double item_maker(ref_random *random, size_t k);
static double even(ref_random *r, size_t k) {
    (void)k;
    return ref_uniform(r);
}
static double wide(ref_random *r, size_t k) {
    (void)k;
    return exp(3 * ref_normal(r));
}
static double falling(ref_random *r, size_t k) {
    return pow(0.7, (double)k) * (1 + 0.1 * ref_uniform(r));
}
static double few_values(ref_random *r, size_t k) {
    (void)k;
    return (double)(1 + ref_bits(r) % 4);
}
static double nearly_outweighed(ref_random *r, size_t k) {
    return k == 0 ? 8 : ref_uniform(r);
}
static item_maker *const makers[] = {even, wide, falling, few_values, nearly_outweighed};
enum { MAKERS = sizeof makers / sizeof *makers, MOST = 64 };

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static int descending(const void *a, const void *b) {
    return ascending(b, a);
}

static double make_items(item_maker *maker, ref_random *random, size_t count, double *items) {
    double total = 0;
    for (size_t k = 0; k < count; k++) total += items[k] = maker(random, k);
    qsort(items, count, sizeof *items, descending);
    return total;
}

static double signed_sum(const double *items, size_t count, const int8_t *signs) {
    double sum = 0;
    for (size_t k = 0; k < count; k++) {
        assert_true(signs[k] == 1 || signs[k] == -1);
        sum += signs[k] * items[k];
    }
    return sum;
}

/* ---- lists ------------------------------------------------------------------------------------------ */

static double least_of_all(const double *items, size_t count, double c) {
    double least = INFINITY;
    for (size_t choice = 0; choice < (size_t)1 << count; choice++) {
        double sum = c;
        for (size_t k = 0; k < count; k++) sum += choice >> k & 1 ? items[k] : -items[k];
        least = fmin(least, fabs(sum));
    }
    return least;
}

static void lists_have_the_least_of_all_sums(void **state) {
    (void)state;
    ref_random random = {1};
    for (size_t count = 0; count <= 14; count++)
        for (size_t row = 0; row < 6 * MAKERS; row++) {
            double items[MOST], total = make_items(makers[row % MAKERS], &random, count, items);
            double c = row % 2 ? total * (2 * ref_uniform(&random) - 1) : 0;
            double truth = least_of_all(items, count, c);
            for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
                int8_t signs[MOST];
                /* a reach that drops what it may; it must cover c and what is looked for */
                double best = row % 3 ? INFINITY : truth + 1e-3 * total;
                ss_lists_make(&lists, items, count, fabs(c) + best);
                double least = ss_lists_nearest(isa, &lists, c, 0, best, signs);
                assert_true(fabs(least - truth) <= 1e-14 * total);
                if (least < best)
                    assert_true(fabs(fabs(c + signed_sum(items, count, signs)) - least) <= 1e-14 * total);
            }
        }
}

/* More items than halves would have room for: the heavy ones leave few sums that the others can make up for.
 */
static void lists_drop_what_is_out_of_reach(void **state) {
    (void)state;
    ref_random random = {2};
    for (size_t row = 0; row < 3; row++) {
        double items[MOST], total = make_items(falling, &random, 32, items);
        int8_t signs[MOST];
        ss_lists_make(&lists, items, 32, 1e-4 * total);
        assert_true(lists.open == SS_LISTS_OPEN && lists.heavy.items > SS_LISTS_HALF + 2);
        double least = ss_lists_nearest(ss_isa_best(), &lists, 0, 0, 1e-4 * total, signs);
        assert_true(fabs(least - 2 * ref_gap_two_lists(items, 32)) <= 1e-14 * total);
        assert_true(fabs(fabs(signed_sum(items, 32, signs)) - least) <= 1e-14 * total);
    }
}

/* Items that are tiny beside the first, far below the rounding of their sum: their signs are found without
 * trying them all, which would take years. */
static void signs_of_tiny_items_are_found(void **state) {
    (void)state;
    enum { COUNT = 120 };
    double items[COUNT];
    int8_t signs[COUNT];
    for (int k = 0; k < COUNT; k++) items[k] = ldexp(1, -k);
    const double reach = 4 * items[COUNT - 1];
    ss_lists_make(&lists, items, COUNT, reach);
    assert_true(lists.open == SS_LISTS_OPEN && lists.heavy.items > COUNT / 2);
    double least = ss_lists_nearest(ss_isa_best(), &lists, 0, 0, reach, signs);
    assert_true(least < reach && fabs(signed_sum(items, COUNT, signs)) == least);
}

static void full_lists_leave_items_open(void **state) {
    (void)state;
    ref_random random = {3};
    double items[MOST], total = make_items(even, &random, 30, items);
    int8_t signs[MOST];
    ss_lists_make(&lists, items, 30, total);
    assert_true(lists.open > SS_LISTS_OPEN);
    double least = ss_lists_nearest(ss_isa_best(), &lists, 0, 1e-7 * total, INFINITY, signs);
    assert_true(least <= 1e-7 * total);
    assert_true(fabs(fabs(signed_sum(items, 30, signs)) - least) <= 1e-14 * total);
}

/* ---- kernels ---------------------------------------------------------------------------------------- */

static void the_nearest_pair_is_found(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 7, 8, 9, 16, 17, 33, 100};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    ref_random random = {4};
    for (size_t row = 0; row < 40 * SIZES * SIZES; row++) {
        size_t count = sizes[row % SIZES], end = sizes[row / SIZES % SIZES], begin = ref_bits(&random) % end;
        double room_a[100 + SS_THETA_PAD], room_b[100 + SS_THETA_PAD], *a = room_a,
                                                                       *b = room_b + SS_THETA_PAD;
        for (size_t k = 0; k < SS_THETA_PAD; k++) a[count + k] = INFINITY, b[-1 - (ptrdiff_t)k] = -INFINITY;
        for (size_t k = 0; k < count; k++) a[k] = ref_normal(&random);
        for (size_t k = 0; k < end; k++) b[k] = 3 * ref_normal(&random);
        qsort(a, count, sizeof *a, ascending), qsort(b, end, sizeof *b, ascending);
        double c = ref_normal(&random), truth = INFINITY;
        for (size_t i = 0; i < count; i++)
            for (size_t j = begin; j < end; j++) truth = fmin(truth, fabs(a[i] + b[j] - c));
        for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++) {
            double best = INFINITY;
            size_t at_a = 0, at_b = 0;
            SS_PICK_LEVEL(isa, ss_theta_nearest)(a, count, b, begin, end, c, 0, &best, &at_a, &at_b);
            assert_true(at_a < count && at_b < end);
            assert_true(fabs(best - fabs(a[at_a] + b[at_b] - c)) <= 1e-14);
            assert_true(best <= truth + 1e-14); /* a pair before `begin` may be nearer */
            best = 0.5 * truth, at_a = 1000;
            SS_PICK_LEVEL(isa, ss_theta_nearest)(a, count, b, begin, end, c, 0, &best, &at_a, &at_b);
            assert_true(begin > 0 || (at_a == 1000 && best == 0.5 * truth));
        }
    }
}

static void a_meeting_is_seen_at_every_level(void **state) {
    (void)state;
    enum { SLOTS = 64, LIMIT = 15 };
    ref_random random = {5};
    size_t seen = 0;
    for (size_t row = 0; row < 2000; row++) {
        uint32_t slots[SLOTS], base[SS_THETA_LOOKUPS], from = (uint32_t)ref_bits(&random);
        bool expected = false;
        for (size_t k = 0; k < SS_THETA_LOOKUPS; k++) base[k] = (uint32_t)ref_bits(&random);
        for (size_t k = 0; k < SLOTS; k++) slots[k] = (uint32_t)ref_bits(&random);
        if (row % 2) { /* a value next to one of those looked for, just within the limit or just out of it */
            uint32_t value = from - base[row % SS_THETA_LOOKUPS];
            slots[value >> SS_THETA_SLOT & (SLOTS - 1)] = value + (row % 4 == 1 ? LIMIT + 15 : LIMIT - 16);
        }
        for (size_t k = 0; k < SS_THETA_LOOKUPS; k++) {
            uint32_t value = from - base[k];
            int32_t off = (int32_t)(slots[value >> SS_THETA_SLOT & (SLOTS - 1)] - LIMIT - value);
            expected |= off >= -LIMIT && off <= LIMIT;
        }
        seen += expected;
        for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)
            assert_int_equal(SS_PICK_LEVEL(isa, ss_theta_meet)(slots, SLOTS - 1, base, from, LIMIT),
                             expected);
    }
    assert_true(seen >= 400);
}

/* ---- signs ------------------------------------------------------------------------------------------ */

/* Rows of forty atoms have thousands of hits each; a search expects a few in what it looks at. */
static void sought_signs_add_up_to_a_hit(void **state) {
    (void)state;
    ref_random random = {6};
    size_t hits = 0, rows = 120;
    for (size_t row = 0; row < rows; row++) {
        size_t count = 34 + row % 30;
        double items[MOST], total = make_items(even, &random, count, items), limit = 0x1p-27 * total;
        ss_isa isa = (ss_isa)(row % ((size_t)ss_isa_best() + 1));
        int8_t signs[MOST];
        double reached = ss_signs_seek(isa, items, count, limit, &lists, signs);
        assert_true(reached == ss_signs_seek(isa, items, count, limit, &lists, NULL));
        if (reached == INFINITY) continue;
        assert_true(reached <= limit);
        assert_true(fabs(fabs(signed_sum(items, count, signs)) - reached) <= 1e-14 * total);
        hits++;
    }
    assert_true(hits >= rows * 9 / 10);
}

/* ---- sort ------------------------------------------------------------------------------------------- */

static void items_descend_and_equal_ones_stay(void **state) {
    (void)state;
    enum { LONGEST = 600 };
    ref_random random = {7};
    for (size_t count = 0; count < LONGEST; count += 1 + count / 8)
        for (size_t k = 0; k < MAKERS; k++) {
            ss_sort_item items[LONGEST], spare[LONGEST];
            bool seen[LONGEST] = {false};
            for (size_t i = 0; i < count; i++) {
                double value = (float)makers[k](&random, i);
                memcpy(&items[i].key, &value, sizeof value);
                items[i].index = i;
            }
            ss_sort_descending(items, count, spare);
            for (size_t i = 0; i < count; i++) {
                assert_false(seen[items[i].index]);
                seen[items[i].index] = true;
                if (i == 0) continue;
                assert_true(items[i - 1].key >= items[i].key);
                if (items[i - 1].key == items[i].key) assert_true(items[i - 1].index < items[i].index);
            }
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_have_the_least_of_all_sums),
        cmocka_unit_test(lists_drop_what_is_out_of_reach),
        cmocka_unit_test(signs_of_tiny_items_are_found),
        cmocka_unit_test(full_lists_leave_items_open),
        cmocka_unit_test(the_nearest_pair_is_found),
        cmocka_unit_test(a_meeting_is_seen_at_every_level),
        cmocka_unit_test(sought_signs_add_up_to_a_hit),
        cmocka_unit_test(items_descend_and_equal_ones_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
