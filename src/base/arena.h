/* An arena: many small blocks that live and die together, such as the parsed header of a file.
 *
 * Blocks are cut from chunks of growing size and are never released one by one; ss_arena_free releases
 * all of them. This keeps the error paths of parsers short: whatever was built so far goes at once.
 * Relies on: base/mem. Not thread-safe. */
#ifndef SS_BASE_ARENA_H
#define SS_BASE_ARENA_H

#include "base/mem.h"

typedef struct ss_arena {
    const ss_allocator *memory;
    struct ss_arena_chunk *newest;
} ss_arena;

/* An empty arena over `memory` (may be NULL); allocates nothing yet. */
static inline ss_arena ss_arena_make(const ss_allocator *memory) {
    return (ss_arena){.memory = memory};
}

/* count * size bytes aligned for any scalar type, zeroed; NULL on overflow or when memory ran out. */
void *ss_arena_alloc(ss_arena *arena, size_t count, size_t size);

/* A copy of `length` bytes with a NUL after them. */
char *ss_arena_copy(ss_arena *arena, const char *bytes, size_t length);

/* Release everything; the arena is empty and usable again. */
void ss_arena_free(ss_arena *arena);

#endif
