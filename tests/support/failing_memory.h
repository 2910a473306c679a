/* An allocator that fails on request and counts what is still held: for tests of the n-th allocation failure.
 *
 *     for (size_t n = 0;; n++) {
 *         failing_memory memory;
 *         failing_memory_init(&memory, n);
 *         ss_status status = ss_thing_open(path, &memory.allocator, &thing, &error);
 *         if (status == SS_OK) { ss_thing_free(thing); assert_int_equal(memory.held, 0); break; }
 *         assert_int_equal(status, SS_E_MEMORY);
 *         assert_int_equal(memory.held, 0);
 *     }
 *
 * Thread-safe, as the library's workers may allocate. Relies on: base/mem. */
#ifndef SS_TESTS_FAILING_MEMORY_H
#define SS_TESTS_FAILING_MEMORY_H

#include "base/mem.h"

#include <stdatomic.h>

typedef struct failing_memory {
    ss_allocator allocator;
    atomic_size_t left; /* allocations that succeed before every one fails */
    atomic_size_t held; /* blocks not freed yet */
} failing_memory;

/* An allocator that succeeds `successes` times; SIZE_MAX for always. Set it up in place: it points to itself.
 */
void failing_memory_init(failing_memory *memory, size_t successes);

#endif
