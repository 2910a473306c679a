/* WordPiece on a vocabulary small enough to do by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/wordpiece.h"

#include <string.h>
#include <time.h>

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

/* A piece as long as a word may be, of which every place of the words starts like one: hashing each of its
 * beginnings anew would take 10,000,000,000 steps. */
static void the_longest_words_take_one_look_up_a_character(void **state) {
    (void)state;
    enum { WORDS = 60 };
    static char word[SS_WORD_LIMIT + 1], piece[SS_WORD_LIMIT + 3] = "##";
    memset(word, 'a', SS_WORD_LIMIT);
    memset(piece + 2, 'a', SS_WORD_LIMIT - 1);
    piece[SS_WORD_LIMIT] = 'b';
    const char *const hostile[] = {"[UNK]", "a", "##a", piece};
    ss_vocabulary vocabulary = ss_vocabulary_make(NULL, 4);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(ss_vocabulary_add(&vocabulary, "test", hostile[i], strlen(hostile[i]), i, NULL),
                         SS_OK);
    ss_wordpiece model = {&vocabulary, 0, {"##", 2}, SS_WORD_LIMIT};
    ss_bytes work = {.memory = NULL};
    ss_ids ids = {.memory = NULL};
    const clock_t start = clock();
    for (size_t i = 0; i < WORDS; i++)
        assert_int_equal(ss_wordpiece_encode(&model, &work, word, SS_WORD_LIMIT, &ids, NULL), SS_OK);
    assert_true(clock() - start < 3 * CLOCKS_PER_SEC);
    assert_int_equal(ids.count, WORDS * SS_WORD_LIMIT);
    ss_free(NULL, ids.items);
    ss_bytes_free(&work);
    ss_vocabulary_free(&vocabulary);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_longest_piece_is_taken_first),
        cmocka_unit_test(a_word_that_cannot_be_spelled_is_unknown_as_a_whole),
        cmocka_unit_test(the_limit_counts_characters),
        cmocka_unit_test(characters_are_never_cut),
        cmocka_unit_test(the_longest_words_take_one_look_up_a_character),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
