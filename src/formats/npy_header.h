/* The header of an NPY file: what its text says, before any data are touched.
 * Relies on: formats/cursor, math/types. For npy.c only. */
#ifndef SS_FORMATS_NPY_HEADER_H
#define SS_FORMATS_NPY_HEADER_H

#include "formats/cursor.h"
#include "formats/npy.h"

typedef struct npy_header {
    ss_type type;
    bool swapped; /* big-endian items of two or more bytes */
    bool fortran;
    unsigned dims;
    size_t shape[SS_MAX_DIMS];
    size_t elements, bytes;
} npy_header;

/* Read the header at the cursor, which then stands at the data; the data are known to be complete. */
ss_status ss_npy_read_header(ss_cursor *cursor, const ss_npy_options *options, npy_header *header,
                             ss_error *error);

/* The NPY name of a type, such as "<f4"; NULL for types that NumPy does not have. */
const char *ss_npy_descr(ss_type type);

#endif
