/* Rows of numbers as text: separated by commas, semicolons, tabs or blanks, one row a line. The number format
 * is C's with a point, whatever the locale; "nan" and "inf" are read. Blank lines and lines that start with #
 * are skipped, and so is one first line of names. Relies on: formats/array. */
#ifndef SS_FORMATS_CSV_H
#define SS_FORMATS_CSV_H

#include "formats/array.h"

/* F64, shape [rows][columns]. SS_E_FORMAT with the line: rows of different lengths, or a field that is no
 * number. *array is the caller's, to release with ss_array_free. */
ss_status ss_csv_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                       ss_array *array, ss_error *error);
ss_status ss_csv_open(const char *path, const ss_allocator *memory, ss_array *array, ss_error *error);

#endif
