/* A pass staged by hand: plain attention in double over queries and keys (or over scores that a test sets),
 * shown to a probe in blocks as the real pass shows them. The dense weights stay for the test to check
 * against.
 *
 *     staged_pass *stage = staged_pass_new(&config, T, workers, seed);     // random q, k, v, ids
 *     staged_pass_attend(stage);                                          // or set scores, then _softmax
 *     staged_pass_show(stage, &probe, layer, rows of a block);
 *     staged_pass_free(stage); */
#ifndef SS_TESTS_STAGED_PASS_H
#define SS_TESTS_STAGED_PASS_H

#include "model/events.h"
#include "probe/probes.h"

typedef struct staged_pass {
    ss_config config;
    ss_compute compute;
    ss_pass pass;
    size_t tokens, stride;
    uint32_t *ids;            /* [T] */
    float *qkv;               /* [T][(H + 2K) E] */
    float *mix;               /* [T][H E] */
    double *raw, *scores;     /* [H][T][T] before and after the soft cap */
    double *weights;          /* [H][T][T] sum to 1, 0 where masked */
    float *max;               /* [H][T] */
    double *total;            /* [H][T] */
    size_t *first, *support;  /* [T] from the config; a test may change them before _softmax */
    const uint8_t *fine_maps; /* [H] for the probe options; NULL for none */
} staged_pass;

/* A config of one layer with E = 8 and everything else plain; change what the test is about. */
ss_config staged_config(size_t heads, size_t kv_heads, bool causal);

staged_pass *staged_pass_new(const ss_config *config, size_t tokens, int workers, uint64_t seed);
void staged_pass_free(staged_pass *stage);

float *staged_query(const staged_pass *stage, size_t head, size_t token);
float *staged_key(const staged_pass *stage, size_t kv_head, size_t token);
float *staged_value(const staged_pass *stage, size_t kv_head, size_t token);
double *staged_row(double *dense, const staged_pass *stage, size_t head, size_t query);

/* scores from queries and keys, then _softmax */
void staged_pass_attend(staged_pass *stage);

/* weights, maxima, totals and mix from scores */
void staged_pass_softmax(staged_pass *stage);

/* Show rows in blocks of `block_rows`, dealt to the workers in turn, then the heads. */
void staged_pass_show(const staged_pass *stage, const ss_probe *probe, size_t layer, size_t block_rows);

/* What a probe is made from here; options are the defaults. */
ss_probe_setup staged_setup(const staged_pass *stage);

/* Show every layer to the named probes and give their document; asserts that all goes well. */
ss_result *staged_measure(const staged_pass *stage, const char *probes, size_t block_rows);

/* The number `name` of a head of layer 0; NaN when it is null or not there. */
double staged_head_number(const ss_result *result, size_t head, const char *name);

#endif
