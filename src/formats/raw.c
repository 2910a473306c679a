/* Raw float32 from a stream. Relies on: stdio. */
#include "formats/raw.h"

#include <errno.h>
#include <string.h>

enum { CHUNK = 1 << 16 };

static ss_status read_all(FILE *stream, const char *file, const ss_allocator *memory, unsigned char **bytes,
                          size_t *size, ss_error *error) {
    size_t capacity = 0, got;
    do {
        if (!ss_grow(memory, bytes, &capacity, *size + CHUNK, 1)) return ss_fail_memory(error, file);
        got = fread(*bytes + *size, 1, CHUNK, stream);
        *size += got;
    } while (got > 0);
    if (ferror(stream)) return ss_fail(error, SS_E_IO, file, "cannot read: %s", strerror(errno));
    return SS_OK;
}

static ss_status check_rows(const char *file, size_t size, size_t row_length, ss_error *error) {
    size_t row_bytes;
    if (ss_mul_size(row_length, sizeof(float), &row_bytes) && size > 0 && size % row_bytes == 0) return SS_OK;
    return ss_fail(error, SS_E_FORMAT, file, "%zu bytes are no whole number of rows of %zu float32", size,
                   row_length);
}

ss_status ss_raw_read(FILE *stream, const char *file, size_t row_length, const ss_allocator *memory,
                      ss_array *array, ss_error *error) {
    if (row_length == 0) return ss_fail(error, SS_E_USAGE, file, "raw input needs the length of a row");
    unsigned char *bytes = NULL;
    size_t size = 0;
    ss_status status = read_all(stream, file, memory, &bytes, &size, error);
    if (!status) status = check_rows(file, size, row_length, error);
    if (status) {
        ss_free(memory, bytes);
        return status;
    }
    size_t elements = size / sizeof(float);
    *array = (ss_array){.type = SS_TYPE_F32,
                        .dims = 2,
                        .shape = {elements / row_length, row_length},
                        .elements = elements,
                        .bytes = size,
                        .data = bytes,
                        .memory = memory,
                        .owned = bytes};
    return SS_OK;
}
