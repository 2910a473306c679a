#include "support/tokenizers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

json_t *read_json(const char *path) {
    json_error_t reason;
    json_t *value = json_load_file(path, 0, &reason);
    if (!value) fail_msg("%s: %s", path, reason.text);
    return value;
}

ss_string_view read_file(const char *path) {
    ss_map map;
    ss_error error;
    if (ss_map_open(path, &map, &error)) fail_msg("%s: %s", error.where, error.message);
    char *copy = malloc(map.size + 1);
    assert_non_null(copy);
    memcpy(copy, map.data, map.size);
    size_t size = map.size;
    ss_map_close(&map);
    return (ss_string_view){copy, size};
}

ss_string_view as_view(const char *text) {
    return (ss_string_view){text, strlen(text)};
}

ss_string_view corpus_text(const json_t *item) {
    const char *file = json_string_value(json_object_get(item, "file"));
    if (file) {
        char path[4096];
        snprintf(path, sizeof path, GOLDEN "%s", file);
        return read_file(path);
    }
    const char *hex = json_string_value(json_object_get(item, "hex"));
    const char *text = json_string_value(json_object_get(item, "text"));
    json_t *repeated = json_object_get(item, "times");
    size_t unit = strlen(hex ? hex : text), times = repeated ? (size_t)json_integer_value(repeated) : 1;
    char *bytes = malloc(unit * times + 1);
    assert_non_null(bytes);
    if (!hex) {
        for (size_t i = 0; i < times; i++) memcpy(bytes + i * unit, text, unit);
        return (ss_string_view){bytes, unit * times};
    }
    for (size_t i = 0; i < unit / 2; i++) {
        unsigned value = 0;
        sscanf(hex + 2 * i, "%2x", &value);
        bytes[i] = (char)value;
    }
    return (ss_string_view){bytes, unit / 2};
}

ss_encoding encode(const ss_tokenizer *tokenizer, ss_string_view text, unsigned flags) {
    ss_encoding ids = {0};
    ss_error error = {0};
    if (ss_tokenizer_encode(tokenizer, text.bytes, text.length, flags, SS_ALL_TOKENS, &ids, &error))
        fail_msg("%s: %s", error.where, error.message);
    return ids;
}

ss_tokenizer *from_json_text(const char *json, const char *config) {
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    if (ss_tokenizer_from_json(NULL, "test", as_view(json), as_view(config), &tokenizer, &error))
        fail_msg("%s: %s", error.where, error.message);
    return tokenizer;
}

char *varied_json(const char *file, json_t *parts, json_t *model) {
    char path[4096];
    snprintf(path, sizeof path, GOLDEN "text/%s", file);
    json_t *whole = read_json(path);
    json_object_update(whole, parts);
    json_object_update(json_object_get(whole, "model"), model);
    char *text = json_dumps(whole, 0);
    assert_non_null(text);
    json_decref(whole);
    return text;
}

ss_tokenizer *open_golden(const char *file) {
    char *text = varied_json(file, NULL, NULL);
    ss_tokenizer *tokenizer = from_json_text(text, "");
    free(text);
    return tokenizer;
}
