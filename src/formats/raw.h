/* Raw little-endian float32 from a stream, such as standard input. Relies on: formats/array. */
#ifndef SS_FORMATS_RAW_H
#define SS_FORMATS_RAW_H

#include "formats/array.h"

/* Read `stream` to its end: F32, shape [rows][row_length]. SS_E_FORMAT when the bytes are no whole number of
 * rows, SS_E_IO when reading fails; `file` is the stream's name in messages. */
ss_status ss_raw_read(FILE *stream, const char *file, size_t row_length, const ss_allocator *memory,
                      ss_array *array, ss_error *error);

#endif
