/* Bounded JSON parsing and typed access. Relies on: jansson. */
#include "formats/json.h"

#include "base/file.h"

#include <math.h>

static ss_status fail_at_line(ss_error *error, const char *file, size_t line, size_t byte, const char *what) {
    char where[sizeof error->where];
    snprintf(where, sizeof where, "%s, line %zu, byte %zu", file, line, byte);
    return ss_fail(error, SS_E_FORMAT, where, "this JSON is refused: %s", what);
}

/* Nesting and the number of values are checked before jansson runs. It would recurse 2048 deep, and so would
 * all who walk the result; and 16 MB of "[],[],..." would become 700 MB and take a second. */
static ss_status check_bounds(const char *file, const char *text, size_t size, size_t most_values,
                              ss_error *error) {
    size_t depth = 0, line = 1, values = 0;
    bool in_string = false;
    for (size_t i = 0; i < size; i++) {
        char c = text[i];
        if (c == '\n') line++;
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (in_string)
            continue;
        else if (c == '[' || c == '{')
            depth++, values++;
        else if (c == ',')
            values++;
        else if ((c == ']' || c == '}') && depth > 0)
            depth--;
        if (depth > SS_JSON_DEPTH)
            return fail_at_line(error, file, line, i, "arrays or objects are nested too deep");
        if (values > most_values) return fail_at_line(error, file, line, i, "too many values");
    }
    return SS_OK;
}

ss_status ss_json_parse(const char *file, const void *bytes, size_t size, size_t limit, json_t **document,
                        ss_error *error) {
    const char *text = bytes ? bytes : "";
    if (size > limit)
        return ss_fail(error, SS_E_FORMAT, file, "%zu bytes of JSON are more than the limit of %zu", size,
                       limit);
    SS_TRY(check_bounds(file, text, size, limit / SS_JSON_BYTES_PER_VALUE, error));
    json_error_t reason = {0};
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &reason);
    if (!root && json_error_code(&reason) == json_error_numeric_overflow)
        root = json_loadb(text, size, JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL, &reason);
    if (!root) {
        /* where memory ran out jansson often leaves no text at all */
        if (reason.text[0] == '\0' || json_error_code(&reason) == json_error_out_of_memory)
            return ss_fail_memory(error, file);
        return fail_at_line(error, file, reason.line > 0 ? (size_t)reason.line : 1, (size_t)reason.position,
                            reason.text);
    }
    *document = root;
    return SS_OK;
}

ss_status ss_json_open(const char *path, size_t limit, json_t **document, ss_error *error) {
    ss_map map;
    SS_TRY(ss_map_open(path, &map, error));
    ss_status status = ss_json_parse(path, map.data, map.size, limit, document, error);
    ss_map_close(&map);
    return status;
}

static const char *kind_name(const json_t *value) {
    static const char *const names[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return names[json_typeof(value)];
}

/* *value = NULL where the key is absent or null, which only an optional key may be. */
static ss_status look_up(const json_t *object, const char *key, ss_need need, const char *where,
                         json_t **value, ss_error *error) {
    json_t *found = json_object_get(object, key);
    if (json_is_null(found)) found = NULL;
    if (!found && need == SS_REQUIRED)
        return ss_fail(error, SS_E_FORMAT, where, "the key \"%s\" is missing", key);
    *value = found;
    return SS_OK;
}

static ss_status fail_type(ss_error *error, const char *where, const char *key, const char *wanted,
                           const json_t *found) {
    return ss_fail(error, SS_E_FORMAT, where, "\"%s\" must be %s, but is %s", key, wanted, kind_name(found));
}

bool ss_json_has(const json_t *object, const char *key) {
    const json_t *found = json_object_get(object, key);
    return found && !json_is_null(found);
}

bool ss_json_as_size(const json_t *value, size_t *size) {
    if (json_is_integer(value) && json_integer_value(value) >= 0) {
        *size = (size_t)json_integer_value(value);
        return true;
    }
    const double exact_limit = 9007199254740992.0; /* 2^53 */
    double real = json_real_value(value);
    if (!json_is_real(value) || real < 0 || real > exact_limit || real != floor(real)) return false;
    *size = (size_t)real;
    return true;
}

ss_status ss_json_size(const json_t *object, const char *key, ss_need need, const char *where, size_t *value,
                       ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (!found || ss_json_as_size(found, value)) return SS_OK;
    if (!json_is_number(found)) return fail_type(error, where, key, "a whole number", found);
    return ss_fail(error, SS_E_FORMAT, where, "\"%s\" is %.17g, which is no whole number from 0 to 2^53", key,
                   json_number_value(found));
}

ss_status ss_json_number(const json_t *object, const char *key, ss_need need, const char *where,
                         double *value, ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (found && !json_is_number(found)) return fail_type(error, where, key, "a number", found);
    if (found) *value = json_number_value(found);
    return SS_OK;
}

ss_status ss_json_bool(const json_t *object, const char *key, ss_need need, const char *where, bool *value,
                       ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (found && !json_is_boolean(found)) return fail_type(error, where, key, "true or false", found);
    if (found) *value = json_is_true(found);
    return SS_OK;
}

ss_status ss_json_string(const json_t *object, const char *key, ss_need need, const char *where,
                         const char **value, ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (found && !json_is_string(found)) return fail_type(error, where, key, "a string", found);
    if (found) *value = json_string_value(found);
    return SS_OK;
}

ss_status ss_json_object(const json_t *object, const char *key, ss_need need, const char *where,
                         json_t **value, ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (found && !json_is_object(found)) return fail_type(error, where, key, "an object", found);
    if (found) *value = found;
    return SS_OK;
}

ss_status ss_json_array(const json_t *object, const char *key, ss_need need, const char *where,
                        json_t **value, ss_error *error) {
    json_t *found;
    SS_TRY(look_up(object, key, need, where, &found, error));
    if (found && !json_is_array(found)) return fail_type(error, where, key, "an array", found);
    if (found) *value = found;
    return SS_OK;
}
