/* NPZ: a zip archive of NPY files, stored or deflated. The archive is mapped and handed to libzip as memory,
 * so files and buffers take one path. Relies on: libzip, formats/npy. */
#include "formats/npy.h"

#include "base/arena.h"
#include "formats/names.h"

#include <inttypes.h>
#include <string.h>
#include <zip.h>

/* Deflate's best is 1032 to 1. */
enum { HIGHEST_RATIO = 1100 };

typedef struct member {
    const char *name; /* without ".npy" */
    zip_uint64_t index;
} member;

struct ss_npz {
    const ss_allocator *memory;
    ss_arena arena;
    ss_map map;
    const char *file;
    zip_t *archive;
    member *members; /* [count] */
    size_t count;
};

void ss_npz_free(ss_npz *npz) {
    if (!npz) return;
    if (npz->archive) zip_discard(npz->archive);
    ss_map_close(&npz->map);
    ss_arena_free(&npz->arena);
    ss_free(npz->memory, npz);
}

static ss_status fail_zip(ss_error *error, const char *file, zip_error_t *reason, const char *what) {
    ss_status code = zip_error_code_zip(reason) == ZIP_ER_MEMORY ? SS_E_MEMORY : SS_E_FORMAT;
    ss_status status = ss_fail(error, code, file, "%s: %s", what, zip_error_strerror(reason));
    zip_error_fini(reason);
    return status;
}

static ss_status open_archive(ss_npz *npz, const void *bytes, size_t size, ss_error *error) {
    zip_error_t reason;
    if (size < 2 || memcmp(bytes, "PK", 2) != 0) /* libzip would take no bytes for an empty archive */
        return ss_fail_at(error, SS_E_FORMAT, npz->file, 0, "this is no NPZ file: it does not start with PK");
    zip_error_init(&reason);
    zip_source_t *source = zip_source_buffer_create(bytes, size, 0, &reason);
    if (!source) return fail_zip(error, npz->file, &reason, "this is no NPZ file");
    npz->archive = zip_open_from_source(source, ZIP_RDONLY, &reason);
    if (!npz->archive) {
        zip_source_free(source);
        return fail_zip(error, npz->file, &reason, "this is no NPZ file");
    }
    zip_error_fini(&reason);
    return SS_OK;
}

static ss_status list_members(ss_npz *npz, ss_error *error) {
    zip_int64_t entries = zip_get_num_entries(npz->archive, 0);
    npz->members = ss_arena_alloc(&npz->arena, (size_t)entries, sizeof *npz->members);
    if (!npz->members) return ss_fail_memory(error, npz->file);
    for (zip_int64_t i = 0; i < entries; i++) {
        const char *name = zip_get_name(npz->archive, (zip_uint64_t)i, 0);
        size_t length = name ? strlen(name) : 0;
        if (length < 4 || strcmp(name + length - 4, ".npy") != 0)
            continue; /* not an array: NumPy skips it too */
        char *copy = ss_arena_copy(&npz->arena, name, length - 4);
        if (!copy) return ss_fail_memory(error, npz->file);
        npz->members[npz->count++] = (member){copy, (zip_uint64_t)i};
    }
    return SS_OK;
}

static ss_status create(const char *file, const ss_allocator *memory, ss_npz **npz, ss_error *error) {
    ss_npz *fresh = ss_alloc_zero(memory, 1, sizeof *fresh);
    if (!fresh) return ss_fail_memory(error, file);
    fresh->memory = memory;
    fresh->arena = ss_arena_make(memory);
    fresh->file = ss_arena_copy(&fresh->arena, file, strlen(file));
    if (!fresh->file) {
        ss_npz_free(fresh);
        return ss_fail_memory(error, file);
    }
    *npz = fresh;
    return SS_OK;
}

static ss_status fill(ss_npz *npz, const void *bytes, size_t size, ss_npz **out, ss_error *error) {
    ss_status status = open_archive(npz, bytes, size, error);
    if (!status) status = list_members(npz, error);
    if (status)
        ss_npz_free(npz);
    else
        *out = npz;
    return status;
}

ss_status ss_npz_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                       ss_npz **npz, ss_error *error) {
    ss_npz *fresh;
    SS_TRY(create(file, memory, &fresh, error));
    return fill(fresh, bytes, size, npz, error);
}

ss_status ss_npz_open(const char *path, const ss_allocator *memory, ss_npz **npz, ss_error *error) {
    ss_npz *fresh;
    SS_TRY(create(path, memory, &fresh, error));
    ss_status status = ss_map_open(path, &fresh->map, error);
    if (status) {
        ss_npz_free(fresh);
        return status;
    }
    return fill(fresh, fresh->map.data, fresh->map.size, npz, error);
}

size_t ss_npz_count(const ss_npz *npz) {
    return npz->count;
}

const char *ss_npz_name(const ss_npz *npz, size_t index) {
    return npz->members[index].name;
}

/* ---- one member ------------------------------------------------------------------------------ */

static ss_status fail_with_names(ss_error *error, ss_status code, const ss_npz *npz, const char *what) {
    ss_names names = {0};
    for (size_t i = 0; i < npz->count; i++) ss_names_add(&names, npz->members[i].name);
    return ss_fail(error, code, npz->file, "%s; the arrays are: %s", what, names.text);
}

static ss_status choose(const ss_npz *npz, const char *name, const member **chosen, ss_error *error) {
    size_t matches = 0;
    if (npz->count == 0) return ss_fail(error, SS_E_FORMAT, npz->file, "the archive holds no array");
    for (size_t i = 0; i < npz->count; i++)
        if (!name || strcmp(npz->members[i].name, name) == 0) {
            *chosen = &npz->members[i];
            matches++;
        }
    if (matches == 1) return SS_OK;
    if (!name) return fail_with_names(error, SS_E_USAGE, npz, "choose one array");
    if (matches == 0) return fail_with_names(error, SS_E_USAGE, npz, "there is no array of that name");
    return ss_fail(error, SS_E_FORMAT, npz->file, "two members are named \"%s.npy\"", name);
}

/* Is the declared size one that the member's bytes can have? Nothing is unpacked before this. */
static ss_status check_member(const ss_npz *npz, const member *m, size_t limit, size_t *size,
                              ss_error *error) {
    zip_stat_t facts;
    const zip_uint64_t wanted =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(npz->archive, m->index, 0, &facts) != 0 || (facts.valid & wanted) != wanted)
        return ss_fail(error, SS_E_FORMAT, npz->file, "member \"%s\" has no readable entry", m->name);
    if (facts.encryption_method != ZIP_EM_NONE)
        return ss_fail(error, SS_E_UNSUPPORTED, npz->file, "member \"%s\" is encrypted", m->name);
    if (facts.comp_method != ZIP_CM_STORE && facts.comp_method != ZIP_CM_DEFLATE)
        return ss_fail(error, SS_E_UNSUPPORTED, npz->file,
                       "member \"%s\" is compressed by method %u, which is not read", m->name,
                       facts.comp_method);
    zip_uint64_t most = facts.comp_method == ZIP_CM_STORE ? 1 : HIGHEST_RATIO;
    if (facts.size / most > facts.comp_size)
        return ss_fail(error, SS_E_FORMAT, npz->file,
                       "member \"%s\" claims %" PRIu64 " bytes from %" PRIu64 " packed ones: that cannot be",
                       m->name, facts.size, facts.comp_size);
    if (facts.size > limit)
        return ss_fail(error, SS_E_UNSUPPORTED, npz->file,
                       "member \"%s\" has %" PRIu64 " bytes, more than the limit of %zu", m->name, facts.size,
                       limit);
    *size = (size_t)facts.size;
    return SS_OK;
}

/* Unpack exactly `size` bytes; reading on to the end makes libzip check the sum of the whole member. */
static ss_status unpack(const ss_npz *npz, const member *m, unsigned char *bytes, size_t size,
                        ss_error *error) {
    unsigned char beyond;
    size_t done = 0;
    zip_file_t *file = zip_fopen_index(npz->archive, m->index, 0);
    if (!file)
        return ss_fail(error, SS_E_FORMAT, npz->file, "member \"%s\": %s", m->name,
                       zip_strerror(npz->archive));
    zip_int64_t got = 1;
    while (got > 0 && done < size) {
        got = zip_fread(file, bytes + done, size - done);
        if (got > 0) done += (size_t)got;
    }
    if (got >= 0) got = zip_fread(file, &beyond, 1);
    ss_status status = SS_OK;
    if (got < 0)
        status =
            ss_fail(error, SS_E_FORMAT, npz->file, "member \"%s\": %s", m->name, zip_file_strerror(file));
    else if (done != size || got != 0)
        status = ss_fail(error, SS_E_FORMAT, npz->file, "member \"%s\" does not unpack to the size it claims",
                         m->name);
    zip_fclose(file);
    return status;
}

/* Parse the unpacked member; the array takes over `bytes` unless it had to be converted. */
static ss_status parse_member(const ss_npz *npz, const member *m, unsigned char *bytes, size_t size,
                              const ss_npy_options *options, ss_array *array, ss_error *error) {
    char where[256];
    ss_array read;
    snprintf(where, sizeof where, "%s[%s]", npz->file, m->name);
    ss_status status = ss_npy_parse(where, bytes, size, options, npz->memory, &read, error);
    if (status || read.owned)
        ss_free(npz->memory, bytes);
    else
        read.owned = bytes;
    if (!status) *array = read;
    return status;
}

ss_status ss_npz_read(ss_npz *npz, const char *name, const ss_npy_options *options, ss_array *array,
                      ss_error *error) {
    const member *m = NULL;
    size_t size, limit = options && options->limit ? options->limit : SS_NPZ_LIMIT;
    SS_TRY(choose(npz, name, &m, error));
    SS_TRY(check_member(npz, m, limit, &size, error));
    unsigned char *bytes = ss_alloc(npz->memory, size, 1);
    if (!bytes) return ss_fail_memory(error, npz->file);
    ss_status status = unpack(npz, m, bytes, size, error);
    if (!status) return parse_member(npz, m, bytes, size, options, array, error);
    ss_free(npz->memory, bytes);
    return status;
}
