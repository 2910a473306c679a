/* Base64: the vectors of RFC 4648, section 10, every digit, and nothing written beyond the text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/base64.h"

#include <string.h>

static void check(const void *bytes, size_t size, const char *expected) {
    char out[80];
    memset(out, '#', sizeof out);
    assert_int_equal(SS_BASE64_SIZE(size), strlen(expected));
    ss_base64(bytes, size, out);
    assert_memory_equal(out, expected, strlen(expected));
    assert_int_equal(out[strlen(expected)], '#');
}

static void the_vectors_of_the_rfc(void **state) {
    (void)state;
    static const char *const expected[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t size = 0; size < sizeof expected / sizeof *expected; size++)
        check("foobar", size, expected[size]);
}

static void every_digit_in_its_order(void **state) {
    (void)state;
    unsigned char bytes[48]; /* the numbers 0..63, six bits each */
    for (unsigned i = 0; i < 16; i++) {
        unsigned a = 4 * i, b = a + 1, c = a + 2, d = a + 3;
        bytes[3 * i] = (unsigned char)(a << 2 | b >> 4);
        bytes[3 * i + 1] = (unsigned char)((b & 15) << 4 | c >> 2);
        bytes[3 * i + 2] = (unsigned char)((c & 3) << 6 | d);
    }
    check(bytes, sizeof bytes, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
}

static void bytes_are_taken_as_unsigned(void **state) {
    (void)state;
    check("\xff\xfe\xfd\xfc", 4, "//79/A==");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_vectors_of_the_rfc),
        cmocka_unit_test(every_digit_in_its_order),
        cmocka_unit_test(bytes_are_taken_as_unsigned),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
