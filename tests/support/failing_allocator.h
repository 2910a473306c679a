/* An allocator that fails on the n-th request, and counts what is live, so that a test can retry an operation
 * with every single allocation failing:
 *
 *     for (size_t n = 1;; n++) {
 *         failing_allocator memory;
 *         failing_allocator_init(&memory, n);
 *         ss_status status = open(..., &memory.allocator, ...);
 *         ... status is SS_E_MEMORY and memory.live is 0, or it is SS_OK and the loop ends ...
 *     }
 *
 * Blocks come from the C library, so the address sanitizer sees leaks too. Not thread-safe. */
#ifndef SS_TESTS_FAILING_ALLOCATOR_H
#define SS_TESTS_FAILING_ALLOCATOR_H

#include "softscope.h"

typedef struct failing_allocator_state {
    size_t requests, fail_at; /* fail_at 0: never */
    size_t live;              /* blocks not yet freed */
    size_t bytes, peak;       /* bytes now and at most */
} failing_allocator_state;

typedef struct failing_allocator {
    ss_allocator allocator; /* its context is `state` below: do not copy */
    failing_allocator_state state;
} failing_allocator;

/* Set up `memory` to fail on request number `fail_at` (from 1), and only on that one; 0 for never. */
void failing_allocator_init(failing_allocator *memory, size_t fail_at);

/* The same for jansson, whose allocator is global. fail_at 0 counts only. */
void failing_jansson_init(failing_allocator_state *state, size_t fail_at);
void failing_jansson_end(void); /* back to malloc and free */

#endif
