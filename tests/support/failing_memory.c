/* The failing allocator. Relies on: the library's standard allocation. */
#include "support/failing_memory.h"

static void *take(void *context, size_t alignment, size_t size) {
    failing_memory *memory = context;
    (void)alignment;            /* ss_alloc aligns every block to SS_ALIGNMENT */
    if (size == 0) return NULL; /* the public header promises that nobody asks for nothing */
    size_t left = atomic_load(&memory->left);
    do {
        if (left == 0) return NULL;
    } while (!atomic_compare_exchange_weak(&memory->left, &left, left - 1));
    void *block = ss_alloc(NULL, 1, size);
    if (block) atomic_fetch_add(&memory->held, 1);
    return block;
}

static void give_back(void *context, void *block) {
    failing_memory *memory = context;
    atomic_fetch_sub(&memory->held, 1);
    ss_free(NULL, block);
}

void failing_memory_init(failing_memory *memory, size_t successes) {
    memory->allocator = (ss_allocator){.alloc = take, .free = give_back, .context = memory};
    atomic_init(&memory->left, successes);
    atomic_init(&memory->held, 0);
}
