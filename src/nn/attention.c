/* Attention in blocks of query rows. A task is one head and one block of queries; inside a task oneDNN runs
 * on that worker alone, and the two products of a block reach what its large products reach. Relies on:
 * base/team, math/matmul, math/softmax. */
#include "nn/attention.h"

#include "base/team.h"
#include "math/matmul.h"
#include "math/softmax.h"

#include <float.h>
#include <math.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <string.h>

enum {
    MOST_ROWS = 64, /* rows of a block: enough for the products to run at full speed */
    FEWEST_ROWS = 32,
    BLOCK_FLOATS = 192 * 1024, /* scores of a block: with the weights 1.5 MB, inside a 2 MB L2 */
};

/* Rows of a block: fewer where rows are long, so that a block stays in cache. */
static size_t block_rows(size_t tokens) {
    size_t rows = BLOCK_FLOATS / tokens / 16 * 16;
    rows = rows > MOST_ROWS ? MOST_ROWS : rows < FEWEST_ROWS ? FEWEST_ROWS : rows;
    return rows < tokens ? rows : tokens;
}

static size_t padded(size_t floats) {
    return (floats + 15) / 16 * 16;
}

/* What one worker needs for one block; arrays lie one after the other in its part of the workspace. */
typedef struct block_memory {
    float *scores, *weights; /* [rows][stride] */
    float *max, *raw_max;    /* [rows] */
    double *total;           /* [rows] */
    size_t *first, *support; /* [rows] */
} block_memory;

static bool worker_bytes(size_t tokens, size_t *bytes) {
    const size_t rows = block_rows(tokens);
    size_t matrix;
    if (!ss_mul_size(rows, padded(tokens), &matrix) || !ss_mul_size(matrix, 2 * sizeof(float), &matrix))
        return false;
    size_t small = padded(rows) * (2 * sizeof(float) + sizeof(double) + 2 * sizeof(size_t));
    return ss_add_size(matrix, small, bytes);
}

/* A head's turn has a cache line to itself: workers look at it while they wait. */
typedef struct turn {
    alignas(SS_ALIGNMENT) atomic_size_t next; /* which of the head's blocks is to be shown next */
} turn;

bool ss_attention_workspace(const ss_compute *compute, const ss_attention *attention, size_t *bytes) {
    size_t one, all, turns;
    return worker_bytes(attention->tokens, &one) && ss_mul_size(one, (size_t)compute->workers, &all) &&
           ss_mul_size(attention->heads, sizeof(turn), &turns) && ss_add_size(all, turns, bytes);
}

static block_memory carve(void *workspace, size_t tokens, int worker) {
    const size_t rows = block_rows(tokens), lane = padded(rows), matrix = rows * padded(tokens);
    size_t bytes = 0;
    worker_bytes(tokens, &bytes);
    char *at = (char *)workspace + bytes * (size_t)worker;
    block_memory m;
    m.scores = (float *)(void *)at;
    m.weights = m.scores + matrix;
    m.total = (double *)(void *)(m.weights + matrix);
    m.first = (size_t *)(void *)(m.total + lane);
    m.support = m.first + lane;
    m.max = (float *)(void *)(m.support + lane);
    m.raw_max = m.max + lane;
    return m;
}

typedef struct job {
    const ss_attention *a;
    ss_isa isa;
    turn *turns;         /* [heads] */
    void *workspace;     /* of the workers */
    size_t blocks, rows; /* blocks of a head, rows of a block */
    atomic_int status;
} job;

static ss_visible visible_to(const ss_attention *a, size_t query) {
    return ss_visible_keys(a->tokens, a->causal, a->window, query);
}

/* Softmax of every row over its own keys; masked places of `weights` become 0 so that the product with the
 * values can run over the whole block. */
static void softmax_block(const job *j, const block_memory *m, size_t query, size_t rows, size_t begin,
                          size_t keys, size_t stride) {
    const ss_attention *a = j->a;
    for (size_t r = 0; r < rows; r++) {
        const ss_visible visible = visible_to(a, query + r);
        const size_t first = visible.first - begin, end = first + visible.support;
        m->first[r] = visible.first;
        m->support[r] = visible.support;
        float *scores = m->scores + r * stride + first;
        float *weights = m->weights + r * stride;
        if (a->soft_cap > 0)
            SS_PICK_LEVEL(j->isa, ss_soft_cap_row)(scores, m->support[r], (float)a->soft_cap, &m->raw_max[r]);
        m->total[r] = ss_softmax_row(j->isa, scores, m->support[r], weights + first, &m->max[r]);
        memset(weights, 0, first * sizeof *weights);
        memset(weights + end, 0, (keys - end) * sizeof *weights);
    }
}

/* Wait until the blocks of the head before this one have been shown. False when one of them never will be, as
 * a product failed. Blocks are begun in the order of their turns, so there is always one that waits for none.
 */
static bool await_turn(job *j, size_t head, size_t place) {
    while (atomic_load_explicit(&j->turns[head].next, memory_order_acquire) != place) {
        if (atomic_load(&j->status) != SS_OK) return false;
        ss_team_pause();
    }
    return true;
}

/* `place`: of the block among its head's. */
static void show_block(job *j, const ss_row_block *block, size_t place) {
    const ss_attention *a = j->a;
    if (a->shown && !a->shown[block->head]) return;
    if (a->rows) a->rows(a->rows_context, block);
    if (!a->rows_in_turn || !await_turn(j, block->head, place)) return;
    a->rows_in_turn(a->rows_context, block);
    atomic_store_explicit(&j->turns[block->head].next, place + 1, memory_order_release);
}

/* Divide a row by its total; is all of it finite? */
static bool divide_row(float *mix, size_t width, double total) {
    const float scale = (float)(1 / total);
    int bad = 0;
    for (size_t e = 0; e < width; e++) {
        mix[e] *= scale;
        bad |= !(fabsf(mix[e]) <= FLT_MAX);
    }
    return !bad;
}

/* Rows of the mix over their totals. A value that is not finite spoils the rows of the block that do not see
 * its key too, for 0 times NaN is NaN: each bad row is taken again over its own keys. */
static ss_status finish_mix(const block_memory *m, size_t stride, const float *v, size_t v_stride,
                            size_t begin, float *mix, size_t mix_stride, size_t rows, size_t width) {
    for (size_t r = 0; r < rows; r++) {
        float *row = mix + r * mix_stride;
        if (divide_row(row, width, m->total[r])) continue;
        const size_t first = m->first[r] - begin;
        ss_status status =
            ss_matmul_f32(1, width, m->support[r], 1.0f, m->weights + r * stride + first, stride,
                          v + first * v_stride, v_stride, false, 0.0f, row, mix_stride);
        if (status != SS_OK) return status;
        divide_row(row, width, m->total[r]);
    }
    return SS_OK;
}

/* A task cannot return a status: the first reason to fail is kept for all. */
static bool succeeds(job *j, ss_status status) {
    int none = SS_OK;
    if (status != SS_OK) atomic_compare_exchange_strong(&j->status, &none, (int)status);
    return status == SS_OK;
}

/* Tasks come from the longest rows to the shortest, so that workers end together. */
static void attend_block(void *context, size_t index, int worker) {
    job *j = context;
    const ss_attention *a = j->a;
    const size_t width = a->head_width, head = index % a->heads, place = index / a->heads;
    const size_t query = (j->blocks - 1 - place) * j->rows;
    const size_t rows = a->tokens - query < j->rows ? a->tokens - query : j->rows;
    const size_t kv_head = head / (a->heads / a->kv_heads);
    block_memory m = carve(j->workspace, a->tokens, worker);

    const ss_visible top = visible_to(a, query), bottom = visible_to(a, query + rows - 1);
    const size_t begin = top.first, keys = bottom.first + bottom.support - begin, stride = padded(keys);
    const float *k = a->k + begin * a->stride + kv_head * width,
                *v = a->v + begin * a->stride + kv_head * width;
    float *mix = a->mix + query * a->heads * width + head * width;

    /* 1. scores [rows][keys] = scale Q K^T */
    if (!succeeds(j,
                  ss_matmul_f32(rows, keys, width, (float)a->scale, a->q + query * a->stride + head * width,
                                a->stride, k, a->stride, true, 0.0f, m.scores, stride)))
        return;
    /* 2. softmax, row by row */
    softmax_block(j, &m, query, rows, begin, keys, stride);
    memcpy(a->max + head * a->tokens + query, m.max, rows * sizeof *m.max);
    memcpy(a->total + head * a->tokens + query, m.total, rows * sizeof *m.total);
    /* 3. mix [rows][E] = weights V, divided by each row's total */
    if (!succeeds(j, ss_matmul_f32(rows, width, keys, 1.0f, m.weights, stride, v, a->stride, false, 0.0f, mix,
                                   a->heads * width)))
        return;
    if (!succeeds(j, finish_mix(&m, stride, v, a->stride, begin, mix, a->heads * width, rows, width))) return;
    /* 4. whoever listens */
    const ss_row_block block = {.head = head,
                                .kv_head = kv_head,
                                .first_query = query,
                                .rows = rows,
                                .stride = stride,
                                .begin_key = begin,
                                .scores = m.scores,
                                .weights = m.weights,
                                .max = m.max,
                                .raw_max = a->soft_cap > 0 ? m.raw_max : NULL,
                                .total = m.total,
                                .first_key = m.first,
                                .support = m.support,
                                .worker = worker};
    show_block(j, &block, place);
}

ss_status ss_attention_forward(const ss_compute *compute, const ss_attention *attention, void *workspace,
                               ss_error *error) {
    job j = {.a = attention,
             .isa = compute->isa,
             .turns = workspace,
             .workspace = (char *)workspace + attention->heads * sizeof(turn),
             .rows = block_rows(attention->tokens)};
    for (size_t h = 0; h < attention->heads; h++) atomic_init(&j.turns[h].next, 0);
    j.blocks = (attention->tokens + j.rows - 1) / j.rows;
    atomic_init(&j.status, SS_OK);
    ss_team_run(compute->workers, j.blocks * attention->heads, attend_block, &j);
    ss_status status = (ss_status)atomic_load(&j.status);
    if (status == SS_OK) return SS_OK;
    return ss_fail(error, status, "attention", "a matrix product failed in oneDNN");
}
