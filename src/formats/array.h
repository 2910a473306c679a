/* An array of numbers in memory, in C order and native byte order, whatever file it came from: what NPY, NPZ,
 * CSV and raw input give. The data either lie in a mapped file (not copied) or are owned.
 * Relies on: base/file, math/types. */
#ifndef SS_FORMATS_ARRAY_H
#define SS_FORMATS_ARRAY_H

#include "base/file.h"
#include "formats/tensors.h"

typedef struct ss_array {
    ss_type type;
    unsigned dims; /* 0 for a single number */
    size_t shape[SS_MAX_DIMS];
    size_t elements, bytes;
    const void *data; /* [shape[0]]...[shape[dims-1]]; may be unaligned: convert with math/types */

    /* what keeps the data alive: for the functions of this room */
    const ss_allocator *memory;
    void *owned;
    ss_map map;
} ss_array;

/* Release the data; the array is empty then. An array of zeros ({0}) is allowed. */
void ss_array_free(ss_array *array);

#endif
