/* What ss_gguf_parse leaves for the metadata functions. Relies on: formats/gguf.h, formats/cursor.h. */
#ifndef SS_FORMATS_GGUF_LAYOUT_H
#define SS_FORMATS_GGUF_LAYOUT_H

#include "base/arena.h"
#include "base/file.h"
#include "formats/cursor.h"
#include "formats/gguf.h"

/* X(id in the file, enumerator, name, bytes of a fixed-size value or 0): the types of metadata values */
#define GGUF_KIND_LIST(X)                                                                                    \
    X(0, GGUF_U8, "u8", 1)                                                                                   \
    X(1, GGUF_I8, "i8", 1)                                                                                   \
    X(2, GGUF_U16, "u16", 2)                                                                                 \
    X(3, GGUF_I16, "i16", 2)                                                                                 \
    X(4, GGUF_U32, "u32", 4)                                                                                 \
    X(5, GGUF_I32, "i32", 4)                                                                                 \
    X(6, GGUF_F32, "f32", 4)                                                                                 \
    X(7, GGUF_BOOL, "bool", 1)                                                                               \
    X(8, GGUF_STRING, "string", 0)                                                                           \
    X(9, GGUF_ARRAY, "array", 0)                                                                             \
    X(10, GGUF_U64, "u64", 8)                                                                                \
    X(11, GGUF_I64, "i64", 8)                                                                                \
    X(12, GGUF_F64, "f64", 8)

typedef enum gguf_kind {
#define GGUF_KIND_ENUM(id, kind, name, bytes) kind = id,
    GGUF_KIND_LIST(GGUF_KIND_ENUM)
#undef GGUF_KIND_ENUM
        GGUF_KINDS
} gguf_kind;

/* One checked key: `bytes` points at a fixed-size value, a string's bytes or an array's first item. */
typedef struct gguf_entry {
    const char *key;
    const unsigned char *bytes;
    size_t size;    /* bytes from there to the value's end */
    gguf_kind kind; /* the value's kind */
    gguf_kind item; /* of an array: its items' kind */
    size_t count;   /* of an array: its items */
} gguf_entry;

struct ss_gguf {
    const ss_allocator *memory;
    ss_arena arena;
    ss_map map;
    const char *file;
    gguf_entry *entries;       /* [count] in the order of the file */
    const gguf_entry **by_key; /* [count] in the order of keys */
    size_t count;
    ss_tensors *tensors;
};

const char *ss_gguf_kind_name(gguf_kind kind);
size_t ss_gguf_kind_bytes(gguf_kind kind); /* 0 for strings and arrays */

/* The length-prefixed string at the cursor. */
ss_status ss_gguf_take_string(ss_cursor *cursor, const char *what, ss_string_view *string, ss_error *error);

/* The entry of `key`, NULL when there is none. */
const gguf_entry *ss_gguf_find(const ss_gguf *gguf, const char *key);

#endif
