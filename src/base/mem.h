/* Allocation: one allocator for the whole library, overflow-checked sizes, growing arrays.
 * Relies on: the C library. Every block is aligned to SS_ALIGNMENT, one cache line. */
#ifndef SS_BASE_MEM_H
#define SS_BASE_MEM_H

#include "softscope.h"

#define SS_ALIGNMENT ((size_t)64)

/* product = a * b, sum = a + b; false when the result does not fit. */
static inline bool ss_mul_size(size_t a, size_t b, size_t *product) {
    return !__builtin_mul_overflow(a, b, product);
}
static inline bool ss_add_size(size_t a, size_t b, size_t *sum) {
    return !__builtin_add_overflow(a, b, sum);
}

/* Bytes as whole cache lines, so that what lies behind them is aligned too; `bytes` is far from SIZE_MAX. */
static inline size_t ss_whole_lines(size_t bytes) {
    return (bytes + SS_ALIGNMENT - 1) / SS_ALIGNMENT * SS_ALIGNMENT;
}

/* count * size bytes, uninitialised; NULL when that overflows, is out of reach, or memory ran out.
 * A request of zero bytes gets a block too, so NULL always means failure. `memory` may be NULL. */
void *ss_alloc(const ss_allocator *memory, size_t count, size_t size);

/* The same, zeroed. */
void *ss_alloc_zero(const ss_allocator *memory, size_t count, size_t size);

/* The same as ss_alloc, in large pages where the system has them and the block is of many megabytes: a
 * thousandth of the page faults, and fewer misses when it is read (weights load in half the time). */
void *ss_alloc_large(const ss_allocator *memory, size_t count, size_t size);

/* Release a block of any of these; NULL is allowed. */
void ss_free(const ss_allocator *memory, void *block);

/* Make room for `needed` items of `size` bytes in *items, which has *capacity; grows by doubling.
 * False, with everything as it was, when memory ran out. */
bool ss_grow(const ss_allocator *memory, void *items, size_t *capacity, size_t needed, size_t size);

#endif
