/* GGUF: header, metadata entries, tensor table. Relies on: formats/gguf_layout, formats/tensors_build. */
#include "formats/gguf.h"

#include "formats/gguf_layout.h"
#include "formats/tensors_build.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST_NAME = 65535,        /* of keys, by the format; taken for tensors too */
    DEEPEST_ARRAY = 4,           /* arrays of arrays are legal, but no writer nests them */
    LARGEST_ALIGNMENT = 1 << 20, /* more would only hide data */
    SMALLEST_ENTRY = 13,         /* bytes of a key: length, type, one byte of value */
    SMALLEST_TENSOR = 24         /* bytes of a tensor: name length, dims, type, offset */
};

/* A tensor type of the ggml project: names and block sizes of all, so that messages can say what a file
 * holds and overlaps are seen; `type` only where math/types converts it. */
typedef struct ggml_type {
    const char *name;
    uint16_t elements, bytes;
    ss_type type;
} ggml_type;

static const ggml_type ggml_types[] = {
    [0] = {"F32", 1, 4, SS_TYPE_F32},          [1] = {"F16", 1, 2, SS_TYPE_F16},
    [2] = {"Q4_0", 32, 18, SS_TYPE_Q4_0},      [3] = {"Q4_1", 32, 20, SS_TYPE_Q4_1},
    [6] = {"Q5_0", 32, 22, SS_TYPE_NONE},      [7] = {"Q5_1", 32, 24, SS_TYPE_NONE},
    [8] = {"Q8_0", 32, 34, SS_TYPE_Q8_0},      [9] = {"Q8_1", 32, 36, SS_TYPE_NONE},
    [10] = {"Q2_K", 256, 84, SS_TYPE_NONE},    [11] = {"Q3_K", 256, 110, SS_TYPE_NONE},
    [12] = {"Q4_K", 256, 144, SS_TYPE_NONE},   [13] = {"Q5_K", 256, 176, SS_TYPE_NONE},
    [14] = {"Q6_K", 256, 210, SS_TYPE_NONE},   [15] = {"Q8_K", 256, 292, SS_TYPE_NONE},
    [16] = {"IQ2_XXS", 256, 66, SS_TYPE_NONE}, [17] = {"IQ2_XS", 256, 74, SS_TYPE_NONE},
    [18] = {"IQ3_XXS", 256, 98, SS_TYPE_NONE}, [19] = {"IQ1_S", 256, 50, SS_TYPE_NONE},
    [20] = {"IQ4_NL", 32, 18, SS_TYPE_NONE},   [21] = {"IQ3_S", 256, 110, SS_TYPE_NONE},
    [22] = {"IQ2_S", 256, 82, SS_TYPE_NONE},   [23] = {"IQ4_XS", 256, 136, SS_TYPE_NONE},
    [24] = {"I8", 1, 1, SS_TYPE_I8},           [25] = {"I16", 1, 2, SS_TYPE_I16},
    [26] = {"I32", 1, 4, SS_TYPE_I32},         [27] = {"I64", 1, 8, SS_TYPE_I64},
    [28] = {"F64", 1, 8, SS_TYPE_F64},         [29] = {"IQ1_M", 256, 56, SS_TYPE_NONE},
    [30] = {"BF16", 1, 2, SS_TYPE_BF16},       [34] = {"TQ1_0", 256, 54, SS_TYPE_NONE},
    [35] = {"TQ2_0", 256, 66, SS_TYPE_NONE},   [39] = {"MXFP4", 32, 17, SS_TYPE_NONE},
};

/* ---- metadata -------------------------------------------------------------------------------- */

typedef struct kind_facts {
    const char *name;
    size_t bytes;
} kind_facts;

static const kind_facts kinds[] = {
#define KIND_FACTS(id, kind, name, bytes) [kind] = {name, bytes},
    GGUF_KIND_LIST(KIND_FACTS)
#undef KIND_FACTS
};

const char *ss_gguf_kind_name(gguf_kind kind) {
    return kinds[kind].name;
}

size_t ss_gguf_kind_bytes(gguf_kind kind) {
    return kinds[kind].bytes;
}

ss_status ss_gguf_take_string(ss_cursor *cursor, const char *what, ss_string_view *string, ss_error *error) {
    uint64_t length;
    const unsigned char *bytes;
    SS_TRY(ss_cursor_u64(cursor, what, &length, error));
    SS_TRY(ss_cursor_take(cursor, length, what, &bytes, error));
    *string = (ss_string_view){(const char *)bytes, (size_t)length};
    return SS_OK;
}

/* A key or tensor name, copied with a NUL at its end. */
static ss_status take_name(ss_gguf *gguf, ss_cursor *cursor, const char *what, const char **name,
                           ss_error *error) {
    ss_string_view view;
    size_t at = cursor->at;
    SS_TRY(ss_gguf_take_string(cursor, what, &view, error));
    if (view.length > LONGEST_NAME || memchr(view.bytes, '\0', view.length))
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, at,
                          "%s is longer than %d bytes or holds a zero byte", what, LONGEST_NAME);
    *name = ss_arena_copy(&gguf->arena, view.bytes, view.length);
    return *name ? SS_OK : ss_fail_memory(error, gguf->file);
}

static ss_status take_kind(ss_cursor *cursor, gguf_kind *kind, ss_error *error) {
    uint32_t id;
    size_t at = cursor->at;
    SS_TRY(ss_cursor_u32(cursor, "a metadata type", &id, error));
    if (id >= GGUF_KINDS)
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, at, "unknown metadata type %u", id);
    *kind = (gguf_kind)id;
    return SS_OK;
}

static ss_status skip_array(ss_cursor *cursor, int depth, gguf_kind *item, size_t *count, ss_error *error);

/* Walk over `count` items of a kind, checking each. */
static ss_status skip_items(ss_cursor *cursor, gguf_kind kind, uint64_t count, int depth, ss_error *error) {
    /* at least this much per item, so a hostile count is refused before the loop */
    size_t least = kind == GGUF_STRING ? 8 : kind == GGUF_ARRAY ? 12 : kinds[kind].bytes;
    if (count > ss_cursor_left(cursor) / least)
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, cursor->at,
                          "%" PRIu64 " items of type %s do not fit into the rest of the file", count,
                          kinds[kind].name);
    if (kinds[kind].bytes) {
        cursor->at += (size_t)count * kinds[kind].bytes;
        return SS_OK;
    }
    for (uint64_t i = 0; i < count; i++) {
        ss_string_view string;
        gguf_kind item;
        size_t items;
        SS_TRY(kind == GGUF_STRING ? ss_gguf_take_string(cursor, "a string", &string, error)
                                   : skip_array(cursor, depth, &item, &items, error));
    }
    return SS_OK;
}

static ss_status skip_array(ss_cursor *cursor, int depth, gguf_kind *item, size_t *count, ss_error *error) {
    uint64_t items;
    if (depth >= DEEPEST_ARRAY)
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, cursor->at, "arrays are nested deeper than %d",
                          DEEPEST_ARRAY);
    SS_TRY(take_kind(cursor, item, error));
    SS_TRY(ss_cursor_u64(cursor, "an array length", &items, error));
    SS_TRY(skip_items(cursor, *item, items, depth + 1, error));
    *count = (size_t)items;
    return SS_OK;
}

static ss_status read_entry(ss_gguf *gguf, ss_cursor *cursor, gguf_entry *entry, ss_error *error) {
    SS_TRY(take_name(gguf, cursor, "a metadata key", &entry->key, error));
    SS_TRY(take_kind(cursor, &entry->kind, error));
    size_t header = 0; /* bytes before the value proper */
    size_t begin = cursor->at;
    if (entry->kind == GGUF_ARRAY) {
        header = 12;
        SS_TRY(skip_array(cursor, 0, &entry->item, &entry->count, error));
    } else {
        header = entry->kind == GGUF_STRING ? 8 : 0;
        SS_TRY(skip_items(cursor, entry->kind, 1, 0, error));
    }
    entry->bytes = cursor->bytes + begin + header;
    entry->size = cursor->at - begin - header;
    return SS_OK;
}

static int by_key(const void *a, const void *b) {
    const gguf_entry *const *left = a, *const *right = b;
    return strcmp((*left)->key, (*right)->key);
}

static ss_status read_entries(ss_gguf *gguf, ss_cursor *cursor, uint64_t count, ss_error *error) {
    if (count > ss_cursor_left(cursor) / SMALLEST_ENTRY)
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, 16,
                          "%" PRIu64 " metadata keys do not fit into the file", count);
    gguf->entries = ss_arena_alloc(&gguf->arena, (size_t)count, sizeof *gguf->entries);
    gguf->by_key = ss_arena_alloc(&gguf->arena, (size_t)count, sizeof(const gguf_entry *));
    if (!gguf->entries || !gguf->by_key) return ss_fail_memory(error, gguf->file);
    for (; gguf->count < count; gguf->count++) {
        SS_TRY(read_entry(gguf, cursor, &gguf->entries[gguf->count], error));
        gguf->by_key[gguf->count] = &gguf->entries[gguf->count];
    }
    if (count) qsort(gguf->by_key, (size_t)count, sizeof(const gguf_entry *), by_key);
    for (size_t i = 1; i < count; i++)
        if (by_key(&gguf->by_key[i - 1], &gguf->by_key[i]) == 0)
            return ss_fail(error, SS_E_FORMAT, gguf->file, "the key \"%s\" occurs twice",
                           gguf->by_key[i]->key);
    return SS_OK;
}

/* ---- tensors --------------------------------------------------------------------------------- */

static ss_status read_alignment(const ss_gguf *gguf, size_t *alignment, ss_error *error) {
    uint64_t value = 32;
    SS_TRY(ss_gguf_u64(gguf, "general.alignment", SS_OPTIONAL, &value, error));
    if (value == 0 || value > LARGEST_ALIGNMENT || (value & (value - 1)) != 0)
        return ss_fail(error, SS_E_FORMAT, gguf->file,
                       "general.alignment is %" PRIu64 ", but must be a power of two up to %d", value,
                       LARGEST_ALIGNMENT);
    *alignment = (size_t)value;
    return SS_OK;
}

static ss_status take_shape(ss_cursor *cursor, ss_tensor_view *view, ss_error *error) {
    uint32_t dims;
    size_t at = cursor->at;
    SS_TRY(ss_cursor_u32(cursor, "a tensor's dimensions", &dims, error));
    if (dims > SS_MAX_DIMS)
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, at,
                          "tensor \"%s\" has %u dimensions, the most is %d", view->name, dims, SS_MAX_DIMS);
    view->dims = dims;
    for (unsigned i = 0; i < dims; i++) { /* the file has the fastest dimension first */
        uint64_t extent;
        SS_TRY(ss_cursor_u64(cursor, "a tensor's dimensions", &extent, error));
        view->shape[dims - 1 - i] = (size_t)extent;
    }
    if (!ss_shape_elements(dims, view->shape, &view->elements))
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, at,
                          "tensor \"%s\": the product of its shape overflows", view->name);
    return SS_OK;
}

static ss_status take_type(ss_gguf *gguf, ss_cursor *cursor, ss_tensor_view *view, ss_error *error) {
    uint32_t id;
    size_t at = cursor->at;
    SS_TRY(ss_cursor_u32(cursor, "a tensor's type", &id, error));
    const ggml_type *known = id < sizeof ggml_types / sizeof *ggml_types ? &ggml_types[id] : NULL;
    if (!known || !known->name) {
        char name[24];
        snprintf(name, sizeof name, "type %u", id);
        view->type_name = ss_arena_copy(&gguf->arena, name, strlen(name));
        return view->type_name ? SS_OK : ss_fail_memory(error, gguf->file);
    }
    view->type = known->type;
    view->type_name = known->name;
    size_t row = view->dims ? view->shape[view->dims - 1] : 1;
    if (row % known->elements != 0)
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, at,
                          "tensor \"%s\": rows of %zu are no whole number of %s blocks of %u", view->name,
                          row, known->name, known->elements);
    if (!ss_mul_size(view->elements / known->elements, known->bytes, &view->bytes))
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, at, "tensor \"%s\": its size overflows",
                          view->name);
    return SS_OK;
}

/* The data section is known only after the last tensor, so views hold offsets until place_data. */
static ss_status read_tensor(ss_gguf *gguf, ss_cursor *cursor, size_t alignment, uint64_t *offset,
                             ss_error *error) {
    ss_tensor_view view = {.file = gguf->file};
    SS_TRY(take_name(gguf, cursor, "a tensor name", &view.name, error));
    SS_TRY(take_shape(cursor, &view, error));
    SS_TRY(take_type(gguf, cursor, &view, error));
    size_t at = cursor->at;
    SS_TRY(ss_cursor_u64(cursor, "a tensor's offset", offset, error));
    if (*offset % alignment != 0)
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, at,
                          "tensor \"%s\": the offset %" PRIu64 " is no multiple of the alignment %zu",
                          view.name, *offset, alignment);
    return ss_tensors_add(gguf->tensors, &view, error);
}

static ss_status place_data(ss_gguf *gguf, ss_cursor *cursor, size_t alignment, const uint64_t *offsets,
                            ss_error *error) {
    size_t padding = (alignment - cursor->at % alignment) % alignment;
    if (gguf->tensors->count == 0) return SS_OK; /* a vocabulary alone may end without padding */
    const unsigned char *data;
    SS_TRY(ss_cursor_take(cursor, padding, "the padding before the tensors", &data, error));
    data += padding;
    size_t size = ss_cursor_left(cursor);
    for (size_t i = 0; i < gguf->tensors->count; i++) {
        ss_tensor_view *view = &gguf->tensors->views[i];
        if (view->bytes == 0) continue;
        if (offsets[i] > size || view->bytes > size - offsets[i])
            return ss_fail(error, SS_E_FORMAT, gguf->file,
                           "tensor \"%s\": its %zu bytes at offset %" PRIu64
                           " are not within the %zu bytes of data: is the file cut short?",
                           view->name, view->bytes, offsets[i], size);
        view->data = data + offsets[i];
    }
    return SS_OK;
}

static ss_status check_overlap(const ss_gguf *gguf, ss_error *error) {
    ss_tensor_view *views = gguf->tensors->views;
    size_t count = gguf->tensors->count;
    if (count) qsort(views, count, sizeof *views, ss_views_by_data);
    for (size_t i = 1; i < count; i++) {
        const unsigned char *previous = views[i - 1].data, *begin = views[i].data;
        if (previous && (size_t)(begin - previous) < views[i - 1].bytes)
            return ss_fail(error, SS_E_FORMAT, gguf->file, "tensors \"%s\" and \"%s\" overlap",
                           views[i - 1].name, views[i].name);
    }
    return SS_OK;
}

static ss_status read_tensors(ss_gguf *gguf, ss_cursor *cursor, uint64_t count, ss_error *error) {
    size_t alignment;
    SS_TRY(read_alignment(gguf, &alignment, error));
    if (count > ss_cursor_left(cursor) / SMALLEST_TENSOR)
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, 8, "%" PRIu64 " tensors do not fit into the file",
                          count);
    uint64_t *offsets = ss_arena_alloc(&gguf->arena, (size_t)count, sizeof *offsets);
    if (!offsets) return ss_fail_memory(error, gguf->file);
    for (size_t i = 0; i < count; i++) SS_TRY(read_tensor(gguf, cursor, alignment, &offsets[i], error));
    SS_TRY(place_data(gguf, cursor, alignment, offsets, error));
    SS_TRY(check_overlap(gguf, error));
    return ss_tensors_sort(gguf->tensors, error);
}

/* ---- the file -------------------------------------------------------------------------------- */

static ss_status check_version(const ss_gguf *gguf, uint32_t version, ss_error *error) {
    if (version == 2 || version == 3) return SS_OK;
    if (version != 0 && (version & 0xFFFF) == 0)
        return ss_fail_at(error, SS_E_UNSUPPORTED, gguf->file, 4,
                          "this is a big-endian GGUF file; softscope reads little-endian ones: convert it");
    return ss_fail_at(error, SS_E_UNSUPPORTED, gguf->file, 4,
                      "GGUF version %" PRIu32 "; softscope reads versions 2 and 3", version);
}

static ss_status read_file(ss_gguf *gguf, const void *bytes, size_t size, ss_error *error) {
    ss_cursor cursor = {.file = gguf->file, .bytes = bytes, .size = size};
    const unsigned char *magic;
    uint32_t version;
    uint64_t tensors, keys;
    SS_TRY(ss_cursor_take(&cursor, 4, "the mark of a GGUF file", &magic, error));
    if (memcmp(magic, "GGUF", 4) != 0)
        return ss_fail_at(error, SS_E_FORMAT, gguf->file, 0,
                          "this is no GGUF file: it does not start with GGUF");
    SS_TRY(ss_cursor_u32(&cursor, "the version", &version, error));
    SS_TRY(check_version(gguf, version, error));
    SS_TRY(ss_cursor_u64(&cursor, "the number of tensors", &tensors, error));
    SS_TRY(ss_cursor_u64(&cursor, "the number of metadata keys", &keys, error));
    SS_TRY(read_entries(gguf, &cursor, keys, error));
    return read_tensors(gguf, &cursor, tensors, error);
}

static ss_status create(const char *file, const ss_allocator *memory, ss_gguf **gguf, ss_error *error) {
    ss_gguf *fresh = ss_alloc_zero(memory, 1, sizeof *fresh);
    if (!fresh) return ss_fail_memory(error, file);
    fresh->memory = memory;
    fresh->arena = ss_arena_make(memory);
    fresh->file = ss_arena_copy(&fresh->arena, file, strlen(file));
    ss_status status =
        fresh->file ? ss_tensors_create(memory, &fresh->tensors, error) : ss_fail_memory(error, file);
    if (status)
        ss_gguf_free(fresh);
    else
        *gguf = fresh;
    return status;
}

static ss_status hand_over(ss_gguf *filled, ss_status status, ss_gguf **gguf) {
    if (status)
        ss_gguf_free(filled);
    else
        *gguf = filled;
    return status;
}

ss_status ss_gguf_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                        ss_gguf **gguf, ss_error *error) {
    ss_gguf *filling;
    SS_TRY(create(file, memory, &filling, error));
    return hand_over(filling, read_file(filling, bytes, size, error), gguf);
}

ss_status ss_gguf_open(const char *path, const ss_allocator *memory, ss_gguf **gguf, ss_error *error) {
    ss_gguf *filling;
    SS_TRY(create(path, memory, &filling, error));
    ss_status status = ss_map_open(path, &filling->map, error);
    if (!status) status = read_file(filling, filling->map.data, filling->map.size, error);
    return hand_over(filling, status, gguf);
}

void ss_gguf_free(ss_gguf *gguf) {
    if (!gguf) return;
    ss_tensors_free(gguf->tensors);
    ss_map_close(&gguf->map);
    ss_arena_free(&gguf->arena);
    ss_free(gguf->memory, gguf);
}
