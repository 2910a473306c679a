/* The set of tensors behind every container. Relies on: formats/tensors_build.h. */
#include "formats/tensors_build.h"

#include <stdlib.h>
#include <string.h>

ss_status ss_tensors_create(const ss_allocator *memory, ss_tensors **tensors, ss_error *error) {
    ss_tensors *fresh = ss_alloc_zero(memory, 1, sizeof *fresh);
    if (!fresh) return ss_fail_memory(error, "tensors");
    fresh->memory = memory;
    fresh->arena = ss_arena_make(memory);
    *tensors = fresh;
    return SS_OK;
}

void ss_tensors_free(ss_tensors *tensors) {
    if (!tensors) return;
    for (size_t i = 0; i < tensors->map_count; i++) ss_map_close(&tensors->maps[i]);
    ss_free(tensors->memory, tensors->maps);
    ss_free(tensors->memory, tensors->views);
    ss_arena_free(&tensors->arena);
    ss_free(tensors->memory, tensors);
}

ss_status ss_tensors_map(ss_tensors *tensors, const char *path, ss_map *map, ss_error *error) {
    if (!ss_grow(tensors->memory, &tensors->maps, &tensors->map_capacity, tensors->map_count + 1,
                 sizeof *tensors->maps))
        return ss_fail_memory(error, path);
    SS_TRY(ss_map_open(path, map, error));
    tensors->maps[tensors->map_count++] = *map;
    return SS_OK;
}

ss_status ss_tensors_add(ss_tensors *tensors, const ss_tensor_view *view, ss_error *error) {
    if (!ss_grow(tensors->memory, &tensors->views, &tensors->capacity, tensors->count + 1,
                 sizeof *tensors->views))
        return ss_fail_memory(error, view->file);
    tensors->views[tensors->count++] = *view;
    return SS_OK;
}

int ss_views_by_data(const void *a, const void *b) {
    const ss_tensor_view *left = a, *right = b;
    uintptr_t x = (uintptr_t)left->data, y = (uintptr_t)right->data;
    if (x != y) return x < y ? -1 : 1;
    return (left->bytes > right->bytes) - (left->bytes < right->bytes);
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const ss_tensor_view *)a)->name, ((const ss_tensor_view *)b)->name);
}

ss_status ss_tensors_sort(ss_tensors *tensors, ss_error *error) {
    if (tensors->count) qsort(tensors->views, tensors->count, sizeof *tensors->views, by_name);
    for (size_t i = 1; i < tensors->count; i++) {
        const ss_tensor_view *view = &tensors->views[i];
        if (by_name(view, view - 1) == 0)
            return ss_fail(error, SS_E_FORMAT, view->file, "two tensors are named \"%s\"", view->name);
    }
    return SS_OK;
}

ss_status ss_tensors_hand_over(ss_tensors *filled, ss_status status, ss_tensors **tensors, ss_error *error) {
    if (!status) status = ss_tensors_sort(filled, error);
    if (status)
        ss_tensors_free(filled);
    else
        *tensors = filled;
    return status;
}

size_t ss_tensors_count(const ss_tensors *tensors) {
    return tensors->count;
}

const ss_tensor_view *ss_tensors_at(const ss_tensors *tensors, size_t index) {
    return &tensors->views[index];
}

const ss_tensor_view *ss_tensors_find(const ss_tensors *tensors, const char *name) {
    ss_tensor_view key = {.name = name};
    if (tensors->count == 0) return NULL;
    return bsearch(&key, tensors->views, tensors->count, sizeof key, by_name);
}

ss_status ss_tensors_get(const ss_tensors *tensors, const char *name, const ss_tensor_view **view,
                         ss_error *error) {
    const ss_tensor_view *found = ss_tensors_find(tensors, name);
    if (!found) return ss_fail(error, SS_E_FORMAT, name, "this tensor is missing");
    if (found->type == SS_TYPE_NONE)
        return ss_fail(error, SS_E_UNSUPPORTED, name,
                       "this tensor is stored as %s, which softscope does not read; convert the model to "
                       "F32, F16, BF16, Q8_0, Q4_0 or Q4_1",
                       found->type_name);
    *view = found;
    return SS_OK;
}

bool ss_shape_elements(unsigned dims, const size_t *shape, size_t *elements) {
    size_t product = 1;
    bool fits = true, empty = false;
    for (unsigned i = 0; i < dims; i++) {
        fits = ss_mul_size(product, shape[i], &product) && fits;
        empty = empty || shape[i] == 0;
    }
    if (!fits && !empty) return false;
    *elements = empty ? 0 : product;
    return true;
}

char *ss_shape_text(unsigned dims, const size_t *shape, char *text, size_t size) {
    size_t used = (size_t)snprintf(text, size, "[");
    for (unsigned i = 0; i < dims && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
    if (used < size) snprintf(text + used, size - used, "]");
    return text;
}
