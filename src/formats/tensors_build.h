/* How the containers of this room fill an ss_tensors. Relies on: base/arena, base/file. */
#ifndef SS_FORMATS_TENSORS_BUILD_H
#define SS_FORMATS_TENSORS_BUILD_H

#include "base/arena.h"
#include "base/file.h"
#include "formats/tensors.h"

struct ss_tensors {
    const ss_allocator *memory;
    ss_arena arena; /* names and paths */
    ss_map *maps;   /* [map_count] */
    size_t map_count, map_capacity;
    ss_tensor_view *views; /* [count] */
    size_t count, capacity;
};

/* An empty set. */
ss_status ss_tensors_create(const ss_allocator *memory, ss_tensors **tensors, ss_error *error);

/* Map a file for as long as the set lives. */
ss_status ss_tensors_map(ss_tensors *tensors, const char *path, ss_map *map, ss_error *error);

/* Append a view whose pointers live as long as the set. */
ss_status ss_tensors_add(ss_tensors *tensors, const ss_tensor_view *view, ss_error *error);

/* Sort by name, so that names can be found; SS_E_FORMAT names one that occurs twice. */
ss_status ss_tensors_sort(ss_tensors *tensors, ss_error *error);

/* The end of every open function: with `status` SS_OK sort `filled` and hand it over, otherwise free it. */
ss_status ss_tensors_hand_over(ss_tensors *filled, ss_status status, ss_tensors **tensors, ss_error *error);

/* Check one safetensors file in memory and append its tensors; `file` is copied. */
ss_status ss_safetensors_add(ss_tensors *tensors, const char *file, const void *bytes, size_t size,
                             ss_error *error);

/* elements = product of the shape; false on overflow. The product of no dimensions is 1. */
bool ss_shape_elements(unsigned dims, const size_t *shape, size_t *elements);

/* qsort's comparison of two views by the place of their data, empty ones first at the same place */
int ss_views_by_data(const void *a, const void *b);

#endif
