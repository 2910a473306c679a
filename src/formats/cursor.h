/* A reading position in untrusted bytes: every step checks what remains. Little-endian.
 * Relies on: base/status. For the parsers of this room. */
#ifndef SS_FORMATS_CURSOR_H
#define SS_FORMATS_CURSOR_H

#include "base/status.h"

#include <string.h>

typedef struct ss_cursor {
    const char *file; /* for messages */
    const unsigned char *bytes;
    size_t size, at; /* at <= size */
} ss_cursor;

static inline size_t ss_cursor_left(const ss_cursor *cursor) {
    return cursor->size - cursor->at;
}

/* *bytes = the next `count` bytes; SS_E_FORMAT "ends inside `what`" when there are fewer. */
static inline ss_status ss_cursor_take(ss_cursor *cursor, uint64_t count, const char *what,
                                       const unsigned char **bytes, ss_error *error) {
    if (count > ss_cursor_left(cursor))
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, cursor->at,
                          "%s needs %llu bytes, but the file ends after %zu", what, (unsigned long long)count,
                          ss_cursor_left(cursor));
    *bytes = cursor->bytes + cursor->at;
    cursor->at += (size_t)count;
    return SS_OK;
}

static inline ss_status ss_cursor_u32(ss_cursor *cursor, const char *what, uint32_t *value, ss_error *error) {
    const unsigned char *bytes;
    SS_TRY(ss_cursor_take(cursor, sizeof *value, what, &bytes, error));
    memcpy(value, bytes, sizeof *value);
    return SS_OK;
}

static inline ss_status ss_cursor_u64(ss_cursor *cursor, const char *what, uint64_t *value, ss_error *error) {
    const unsigned char *bytes;
    SS_TRY(ss_cursor_take(cursor, sizeof *value, what, &bytes, error));
    memcpy(value, bytes, sizeof *value);
    return SS_OK;
}

#endif
