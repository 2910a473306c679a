/* Applying values to a draft. Relies on: model/names. */
#include "model/config_keys.h"

#include "model/names.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const ss_key *ss_key_find(const ss_key *keys, const char *name) {
    for (; keys->name; keys++)
        if (ss_name_matches(keys->name, name)) return keys;
    return NULL;
}

/* The value as a person wrote it, cut to fit. */
static const char *value_text(const ss_value *value, char text[80]) {
    switch (value->kind) {
    case SS_VALUE_NULL:
        return "null";
    case SS_VALUE_BOOL:
        return value->number != 0 ? "true" : "false";
    case SS_VALUE_NUMBER:
        snprintf(text, 80, "%.9g", value->number);
        return text;
    case SS_VALUE_TEXT:
        snprintf(text, 80, "%.*s", (int)(value->length < 79 ? value->length : 79), value->text);
        return text;
    case SS_VALUE_OTHER:
        return "a list or an object";
    }
    return "";
}

static ss_status wrong(const ss_value *value, const char *where, const char *expected, ss_error *error) {
    char text[80];
    return ss_fail(error, SS_E_CONFIG, where, "%s is not %s", value_text(value, text), expected);
}

static bool is_text(const ss_value *value, const char *text) {
    return value->kind == SS_VALUE_TEXT && value->length == strlen(text) &&
           memcmp(value->text, text, value->length) == 0;
}

static ss_status apply_size(const ss_value *value, const char *where, size_t *field, ss_error *error) {
    const double largest = 2147483647; /* no size of a model comes near; products stay inside 64 bits */
    if (value->kind != SS_VALUE_NUMBER || !(value->number >= 1 && value->number <= largest) ||
        value->number != floor(value->number))
        return wrong(value, where, "a whole number from 1 to 2147483647", error);
    *field = (size_t)value->number;
    return SS_OK;
}

static ss_status apply_number(const ss_value *value, const char *where, double *field, ss_error *error) {
    if (value->kind != SS_VALUE_NUMBER || !isfinite(value->number))
        return wrong(value, where, "a finite number", error);
    *field = value->number;
    return SS_OK;
}

static ss_status apply_word(const ss_key *key, const ss_value *value, const char *where, void *field,
                            ss_error *error) {
    char known[256] = "";
    size_t used = 0;
    for (const ss_word *word = key->words; word->text; word++) {
        if (is_text(value, word->text)) {
            memcpy(field, &word->value, sizeof word->value); /* enumerations are as wide as int */
            return SS_OK;
        }
        if (used < sizeof known)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", used ? ", " : "", word->text);
    }
    char text[80];
    return ss_fail(error, SS_E_UNSUPPORTED, where, "\"%s\" is not supported; supported are %s",
                   value_text(value, text), known);
}

static ss_status apply_only(const ss_key *key, const ss_value *value, const char *where, ss_error *error) {
    char text[80];
    const char *found = value_text(value, text);
    if (strcmp(found, key->only) == 0) return SS_OK;
    return ss_fail(error, SS_E_UNSUPPORTED, where,
                   "%s changes what the model computes and is not supported (only %s is)", found, key->only);
}

static ss_status apply_soft_cap(const ss_value *value, const char *where, ss_config_draft *draft,
                                ss_error *error) {
    if (value->kind != SS_VALUE_NUMBER || !isfinite(value->number) || value->number <= 0)
        return wrong(value, where, "a soft cap: a finite number above 0 (leave the key out for none)", error);
    draft->config.soft_cap = value->number;
    return SS_OK;
}

ss_status ss_key_apply(const ss_key *key, const ss_value *value, const char *where, ss_config_draft *draft,
                       ss_error *error) {
    if (value->kind == SS_VALUE_NULL) return SS_OK;
    void *field = (char *)draft + key->field;
    switch (key->kind) {
    case SS_KEY_HARMLESS:
    case SS_KEY_OBJECT:
        return SS_OK; /* objects are walked by config_hf.c */
    case SS_KEY_SIZE:
        return apply_size(value, where, field, error);
    case SS_KEY_NUMBER:
        return apply_number(value, where, field, error);
    case SS_KEY_WORD:
        return apply_word(key, value, where, field, error);
    case SS_KEY_ONLY:
        return apply_only(key, value, where, error);
    case SS_KEY_SOFT_CAP:
        return apply_soft_cap(value, where, draft, error);
    case SS_KEY_BOOL:
    case SS_KEY_BIAS:
        break;
    }
    if (value->kind != SS_VALUE_BOOL) return wrong(value, where, "true or false", error);
    if (key->kind == SS_KEY_BOOL)
        *(bool *)field = value->number != 0;
    else
        *(ss_bias *)field = value->number != 0 ? SS_BIAS_YES : SS_BIAS_NO;
    return SS_OK;
}
