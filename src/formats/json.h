/* JSON documents from files nobody vouches for, and typed access that names the key it misses.
 *
 * Bounded before parsing: bytes, number of values (each may cost 250 bytes of memory) and depth.
 * Duplicate keys are refused: which one counts would depend on the reader.
 *
 *     json_t *config;
 *     SS_TRY(ss_json_open(path, SS_JSON_LIMIT, &config, error));
 *     size_t layers = 0, window = 4096;
 *     status = ss_json_size(config, "num_hidden_layers", SS_REQUIRED, path, &layers, error);
 *     if (!status) status = ss_json_size(config, "sliding_window", SS_OPTIONAL, path, &window, error);
 *     json_decref(config);
 *
 * Relies on: jansson (whose allocator is global: documents do not come from an ss_allocator), base/file.
 * Different documents may be used by different threads. */
#ifndef SS_FORMATS_JSON_H
#define SS_FORMATS_JSON_H

#include "base/status.h"
#include "formats/need.h"

#include <jansson.h>

#define SS_JSON_LIMIT           ((size_t)16 << 20) /* bytes: for headers, configurations, shard indices */
#define SS_JSON_DEPTH           128
#define SS_JSON_BYTES_PER_VALUE 32 /* at most limit / 32 values: 524,288 under SS_JSON_LIMIT */

/* Parse `size` bytes of UTF-8; `file` is their name in messages. *document is the caller's, to release with
 * json_decref. Larger than `limit` or with too many values, nested deeper than SS_JSON_DEPTH, broken UTF-8, a
 * duplicate key or anything after the value: SS_E_FORMAT with line and byte. Integers beyond 64 bits, as
 * transformers writes for "no maximum length", make the numbers of that document reals. */
ss_status ss_json_parse(const char *file, const void *bytes, size_t size, size_t limit, json_t **document,
                        ss_error *error);

/* The same for a whole file; SS_E_IO when it cannot be read. */
ss_status ss_json_open(const char *path, size_t limit, json_t **document, ss_error *error);

/* The value of `key` in `object` (NULL has no keys). Error: SS_E_FORMAT naming `where` (usually the file) and
 * the key, when the key is required but absent or null, is of another type, or is out of range. Strings,
 * objects and arrays are borrowed from the document. */
ss_status ss_json_size(const json_t *object, const char *key, ss_need need, const char *where, size_t *value,
                       ss_error *error); /* a whole number from 0; 5.0 counts */
ss_status ss_json_number(const json_t *object, const char *key, ss_need need, const char *where,
                         double *value, ss_error *error);
ss_status ss_json_bool(const json_t *object, const char *key, ss_need need, const char *where, bool *value,
                       ss_error *error);
ss_status ss_json_string(const json_t *object, const char *key, ss_need need, const char *where,
                         const char **value, ss_error *error);
ss_status ss_json_object(const json_t *object, const char *key, ss_need need, const char *where,
                         json_t **value, ss_error *error);
ss_status ss_json_array(const json_t *object, const char *key, ss_need need, const char *where,
                        json_t **value, ss_error *error);

/* Is `key` there, and not null? */
bool ss_json_has(const json_t *object, const char *key);

/* A value that stands alone, such as an item of an array: a whole number from 0 that fits size_t. */
bool ss_json_as_size(const json_t *value, size_t *size);

#endif
