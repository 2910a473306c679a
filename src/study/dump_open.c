/* Opening a dump: which kind of file it is, what its shape says, and how a mask lies over it.
 * Relies on: formats (npy, csv, raw). */
#include "formats/csv.h"
#include "formats/npy.h"
#include "formats/raw.h"
#include "study/dump_impl.h"

#include <errno.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------- */

static ss_status open_raw(ss_dump *dump, const char *path, ss_error *error) {
    const bool from_stdin = strcmp(path, "-") == 0;
    const size_t length = dump->options->row_length;
    dump->name = from_stdin ? "standard input" : ss_base_name(path);
    FILE *stream = from_stdin ? stdin : fopen(path, "rb");
    if (!stream) return ss_fail(error, SS_E_IO, path, "cannot open: %s", strerror(errno));
    const ss_status status =
        ss_raw_read(stream, from_stdin ? dump->name : path, length, NULL, &dump->array, error);
    if (!from_stdin) fclose(stream);
    return status;
}

static ss_status open_archive(ss_dump *dump, const char *path, const ss_npy_options *how, ss_error *error) {
    ss_npz *npz;
    SS_TRY(ss_npz_open(path, NULL, &npz, error));
    ss_status status =
        ss_npz_count(npz) > 0
            ? ss_npz_read(npz, dump->options->array, how, &dump->array, error)
            : ss_fail(error, SS_E_UNSUPPORTED, path,
                      "this archive holds no NumPy array: if it is a PyTorch file, save it with "
                      "numpy.save(FILE, tensor.float().cpu().numpy())");
    ss_npz_free(npz);
    return status;
}

typedef enum file_kind { KIND_NPY, KIND_NPZ, KIND_TEXT, KIND_OTHER } file_kind;

/* By what stands in the file, not by its name. */
static ss_status find_kind(const char *path, file_kind *kind, ss_error *error) {
    enum { LOOKED_AT = 4096 };
    ss_map map;
    SS_TRY(ss_map_open(path, &map, error));
    const size_t size = map.size < LOOKED_AT ? map.size : LOOKED_AT;
    if (size >= 6 && memcmp(map.data, "\x93NUMPY", 6) == 0)
        *kind = KIND_NPY;
    else if (size >= 2 && memcmp(map.data, "PK", 2) == 0)
        *kind = KIND_NPZ;
    else
        *kind = size > 0 && memchr(map.data, 0, size) ? KIND_OTHER : KIND_TEXT;
    ss_map_close(&map);
    return SS_OK;
}

static ss_status open_file(ss_dump *dump, const char *path, ss_error *error) {
    const ss_npy_options how = {.raw_is_bf16 = dump->options->raw_is_bf16};
    const char *array = dump->options->array;
    file_kind kind;
    dump->name = ss_base_name(path);
    SS_TRY(find_kind(path, &kind, error));
    dump->is_text = kind == KIND_TEXT;
    if (array && kind != KIND_NPZ)
        return ss_fail(error, SS_E_USAGE, "--array", "only NPZ files hold named arrays, and %s is none",
                       path);
    if (kind == KIND_NPZ) return open_archive(dump, path, &how, error);
    if (kind == KIND_NPY) return ss_npy_open(path, &how, NULL, &dump->array, error);
    if (kind == KIND_TEXT) return ss_csv_open(path, NULL, &dump->array, error);
    return ss_fail(error, SS_E_FORMAT, path,
                   "this is no NPY, NPZ or text file; for raw float32, say how long a row is with "
                   "--row-length N");
}

/* ---- shape ------------------------------------------------------------------------------------- */

static ss_status check_array(ss_dump *dump, const char *path, ss_error *error) {
    const ss_array *a = &dump->array;
    if (a->type != SS_TYPE_F64 && a->type != SS_TYPE_F32 && a->type != SS_TYPE_F16 && a->type != SS_TYPE_BF16)
        return ss_fail(error, SS_E_UNSUPPORTED, path, "weights and logits are floating-point numbers, not %s",
                       ss_type_name(a->type));
    if (a->dims == 0) return ss_fail(error, SS_E_FORMAT, path, "a single number is no row");
    if (a->elements == 0) return ss_fail(error, SS_E_FORMAT, path, "the array is empty");
    dump->n = a->shape[a->dims - 1];
    dump->queries = a->dims > 1 ? a->shape[a->dims - 2] : 1;
    dump->rows = a->elements / dump->n;
    dump->groups = dump->rows / dump->queries;
    if (dump->n > UINT32_MAX - 1)
        return ss_fail(error, SS_E_UNSUPPORTED, path, "a row has at most 2^32 - 2 keys, not %zu", dump->n);
    return SS_OK;
}

/* ---- mask -------------------------------------------------------------------------------------- */

/* "(2, 3)", as NumPy writes a shape, since it is NumPy's rule that the mask broke */
static void shape_text(const ss_array *array, char *text, size_t capacity) {
    size_t used = (size_t)snprintf(text, capacity, "(");
    for (unsigned i = 0; i < array->dims && used < capacity; i++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%zu", i ? ", " : "", array->shape[i]);
    if (used < capacity) snprintf(text + used, capacity - used, ")");
}

/* NumPy's rule: axes are matched from the last one; where the mask has 1 or no axis it is repeated. */
static bool broadcast(const ss_array *array, const ss_array *mask, size_t strides[SS_MAX_DIMS]) {
    size_t stride = ss_type_block_bytes(mask->type);
    if (mask->dims > array->dims) return false;
    for (unsigned back = 1; back <= mask->dims; back++) {
        const size_t have = mask->shape[mask->dims - back], want = array->shape[array->dims - back];
        if (have != want && have != 1) return false;
        strides[array->dims - back] = have == 1 ? 0 : stride;
        stride *= have;
    }
    return true;
}

static ss_status open_mask(ss_dump *dump, const char *path, ss_error *error) {
    SS_TRY(ss_npy_open(path, NULL, NULL, &dump->mask, error));
    const ss_type type = dump->mask.type;
    if (type != SS_TYPE_BOOL && !ss_type_is_integer(type))
        return ss_fail(error, SS_E_UNSUPPORTED, path,
                       "a mask is bool or integers (not 0: the key is in the row), not %s",
                       ss_type_name(type));
    if (broadcast(&dump->array, &dump->mask, dump->mask_strides)) return SS_OK;
    char mask[200], array[200];
    shape_text(&dump->mask, mask, sizeof mask);
    shape_text(&dump->array, array, sizeof array);
    return ss_fail(error, SS_E_VALUE, path, "a mask of shape %s does not fit an array of shape %s", mask,
                   array);
}

/* ---- both -------------------------------------------------------------------------------------- */

ss_status ss_dump_open(ss_dump *dump, const char *path, ss_error *error) {
    const ss_dump_options *o = dump->options;
    if (strcmp(path, "-") == 0 && o->row_length == 0)
        return ss_fail(error, SS_E_USAGE, "--row-length",
                       "standard input is raw float32: say how long a row is with --row-length N");
    SS_TRY(o->row_length ? open_raw(dump, path, error) : open_file(dump, path, error));
    dump->array_name = o->array;
    SS_TRY(check_array(dump, path, error));
    return o->mask ? open_mask(dump, o->mask, error) : SS_OK;
}

void ss_dump_close(ss_dump *dump) {
    ss_array_free(&dump->array);
    ss_array_free(&dump->mask);
    ss_free(NULL, dump->results);
    dump->results = NULL;
}
