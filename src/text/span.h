/* Lists of pieces of a text, by byte offsets. Relies on: base/mem. */
#ifndef SS_TEXT_SPAN_H
#define SS_TEXT_SPAN_H

#include "base/status.h"

typedef struct ss_span {
    size_t begin, end;
    uint32_t token; /* the added token it is, or SS_NO_TOKEN (text/tokenizer.h) */
    bool matched;   /* did the pattern of the last step match it? */
} ss_span;

typedef struct ss_spans {
    ss_span *items; /* [count] */
    size_t count, capacity;
    const ss_allocator *memory;
} ss_spans;

ss_status ss_spans_add(ss_spans *spans, ss_span span, ss_error *error);
void ss_spans_free(ss_spans *spans);

/* A growing string of bytes. */
typedef struct ss_bytes {
    char *data; /* [length], no NUL at the end */
    size_t length, capacity;
    const ss_allocator *memory;
} ss_bytes;

ss_status ss_bytes_add(ss_bytes *bytes, const char *data, size_t length, ss_error *error);
void ss_bytes_free(ss_bytes *bytes);

#endif
