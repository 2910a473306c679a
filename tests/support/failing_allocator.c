/* Counting and failing allocation. Relies on: aligned_alloc; a block's size is kept in front of it. */
#include "support/failing_allocator.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void *take(failing_allocator_state *state, size_t alignment, size_t size) {
    if (++state->requests == state->fail_at) return NULL;
    size_t total = (size + alignment + alignment - 1) / alignment * alignment;
    unsigned char *block = aligned_alloc(alignment, total);
    if (!block) return NULL;
    memcpy(block, &size, sizeof size);
    state->live++;
    state->bytes += size;
    if (state->bytes > state->peak) state->peak = state->bytes;
    return block + alignment;
}

static void give(failing_allocator_state *state, size_t alignment, void *block) {
    size_t size;
    unsigned char *begin = (unsigned char *)block - alignment;
    memcpy(&size, begin, sizeof size);
    state->live--;
    state->bytes -= size;
    free(begin);
}

enum { ALIGNMENT = 64 }; /* SS_ALIGNMENT, which every request has */

static void *failing_alloc(void *context, size_t alignment, size_t size) {
    return alignment == ALIGNMENT ? take(context, alignment, size) : NULL;
}

static void failing_free(void *context, void *block) {
    give(context, ALIGNMENT, block);
}

void failing_allocator_init(failing_allocator *memory, size_t fail_at) {
    memory->state = (failing_allocator_state){.fail_at = fail_at};
    memory->allocator = (ss_allocator){failing_alloc, failing_free, &memory->state};
}

static failing_allocator_state *jansson_state;

static void *jansson_alloc(size_t size) {
    return take(jansson_state, 16, size);
}

static void jansson_free(void *block) {
    if (block) give(jansson_state, 16, block);
}

void failing_jansson_init(failing_allocator_state *state, size_t fail_at) {
    *state = (failing_allocator_state){.fail_at = fail_at};
    jansson_state = state;
    json_set_alloc_funcs(jansson_alloc, jansson_free);
}

void failing_jansson_end(void) {
    json_set_alloc_funcs(malloc, free);
}
