/* Growing lists of spans and bytes. Relies on: base/mem. */
#include "text/span.h"

#include "base/mem.h"

#include <string.h>

ss_status ss_spans_add(ss_spans *spans, ss_span span, ss_error *error) {
    if (!ss_grow(spans->memory, &spans->items, &spans->capacity, spans->count + 1, sizeof *spans->items))
        return ss_fail_memory(error, "pieces of the text");
    spans->items[spans->count++] = span;
    return SS_OK;
}

void ss_spans_free(ss_spans *spans) {
    ss_free(spans->memory, spans->items);
    *spans = (ss_spans){.memory = spans->memory};
}

ss_status ss_bytes_add(ss_bytes *bytes, const char *data, size_t length, ss_error *error) {
    size_t needed;
    if (!ss_add_size(bytes->length, length, &needed) ||
        !ss_grow(bytes->memory, &bytes->data, &bytes->capacity, needed, 1))
        return ss_fail_memory(error, "text");
    if (length) memcpy(bytes->data + bytes->length, data, length);
    bytes->length = needed;
    return SS_OK;
}

void ss_bytes_free(ss_bytes *bytes) {
    ss_free(bytes->memory, bytes->data);
    *bytes = (ss_bytes){.memory = bytes->memory};
}
