/* UTF-8 reading and repair against Python's bytes.decode("utf-8", errors="replace"). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

static void repairs_to(const char *broken, size_t length, const char *expected) {
    char out[128];
    size_t count = ss_utf8_repair(broken, length, out, sizeof out);
    assert_int_equal(count, strlen(expected));
    assert_string_equal(out, expected);
}

static void each_broken_kind_becomes_its_maximal_subparts(void **state) {
    (void)state;
    static const struct {
        const char *broken, *expected;
    } cases[] = {
        {"plain", "plain"},
        {"\xff", "\uFFFD"},
        {"a\x80z", "a\uFFFDz"},
        {"\xc0\xaf", "\uFFFD\uFFFD"},                         /* overlong */
        {"\xe0\x80\xaf", "\uFFFD\uFFFD\uFFFD"},               /* overlong */
        {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},               /* surrogate */
        {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"},     /* beyond U+10FFFF */
        {"\xf0\x9f\x98", "\uFFFD"},                           /* cut short: one subpart */
        {"\xe4\xb8\xe4\xb8\xad", "\uFFFD\xe4\xb8\xad"},       /* cut short, then whole */
        {"\xf1\x80\x80\xe1\x80\xc2z", "\uFFFD\uFFFD\uFFFDz"}, /* the standard's own example */
        {"\xf4\x8f\xbf\xbf", "\xf4\x8f\xbf\xbf"},             /* the last code point */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        repairs_to(cases[i].broken, strlen(cases[i].broken), cases[i].expected);
}

static uint64_t hash(const char *bytes, size_t length) {
    uint64_t value = 0xCBF29CE484222325u;
    for (size_t i = 0; i < length; i++) value = (value ^ (unsigned char)bytes[i]) * 0x100000001B3u;
    return value;
}

static void repair_hashes_to(const char *bytes, size_t length, size_t expected_length, uint64_t expected) {
    size_t count = ss_utf8_repair(bytes, length, NULL, 0);
    assert_int_equal(count, expected_length);
    char *out = malloc(count + 1);
    assert_non_null(out);
    ss_utf8_repair(bytes, length, out, count + 1);
    assert_true(hash(out, count) == expected);
    assert_true(ss_utf8_is_valid(out, count));
    free(out);
}

/* Lengths and hashes are of Python 3.11's results over the same bytes. */
static void all_pairs_of_bytes_as_python_reads_them(void **state) {
    (void)state;
    static char bytes[65536 * 3];
    for (size_t i = 0; i < 65536; i++) {
        bytes[3 * i] = (char)(i >> 8);
        bytes[3 * i + 1] = (char)i;
        bytes[3 * i + 2] = 'x';
    }
    repair_hashes_to(bytes, sizeof bytes, 316352, 0x545279B1531234A5u);
}

static void all_lead_bytes_with_edge_followers_as_python_reads_them(void **state) {
    (void)state;
    static const unsigned char edges[] = {0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    static char bytes[64 * 1000 * 5];
    for (size_t i = 0; i < 64000; i++) {
        char *at = bytes + 5 * i;
        at[0] = (char)(0xC0 + i / 1000);
        at[1] = (char)edges[i / 100 % 10];
        at[2] = (char)edges[i / 10 % 10];
        at[3] = (char)edges[i % 10];
        at[4] = 'x';
    }
    repair_hashes_to(bytes, sizeof bytes, 626752, 0x60A6B499816E362Du);
}

static void every_scalar_value_reads_back_as_written(void **state) {
    (void)state;
    for (uint32_t c = 0; c < 0x110000; c++) {
        if (c >= 0xD800 && c < 0xE000) continue;
        char bytes[4];
        size_t length = ss_utf8_write(c, bytes);
        uint32_t back;
        bool valid;
        assert_int_equal(ss_utf8_read(bytes, length, &back, &valid), length);
        assert_true(valid && back == c);
    }
}

static void a_short_buffer_gets_whole_characters_and_the_full_length(void **state) {
    (void)state;
    char out[8];
    memset(out, '#', sizeof out);
    assert_int_equal(ss_utf8_repair("a\xff"
                                    "b",
                                    3, out, 4),
                     5);
    assert_string_equal(out, "a"); /* U+FFFD would need three bytes beside the NUL */
    assert_int_equal(out[4], '#');
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_broken_kind_becomes_its_maximal_subparts),
        cmocka_unit_test(all_pairs_of_bytes_as_python_reads_them),
        cmocka_unit_test(all_lead_bytes_with_edge_followers_as_python_reads_them),
        cmocka_unit_test(every_scalar_value_reads_back_as_written),
        cmocka_unit_test(a_short_buffer_gets_whole_characters_and_the_full_length),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
