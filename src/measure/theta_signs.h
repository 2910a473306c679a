/* Signs that bring a sum near zero: the last step of exact theta. Putting atoms x_i with half their mass on
 * each side of a cut is choosing signs with sum of s_i x_i = 0. Relies on: measure/theta_simd. */
#ifndef SS_MEASURE_THETA_SIGNS_H
#define SS_MEASURE_THETA_SIGNS_H

#include "math/isa.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SS_SIGNS_ITEMS = 128, /* most items of ss_signs_seek */
    SS_SIGNS_ALL = 18,    /* most items of ss_signs_all */
    SS_SIGNS_HALF = 13,   /* most items of a list of all signed sums */
    SS_SIGNS_LISTS = 2 * SS_SIGNS_HALF
};

/* Two lists of all signed sums, each ascending, and room to merge. Each begins at [1], after minus infinity,
 * and list a is followed by infinities. */
typedef struct ss_signs_lists {
    double a[1 + (1 << SS_SIGNS_HALF) + 16], b[1 + (1 << SS_SIGNS_HALF)];
    double scratch_a[1 + (1 << (SS_SIGNS_HALF - 1))], scratch_b[1 + (1 << (SS_SIGNS_HALF - 1))];
    double items[SS_SIGNS_LISTS];
    size_t count; /* items 0, 2, 4, ... are in list a, the others in b */
} ss_signs_lists;

/* List all signed sums of `items` [count], count <= SS_SIGNS_LISTS. */
void ss_signs_list(ss_signs_lists *lists, const double *items, size_t count);

/* The least abs(c + signed sum) if it is below `best`, else `best`; stops early once below `stop`.
 * `signs` [count], optional, is filled when it improves. c = 0 costs half. */
double ss_signs_nearest(ss_isa isa, const ss_signs_lists *lists, double c, double stop, double best,
                        int8_t *signs);

/* Look for signs with abs(sum) <= limit: largest differencing (Karmarkar and Karp 1982) while enough
 * combinations remain to expect a hit, then all combinations of what is left. Items [count] descend,
 * count <= SS_SIGNS_ITEMS. Returns the least abs(sum) seen, possibly infinite; `signs` optional. */
double ss_signs_seek(ss_isa isa, const double *items, size_t count, double limit, ss_signs_lists *lists,
                     int8_t *signs);

/* Try all signs of 6 to SS_SIGNS_ALL items for an abs(sum) <= limit; returns it, or infinity. As sums are
 * looked at sixteen at once and a hit ends it, the time depends on how dense hits are, not on the count. */
double ss_signs_all(ss_isa isa, const double *items, size_t count, double limit);

/* How many signed sums within +-limit of zero to expect of `count` items, from their variance. */
double ss_signs_expected(const double *items, size_t count, double limit);

#endif
