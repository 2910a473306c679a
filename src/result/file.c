/* Result documents in files: saving, loading. Relies on: formats/json (bounded parsing), base/file. */
#include "base/file.h"
#include "formats/json.h"
#include "result/result.h"

#include <errno.h>
#include <string.h>

/* jansson writes reals with a point whatever the locale, and refuses NaN; ten digits are one more than a
 * float needs to come back as it was. */
#define DUMP_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(10))

static int write_bytes(const char *bytes, size_t size, void *stream) {
    return fwrite(bytes, 1, size, stream) == size ? 0 : -1;
}

/* Flushed, so that a full disk shows while its reason is known. jansson fails when the stream does or when
 * memory runs out. */
static ss_status write_value(const json_t *value, FILE *stream, const char *where, ss_error *error) {
    bool written = json_dump_callback(value, write_bytes, stream, DUMP_FLAGS) == 0;
    if (!written && !ferror(stream)) return ss_fail_memory(error, "writing the result document");
    if (written && fputc('\n', stream) != EOF && fflush(stream) == 0) return SS_OK;
    return ss_fail(error, SS_E_WRITE, where, "cannot write the result document: %s", strerror(errno));
}

ss_status ss_result_save(const ss_result *result, const char *path, ss_error *error) {
    SS_TRY(ss_result_check(result, error));
    ss_save save;
    SS_TRY(ss_save_begin(path, &save, error));
    ss_status status = write_value(result->root, save.stream, save.path, error);
    if (status != SS_OK) {
        ss_save_abort(&save);
        return status;
    }
    return ss_save_commit(&save, error);
}

/* Is this a document that this program can draw? */
static ss_status check_envelope(const json_t *root, const char *path, ss_error *error) {
    const char *version, *command;
    size_t schema = 0;
    if (!json_is_object(root) || !ss_json_has(root, "softscope"))
        return ss_fail(error, SS_E_FORMAT, path,
                       "not a softscope result: give a file written with --json (\"softscope\" is missing)");
    SS_TRY(ss_json_string(root, "softscope", SS_REQUIRED, path, &version, error));
    SS_TRY(ss_json_string(root, "command", SS_REQUIRED, path, &command, error));
    SS_TRY(ss_json_size(root, "schema", SS_REQUIRED, path, &schema, error));
    if (schema == SS_RESULT_SCHEMA) return SS_OK;
    return ss_fail(
        error, SS_E_UNSUPPORTED, path,
        "schema version %zu of softscope %.32s, but this program reads version %d: make the result again",
        schema, version, SS_RESULT_SCHEMA);
}

ss_status ss_result_load(const char *path, ss_result **result, ss_error *error) {
    json_t *root;
    SS_TRY(ss_json_open(path, SS_RESULT_MAX_BYTES, &root, error));
    ss_status status = check_envelope(root, path, error);
    if (status == SS_OK) return ss_result_wrap(root, result, error);
    json_decref(root);
    return status;
}
