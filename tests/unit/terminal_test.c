/* The terminal view: nothing that a document says steers the terminal, and numbers agree with their nouns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

/* What the view of `root` says, which is freed; the text is the caller's. */
static char *printed(json_t *root) {
    assert_non_null(root);
    const ss_result result = {.root = root};
    const ss_terminal_style style = {.width = 100};
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    ss_terminal_print(&result, &style, out);
    fclose(out);
    json_decref(root);
    return text;
}

#define EVIL                                                                                                 \
    "a\033[2J\x7f\xC2\x9B"                                                                                   \
    "31m"

static void assert_tame(char *text) {
    assert_non_null(strstr(text, "a?[2J??31m"));
    assert_null(strpbrk(text, "\033\x7f"));
    assert_null(strstr(text, "\xC2\x9B"));
    free(text);
}

static void no_text_of_a_model_steers_the_terminal(void **state) {
    (void)state;
    static const char *const keys[] = {"name", "architecture", "weights"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_tame(printed(json_pack("{s:s, s:{s:s}}", "command", "inspect", "model", keys[i], EVIL)));
    assert_tame(
        printed(json_pack("{s:s, s:{}, s:{s:s}}", "command", "inspect", "model", "input", "name", EVIL)));
    assert_tame(printed(json_pack("{s:s, s:[{s:s, s:s}]}", "command", "inspect", "findings", "severity",
                                  "error", "text", EVIL)));
}

static void no_text_of_a_dump_steers_the_terminal(void **state) {
    (void)state;
    static const char *const keys[] = {"name", "kind", "type", "support"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        assert_tame(printed(json_pack("{s:s, s:{s:s}}", "command", "theta", "input", keys[i], EVIL)));
}

static void one_is_singular(void **state) {
    (void)state;
    static const char format[] = "{s:s, s:{s:i, s:i}, s:{s:i}}";
    for (int n = 1; n <= 2; n++) {
        char *text = printed(
            json_pack(format, "command", "inspect", "model", "layers", n, "heads", n, "input", "tokens", n));
        assert_non_null(strstr(text, n == 1 ? "1 layer x 1 head," : "2 layers x 2 heads,"));
        assert_non_null(strstr(text, n == 1 ? "  1 token\n" : "  2 tokens\n"));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_text_of_a_model_steers_the_terminal),
        cmocka_unit_test(no_text_of_a_dump_steers_the_terminal),
        cmocka_unit_test(one_is_singular),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
