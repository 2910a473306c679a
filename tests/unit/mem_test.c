/* Allocation: sizes that overflow, alignment, zeroing, growing arrays, and memory that runs out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/mem.h"
#include "support/failing_allocator.h"

static void sizes_that_do_not_fit_are_told(void **state) {
    (void)state;
    size_t size = 7;
    assert_true(ss_mul_size(6, 7, &size));
    assert_int_equal(size, 42);
    assert_false(ss_mul_size(SIZE_MAX / 2 + 1, 2, &size));
    assert_true(ss_mul_size(SIZE_MAX, 1, &size));
    assert_true(ss_add_size(SIZE_MAX - 1, 1, &size));
    assert_false(ss_add_size(SIZE_MAX, 1, &size));
}

static void an_overflowing_request_is_refused_before_the_allocator_is_asked(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 2);
    assert_null(ss_alloc(&memory.allocator, SIZE_MAX / 4, 8));
    assert_null(ss_alloc(NULL, SIZE_MAX / 4, 8));
    assert_null(ss_alloc(NULL, 1, SIZE_MAX - 1)); /* rounding up to the alignment would overflow */
    assert_int_equal(memory.state.requests, 0);
}

static void every_block_starts_on_a_cache_line(void **state) {
    (void)state;
    for (size_t size = 1; size < 300; size += 37) {
        void *block = ss_alloc(NULL, size, 3);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % SS_ALIGNMENT, 0);
        ss_free(NULL, block);
    }
}

static void zero_bytes_get_a_block_too(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 0);
    void *none = ss_alloc(&memory.allocator, 0, 8), *zeroed = ss_alloc_zero(&memory.allocator, 8, 0);
    assert_non_null(none);
    assert_non_null(zeroed);
    assert_int_equal(memory.state.bytes, 2); /* the public header promises that nobody asks for nothing */
    ss_free(&memory.allocator, none);
    ss_free(&memory.allocator, zeroed);
}

static void zeroed_blocks_are_zero(void **state) {
    (void)state;
    for (int round = 0; round < 8; round++) { /* blocks that were used before come back dirty */
        unsigned char *block = ss_alloc_zero(NULL, 1000, 1);
        assert_non_null(block);
        for (size_t i = 0; i < 1000; i++) {
            assert_int_equal(block[i], 0);
            block[i] = 0xAA;
        }
        ss_free(NULL, block);
    }
}

static void the_callers_allocator_serves_and_is_given_back_to(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 3);
    void *first = ss_alloc(&memory.allocator, 10, 10), *second = ss_alloc_zero(&memory.allocator, 10, 10);
    assert_non_null(first);
    assert_non_null(second);
    assert_int_equal(memory.state.live, 2);
    assert_null(ss_alloc(&memory.allocator, 1, 1));
    ss_free(&memory.allocator, first);
    ss_free(&memory.allocator, second);
    ss_free(&memory.allocator, NULL);
    assert_int_equal(memory.state.live, 0);
}

static void a_growing_array_keeps_its_items(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 0);
    uint32_t *items = NULL;
    size_t capacity = 0;
    for (size_t count = 0; count < 1000; count++) {
        assert_true(ss_grow(&memory.allocator, &items, &capacity, count + 1, sizeof *items));
        assert_true(capacity > count);
        items[count] = (uint32_t)(count * count);
    }
    for (size_t i = 0; i < 1000; i++) assert_int_equal(items[i], i * i);
    assert_int_equal(memory.state.live, 1);
    assert_in_range(memory.state.requests, 1, 12); /* doubling: few allocations */
    ss_free(&memory.allocator, items);
}

static void an_array_that_cannot_grow_stays_as_it_was(void **state) {
    (void)state;
    failing_allocator memory;
    failing_allocator_init(&memory, 2);
    uint32_t *items = NULL;
    size_t capacity = 0;
    assert_true(ss_grow(&memory.allocator, &items, &capacity, 3, sizeof *items));
    items[2] = 77;
    uint32_t *before = items;
    size_t capacity_before = capacity;
    assert_false(ss_grow(&memory.allocator, &items, &capacity, capacity + 1, sizeof *items)); /* ran out */
    assert_false(ss_grow(&memory.allocator, &items, &capacity, SIZE_MAX, 1));     /* no such size */
    assert_false(ss_grow(&memory.allocator, &items, &capacity, SIZE_MAX / 2, 8)); /* overflows */
    assert_ptr_equal(items, before);
    assert_int_equal(capacity, capacity_before);
    assert_int_equal(items[2], 77);
    ss_free(&memory.allocator, items);
    assert_int_equal(memory.state.live, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_that_do_not_fit_are_told),
        cmocka_unit_test(an_overflowing_request_is_refused_before_the_allocator_is_asked),
        cmocka_unit_test(every_block_starts_on_a_cache_line),
        cmocka_unit_test(zero_bytes_get_a_block_too),
        cmocka_unit_test(zeroed_blocks_are_zero),
        cmocka_unit_test(the_callers_allocator_serves_and_is_given_back_to),
        cmocka_unit_test(a_growing_array_keeps_its_items),
        cmocka_unit_test(an_array_that_cannot_grow_stays_as_it_was),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
