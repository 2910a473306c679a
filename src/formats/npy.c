/* NPY arrays: view or convert, and write. Relies on: formats/npy_header. */
#include "formats/npy.h"

#include "formats/npy_header.h"

#include <string.h>

/* out[i] = the item at source + i * stride, its bytes reversed where `swapped` */
static void copy_items(unsigned char *out, const unsigned char *source, size_t stride, size_t count,
                       size_t size, bool swapped) {
    for (size_t i = 0; i < count; i++, source += stride, out += size) {
        if (!swapped)
            memcpy(out, source, size);
        else
            for (size_t byte = 0; byte < size; byte++) out[byte] = source[size - 1 - byte];
    }
}

/* Strides in bytes of the stored items, per dimension. */
static void stored_strides(const npy_header *header, size_t size, size_t strides[SS_MAX_DIMS]) {
    size_t stride = size;
    for (unsigned i = 0; i < header->dims; i++) {
        unsigned dim = header->fortran ? i : header->dims - 1 - i;
        strides[dim] = stride;
        stride *= header->shape[dim];
    }
}

/* Stored items to C order and native bytes. Elements > 0. */
static void convert(const npy_header *header, const unsigned char *source, unsigned char *out) {
    size_t size = ss_type_block_bytes(header->type), strides[SS_MAX_DIMS], index[SS_MAX_DIMS] = {0};
    if (header->dims == 0) {
        copy_items(out, source, size, 1, size, header->swapped);
        return;
    }
    stored_strides(header, size, strides);
    unsigned last = header->dims - 1;
    size_t row = header->shape[last];
    for (size_t done = 0; done < header->elements; done += row) {
        copy_items(out + done * size, source, strides[last], row, size, header->swapped);
        for (unsigned dim = last; dim-- > 0;) { /* next row: an odometer over the outer dimensions */
            source += strides[dim];
            if (++index[dim] < header->shape[dim]) break;
            source -= strides[dim] * header->shape[dim];
            index[dim] = 0;
        }
    }
}

ss_status ss_npy_parse(const char *file, const void *bytes, size_t size, const ss_npy_options *options,
                       const ss_allocator *memory, ss_array *array, ss_error *error) {
    ss_cursor cursor = {.file = file, .bytes = bytes, .size = size};
    npy_header header;
    SS_TRY(ss_npy_read_header(&cursor, options, &header, error));
    ss_array read = {.type = header.type,
                     .dims = header.dims,
                     .elements = header.elements,
                     .bytes = header.bytes,
                     .data = cursor.bytes + cursor.at,
                     .memory = memory};
    memcpy(read.shape, header.shape, sizeof read.shape);
    if (header.elements && (header.swapped || (header.fortran && header.dims > 1))) {
        read.owned = ss_alloc(memory, header.bytes, 1);
        if (!read.owned) return ss_fail_memory(error, file);
        convert(&header, read.data, read.owned);
        read.data = read.owned;
    }
    *array = read;
    return SS_OK;
}

ss_status ss_npy_open(const char *path, const ss_npy_options *options, const ss_allocator *memory,
                      ss_array *array, ss_error *error) {
    ss_map map;
    ss_array read;
    SS_TRY(ss_map_open(path, &map, error));
    ss_status status = ss_npy_parse(path, map.data, map.size, options, memory, &read, error);
    if (status || read.owned)
        ss_map_close(&map);
    else
        read.map = map;
    if (!status) *array = read;
    return status;
}

/* ---- writing --------------------------------------------------------------------------------- */

enum { HEADER_ALIGNMENT = 64, PREAMBLE = 10 };

static void write_header(FILE *stream, const char *descr, unsigned dims, const size_t *shape) {
    char text[320];
    size_t used =
        (size_t)snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (unsigned i = 0; i < dims; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%zu%s", shape[i],
                                 i + 1 < dims ? ", "
                                 : dims == 1  ? ","
                                              : "");
    used += (size_t)snprintf(text + used, sizeof text - used, "), }");
    size_t length =
        (PREAMBLE + used + 1 + HEADER_ALIGNMENT - 1) / HEADER_ALIGNMENT * HEADER_ALIGNMENT - PREAMBLE;
    fwrite("\x93NUMPY\x01\x00", 1, 8, stream);
    fputc((int)(length & 0xFF), stream);
    fputc((int)(length >> 8), stream);
    fprintf(stream, "%s%*s\n", text, (int)(length - used - 1), "");
}

ss_status ss_npy_save(const char *path, ss_type type, unsigned dims, const size_t *shape, const void *data,
                      ss_error *error) {
    const char *descr = ss_npy_descr(type);
    size_t elements = 0, bytes = 0;
    if (!descr) return ss_fail(error, SS_E_UNSUPPORTED, path, "%s is not written as NPY", ss_type_name(type));
    if (dims > SS_MAX_DIMS || !ss_shape_elements(dims, shape, &elements) ||
        !ss_type_bytes(type, elements, &bytes))
        return ss_fail(error, SS_E_VALUE, path, "this shape cannot be written");
    ss_save save;
    SS_TRY(ss_save_begin(path, &save, error));
    write_header(save.stream, descr, dims, shape);
    if (bytes) fwrite(data, 1, bytes, save.stream); /* ss_save_commit asks the stream for errors */
    return ss_save_commit(&save, error);
}
