/* The arena: many blocks, one release, and memory that runs out on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/arena.h"
#include "support/failing_allocator.h"

#include <stdalign.h>
#include <string.h>

enum { BLOCKS = 2000 };

static void blocks_are_aligned_zeroed_and_apart(void **state) {
    (void)state;
    ss_arena arena = ss_arena_make(NULL);
    static unsigned char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = i * 7919 % 301; /* 0 included */
        blocks[i] = ss_arena_alloc(&arena, size, 1);
        assert_non_null(blocks[i]);
        assert_int_equal((uintptr_t)blocks[i] % alignof(max_align_t), 0);
        for (size_t byte = 0; byte < size; byte++) assert_int_equal(blocks[i][byte], 0);
        memset(blocks[i], (int)(i % 255) + 1, size);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        size_t size = i * 7919 % 301;
        for (size_t byte = 0; byte < size; byte++) assert_int_equal(blocks[i][byte], i % 255 + 1);
    }
    ss_arena_free(&arena);
}

static void a_block_larger_than_any_chunk_is_served(void **state) {
    (void)state;
    ss_arena arena = ss_arena_make(NULL);
    unsigned char *small = ss_arena_alloc(&arena, 1, 1), *large = ss_arena_alloc(&arena, 3 << 20, 1);
    assert_non_null(small);
    assert_non_null(large);
    large[(3 << 20) - 1] = 1; /* the sanitizers watch the end */
    ss_arena_free(&arena);
}

static void sizes_that_overflow_are_refused(void **state) {
    (void)state;
    ss_arena arena = ss_arena_make(NULL);
    assert_null(ss_arena_alloc(&arena, SIZE_MAX / 2, 3));
    assert_null(ss_arena_alloc(&arena, SIZE_MAX, 1));
    assert_null(ss_arena_alloc(&arena, SIZE_MAX - 64, 1));
    assert_null(ss_arena_copy(&arena, "x", SIZE_MAX));
    assert_null(arena.newest);
    ss_arena_free(&arena);
}

static void copies_end_in_a_nul(void **state) {
    (void)state;
    ss_arena arena = ss_arena_make(NULL);
    assert_string_equal(ss_arena_copy(&arena, "tokenizer", 5), "token");
    assert_string_equal(ss_arena_copy(&arena, NULL, 0), "");
    assert_memory_equal(ss_arena_copy(&arena, "a\0b", 3), "a\0b", 4);
    ss_arena_free(&arena);
}

static void all_is_given_back_at_once_and_the_arena_serves_again(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 0);
    ss_arena arena = ss_arena_make(&memory.allocator);
    assert_int_equal(memory.state.live, 0); /* an arena that is not used takes nothing */
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 5000; i++) assert_non_null(ss_arena_alloc(&arena, 100, 1));
        assert_in_range(memory.state.live, 2, 20); /* far fewer chunks than blocks */
        ss_arena_free(&arena);
        assert_int_equal(memory.state.live, 0);
    }
}

static void what_was_made_before_memory_ran_out_stays_good(void **state) {
    (void)state;
    for (size_t successes = 0; successes < 5; successes++) {
        failing_allocator memory;
        failing_allocator_init(&memory, successes + 1);
        ss_arena arena = ss_arena_make(&memory.allocator);
        char *last = NULL, *next;
        while ((next = ss_arena_copy(&arena, "block", 5))) last = next;
        assert_int_equal(last != NULL, successes > 0);
        if (last) assert_string_equal(last, "block");
        ss_arena_free(&arena);
        assert_int_equal(memory.state.live, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_zeroed_and_apart),
        cmocka_unit_test(a_block_larger_than_any_chunk_is_served),
        cmocka_unit_test(sizes_that_overflow_are_refused),
        cmocka_unit_test(copies_end_in_a_nul),
        cmocka_unit_test(all_is_given_back_at_once_and_the_arena_serves_again),
        cmocka_unit_test(what_was_made_before_memory_ran_out_stays_good),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
