/* Sorting for theta and its certificate. Relies on: nothing. */
#ifndef SS_MEASURE_THETA_SORT_H
#define SS_MEASURE_THETA_SORT_H

#include <stddef.h>
#include <stdint.h>

typedef struct ss_sort_item {
    uint64_t key; /* bits of a positive double: they order as the values do */
    uint64_t index;
} ss_sort_item;

/* Sort by key, largest first; equal keys keep their order. `spare` [count] is scratch. */
void ss_sort_descending(ss_sort_item *items, size_t count, ss_sort_item *spare);

/* Sort a few atoms, largest first. */
void ss_sort_few(float *atoms, size_t count);

#endif
