/* Signs that bring a sum near zero: the last step of exact theta. Putting atoms x_i with half their mass on
 * each side of a cut is choosing signs with sum of s_i x_i = 0. Relies on: measure/theta_simd. */
#ifndef SS_MEASURE_THETA_SIGNS_H
#define SS_MEASURE_THETA_SIGNS_H

#include "math/isa.h"
#include "measure/theta_lists.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SS_SIGNS_ITEMS = 128, /* most items of ss_signs_seek */
    SS_SIGNS_ALL = 18     /* most items of ss_signs_all */
};

/* Look for signs with abs(sum) <= limit: largest differencing (Karmarkar and Karp 1982) while enough
 * combinations remain to expect a hit, then combinations of what is left, up to the first hit. Items [count]
 * descend, count <= SS_SIGNS_ITEMS. Returns the least abs(sum) seen, possibly infinite; `signs` optional. */
double ss_signs_seek(ss_isa isa, const double *items, size_t count, double limit, ss_lists *lists,
                     int8_t *signs);

/* Try all signs of 6 to SS_SIGNS_ALL items for an abs(sum) <= limit; returns it, or infinity. As sums are
 * looked at sixteen at once and a hit ends it, the time depends on how dense hits are, not on the count. */
double ss_signs_all(ss_isa isa, const double *items, size_t count, double limit);

/* How many signed sums within +-limit of zero to expect: the largest item's sign is given, and the others are
 * to make up for it with a normal sum. An item that outweighs most of the others has few. */
double ss_signs_expected(const double *items, size_t count, double limit);

#endif
