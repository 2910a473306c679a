/* Filling the result document. Relies on: jansson (the tree), formats/base64, text/utf8 (repair of text from
 * files). */
#include "result/result.h"

#include "base/mem.h"
#include "formats/base64.h"
#include "text/utf8.h"

#include <math.h>
#include <string.h>

ss_status ss_result_create(ss_result **result, const char *command, ss_error *error) {
    json_t *root =
        json_pack("{s:s, s:i, s:s}", "softscope", SS_VERSION, "schema", SS_RESULT_SCHEMA, "command", command);
    return ss_result_wrap(root, result, error);
}

ss_status ss_result_wrap(json_t *root, ss_result **result, ss_error *error) {
    ss_result *made = root ? ss_alloc(NULL, 1, sizeof *made) : NULL;
    if (!made) {
        json_decref(root);
        return ss_fail_memory(error, "the result document");
    }
    *made = (ss_result){.root = root};
    *result = made;
    return SS_OK;
}

void ss_result_free(ss_result *result) {
    if (!result) return;
    json_decref(result->root);
    ss_free(NULL, result);
}

ss_status ss_result_check(const ss_result *result, ss_error *error) {
    return result->failed ? ss_fail_memory(error, "the result document") : SS_OK;
}

/* ---- nodes ---- */

/* jansson's *_new functions take a NULL value or container as a failure and release what they were given, so
 * one test of their answer covers the whole chain of allocations. */
static void set(ss_result *result, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0) result->failed = true;
}

static void append(ss_result *result, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0) result->failed = true;
}

static json_t *find_or_make(ss_result *result, json_t *parent, const char *key, json_t *(*make)(void)) {
    json_t *found = json_object_get(parent, key);
    if (found) return found;
    set(result, parent, key, make());
    return json_object_get(parent, key);
}

json_t *ss_result_object(ss_result *result, json_t *parent, const char *key) {
    return find_or_make(result, parent, key, json_object);
}

json_t *ss_result_array(ss_result *result, json_t *parent, const char *key) {
    return find_or_make(result, parent, key, json_array);
}

json_t *ss_result_item(ss_result *result, json_t *array) {
    size_t before = json_array_size(array);
    append(result, array, json_object());
    return json_array_get(array, before);
}

json_t *ss_result_indexed(ss_result *result, json_t *array, size_t index) {
    size_t place;
    json_t *item;
    json_array_foreach(array, place, item) {
        if ((size_t)json_integer_value(json_object_get(item, "index")) == index) return item;
    }
    item = ss_result_item(result, array);
    ss_result_count(result, item, "index", index);
    return item;
}

/* ---- values ---- */

void ss_result_number(ss_result *result, json_t *object, const char *key, double value, const char *reason) {
    if (isfinite(value))
        set(result, object, key, json_real(value));
    else
        ss_result_absent(result, object, key, reason ? reason : "not finite");
}

void ss_result_count(ss_result *result, json_t *object, const char *key, size_t value) {
    set(result, object, key, json_integer((json_int_t)value));
}

void ss_result_bool(ss_result *result, json_t *object, const char *key, bool value) {
    set(result, object, key, json_boolean(value));
}

void ss_result_absent(ss_result *result, json_t *object, const char *key, const char *reason) {
    set(result, object, key, json_null());
    set(result, ss_result_object(result, object, "absent"), key, json_string(reason));
}

/* A string of any bytes; NULL when memory ran out. */
static json_t *repaired(const char *bytes, size_t length) {
    if (ss_utf8_is_valid(bytes, length) && !memchr(bytes, 0, length)) return json_stringn(bytes, length);
    size_t whole = ss_utf8_repair(bytes, length, NULL, 0);
    char *copy = ss_alloc(NULL, whole + 1, 1);
    if (!copy) return NULL;
    ss_utf8_repair(bytes, length, copy, whole + 1);
    for (size_t i = 0; i < whole; i++)
        if (copy[i] == '\0') copy[i] = '\x1a';
    json_t *string = json_stringn(copy, whole);
    ss_free(NULL, copy);
    return string;
}

void ss_result_text(ss_result *result, json_t *object, const char *key, const char *text) {
    set(result, object, key, text ? repaired(text, strlen(text)) : json_null());
}

void ss_result_append_text(ss_result *result, json_t *array, const char *bytes, size_t length) {
    append(result, array, repaired(bytes, length));
}

void ss_result_append_count(ss_result *result, json_t *array, size_t value) {
    append(result, array, json_integer((json_int_t)value));
}

void ss_result_numbers(ss_result *result, json_t *object, const char *key, const double *values,
                       size_t count) {
    json_t *array = json_array();
    for (size_t i = 0; i < count; i++)
        append(result, array, isfinite(values[i]) ? json_real(values[i]) : json_null());
    set(result, object, key, array);
}

/* ---- maps ---- */

static unsigned char map_byte(double cell) {
    double level = round(255 * sqrt(cell > 0 ? cell : 0)); /* a NaN is no attention: 0 */
    return (unsigned char)(level < 255 ? level : 255);
}

void ss_result_map(ss_result *result, json_t *object, const char *key, const double *cells, size_t queries,
                   size_t keys) {
    size_t size = queries * keys, length = SS_BASE64_SIZE(size);
    unsigned char *bytes = ss_alloc(NULL, size + length, 1);
    if (!bytes) {
        result->failed = true;
        return;
    }
    char *text = (char *)bytes + size;
    for (size_t i = 0; i < size; i++) bytes[i] = map_byte(cells[i]);
    ss_base64(bytes, size, text);
    json_t *map = json_object();
    ss_result_count(result, map, "queries", queries);
    ss_result_count(result, map, "keys", keys);
    set(result, map, "data", json_stringn_nocheck(text, length));
    ss_free(NULL, bytes);
    set(result, object, key, map);
}

/* ---- findings ---- */

static const char *severity_name(ss_severity severity) {
    static const char *const names[] = {
#define SS_SEVERITY_NAME(severity_, name) [severity_] = name,
        SS_SEVERITY_LIST(SS_SEVERITY_NAME)
#undef SS_SEVERITY_NAME
    };
    return names[severity];
}

/* How severe a finding of the document is, by its name; what nobody knows counts as the least. */
static ss_severity severity_of(const json_t *finding) {
    const char *name = json_string_value(json_object_get(finding, "severity"));
    for (ss_severity s = SS_SEVERITY_ERROR; name && s < SS_SEVERITY_INFO; s++)
        if (strcmp(name, severity_name(s)) == 0) return s;
    return SS_SEVERITY_INFO;
}

static void set_place(ss_result *result, json_t *object, const char *key, size_t place) {
    if (place != SS_NOWHERE) ss_result_count(result, object, key, place);
}

static void set_if_number(ss_result *result, json_t *object, const char *key, double value) {
    if (isfinite(value)) ss_result_number(result, object, key, value, NULL);
}

void ss_result_finding(ss_result *result, const ss_finding *finding) {
    json_t *list = ss_result_array(result, result->root, "findings");
    size_t place = json_array_size(list);
    while (place > 0 && severity_of(json_array_get(list, place - 1)) > finding->severity) place--;
    json_t *item = json_object();
    ss_result_text(result, item, "id", finding->id);
    ss_result_text(result, item, "severity", severity_name(finding->severity));
    ss_result_text(result, item, "text", finding->text);
    set_place(result, item, "layer", finding->layer);
    set_place(result, item, "head", finding->head);
    set_place(result, item, "token", finding->token);
    if (finding->metric) ss_result_text(result, item, "metric", finding->metric);
    set_if_number(result, item, "value", finding->value);
    set_if_number(result, item, "threshold", finding->threshold);
    if (json_array_insert_new(list, place, item) != 0) result->failed = true;
}

void ss_result_note(ss_result *result, const char *id, ss_severity severity, const char *text) {
    ss_result_finding(result, &(ss_finding){.id = id,
                                            .severity = severity,
                                            .text = text,
                                            .layer = SS_NOWHERE,
                                            .head = SS_NOWHERE,
                                            .token = SS_NOWHERE,
                                            .value = NAN,
                                            .threshold = NAN});
}

bool ss_result_has_finding(const ss_result *result, const char *id) {
    size_t place;
    json_t *finding;
    json_array_foreach(json_object_get(result->root, "findings"), place, finding) {
        const char *name = json_string_value(json_object_get(finding, "id"));
        if (name && strcmp(name, id) == 0) return true;
    }
    return false;
}
