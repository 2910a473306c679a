/* Status codes, their names and exit statuses, and how errors are filled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/status.h"

#include <string.h>

static void every_code_has_a_name_and_an_exit_status(void **state) {
    (void)state;
#define CHECK(code, name, exit_status)                                                                       \
    assert_string_equal(ss_status_name(code), name);                                                         \
    assert_int_equal(ss_status_exit(code), exit_status);
    SS_STATUS_LIST(CHECK)
#undef CHECK
}

static void exit_statuses_are_those_the_manual_promises(void **state) {
    (void)state;
    assert_int_equal(ss_status_exit(SS_OK), 0);
    assert_int_equal(ss_status_exit(SS_E_USAGE), 2);
    assert_int_equal(ss_status_exit(SS_E_IO), 3);
    assert_int_equal(ss_status_exit(SS_E_FORMAT), 3);
    assert_int_equal(ss_status_exit(SS_E_WRITE), 4);
    assert_int_equal(ss_status_exit(SS_E_MEMORY), 4);
}

static void a_code_from_a_newer_library_is_still_answered(void **state) {
    (void)state;
    assert_string_equal(ss_status_name((ss_status)1000), "unknown status");
    assert_int_equal(ss_status_exit((ss_status)1000), 4);
}

static void failing_fills_code_place_and_message(void **state) {
    (void)state;
    ss_error error;
    assert_int_equal(ss_fail(&error, SS_E_CONFIG, "layer 3", "%d heads over %s", 5, "width 64"), SS_E_CONFIG);
    assert_int_equal(error.code, SS_E_CONFIG);
    assert_string_equal(error.where, "layer 3");
    assert_string_equal(error.message, "5 heads over width 64");
}

static void failing_at_a_byte_names_file_and_byte(void **state) {
    (void)state;
    ss_error error;
    assert_int_equal(ss_fail_at(&error, SS_E_FORMAT, "a.gguf", UINT64_MAX, "cut short"), SS_E_FORMAT);
    assert_string_equal(error.where, "a.gguf, byte 18446744073709551615");
    ss_fail_at(&error, SS_E_FORMAT, NULL, 0, "cut short");
    assert_string_equal(error.where, "input, byte 0");
}

static void the_error_and_the_place_may_be_left_out(void **state) {
    (void)state;
    assert_int_equal(ss_fail(NULL, SS_E_IO, "x", "message"), SS_E_IO);
    assert_int_equal(ss_fail_at(NULL, SS_E_IO, "x", 7, "message"), SS_E_IO);
    assert_int_equal(ss_fail_memory(NULL, "weights"), SS_E_MEMORY);
    ss_error error;
    ss_fail(&error, SS_E_IO, NULL, "message");
    assert_string_equal(error.where, "");
}

static void a_name_of_any_length_is_cut_and_not_overrun(void **state) {
    (void)state;
    static char longest[10000];
    memset(longest, 'x', sizeof longest - 1);
    ss_error error;
    ss_fail(&error, SS_E_FORMAT, longest, "%s", longest);
    assert_int_equal(strlen(error.where), sizeof error.where - 1);
    assert_int_equal(strlen(error.message), sizeof error.message - 1);
    ss_fail_at(&error, SS_E_FORMAT, longest, 1, "%s", longest);
    assert_int_equal(strlen(error.where), sizeof error.where - 1);
}

static void no_control_character_stands_in_an_error(void **state) {
    (void)state;
    ss_error error;
    /* C0, DEL and C1 go; the character before C1 and the one after, other scripts and a cut end stay */
    ss_fail(&error, SS_E_FORMAT, "a\033[2J\177", "\xC2\x80 \xC2\x9F \x7E \xC2\xA0 \xC3\x80 \xE4\xB8\x80\xC2");
    assert_string_equal(error.where, "a?[2J?");
    assert_string_equal(error.message, "?? ?? \x7E \xC2\xA0 \xC3\x80 \xE4\xB8\x80\xC2");
}

static ss_status reach(bool *reached, ss_status first) {
    SS_TRY(first);
    *reached = true;
    return SS_OK;
}

static void try_leaves_on_failure_only(void **state) {
    (void)state;
    bool reached = false;
    assert_int_equal(reach(&reached, SS_E_VALUE), SS_E_VALUE);
    assert_false(reached);
    assert_int_equal(reach(&reached, SS_OK), SS_OK);
    assert_true(reached);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_code_has_a_name_and_an_exit_status),
        cmocka_unit_test(exit_statuses_are_those_the_manual_promises),
        cmocka_unit_test(a_code_from_a_newer_library_is_still_answered),
        cmocka_unit_test(failing_fills_code_place_and_message),
        cmocka_unit_test(failing_at_a_byte_names_file_and_byte),
        cmocka_unit_test(the_error_and_the_place_may_be_left_out),
        cmocka_unit_test(a_name_of_any_length_is_cut_and_not_overrun),
        cmocka_unit_test(no_control_character_stands_in_an_error),
        cmocka_unit_test(try_leaves_on_failure_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
