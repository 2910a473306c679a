/* Attention of all heads of a layer in blocks of query rows: memory grows with T, never with T * T.
 *
 * A block of scores [rows][keys] is made, softmaxed, mixed with the values and shown to the listeners while
 * it is in cache. Query head h reads key/value head h / (H / K). Source: Vaswani et al. 2017; SPEC section 1
 * for what a row is. */
#ifndef SS_NN_ATTENTION_H
#define SS_NN_ATTENTION_H

#include "base/mem.h"
#include "base/status.h"
#include "math/compute.h"
#include "nn/rows.h"

typedef struct ss_attention {
    size_t tokens, heads, kv_heads, head_width; /* T, H, K, E */
    double scale;                               /* scores = scale q.k */
    double soft_cap;                            /* 0: none; else cap tanh(score / cap) */
    bool causal;
    size_t window;          /* 0: none; else the query and window - 1 keys before it (causal only) */
    size_t stride;          /* floats from one token to the next in q, k, v */
    const float *q, *k, *v; /* token t, head h at + t * stride + h * E */
    float *mix;             /* [T][H * E]: result */
    float *max;             /* [H][T]: result, the largest score of each row */
    double *total;          /* [H][T]: result, sum of exp(score - max) */
    /* Listeners, NULL for none: `rows` is called by several workers at once; `rows_in_turn` sees the blocks
     * of a head one after the other, the last queries first, whatever the workers: sums over rows that are
     * kept for each head come out the same to the last bit at any number of threads. */
    ss_rows_fn *rows, *rows_in_turn;
    void *rows_context;
    const uint8_t *shown; /* [H] heads shown to the listeners; NULL for all */
} ss_attention;

/* Bytes of workspace that ss_attention_forward needs for all workers together, by `tokens` and `heads`. False
 * on overflow. */
bool ss_attention_workspace(const ss_compute *compute, const ss_attention *attention, size_t *bytes);

/* Fill mix, max and total, showing each block on the way; `workspace` is aligned to 64 bytes. Uses the team.
 * SS_E_SYSTEM or SS_E_MEMORY when oneDNN fails. */
ss_status ss_attention_forward(const ss_compute *compute, const ss_attention *attention, void *workspace,
                               ss_error *error);

/* scores[n] = cap tanh(scores / cap) in place; *raw_max is the largest before. */
SS_DECLARE_LEVELS(void, ss_soft_cap_row, (float *scores, size_t n, float cap, float *raw_max))

#endif
