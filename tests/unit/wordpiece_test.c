/* WordPiece on a vocabulary small enough to do by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/wordpiece.h"

#include <string.h>

enum { UNKNOWN, A, AB, MORE_B, MORE_BC, ACCENT, MORE_ACCENT, PIECES };

static const char *const pieces[PIECES] = {"[UNK]", "a", "ab", "##b", "##bc", "\u00e9", "##\u00e9"};

static void expect(const char *word, size_t longest_word, const uint32_t *expected, size_t count) {
    ss_vocabulary vocabulary = ss_vocabulary_make(NULL, PIECES);
    for (size_t i = 0; i < PIECES; i++)
        assert_int_equal(ss_vocabulary_add(&vocabulary, "test", pieces[i], strlen(pieces[i]), i, NULL),
                         SS_OK);
    ss_wordpiece model = {&vocabulary, UNKNOWN, {"##", 2}, longest_word};
    ss_bytes work = {.memory = NULL};
    ss_ids ids = {.memory = NULL};
    assert_int_equal(ss_wordpiece_encode(&model, &work, word, strlen(word), &ids, NULL), SS_OK);
    assert_int_equal(ids.count, count);
    assert_memory_equal(ids.items, expected, count * sizeof *expected);
    ss_free(NULL, ids.items);
    ss_bytes_free(&work);
    ss_vocabulary_free(&vocabulary);
}

static void the_longest_piece_is_taken_first(void **state) {
    (void)state;
    expect("a", 100, (uint32_t[]){A}, 1);
    expect("ab", 100, (uint32_t[]){AB}, 1);
    expect("abb", 100, (uint32_t[]){AB, MORE_B}, 2);
    expect("abbbc", 100, (uint32_t[]){AB, MORE_B, MORE_BC}, 3);
}

static void a_word_that_cannot_be_spelled_is_unknown_as_a_whole(void **state) {
    (void)state;
    expect("abc", 100, (uint32_t[]){UNKNOWN}, 1); /* greedy: ab, then ##c is missing; a ##bc is not tried */
    expect("b", 100, (uint32_t[]){UNKNOWN}, 1);
    expect("abx", 100, (uint32_t[]){UNKNOWN}, 1);
}

static void the_limit_counts_characters(void **state) {
    (void)state;
    expect("\u00e9\u00e9\u00e9", 3, (uint32_t[]){ACCENT, MORE_ACCENT, MORE_ACCENT}, 3);
    expect("\u00e9\u00e9\u00e9", 2, (uint32_t[]){UNKNOWN}, 1);
}

static void characters_are_never_cut(void **state) {
    (void)state;
    expect("\u00e9b", 100, (uint32_t[]){ACCENT, MORE_B}, 2);
    expect("ab\u00e9\u00e9b\u00e9\u00e9b", 100,
           (uint32_t[]){AB, MORE_ACCENT, MORE_ACCENT, MORE_B, MORE_ACCENT, MORE_ACCENT, MORE_B}, 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_piece_is_taken_first),
        cmocka_unit_test(a_word_that_cannot_be_spelled_is_unknown_as_a_whole),
        cmocka_unit_test(the_limit_counts_characters),
        cmocka_unit_test(characters_are_never_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
