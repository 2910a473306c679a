/* The arena's chunks. Relies on: base/mem. */
#include "base/arena.h"

#include <stdalign.h>
#include <string.h>

typedef struct ss_arena_chunk {
    struct ss_arena_chunk *older;
    size_t used, size;
    alignas(max_align_t) unsigned char bytes[];
} ss_arena_chunk;

enum { FIRST_CHUNK = 4096, LARGEST_CHUNK = 1 << 20 };

static ss_arena_chunk *add_chunk(ss_arena *arena, size_t at_least) {
    size_t size = arena->newest ? arena->newest->size * 2 : FIRST_CHUNK;
    if (size > LARGEST_CHUNK) size = LARGEST_CHUNK;
    if (size < at_least) size = at_least;
    size_t bytes;
    if (!ss_add_size(size, sizeof(ss_arena_chunk), &bytes)) return NULL;
    ss_arena_chunk *chunk = ss_alloc(arena->memory, 1, bytes);
    if (!chunk) return NULL;
    *chunk = (ss_arena_chunk){.older = arena->newest, .size = size};
    arena->newest = chunk;
    return chunk;
}

void *ss_arena_alloc(ss_arena *arena, size_t count, size_t size) {
    const size_t align = alignof(max_align_t);
    size_t bytes;
    if (!ss_mul_size(count, size, &bytes) || !ss_add_size(bytes, align - 1, &bytes)) return NULL;
    bytes = bytes / align * align;
    ss_arena_chunk *chunk = arena->newest;
    if (!chunk || chunk->size - chunk->used < bytes) chunk = add_chunk(arena, bytes);
    if (!chunk) return NULL;
    void *block = chunk->bytes + chunk->used;
    chunk->used += bytes;
    memset(block, 0, bytes);
    return block;
}

char *ss_arena_copy(ss_arena *arena, const char *bytes, size_t length) {
    size_t with_end;
    if (!ss_add_size(length, 1, &with_end)) return NULL;
    char *copy = ss_arena_alloc(arena, with_end, 1);
    if (copy && length) memcpy(copy, bytes, length);
    return copy;
}

void ss_arena_free(ss_arena *arena) {
    while (arena->newest) {
        ss_arena_chunk *older = arena->newest->older;
        ss_free(arena->memory, arena->newest);
        arena->newest = older;
    }
}
