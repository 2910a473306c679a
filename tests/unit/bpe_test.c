/* Merging a word against a plain twin that looks through the whole word for the best pair each time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "text/bpe.h"

#include <stdlib.h>
#include <string.h>

enum { LETTERS = 4, MERGES = 60, LONGEST = 40 };

typedef struct language {
    ss_vocabulary vocabulary;
    ss_bpe bpe;
    uint32_t left[MERGES], right[MERGES], merged[MERGES];
    size_t merges;
} language;

static uint32_t next_random(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

static void add_piece(language *made, const char *piece, size_t length) {
    assert_int_equal(ss_vocabulary_add(&made->vocabulary, "test", piece, length, made->vocabulary.size, NULL),
                     SS_OK);
}

/* A vocabulary of a few letters and of random merges of what is there already. */
static void make_language(language *made, uint64_t *random) {
    *made = (language){.vocabulary = ss_vocabulary_make(NULL, 100)};
    for (size_t i = 0; i < LETTERS; i++) add_piece(made, &"abcd"[i], 1);
    for (size_t i = 0; i < MERGES; i++) {
        uint32_t left = next_random(random) % (uint32_t)made->vocabulary.size;
        uint32_t right = next_random(random) % (uint32_t)made->vocabulary.size;
        ss_string_view a = made->vocabulary.pieces[left], b = made->vocabulary.pieces[right];
        char both[LONGEST];
        if (a.length + b.length > sizeof both) continue;
        memcpy(both, a.bytes, a.length);
        memcpy(both + a.length, b.bytes, b.length);
        if (ss_vocabulary_find(&made->vocabulary, both, a.length + b.length) != SS_NO_TOKEN) continue;
        add_piece(made, both, a.length + b.length);
        made->left[made->merges] = left;
        made->right[made->merges] = right;
        made->merged[made->merges++] = (uint32_t)made->vocabulary.size - 1;
    }
    made->bpe = ss_bpe_make(NULL, &made->vocabulary);
    for (size_t i = 0; i < made->merges; i++)
        assert_int_equal(ss_bpe_add_merge(&made->bpe, "test", made->vocabulary.pieces[made->left[i]],
                                          made->vocabulary.pieces[made->right[i]], NULL),
                         SS_OK);
}

static void free_language(language *made) {
    ss_bpe_free(&made->bpe);
    ss_vocabulary_free(&made->vocabulary);
}

/* The plain twin: the pair of the lowest rank, the leftmost of equals, until there is none. */
static size_t merge_plainly(const language *made, uint32_t *ids, size_t count) {
    for (;;) {
        size_t best = made->merges, place = 0;
        for (size_t i = 0; i + 1 < count; i++) {
            for (size_t m = 0; m < best; m++) {
                if (made->left[m] != ids[i] || made->right[m] != ids[i + 1]) continue;
                best = m;
                place = i;
            }
        }
        if (best == made->merges) return count;
        ids[place] = made->merged[best];
        memmove(ids + place + 1, ids + place + 2, (count - place - 2) * sizeof *ids);
        count--;
    }
}

static void merges_as_the_plain_twin_does(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int round = 0; round < 40; round++) {
        language made;
        make_language(&made, &random);
        ss_bpe_work work = {.memory = NULL};
        for (int word = 0; word < 100; word++) {
            char text[80];
            uint32_t plain[80];
            size_t length = 1 + next_random(&random) % 80, dropped = 0;
            uint32_t used = 1 + next_random(&random) % LETTERS; /* few letters: long runs of equal pairs */
            for (size_t i = 0; i < length; i++) {
                plain[i] = next_random(&random) % used;
                text[i] = "abcd"[plain[i]];
            }
            ss_ids ids = {.memory = NULL};
            assert_int_equal(ss_bpe_encode(&made.bpe, &work, text, length, &ids, &dropped, NULL), SS_OK);
            assert_int_equal(ids.count, merge_plainly(&made, plain, length));
            assert_memory_equal(ids.items, plain, ids.count * sizeof *plain);
            assert_int_equal(dropped, 0);
            ss_free(NULL, ids.items);
        }
        ss_bpe_work_free(&work);
        free_language(&made);
    }
}

typedef struct small {
    ss_vocabulary vocabulary;
    ss_bpe bpe;
} small;

/* a b ab [?], merge "a b" */
static void make_small(small *made) {
    static const char *const pieces[] = {"a", "b", "ab", "?", "\u0120b"};
    made->vocabulary = ss_vocabulary_make(NULL, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ss_vocabulary_add(&made->vocabulary, "test", pieces[i], strlen(pieces[i]), i, NULL),
                         SS_OK);
    made->bpe = ss_bpe_make(NULL, &made->vocabulary);
    assert_int_equal(ss_bpe_add_merge_line(&made->bpe, "test", "a b", 3, NULL), SS_OK);
}

static void expect(const small *made, const char *word, const uint32_t *expected, size_t count,
                   size_t missing) {
    ss_bpe_work work = {.memory = NULL};
    ss_ids ids = {.memory = NULL};
    size_t dropped = 0;
    assert_int_equal(ss_bpe_encode(&made->bpe, &work, word, strlen(word), &ids, &dropped, NULL), SS_OK);
    assert_int_equal(ids.count, count);
    if (count) assert_memory_equal(ids.items, expected, count * sizeof *expected);
    assert_int_equal(dropped, missing);
    ss_free(NULL, ids.items);
    ss_bpe_work_free(&work);
}

static void unknown_bytes_are_dropped_kept_or_fused(void **state) {
    (void)state;
    small made;
    make_small(&made);
    expect(&made, "axyb", (uint32_t[]){2}, 1, 2);
    expect(&made, "xx", NULL, 0, 2);
    made.bpe.unknown = 3;
    expect(&made, "axyb", (uint32_t[]){0, 3, 3, 1}, 4, 0);
    made.bpe.fuse_unknown = true;
    expect(&made, "axybx", (uint32_t[]){0, 3, 1, 3}, 4, 0);
    ss_bpe_free(&made.bpe);
    ss_vocabulary_free(&made.vocabulary);
}

static void a_whole_piece_wins_only_where_merges_are_ignored(void **state) {
    (void)state;
    small made;
    make_small(&made);
    expect(&made, " b", (uint32_t[]){1}, 1, 1); /* no merge makes " b", and the space has no token */
    made.bpe.ignore_merges = true;
    expect(&made, " b", (uint32_t[]){4}, 1, 0);
    ss_bpe_free(&made.bpe);
    ss_vocabulary_free(&made.vocabulary);
}

static void a_pair_given_twice_has_its_last_rank(void **state) {
    (void)state;
    static const char *const pieces[] = {"a", "b", "c", "ab", "bc"};
    static const char *const merges[] = {"a b", "b c", "a b"};
    ss_vocabulary vocabulary = ss_vocabulary_make(NULL, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(ss_vocabulary_add(&vocabulary, "test", pieces[i], strlen(pieces[i]), i, NULL),
                         SS_OK);
    small made = {.bpe = ss_bpe_make(NULL, &vocabulary)};
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(ss_bpe_add_merge_line(&made.bpe, "test", merges[i], 3, NULL), SS_OK);
    expect(&made, "abc", (uint32_t[]){0, 4}, 2, 0);
    ss_bpe_free(&made.bpe);
    ss_vocabulary_free(&vocabulary);
}

static void a_merge_outside_the_vocabulary_is_refused(void **state) {
    (void)state;
    small made;
    make_small(&made);
    static const char *const lines[] = {"a c", "b a", "ab", "a b b", " "};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        ss_error error = {0};
        assert_int_equal(ss_bpe_add_merge_line(&made.bpe, "test", lines[i], strlen(lines[i]), &error),
                         SS_E_FORMAT);
        assert_non_null(strstr(error.message, "merge 1"));
    }
    ss_bpe_free(&made.bpe);
    ss_vocabulary_free(&made.vocabulary);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merges_as_the_plain_twin_does),
        cmocka_unit_test(unknown_bytes_are_dropped_kept_or_fused),
        cmocka_unit_test(a_whole_piece_wins_only_where_merges_are_ignored),
        cmocka_unit_test(a_pair_given_twice_has_its_last_rank),
        cmocka_unit_test(a_merge_outside_the_vocabulary_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
