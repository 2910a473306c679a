/* One safetensors file: header, ranges, coverage. Relies on: formats/json, formats/tensors_build. */
#include "formats/safetensors.h"

#include "formats/cursor.h"
#include "formats/json.h"
#include "formats/tensors_build.h"

#include <stdlib.h>

/* One file being read: its data section is [data, data + data_size). */
typedef struct source {
    const char *file;
    const unsigned char *data;
    size_t data_size;
} source;

static ss_status fail_tensor(ss_error *error, const source *s, const char *name, const char *what) {
    return ss_fail(error, SS_E_FORMAT, s->file, "tensor \"%s\": %s", name, what);
}

static ss_status read_header(ss_cursor *cursor, json_t **header, ss_error *error) {
    uint64_t length;
    SS_TRY(ss_cursor_u64(cursor, "the header length of a safetensors file", &length, error));
    if (length > ss_cursor_left(cursor))
        return ss_fail_at(
            error, SS_E_FORMAT, cursor->file, 0,
            "the header is said to have %llu bytes, but %zu follow: cut short, or no safetensors file",
            (unsigned long long)length, ss_cursor_left(cursor));
    const unsigned char *text;
    SS_TRY(ss_cursor_take(cursor, length, "the header", &text, error));
    if (length == 0 || text[0] != '{')
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, 8, "the header is no JSON object");
    char name[256];
    snprintf(name, sizeof name, "header of %s", cursor->file);
    return ss_json_parse(name, text, (size_t)length, SS_JSON_LIMIT, header, error);
}

static ss_status check_metadata(const source *s, json_t *metadata, ss_error *error) {
    const char *key;
    json_t *value;
    if (!json_is_object(metadata))
        return ss_fail(error, SS_E_FORMAT, s->file, "__metadata__ must be an object of strings");
    json_object_foreach(metadata, key, value) {
        if (!json_is_string(value))
            return ss_fail(error, SS_E_FORMAT, s->file, "__metadata__ \"%s\" must be a string", key);
    }
    return SS_OK;
}

static ss_status read_shape(const source *s, const char *name, const json_t *shape, ss_tensor_view *view,
                            ss_error *error) {
    if (!json_is_array(shape)) return fail_tensor(error, s, name, "shape must be an array");
    if (json_array_size(shape) > SS_MAX_DIMS)
        return ss_fail(error, SS_E_UNSUPPORTED, s->file,
                       "tensor \"%s\" has %zu dimensions, the most read is %d", name, json_array_size(shape),
                       SS_MAX_DIMS);
    view->dims = (unsigned)json_array_size(shape);
    for (unsigned i = 0; i < view->dims; i++)
        if (!ss_json_as_size(json_array_get(shape, i), &view->shape[i]))
            return fail_tensor(error, s, name, "a dimension is no whole number");
    if (!ss_shape_elements(view->dims, view->shape, &view->elements))
        return fail_tensor(error, s, name, "the product of the shape overflows");
    return SS_OK;
}

static ss_status read_range(const source *s, const char *name, const json_t *offsets, ss_tensor_view *view,
                            ss_error *error) {
    size_t begin, end;
    if (json_array_size(offsets) != 2 || !ss_json_as_size(json_array_get(offsets, 0), &begin) ||
        !ss_json_as_size(json_array_get(offsets, 1), &end))
        return fail_tensor(error, s, name, "data_offsets must be two whole numbers");
    if (begin > end || end > s->data_size)
        return ss_fail(error, SS_E_FORMAT, s->file,
                       "tensor \"%s\": data_offsets [%zu, %zu] are not within the %zu bytes of data", name,
                       begin, end, s->data_size);
    view->data = s->data + begin;
    view->bytes = end - begin;
    return SS_OK;
}

/* The dtypes are this library's own names, but for its quantised types, which safetensors does not have. */
static ss_type type_of(const char *dtype) {
    ss_type type = ss_type_named(dtype);
    return ss_type_block_elements(type) == 1 ? type : SS_TYPE_NONE;
}

static ss_status check_bytes(const source *s, const ss_tensor_view *view, ss_error *error) {
    char shape[128];
    size_t bytes = 0;
    if (view->type == SS_TYPE_NONE) return SS_OK;
    if (!ss_type_bytes(view->type, view->elements, &bytes))
        return fail_tensor(error, s, view->name, "its size overflows");
    if (bytes == view->bytes) return SS_OK;
    return ss_fail(error, SS_E_FORMAT, s->file,
                   "tensor \"%s\": %s of %s takes %zu bytes, data_offsets give %zu", view->name,
                   ss_shape_text(view->dims, view->shape, shape, sizeof shape), view->type_name, bytes,
                   view->bytes);
}

static ss_status read_tensor(ss_tensors *tensors, const source *s, const char *name, json_t *entry,
                             ss_error *error) {
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    if (!dtype) return fail_tensor(error, s, name, "no dtype");
    ss_tensor_view view = {.name = ss_arena_copy(&tensors->arena, name, strlen(name)),
                           .type_name = ss_arena_copy(&tensors->arena, dtype, strlen(dtype)),
                           .type = type_of(dtype),
                           .file = s->file};
    if (!view.name || !view.type_name) return ss_fail_memory(error, s->file);
    SS_TRY(read_shape(s, name, json_object_get(entry, "shape"), &view, error));
    SS_TRY(read_range(s, name, json_object_get(entry, "data_offsets"), &view, error));
    SS_TRY(check_bytes(s, &view, error));
    return ss_tensors_add(tensors, &view, error);
}

/* The ranges of one file's views must tile its data: no hole, no overlap, nothing left over. */
static ss_status check_coverage(const source *s, ss_tensor_view *views, size_t count, ss_error *error) {
    const unsigned char *expected = s->data;
    if (count) qsort(views, count, sizeof *views, ss_views_by_data);
    for (size_t i = 0; i < count; i++) {
        const unsigned char *begin = views[i].data;
        if (begin != expected)
            return ss_fail(error, SS_E_FORMAT, s->file, "tensor \"%s\": its data %s the tensor before it",
                           views[i].name, begin < expected ? "overlap" : "leave a hole after");
        expected = begin + views[i].bytes;
        if (views[i].bytes == 0) views[i].data = NULL;
    }
    size_t covered = (size_t)(expected - s->data);
    if (covered != s->data_size)
        return ss_fail(error, SS_E_FORMAT, s->file, "the tensors cover %zu of the %zu bytes of data", covered,
                       s->data_size);
    return SS_OK;
}

ss_status ss_safetensors_add(ss_tensors *tensors, const char *file, const void *bytes, size_t size,
                             ss_error *error) {
    ss_cursor cursor = {.file = file, .bytes = bytes, .size = size};
    json_t *header, *entry;
    const char *name;
    SS_TRY(read_header(&cursor, &header, error));
    source s = {.data = cursor.bytes + cursor.at, .data_size = ss_cursor_left(&cursor)};
    s.file = ss_arena_copy(&tensors->arena, file, strlen(file));
    size_t first = tensors->count;
    ss_status status = s.file ? SS_OK : ss_fail_memory(error, file);
    json_object_foreach(header, name, entry) {
        if (status) break;
        status = strcmp(name, "__metadata__") == 0 ? check_metadata(&s, entry, error)
                                                   : read_tensor(tensors, &s, name, entry, error);
    }
    json_decref(header);
    SS_TRY(status);
    size_t added = tensors->count - first;
    return check_coverage(&s, added ? tensors->views + first : NULL, added, error);
}

ss_status ss_safetensors_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                               ss_tensors **tensors, ss_error *error) {
    ss_tensors *filling;
    SS_TRY(ss_tensors_create(memory, &filling, error));
    return ss_tensors_hand_over(filling, ss_safetensors_add(filling, file, bytes, size, error), tensors,
                                error);
}

ss_status ss_safetensors_open(const char *path, const ss_allocator *memory, ss_tensors **tensors,
                              ss_error *error) {
    ss_tensors *filling;
    ss_map map;
    SS_TRY(ss_tensors_create(memory, &filling, error));
    ss_status status = ss_tensors_map(filling, path, &map, error);
    if (!status) status = ss_safetensors_add(filling, path, map.data, map.size, error);
    return ss_tensors_hand_over(filling, status, tensors, error);
}
