/* NumPy's NPY files, versions 1 to 3, and NPZ archives of them.
 * Format: numpy.lib.format in NumPy's documentation.
 *
 * Read: bool, integers of 8 to 64 bits, float16, 32 and 64, either byte order, C or Fortran order. A native
 * C-order NPY file is mapped, not copied. Refused with a reason: objects ('|O'), strings, complex numbers,
 * structures; raw two-byte items ('<V2', how NumPy stores bfloat16) unless the caller says they are bfloat16.
 * Relies on: formats/array, base/file, libzip. */
#ifndef SS_FORMATS_NPY_H
#define SS_FORMATS_NPY_H

#include "formats/array.h"

typedef struct ss_npy_options {
    bool raw_is_bf16; /* take '<V2' for bfloat16 */
    size_t limit;     /* most bytes of one unpacked NPZ member; 0 for SS_NPZ_LIMIT */
} ss_npy_options;

#define SS_NPZ_LIMIT ((size_t)64 << 30)

/* `options` may be NULL. *array is the caller's, to release with ss_array_free. */
ss_status ss_npy_open(const char *path, const ss_npy_options *options, const ss_allocator *memory,
                      ss_array *array, ss_error *error);

/* A file that already lies in memory and stays there as long as the array (which may point into it). */
ss_status ss_npy_parse(const char *file, const void *bytes, size_t size, const ss_npy_options *options,
                       const ss_allocator *memory, ss_array *array, ss_error *error);

/* Write an array of F64, F32 or I64 (C order, version 1), all or nothing. "-" is standard output. */
ss_status ss_npy_save(const char *path, ss_type type, unsigned dims, const size_t *shape /* [dims] */,
                      const void *data, ss_error *error);

/* ---- NPZ ------------------------------------------------------------------------------------- */

typedef struct ss_npz ss_npz;

ss_status ss_npz_open(const char *path, const ss_allocator *memory, ss_npz **npz, ss_error *error);
ss_status ss_npz_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                       ss_npz **npz, ss_error *error);
void ss_npz_free(ss_npz *npz);

/* The arrays' names, without ".npy", in the order of the archive. */
size_t ss_npz_count(const ss_npz *npz);
const char *ss_npz_name(const ss_npz *npz, size_t index);

/* One array, unpacked. `name` NULL means the only one: SS_E_USAGE lists the names when there are several.
 * A member whose declared size deflate cannot reach, or beyond options->limit, is refused unread.
 * Not thread-safe: libzip seeks in the archive. */
ss_status ss_npz_read(ss_npz *npz, const char *name, const ss_npy_options *options, ss_array *array,
                      ss_error *error);

#endif
