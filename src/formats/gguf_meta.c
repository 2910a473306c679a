/* Typed access to GGUF metadata. Relies on: formats/gguf_layout. */
#include "formats/gguf_layout.h"

#include <stdlib.h>
#include <string.h>

const ss_tensors *ss_gguf_tensors(const ss_gguf *gguf) {
    return gguf->tensors;
}

const char *ss_gguf_file(const ss_gguf *gguf) {
    return gguf->file;
}

size_t ss_gguf_key_count(const ss_gguf *gguf) {
    return gguf->count;
}

const char *ss_gguf_key(const ss_gguf *gguf, size_t index) {
    return gguf->entries[index].key;
}

static int key_to_entry(const void *key, const void *entry) {
    return strcmp(key, (*(const gguf_entry *const *)entry)->key);
}

const gguf_entry *ss_gguf_find(const ss_gguf *gguf, const char *key) {
    if (gguf->count == 0) return NULL;
    const gguf_entry *const *found =
        bsearch(key, gguf->by_key, gguf->count, sizeof(const gguf_entry *), key_to_entry);
    return found ? *found : NULL;
}

bool ss_gguf_has(const ss_gguf *gguf, const char *key) {
    return ss_gguf_find(gguf, key) != NULL;
}

/* *entry = NULL where an optional key is absent. */
static ss_status look_up(const ss_gguf *gguf, const char *key, ss_need need, const gguf_entry **entry,
                         ss_error *error) {
    *entry = ss_gguf_find(gguf, key);
    if (!*entry && need == SS_REQUIRED)
        return ss_fail(error, SS_E_FORMAT, gguf->file, "the metadata key \"%s\" is missing", key);
    return SS_OK;
}

static ss_status fail_kind(ss_error *error, const ss_gguf *gguf, const gguf_entry *entry,
                           const char *wanted) {
    bool is_array = entry->kind == GGUF_ARRAY;
    return ss_fail(error, SS_E_FORMAT, gguf->file, "the metadata key \"%s\" must be %s, but is %s%s",
                   entry->key, wanted, is_array ? "an array of " : "",
                   ss_gguf_kind_name(is_array ? entry->item : entry->kind));
}

static bool is_number(gguf_kind kind) {
    return kind != GGUF_STRING && kind != GGUF_ARRAY && kind != GGUF_BOOL;
}

static bool is_integer(gguf_kind kind) {
    return is_number(kind) && kind != GGUF_F32 && kind != GGUF_F64;
}

/* X(kind, C type): how numbers and booleans lie in the file */
#define NUMBER_LIST(X)                                                                                       \
    X(GGUF_U8, uint8_t)                                                                                      \
    X(GGUF_I8, int8_t)                                                                                       \
    X(GGUF_U16, uint16_t)                                                                                    \
    X(GGUF_I16, int16_t)                                                                                     \
    X(GGUF_U32, uint32_t)                                                                                    \
    X(GGUF_I32, int32_t)                                                                                     \
    X(GGUF_F32, float)                                                                                       \
    X(GGUF_BOOL, uint8_t)                                                                                    \
    X(GGUF_U64, uint64_t)                                                                                    \
    X(GGUF_I64, int64_t)                                                                                     \
    X(GGUF_F64, double)

static double number_at(gguf_kind kind, const unsigned char *bytes) {
    switch (kind) {
#define NUMBER_AT(kind_, stored)                                                                             \
    case kind_: {                                                                                            \
        stored value;                                                                                        \
        memcpy(&value, bytes, sizeof value);                                                                 \
        return (double)value;                                                                                \
    }
        NUMBER_LIST(NUMBER_AT)
#undef NUMBER_AT
    default:
        return 0;
    }
}

/* false for a negative value */
static bool integer_at(gguf_kind kind, const unsigned char *bytes, uint64_t *value) {
    bool negative = number_at(kind, bytes) < 0;
    *value = 0;
    memcpy(value, bytes, ss_gguf_kind_bytes(kind)); /* little-endian: the low bytes come first */
    return !negative;
}

ss_status ss_gguf_u64(const ss_gguf *gguf, const char *key, ss_need need, uint64_t *value, ss_error *error) {
    const gguf_entry *entry;
    uint64_t found;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (!entry) return SS_OK;
    if (!is_integer(entry->kind)) return fail_kind(error, gguf, entry, "an integer");
    if (!integer_at(entry->kind, entry->bytes, &found))
        return ss_fail(error, SS_E_FORMAT, gguf->file, "the metadata key \"%s\" is negative", key);
    *value = found;
    return SS_OK;
}

ss_status ss_gguf_f64(const ss_gguf *gguf, const char *key, ss_need need, double *value, ss_error *error) {
    const gguf_entry *entry;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (entry && !is_number(entry->kind)) return fail_kind(error, gguf, entry, "a number");
    if (entry) *value = number_at(entry->kind, entry->bytes);
    return SS_OK;
}

ss_status ss_gguf_bool(const ss_gguf *gguf, const char *key, ss_need need, bool *value, ss_error *error) {
    const gguf_entry *entry;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (entry && entry->kind != GGUF_BOOL) return fail_kind(error, gguf, entry, "a bool");
    if (entry) *value = entry->bytes[0] != 0;
    return SS_OK;
}

ss_status ss_gguf_string(const ss_gguf *gguf, const char *key, ss_need need, ss_string_view *value,
                         ss_error *error) {
    const gguf_entry *entry;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (entry && entry->kind != GGUF_STRING) return fail_kind(error, gguf, entry, "a string");
    if (entry) *value = (ss_string_view){(const char *)entry->bytes, entry->size};
    return SS_OK;
}

ss_status ss_gguf_strings(const ss_gguf *gguf, const char *key, ss_need need, const ss_allocator *memory,
                          ss_string_view **items, size_t *count, ss_error *error) {
    const gguf_entry *entry;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (!entry) return SS_OK;
    if (entry->kind != GGUF_ARRAY || entry->item != GGUF_STRING)
        return fail_kind(error, gguf, entry, "an array of strings");
    ss_string_view *strings = ss_alloc(memory, entry->count, sizeof *strings);
    if (!strings) return ss_fail_memory(error, key);
    ss_cursor cursor = {.file = gguf->file, .bytes = entry->bytes, .size = entry->size};
    for (size_t i = 0; i < entry->count; i++) {
        ss_status status = ss_gguf_take_string(&cursor, "a string", &strings[i], error);
        if (status) { /* cannot happen: checked when the file was opened */
            ss_free(memory, strings);
            return status;
        }
    }
    *items = strings;
    *count = entry->count;
    return SS_OK;
}

ss_status ss_gguf_numbers(const ss_gguf *gguf, const char *key, ss_need need, const ss_allocator *memory,
                          double **items, size_t *count, ss_error *error) {
    const gguf_entry *entry;
    SS_TRY(look_up(gguf, key, need, &entry, error));
    if (!entry) return SS_OK;
    size_t size = entry->kind == GGUF_ARRAY ? ss_gguf_kind_bytes(entry->item) : 0;
    if (size == 0) return fail_kind(error, gguf, entry, "an array of numbers");
    double *numbers = ss_alloc(memory, entry->count, sizeof *numbers);
    if (!numbers) return ss_fail_memory(error, key);
    for (size_t i = 0; i < entry->count; i++) numbers[i] = number_at(entry->item, entry->bytes + i * size);
    *items = numbers;
    *count = entry->count;
    return SS_OK;
}
