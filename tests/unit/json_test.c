/* JSON: bounds, refusals and their messages, typed access. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/json.h"
#include "support/failing_allocator.h"

#include <stdlib.h>
#include <string.h>

static ss_status parse(const char *text, json_t **document, ss_error *error) {
    return ss_json_parse("test.json", text, strlen(text), SS_JSON_LIMIT, document, error);
}

static void broken_documents_are_refused_with_line_and_byte(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *message;
    } cases[] = {
        {"", "test.json, line 1, byte 0", "expected"},
        {"{\"a\": 1,\n \"a\": 2}", "line 2", "duplicate"},
        {"{\"a\": 1} x", "line 1, byte 10", "end of file expected"},
        {"{\"a\": \"\x80\"}", "line 1", "decode"},
        {"{\"a\": NaN}", "line 1", "invalid token"},
        {"{\"a\": 1e999}", "line 1", "real number overflow"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *document = NULL;
        ss_error error = {0};
        assert_int_equal(parse(cases[i].text, &document, &error), SS_E_FORMAT);
        assert_null(document);
        assert_non_null(strstr(error.where, cases[i].where));
        assert_non_null(strstr(error.message, cases[i].message));
    }
}

static void a_document_over_the_limit_is_refused_unread(void **state) {
    (void)state;
    json_t *document = NULL;
    ss_error error;
    assert_int_equal(ss_json_parse("big.json", "[1]", 3, 2, &document, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "3 bytes of JSON are more than the limit of 2");
    assert_int_equal(ss_json_parse("big.json", "[1]", 3, 64, &document, &error), SS_OK);
    json_decref(document);
}

static void a_document_of_too_many_values_is_refused_unread(void **state) {
    (void)state;
    json_t *document = NULL;
    ss_error error;
    /* under a limit of 96 bytes: three values, with commas and brackets in strings not counted */
    assert_int_equal(ss_json_parse("v.json", "[1, \"[,[,\"]", 11, 96, &document, &error), SS_OK);
    json_decref(document);
    document = NULL;
    assert_int_equal(ss_json_parse("v.json", "[1, 2, [3]]", 11, 96, &document, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "too many values"));
    assert_null(document);
}

static void nesting_is_limited(void **state) {
    (void)state;
    char text[2 * SS_JSON_DEPTH + 3] = "";
    json_t *document = NULL;
    ss_error error;
    memset(text, '[', SS_JSON_DEPTH);
    memset(text + SS_JSON_DEPTH, ']', SS_JSON_DEPTH);
    assert_int_equal(parse(text, &document, &error), SS_OK);
    json_decref(document);
    memset(text, '[', SS_JSON_DEPTH + 1);
    memset(text + SS_JSON_DEPTH + 1, ']', SS_JSON_DEPTH + 1);
    assert_int_equal(parse(text, &document, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "nested too deep"));
}

static void brackets_in_strings_do_not_nest(void **state) {
    (void)state;
    char text[1024] = "[\"\\\"";
    json_t *document = NULL;
    memset(text + 4, '[', 500);
    strcpy(text + 504, "\"]");
    assert_int_equal(parse(text, &document, NULL), SS_OK);
    json_decref(document);
}

static void escape_bytes_in_messages_are_replaced(void **state) {
    (void)state;
    json_t *document = json_object();
    ss_error error;
    const char *value;
    assert_int_equal(ss_json_string(document, "a\x1b[31m\nb", SS_REQUIRED, "c.json", &value, &error),
                     SS_E_FORMAT);
    assert_string_equal(error.message, "the key \"a?[31m?b\" is missing");
    json_decref(document);
}

static void integers_beyond_64_bits_become_reals(void **state) {
    (void)state;
    json_t *document;
    double length = 0;
    size_t size = 3;
    ss_error error;
    assert_int_equal(
        parse("{\"model_max_length\": 1000000000000000019884624838656, \"n\": 12}", &document, &error),
        SS_OK);
    assert_int_equal(ss_json_number(document, "model_max_length", SS_REQUIRED, "c", &length, &error), SS_OK);
    assert_true(length == 1e30);
    assert_int_equal(ss_json_size(document, "model_max_length", SS_REQUIRED, "c", &size, &error),
                     SS_E_FORMAT);
    assert_int_equal(ss_json_size(document, "n", SS_REQUIRED, "c", &size, &error), SS_OK);
    assert_int_equal(size, 12);
    json_decref(document);
}

static void getters_read_values_and_keep_defaults(void **state) {
    (void)state;
    json_t *document, *inner = NULL, *items = NULL;
    size_t size = 0, absent = 4;
    double number = 0;
    bool flag = false;
    const char *text = NULL;
    assert_int_equal(
        parse("{\"n\": 7.0, \"x\": -1e-5, \"b\": true, \"s\": \"hi\", \"o\": {}, \"a\": [1], \"z\": null}",
              &document, NULL),
        SS_OK);
    assert_int_equal(ss_json_size(document, "n", SS_REQUIRED, "c", &size, NULL), SS_OK);
    assert_int_equal(ss_json_number(document, "x", SS_REQUIRED, "c", &number, NULL), SS_OK);
    assert_int_equal(ss_json_bool(document, "b", SS_REQUIRED, "c", &flag, NULL), SS_OK);
    assert_int_equal(ss_json_string(document, "s", SS_REQUIRED, "c", &text, NULL), SS_OK);
    assert_int_equal(ss_json_object(document, "o", SS_REQUIRED, "c", &inner, NULL), SS_OK);
    assert_int_equal(ss_json_array(document, "a", SS_REQUIRED, "c", &items, NULL), SS_OK);
    assert_int_equal(ss_json_size(document, "none", SS_OPTIONAL, "c", &absent, NULL), SS_OK);
    assert_int_equal(ss_json_size(document, "z", SS_OPTIONAL, "c", &absent, NULL), SS_OK);
    assert_int_equal(size, 7);
    assert_true(number == -1e-5 && flag);
    assert_string_equal(text, "hi");
    assert_true(json_is_object(inner) && json_array_size(items) == 1);
    assert_int_equal(absent, 4);
    assert_true(ss_json_has(document, "n"));
    assert_false(ss_json_has(document, "z"));
    json_decref(document);
}

static void getters_name_file_key_and_type(void **state) {
    (void)state;
    json_t *document;
    size_t size = 5;
    double number = 5;
    bool flag = true;
    ss_error error;
    assert_int_equal(parse("{\"n\": -1, \"f\": 1.5, \"s\": \"12\", \"z\": null}", &document, NULL), SS_OK);
    assert_int_equal(ss_json_size(document, "n", SS_OPTIONAL, "config.json", &size, &error), SS_E_FORMAT);
    assert_string_equal(error.where, "config.json");
    assert_string_equal(error.message, "\"n\" is -1, which is no whole number from 0 to 2^53");
    assert_int_equal(ss_json_size(document, "f", SS_OPTIONAL, "config.json", &size, &error), SS_E_FORMAT);
    assert_int_equal(ss_json_number(document, "s", SS_OPTIONAL, "config.json", &number, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "\"s\" must be a number, but is a string");
    assert_int_equal(ss_json_bool(document, "z", SS_REQUIRED, "config.json", &flag, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "the key \"z\" is missing");
    assert_true(size == 5 && number == 5 && flag);
    json_decref(document);
}

static void every_failing_allocation_fails_cleanly(void **state) {
    (void)state;
    static const char text[] =
        "{\"a\": [1, 2.5, \"text\", {\"b\": null}], \"c\": {\"d\": true, \"e\": \"\\u00e9\"}}";
    for (size_t n = 1; n < 1000; n++) {
        failing_allocator_state memory;
        json_t *document = NULL;
        failing_jansson_init(&memory, n);
        ss_status status = parse(text, &document, NULL);
        if (!status) json_decref(document);
        failing_jansson_end();
        assert_int_equal(memory.live, 0);
        if (!status) return;
        assert_true(status == SS_E_MEMORY || status == SS_E_FORMAT); /* jansson takes some for bad tokens */
        assert_null(document);
    }
    fail();
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_documents_are_refused_with_line_and_byte),
        cmocka_unit_test(a_document_over_the_limit_is_refused_unread),
        cmocka_unit_test(a_document_of_too_many_values_is_refused_unread),
        cmocka_unit_test(nesting_is_limited),
        cmocka_unit_test(brackets_in_strings_do_not_nest),
        cmocka_unit_test(escape_bytes_in_messages_are_replaced),
        cmocka_unit_test(integers_beyond_64_bits_become_reals),
        cmocka_unit_test(getters_read_values_and_keep_defaults),
        cmocka_unit_test(getters_name_file_key_and_type),
        cmocka_unit_test(every_failing_allocation_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
