/* The report page from the C side: what is written, that names cannot become markup, and that a failure
 * leaves the old file. How the page looks and acts is tested in a browser (tests/web). */
#include <stdarg.h>
#include <stddef.h>

#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static char folder[] = "/tmp/softscope-html-XXXXXX";
static char path[sizeof folder + 16];

static int make_folder(void **state) {
    (void)state;
    if (!mkdtemp(folder)) return -1;
    snprintf(path, sizeof path, "%s/page.html", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* The whole file as a string to be freed. */
static char *contents(void) {
    FILE *stream = fopen(path, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    size_t size = (size_t)ftell(stream);
    rewind(stream);
    char *text = calloc(size + 1, 1);
    assert_int_equal(fread(text, 1, size, stream), size);
    fclose(stream);
    return text;
}

static int value_of(char digit) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return digit == '=' ? 0 : (int)(strchr(digits, digit) - digits);
}

/* What stands between the tags of the documents, decoded the plain way. */
static json_t *documents_in(const char *page) {
    const char *tag = "id=\"documents\">", *start = strstr(page, tag);
    assert_non_null(start);
    start += strlen(tag);
    size_t length = strcspn(start, "<"), size = 0;
    assert_int_equal(length % 4, 0);
    unsigned char *packed = malloc(length), *text = malloc(1 << 20);
    for (size_t i = 0; i < length; i += 4) {
        int group = value_of(start[i]) << 18 | value_of(start[i + 1]) << 12 | value_of(start[i + 2]) << 6 |
                    value_of(start[i + 3]);
        for (int shift = 16; shift >= 0; shift -= 8) packed[size++] = (unsigned char)(group >> shift);
    }
    for (size_t i = length; i > 0 && start[i - 1] == '='; i--) size--;
    uLongf unpacked = 1 << 20;
    assert_int_equal(uncompress(text, &unpacked, packed, size), Z_OK);
    json_t *list = json_loadb((char *)text, unpacked, 0, NULL);
    free(packed);
    free(text);
    return list;
}

static json_t *a_result(const char *name) {
    json_t *noise = json_array(); /* enough that zlib and base64 come in several pieces */
    for (int i = 0; i < 5000; i++) json_array_append_new(noise, json_integer((i * 7919) % 10007));
    return json_pack("{s:s, s:{s:s}, s:{s:[s,s]}, s:o}", "command", "inspect", "model", "name", name, "input",
                     "text", "</script>", "<!--", "noise", noise);
}

static void skip_without_page(void) {
    if (!ss_report_html_available()) skip();
}

static void says_what_to_install_without_the_page(void **state) {
    (void)state;
    if (ss_report_html_available()) skip();
    json_t *result = a_result("m");
    ss_error error;
    assert_int_equal(ss_report_html((const json_t *const[]){result}, 1, path, &error), SS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "npm"));
    json_decref(result);
}

static void holds_every_document_unchanged(void **state) {
    (void)state;
    skip_without_page();
    json_t *one = a_result("one"), *two = a_result("two");
    assert_int_equal(ss_report_html((const json_t *const[]){one, two}, 2, path, NULL), SS_OK);
    char *page = contents();
    json_t *list = documents_in(page);
    assert_int_equal(json_array_size(list), 2);
    assert_true(json_equal(json_array_get(list, 0), one));
    assert_true(json_equal(json_array_get(list, 1), two));
    assert_null(strstr(page, "{{softscope"));
    json_decref(list), json_decref(one), json_decref(two);
    free(page);
}

static void every_length_of_data_decodes(void **state) {
    (void)state;
    skip_without_page();
    char name[8] = "";
    for (size_t length = 1; length < sizeof name; length++) {
        name[length - 1] = (char)('a' + (int)length);
        json_t *result = json_pack("{s:{s:s}}", "model", "name", name);
        assert_int_equal(ss_report_html((const json_t *const[]){result}, 1, path, NULL), SS_OK);
        char *page = contents();
        json_t *list = documents_in(page);
        assert_true(json_equal(json_array_get(list, 0), result));
        json_decref(list), json_decref(result);
        free(page);
    }
}

static size_t occurrences(const char *page, const char *what) {
    size_t count = 0;
    for (const char *at = page; (at = strstr(at, what)); at++) count++;
    return count;
}

static void names_are_never_markup(void **state) {
    (void)state;
    skip_without_page();
    json_t *plain = a_result("m"), *hostile = a_result("<script>alert('1')</script>&\"");
    assert_int_equal(ss_report_html((const json_t *const[]){plain}, 1, path, NULL), SS_OK);
    char *before = contents();
    assert_int_equal(ss_report_html((const json_t *const[]){hostile}, 1, path, NULL), SS_OK);
    char *after = contents();
    assert_int_equal(occurrences(before, "<script"), occurrences(after, "<script"));
    assert_int_equal(occurrences(before, "</script"), occurrences(after, "</script"));
    assert_non_null(strstr(after, "<title>&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;&quot; "));
    json_decref(plain), json_decref(hostile);
    free(before), free(after);
}

static void a_failure_leaves_the_old_file(void **state) {
    (void)state;
    skip_without_page();
    json_t *result = a_result("m"), *list = json_array();
    assert_int_equal(ss_report_html((const json_t *const[]){result}, 1, path, NULL), SS_OK);
    char *before = contents();
    ss_error error;
    assert_int_equal(ss_report_html(NULL, 0, path, &error), SS_E_VALUE);
    assert_int_equal(ss_report_html((const json_t *const[]){result, list}, 2, path, &error), SS_E_VALUE);
    assert_non_null(strstr(error.message, "result 2"));
    assert_int_equal(ss_report_html((const json_t *const[]){result}, 1, "/nowhere/at/all.html", &error),
                     SS_E_WRITE);
    char *after = contents();
    assert_string_equal(before, after);
    json_decref(result), json_decref(list);
    free(before), free(after);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(says_what_to_install_without_the_page),
        cmocka_unit_test(holds_every_document_unchanged),
        cmocka_unit_test(every_length_of_data_decodes),
        cmocka_unit_test(names_are_never_markup),
        cmocka_unit_test(a_failure_leaves_the_old_file),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
