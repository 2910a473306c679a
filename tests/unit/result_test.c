/* The result document: what it says of numbers that are none, its order of findings, files and their refusal.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "result/result.h"
#include "support/failing_allocator.h"
#include "support/json_path.h"
#include "support/temp_folder.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static ss_result *new_result(void) {
    ss_result *result;
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    return result;
}

static void a_result_opens_with_its_envelope(void **state) {
    (void)state;
    ss_result *result = new_result();
    assert_string_equal(json_string_value(json_at(result->root, "softscope")), SS_VERSION);
    assert_true(number_at(result->root, "schema") == 1);
    assert_string_equal(json_string_value(json_at(result->root, "command")), "test");
    ss_result_free(result);
}

static void a_number_that_is_none_becomes_null_with_the_reason(void **state) {
    (void)state;
    ss_result *result = new_result();
    ss_result_number(result, result->root, "good", 0.25, "unused");
    ss_result_number(result, result->root, "bad", NAN, "nothing to measure");
    ss_result_number(result, result->root, "huge", -INFINITY, NULL);
    ss_result_numbers(result, result->root, "list", (double[]){1, NAN, 3}, 3);
    assert_true(number_at(result->root, "good") == 0.25);
    assert_null(json_at(result->root, "absent.good"));
    assert_true(json_is_null(json_at(result->root, "bad")));
    assert_string_equal(json_string_value(json_at(result->root, "absent.bad")), "nothing to measure");
    assert_string_equal(json_string_value(json_at(result->root, "absent.huge")), "not finite");
    assert_true(json_is_null(json_at(result->root, "list.1")));
    assert_true(number_at(result->root, "list.2") == 3);
    assert_int_equal(ss_result_check(result, NULL), SS_OK);
    ss_result_free(result);
}

static void broken_text_is_repaired(void **state) {
    (void)state;
    ss_result *result = new_result();
    json_t *list = ss_result_array(result, result->root, "list");
    ss_result_append_text(result, list, "a\xff\xe2\x82z", 5);
    ss_result_append_text(result, list, "a\0b", 3);
    ss_result_text(result, result->root, "markup", "</script>\n\"");
    ss_result_text(result, result->root, "none", NULL);
    assert_string_equal(json_string_value(json_at(result->root, "list.0")), "a\xef\xbf\xbd\xef\xbf\xbdz");
    assert_string_equal(json_string_value(json_at(result->root, "list.1")), "a\x1a"
                                                                            "b");
    assert_string_equal(json_string_value(json_at(result->root, "markup")), "</script>\n\"");
    assert_true(json_is_null(json_at(result->root, "none")));
    ss_result_free(result);
}

static void a_summary_of_nothing_is_absent(void **state) {
    (void)state;
    ss_result *result = new_result();
    double values[] = {4, 1, 3, 2, 5};
    ss_summary five = ss_summarize(values, 5), none = ss_summarize(values, 0);
    ss_result_summary(result, result->root, "five", &five, "unused");
    ss_result_summary(result, result->root, "none", &none, "no rows");
    assert_true(number_at(result->root, "five.count") == 5);
    assert_true(number_at(result->root, "five.median") == 3);
    assert_true(fabs(number_at(result->root, "five.p5") - 1.2) < 1e-12);
    assert_true(json_is_null(json_at(result->root, "none")));
    assert_string_equal(json_string_value(json_at(result->root, "absent.none")), "no rows");
    ss_result_free(result);
}

static void a_map_is_base64_of_square_roots(void **state) {
    (void)state;
    ss_result *result = new_result();
    static const struct {
        size_t count;
        const char *text;
    } cases[] = {{1, "/w=="}, {2, "/wA="}, {3, "/wCA"}, {4, "/wCA/w=="}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_result_map(result, result->root, "map", (double[]){1, 0, .252, 7}, 1,
                      cases[i].count); /* 255 0 128 255 */
        assert_string_equal(json_string_value(json_at(result->root, "map.data")), cases[i].text);
        assert_true(number_at(result->root, "map.keys") == (double)cases[i].count);
    }
    ss_result_free(result);
}

static void items_are_found_by_their_index(void **state) {
    (void)state;
    ss_result *result = new_result();
    json_t *list = ss_result_array(result, result->root, "layers");
    json_t *seven = ss_result_indexed(result, list, 7), *three = ss_result_indexed(result, list, 3);
    assert_ptr_equal(ss_result_indexed(result, list, 7), seven);
    assert_ptr_not_equal(seven, three);
    assert_int_equal(json_array_size(list), 2);
    assert_ptr_equal(ss_result_array(result, result->root, "layers"), list);
    ss_result_free(result);
}

static void findings_stand_from_the_most_severe_on(void **state) {
    (void)state;
    ss_result *result = new_result();
    ss_result_note(result, "i1", SS_SEVERITY_INFO, "one");
    ss_result_note(result, "w1", SS_SEVERITY_WARNING, "two");
    ss_result_note(result, "e1", SS_SEVERITY_ERROR, "three");
    ss_result_note(result, "w2", SS_SEVERITY_WARNING, "four");
    const ss_finding place = {.id = "e2",
                              .severity = SS_SEVERITY_ERROR,
                              .text = "five",
                              .layer = 3,
                              .head = 0,
                              .token = SS_NOWHERE,
                              .metric = "max_logit",
                              .value = 12,
                              .threshold = NAN};
    ss_result_finding(result, &place);
    static const char *const order[] = {"e1", "e2", "w1", "w2", "i1"};
    for (size_t i = 0; i < 5; i++) {
        char path[32];
        snprintf(path, sizeof path, "findings.%zu.id", i);
        assert_string_equal(json_string_value(json_at(result->root, path)), order[i]);
    }
    assert_true(number_at(result->root, "findings.1.layer") == 3);
    assert_true(number_at(result->root, "findings.1.head") == 0);
    assert_true(number_at(result->root, "findings.1.value") == 12);
    assert_null(json_at(result->root, "findings.1.token"));
    assert_null(json_at(result->root, "findings.1.threshold"));
    assert_null(json_at(result->root, "findings.0.layer"));
    assert_true(ss_result_has_finding(result, "w2"));
    assert_false(ss_result_has_finding(result, "w"));
    ss_result_free(result);
}

/* ---- files ---- */

static void what_is_saved_is_loaded_with_ten_digits(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = temp_path_in(&folder, "out.json");
    ss_result *result = new_result(), *loaded;
    ss_result_number(result, result->root, "third", 1.0 / 3, NULL);
    ss_result_number(result, result->root, "tiny", 5e-324, NULL);
    ss_result_number(result, result->root, "theta", 1 - 1e-10, NULL);
    ss_result_number(result, result->root, "float", 0.1f, NULL);
    ss_result_append_text(result, ss_result_array(result, result->root, "texts"), "\0 \xff", 3);
    assert_int_equal(ss_result_save(result, path.text, NULL), SS_OK);
    assert_int_equal(ss_result_load(path.text, &loaded, NULL), SS_OK);
    assert_json_near(result->root, loaded->root, 1e-10);
    assert_true(number_at(loaded->root, "tiny") > 0);
    assert_true(number_at(loaded->root, "theta") < 1);
    assert_true((float)number_at(loaded->root, "float") == 0.1f);
    ss_result_free(result);
    ss_result_free(loaded);
    temp_folder_remove(&folder);
}

static void numbers_have_a_point_in_every_locale(void **state) {
    (void)state;
    static const char *const comma[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ru_RU.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < 4 && !found; i++) found = setlocale(LC_ALL, comma[i]) != NULL;
    if (!found) skip(); /* none is installed here */
    temp_path folder = temp_folder_make(), path = temp_path_in(&folder, "out.json");
    char text[512];
    ss_result *result = new_result();
    ss_result_number(result, result->root, "x", 2.5, NULL);
    assert_int_equal(ss_result_save(result, path.text, NULL), SS_OK);
    setlocale(LC_ALL, "C");
    FILE *stream = fopen(path.text, "r");
    assert_non_null(stream);
    size_t size = fread(text, 1, sizeof text - 1, stream);
    fclose(stream);
    text[size] = '\0';
    assert_non_null(strstr(text, "\"x\":2.5"));
    assert_int_equal(text[size - 1], '\n');
    temp_folder_remove(&folder);
    ss_result_free(result);
}

static void a_disk_that_is_full_is_reported(void **state) {
    (void)state;
    ss_result *result = new_result();
    ss_error error;
    if (access("/dev/full", W_OK) != 0) {
        ss_result_free(result);
        skip();
    }
    /* a link to the device, so that a fault here would cost the link */
    temp_path folder = temp_folder_make(), full = temp_path_in(&folder, "full");
    assert_int_equal(symlink("/dev/full", full.text), 0);
    assert_int_equal(ss_result_save(result, full.text, &error), SS_E_WRITE); /* told by the flush */
    static const double many[1 << 16];
    ss_result_numbers(result, result->root, "many", many, 1 << 16);
    assert_int_equal(ss_result_save(result, full.text, &error), SS_E_WRITE); /* told by a write */
    assert_int_equal(ss_result_save(result, "/nowhere/at/all.json", &error), SS_E_WRITE);
    temp_folder_remove(&folder);
    ss_result_free(result);
}

static void what_is_no_result_is_refused_with_the_reason(void **state) {
    (void)state;
    static const struct {
        const char *text;
        ss_status status;
        const char *message; /* part of it */
    } cases[] = {
        {"", SS_E_FORMAT, ""},
        {"{", SS_E_FORMAT, ""},
        {"[]", SS_E_FORMAT, "not a softscope result"},
        {"{\"a\": 1}", SS_E_FORMAT, "not a softscope result"},
        {"{\"softscope\": 3, \"schema\": 1, \"command\": \"x\"}", SS_E_FORMAT, "softscope"},
        {"{\"softscope\": \"9\", \"command\": \"x\"}", SS_E_FORMAT, "schema"},
        {"{\"softscope\": \"9\", \"schema\": 1}", SS_E_FORMAT, "command"},
        {"{\"softscope\": \"9\", \"schema\": 2, \"command\": \"x\"}", SS_E_UNSUPPORTED, "schema version 2"},
        {"{\"softscope\": \"9\", \"schema\": 1, \"command\": \"x\", \"n\": NaN}", SS_E_FORMAT, ""},
    };
    temp_path folder = temp_folder_make();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        temp_path path = temp_file_write(&folder, "bad.json", cases[i].text, strlen(cases[i].text));
        ss_result *result = NULL;
        ss_error error;
        assert_int_equal(ss_result_load(path.text, &result, &error), cases[i].status);
        assert_null(result);
        if (!strstr(error.message, cases[i].message)) fail_msg("case %zu: %s", i, error.message);
        assert_non_null(strstr(error.where, "bad.json"));
    }
    temp_folder_remove(&folder);
}

static void memory_that_runs_out_is_remembered(void **state) {
    (void)state;
    failing_allocator_state jansson;
    for (size_t n = 1;; n++) {
        ss_result *result = NULL;
        failing_jansson_init(&jansson, n);
        ss_status status = ss_result_create(&result, "test", NULL);
        if (status == SS_OK) {
            json_t *list = ss_result_array(result, result->root, "layers");
            for (size_t i = 0; i < 9; i++)
                ss_result_number(result, ss_result_indexed(result, list, i), "x", i ? 1 : NAN, "none");
            ss_result_map(result, ss_result_indexed(result, list, 2), "map", (double[]){1}, 1, 1);
            ss_result_note(result, "id", SS_SEVERITY_INFO, "text");
            ss_result_numbers(result, result->root, "list", (double[]){1, 2}, 2);
            status = ss_result_check(result, NULL);
        }
        ss_result_free(result);
        failing_jansson_end();
        assert_int_equal(jansson.live, 0);
        if (jansson.requests < n) {
            assert_int_equal(status, SS_OK);
            assert_true(n > 20);
            break;
        }
        assert_int_equal(status, SS_E_MEMORY);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_opens_with_its_envelope),
        cmocka_unit_test(a_number_that_is_none_becomes_null_with_the_reason),
        cmocka_unit_test(broken_text_is_repaired),
        cmocka_unit_test(a_summary_of_nothing_is_absent),
        cmocka_unit_test(a_map_is_base64_of_square_roots),
        cmocka_unit_test(items_are_found_by_their_index),
        cmocka_unit_test(findings_stand_from_the_most_severe_on),
        cmocka_unit_test(what_is_saved_is_loaded_with_ten_digits),
        cmocka_unit_test(numbers_have_a_point_in_every_locale),
        cmocka_unit_test(a_disk_that_is_full_is_reported),
        cmocka_unit_test(what_is_no_result_is_refused_with_the_reason),
        cmocka_unit_test(memory_that_runs_out_is_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
