/* A block of attention rows, as the streaming kernel shows it to whoever listens while it is in cache.
 *
 * A row is one query's distribution over the keys it may see: `support[r]` consecutive keys from
 * `first_key[r]`; a masked key is never in the row.
 * Everything points into the kernel's own memory and is valid during the call only. */
#ifndef SS_NN_ROWS_H
#define SS_NN_ROWS_H

#include <stdbool.h>
#include <stddef.h>

/* The keys that one query may see: first .. first + support - 1. */
typedef struct ss_visible {
    size_t first, support;
} ss_visible;

/* Of T tokens; `window` 0: no window, else the query and the window - 1 keys before it. */
static inline ss_visible ss_visible_keys(size_t tokens, bool causal, size_t window, size_t query) {
    const size_t end = causal ? query + 1 : tokens;
    const size_t first = window && query + 1 > window ? query + 1 - window : 0;
    return (ss_visible){.first = first, .support = end - first};
}

typedef struct ss_row_block {
    size_t head, kv_head;
    size_t first_query, rows; /* the block holds queries first_query .. first_query + rows - 1 */
    size_t begin_key;         /* the key of the first column below */
    size_t stride;            /* floats from one row to the next in scores and weights */
    const float *scores;      /* [rows][stride] what entered the softmax (scaled, capped) */
    const float *weights;     /* [rows][stride] exp(score - max), not divided by total; 0 where masked */
    const float *max;         /* [rows] the largest allowed score */
    const float *raw_max;     /* [rows] the same before the soft cap; NULL without one */
    const double *total;      /* [rows] sum of weights; log Z = max + log(total) */
    const size_t *first_key;  /* [rows] */
    const size_t *support;    /* [rows] */
    int worker;               /* which worker calls: 0 .. workers - 1 */
} ss_row_block;

/* the allowed keys of row r: support[r] numbers, the first of them for key first_key[r] */
static inline const float *ss_block_scores(const ss_row_block *block, size_t r) {
    return block->scores + r * block->stride + block->first_key[r] - block->begin_key;
}
static inline const float *ss_block_weights(const ss_row_block *block, size_t r) {
    return block->weights + r * block->stride + block->first_key[r] - block->begin_key;
}

/* A listener, called by the worker that made the block. */
typedef void ss_rows_fn(void *context, const ss_row_block *block);

#endif
