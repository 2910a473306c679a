/* Allocation over the caller's allocator or the C library's. Relies on: aligned_alloc, madvise where there is
 * one. */
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* aligned_alloc wants a whole number of alignments */
static void *standard_alloc(size_t bytes) {
    size_t rounded;
    if (!ss_add_size(bytes, SS_ALIGNMENT - 1, &rounded)) return NULL;
    return aligned_alloc(SS_ALIGNMENT, rounded / SS_ALIGNMENT * SS_ALIGNMENT);
}

void *ss_alloc(const ss_allocator *memory, size_t count, size_t size) {
    size_t bytes;
    if (!ss_mul_size(count, size, &bytes)) return NULL;
    if (bytes == 0) bytes = 1;
    if (memory) return memory->alloc(memory->context, SS_ALIGNMENT, bytes);
    return standard_alloc(bytes);
}

void *ss_alloc_zero(const ss_allocator *memory, size_t count, size_t size) {
    void *block = ss_alloc(memory, count, size);
    if (block) memset(block, 0, count * size);
    return block;
}

/* A hint: it may be refused, and nothing is lost. */
static void prefer_large_pages(void *block, size_t bytes) {
#if defined(MADV_HUGEPAGE)
    const uintptr_t page = 4096, large = (uintptr_t)2 << 20;
    const uintptr_t begin = ((uintptr_t)block + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)block + bytes) / page * page;
    if (end > begin && end - begin >= 2 * large) madvise((void *)begin, end - begin, MADV_HUGEPAGE);
#else
    (void)block;
    (void)bytes;
#endif
}

void *ss_alloc_large(const ss_allocator *memory, size_t count, size_t size) {
    void *block = ss_alloc(memory, count, size);
    if (block) prefer_large_pages(block, count * size);
    return block;
}

void ss_free(const ss_allocator *memory, void *block) {
    if (!block) return;
    if (memory)
        memory->free(memory->context, block);
    else
        free(block);
}

bool ss_grow(const ss_allocator *memory, void *items, size_t *capacity, size_t needed, size_t size) {
    if (needed <= *capacity) return true;
    size_t wanted = *capacity ? *capacity : 8;
    while (wanted < needed) {
        if (!ss_mul_size(wanted, 2, &wanted)) return false;
    }
    void *old;
    memcpy(&old, items, sizeof old); /* items is a pointer to a pointer of any type */
    void *grown = ss_alloc(memory, wanted, size);
    if (!grown) return false;
    if (old) memcpy(grown, old, *capacity * size);
    ss_free(memory, old);
    memcpy(items, &grown, sizeof grown);
    *capacity = wanted;
    return true;
}
