#include "support/staged_pass.h"

#include "support/json_path.h"
#include "support/nn_ref.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

ss_config staged_config(size_t heads, size_t kv_heads, bool causal) {
    return (ss_config){.architecture = "staged",
                       .layers = 1,
                       .heads = heads,
                       .kv_heads = kv_heads,
                       .head_width = 8,
                       .width = heads * 8,
                       .vocabulary = 50,
                       .context = 4096,
                       .causal = causal,
                       .score_scale = 1 / sqrt(8.0)};
}

static void see(staged_pass *s, size_t t) {
    size_t end = s->config.causal ? t + 1 : s->tokens;
    s->first[t] = s->config.window && end > s->config.window ? end - s->config.window : 0;
    s->support[t] = end - s->first[t];
}

staged_pass *staged_pass_new(const ss_config *config, size_t tokens, int workers, uint64_t seed) {
    staged_pass *s = calloc(1, sizeof *s);
    size_t heads = config->heads, dense = heads * tokens * tokens;
    s->config = *config;
    s->compute = (ss_compute){.workers = workers, .isa = ss_isa_best()};
    s->tokens = tokens;
    s->stride = (heads + 2 * config->kv_heads) * config->head_width;
    s->ids = calloc(tokens, sizeof *s->ids);
    s->qkv = calloc(tokens * s->stride, sizeof *s->qkv);
    s->mix = calloc(tokens * heads * config->head_width, sizeof *s->mix);
    s->raw = calloc(dense, sizeof *s->raw);
    s->scores = calloc(dense, sizeof *s->scores);
    s->weights = calloc(dense, sizeof *s->weights);
    s->max = calloc(heads * tokens, sizeof *s->max);
    s->total = calloc(heads * tokens, sizeof *s->total);
    s->first = calloc(tokens, sizeof *s->first);
    s->support = calloc(tokens, sizeof *s->support);
    s->pass = (ss_pass){.config = &s->config, .compute = &s->compute, .ids = s->ids, .tokens = tokens};
    ref_fill(s->qkv, tokens * s->stride, 2.0f, seed);
    for (size_t t = 0; t < tokens; t++) {
        s->ids[t] = (uint32_t)((seed + t * t) % config->vocabulary % 7);
        see(s, t);
    }
    return s;
}

void staged_pass_free(staged_pass *s) {
    void *const blocks[] = {s->ids,     s->qkv, s->mix,   s->raw,   s->scores,
                            s->weights, s->max, s->total, s->first, s->support};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) free(blocks[i]);
    free(s);
}

float *staged_query(const staged_pass *s, size_t head, size_t token) {
    return s->qkv + token * s->stride + head * s->config.head_width;
}

float *staged_key(const staged_pass *s, size_t kv_head, size_t token) {
    return staged_query(s, s->config.heads + kv_head, token);
}

float *staged_value(const staged_pass *s, size_t kv_head, size_t token) {
    return staged_key(s, s->config.kv_heads + kv_head, token);
}

double *staged_row(double *dense, const staged_pass *s, size_t head, size_t query) {
    return dense + (head * s->tokens + query) * s->tokens;
}

static double dot(const float *x, const float *y, size_t width) {
    double sum = 0;
    for (size_t e = 0; e < width; e++) sum += (double)x[e] * y[e];
    return sum;
}

void staged_pass_attend(staged_pass *s) {
    const ss_config *c = &s->config;
    for (size_t h = 0; h < c->heads; h++)
        for (size_t t = 0; t < s->tokens; t++)
            for (size_t j = 0; j < s->tokens; j++) {
                const float *key = staged_key(s, h / (c->heads / c->kv_heads), j);
                double raw = c->score_scale * dot(staged_query(s, h, t), key, c->head_width);
                staged_row(s->raw, s, h, t)[j] = raw;
                staged_row(s->scores, s, h, t)[j] =
                    c->soft_cap > 0 ? c->soft_cap * tanh(raw / c->soft_cap) : raw;
            }
    staged_pass_softmax(s);
}

static void softmax_row(staged_pass *s, size_t h, size_t t) {
    const double *scores = staged_row(s->scores, s, h, t);
    double *weights = staged_row(s->weights, s, h, t), total = 0;
    size_t first = s->first[t], end = first + s->support[t];
    float max = first < end ? (float)scores[first] : 0;
    for (size_t j = first; j < end; j++) max = (float)scores[j] > max ? (float)scores[j] : max;
    for (size_t j = 0; j < s->tokens; j++) {
        weights[j] = j >= first && j < end ? exp(scores[j] - max) : 0;
        total += weights[j];
    }
    for (size_t j = first; j < end; j++) weights[j] /= total;
    s->max[h * s->tokens + t] = max;
    s->total[h * s->tokens + t] = total;
}

void staged_pass_softmax(staged_pass *s) {
    const ss_config *c = &s->config;
    memset(s->mix, 0, s->tokens * c->heads * c->head_width * sizeof *s->mix);
    for (size_t h = 0; h < c->heads; h++)
        for (size_t t = 0; t < s->tokens; t++) {
            softmax_row(s, h, t);
            float *mix = s->mix + (t * c->heads + h) * c->head_width;
            for (size_t j = 0; j < s->tokens; j++)
                for (size_t e = 0; e < c->head_width; e++)
                    mix[e] += (float)(staged_row(s->weights, s, h, t)[j] *
                                      staged_value(s, h / (c->heads / c->kv_heads), j)[e]);
        }
}

/* One block of one head, its columns from the first key that any row sees. */
static void show_block(const staged_pass *s, const ss_probe *probe, size_t layer, size_t head, size_t query,
                       size_t rows, int worker) {
    size_t begin = SIZE_MAX, stride = s->tokens + 3; /* padded, as the kernel's rows are */
    for (size_t r = 0; r < rows; r++) begin = s->first[query + r] < begin ? s->first[query + r] : begin;
    float *scores = calloc(2 * rows * stride, sizeof *scores), *weights = scores + rows * stride;
    float *raw_max = calloc(rows, sizeof *raw_max);
    for (size_t r = 0; r < rows; r++) {
        size_t t = query + r;
        raw_max[r] = -INFINITY;
        for (size_t j = begin; j < s->tokens; j++) {
            double raw = staged_row(s->raw, s, head, t)[j];
            double total = s->total[head * s->tokens + t];
            scores[r * stride + j - begin] = (float)staged_row(s->scores, s, head, t)[j];
            weights[r * stride + j - begin] = (float)(staged_row(s->weights, s, head, t)[j] * total);
            if (j >= s->first[t] && j < s->first[t] + s->support[t])
                raw_max[r] = fmaxf(raw_max[r], (float)raw);
        }
    }
    const ss_row_block block = {.head = head,
                                .kv_head = head / (s->config.heads / s->config.kv_heads),
                                .first_query = query,
                                .rows = rows,
                                .begin_key = begin,
                                .stride = stride,
                                .scores = scores,
                                .weights = weights,
                                .max = s->max + head * s->tokens + query,
                                .raw_max = s->config.soft_cap > 0 ? raw_max : NULL,
                                .total = s->total + head * s->tokens + query,
                                .first_key = s->first + query,
                                .support = s->support + query,
                                .worker = worker};
    if (probe->rows) probe->rows(probe->context, &s->pass, layer, &block);
    if (probe->rows_in_turn) probe->rows_in_turn(probe->context, &s->pass, layer, &block);
    free(scores);
    free(raw_max);
}

void staged_pass_show(const staged_pass *s, const ss_probe *probe, size_t layer, size_t block_rows) {
    const ss_config *c = &s->config;
    int turn = 0;
    for (size_t query = 0; query < s->tokens; query += block_rows)
        for (size_t h = 0; h < c->heads; h++) {
            size_t left = s->tokens - query;
            show_block(s, probe, layer, h, query, left < block_rows ? left : block_rows,
                       turn++ % s->compute.workers);
        }
    const ss_heads_event event = {.pass = &s->pass,
                                  .layer = layer,
                                  .stride = s->stride,
                                  .q = s->qkv,
                                  .k = staged_key(s, 0, 0),
                                  .v = staged_value(s, 0, 0),
                                  .mix = s->mix,
                                  .max = s->max,
                                  .total = s->total};
    if (probe->heads) probe->heads(probe->context, &event);
}

ss_probe_setup staged_setup(const staged_pass *s) {
    ss_probe_setup setup = {.config = &s->config,
                            .ids = s->ids,
                            .tokens = s->tokens,
                            .compute = s->compute,
                            .options = ss_probe_options_default()};
    setup.options.fine_maps = s->fine_maps;
    return setup;
}

ss_result *staged_measure(const staged_pass *s, const char *probes, size_t block_rows) {
    const ss_probe_setup setup = staged_setup(s);
    ss_probe_set *set;
    ss_result *result;
    uint32_t bits;
    assert_int_equal(ss_probes_parse(probes, &bits, NULL), SS_OK);
    assert_int_equal(ss_probe_set_create(&setup, bits, &set, NULL), SS_OK);
    assert_int_equal(ss_result_create(&result, "test", NULL), SS_OK);
    for (size_t i = 0; i < ss_probe_set_count(set); i++)
        for (size_t layer = 0; layer < s->config.layers; layer++)
            staged_pass_show(s, ss_probe_set_list(set)[i], layer, block_rows);
    assert_int_equal(ss_probe_set_report(set, result, NULL), SS_OK);
    ss_probe_set_free(set);
    return result;
}

double staged_head_number(const ss_result *result, size_t head, const char *name) {
    char path[256];
    snprintf(path, sizeof path, "layers.0.heads.%zu.%s", head, name);
    return number_at(result->root, path);
}
