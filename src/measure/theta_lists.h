/* All signed sums of a few items, as two sorted lists: the exact end of exact theta. Horowitz and Sahni
 * (1974) split the items in halves; here the heaviest and the lightest ones are listed, and sums of the
 * heaviest that the others cannot bring back to zero are dropped on the way. Relies on: measure/theta_simd.
 */
#ifndef SS_MEASURE_THETA_LISTS_H
#define SS_MEASURE_THETA_LISTS_H

#include "measure/theta_simd.h"

enum {
    SS_LISTS_HALF = 12,                                 /* a list has room for all sums of so many items */
    SS_LISTS_OPEN = 3,                                  /* items left out of the lists */
    SS_LISTS_ITEMS = 2 * SS_LISTS_HALF + SS_LISTS_OPEN, /* any so many items leave no more open */
    SS_LISTS_DEEPEST = 2048,                            /* items whose signs may be asked for */
    SS_LISTS_ROOM = (1 << SS_LISTS_HALF) + 2 * SS_THETA_PAD
};

/* Signed sums, ascending, symmetric about 0. Minus infinities come before them, infinities may follow. */
typedef struct ss_sums {
    double room[2][SS_LISTS_ROOM]; /* from one to the other and back, an item a time */
    double *sums;                  /* [count], in one of the rooms */
    size_t count, items;
} ss_sums;

/* Items 0 to heavy.items - 1 are in one list, the last light.items in the other, and the `open` items between
 * them in neither: to go through the lists once for each choice of their signs costs less than to list their
 * sums. */
typedef struct ss_lists {
    ss_sums heavy, light;
    const double *items;
    size_t count, open;
    double light_total; /* of the items in the light list */
} ss_lists;

/* List signed sums of items [count], which descend and stay where they are: all that can be part of a sum
 * within +-reach of zero. Lists grow while there is room; SS_LISTS_OPEN items are left open, of more than
 * SS_LISTS_ITEMS perhaps more. */
void ss_lists_make(ss_lists *lists, const double *items, size_t count, double reach);

/* The least abs(c + signed sum) if it is below `best`, else `best`; stops early once it is at most `stop`.
 * The lists must reach as far as abs(c) + best. `signs` [count], optional, is filled when it improves. Goes
 * through the lists 2^open times, half as often for c = 0. The search for signs is as deep as a list has
 * items: of no more than SS_LISTS_DEEPEST. */
double ss_lists_nearest(ss_isa isa, const ss_lists *lists, double c, double stop, double best, int8_t *signs);

#endif
