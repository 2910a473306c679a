/* GGUF versions 2 and 3, little-endian: typed metadata and tensors.
 * Format: docs/gguf.md of the ggml project.
 *
 * Counts and lengths are checked against the bytes that remain before anything is allocated. Tensors of
 * types that this library cannot read (Q6_K, ...) are listed as SS_TYPE_NONE. GGUF gives the fastest
 * dimension first; views give it last, so ne = [3, 2] becomes shape [2, 3].
 * Relies on: formats/tensors, base/file. Not written after opening: any number of threads may read it. */
#ifndef SS_FORMATS_GGUF_H
#define SS_FORMATS_GGUF_H

#include "base/view.h"
#include "formats/need.h"
#include "formats/tensors.h"

typedef struct ss_gguf ss_gguf;

/* *gguf is the caller's, to release with ss_gguf_free. */
ss_status ss_gguf_open(const char *path, const ss_allocator *memory, ss_gguf **gguf, ss_error *error);

/* A file that already lies in memory and stays there as long as the handle. */
ss_status ss_gguf_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                        ss_gguf **gguf, ss_error *error);

void ss_gguf_free(ss_gguf *gguf); /* frees its tensors too; NULL is allowed */

const ss_tensors *ss_gguf_tensors(const ss_gguf *gguf);
const char *ss_gguf_file(const ss_gguf *gguf); /* the path it was opened with */

/* ---- metadata: keys in the order of the file --------------------------------------------------- */

size_t ss_gguf_key_count(const ss_gguf *gguf);
const char *ss_gguf_key(const ss_gguf *gguf, size_t index);
bool ss_gguf_has(const ss_gguf *gguf, const char *key);

/* The value of `key`. Error: SS_E_FORMAT naming file and key when it is required but absent, or has another
 * type. u64 takes every integer type (a negative value is an error), f64 every integer and real. */
ss_status ss_gguf_u64(const ss_gguf *gguf, const char *key, ss_need need, uint64_t *value, ss_error *error);
ss_status ss_gguf_f64(const ss_gguf *gguf, const char *key, ss_need need, double *value, ss_error *error);
ss_status ss_gguf_bool(const ss_gguf *gguf, const char *key, ss_need need, bool *value, ss_error *error);
ss_status ss_gguf_string(const ss_gguf *gguf, const char *key, ss_need need, ss_string_view *value,
                         ss_error *error);

/* An array of strings, or of numbers or booleans as doubles. *items is a fresh block of `memory`, the
 * caller's to release with ss_free(memory, items); the strings' bytes stay in the handle. Optional and
 * absent: *items and *count are as they were. */
ss_status ss_gguf_strings(const ss_gguf *gguf, const char *key, ss_need need, const ss_allocator *memory,
                          ss_string_view **items, size_t *count, ss_error *error);
ss_status ss_gguf_numbers(const ss_gguf *gguf, const char *key, ss_need need, const ss_allocator *memory,
                          double **items, size_t *count, ss_error *error);

#endif
