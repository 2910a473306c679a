/* The one forward pass, over options instead of architectures, showing each event to every probe.
 * Relies on: nn for the operators; the order of a layer follows SPEC section 3 (pre-LN and post-LN).
 * Letters: T tokens, D width, H query heads, K key/value heads, E head width, F feed-forward width, V
 * vocabulary. */
#include "base/mem.h"
#include "base/team.h"
#include "model/model_impl.h"
#include "nn/attention.h"
#include "nn/embedding.h"

enum {
    FFN_TOKENS = 1024,               /* the feed-forward layer runs in parts of this many tokens */
    LOGIT_FLOATS = 12 * 1024 * 1024, /* logits of a part: 48 MB */
    LOGIT_ROWS = 64                  /* a part has a multiple of these, if it has as many */
};

typedef struct runner {
    const ss_model *model;
    const ss_config *config;
    const ss_forward_options *options;
    const ss_probe *const *probes;
    size_t probe_count;
    ss_pass pass;
    ss_error *error;
    size_t ffn_rows, logit_rows;
    double done, work; /* in multiply-adds, for progress */
    /* memory of the pass */
    float *x;               /* [T][D] the residual stream */
    float *normed;          /* [T][D] */
    float *qkv;             /* [T][(H + 2K) E] */
    float *mix;             /* [T][H E] */
    float *up, *hidden;     /* [ffn_rows][F or 2F], [ffn_rows][F] */
    float *max;             /* [H][T] */
    double *total;          /* [H][T] */
    float *cosines, *sines; /* [T][rotary width / 2] */
    float *logits;          /* [logit_rows][V] */
    void *attention_space, *linear_space;
} runner;

/* ---- showing events --------------------------------------------------------------------------- */

static void show_hidden(const runner *r, ss_site site, size_t layer, size_t width, size_t first, size_t rows,
                        const float *x) {
    const ss_hidden_event event = {&r->pass, site, layer, width, first, rows, x};
    for (size_t i = 0; i < r->probe_count; i++) {
        const ss_probe *probe = r->probes[i];
        if (probe->hidden && (probe->sites & SS_SITE_BIT(site))) probe->hidden(probe->context, &event);
    }
}

static void show_state(const runner *r, ss_site site, size_t layer, const float *x, size_t width) {
    show_hidden(r, site, layer, width, 0, r->pass.tokens, x);
}

typedef struct rows_target {
    const runner *runner;
    size_t layer;
} rows_target;

static void show_rows(void *context, const ss_row_block *block) {
    const rows_target *target = context;
    const runner *r = target->runner;
    for (size_t i = 0; i < r->probe_count; i++) {
        const ss_probe *probe = r->probes[i];
        if (probe->rows) probe->rows(probe->context, &r->pass, target->layer, block);
    }
}

static void show_rows_in_turn(void *context, const ss_row_block *block) {
    const rows_target *target = context;
    const runner *r = target->runner;
    for (size_t i = 0; i < r->probe_count; i++) {
        const ss_probe *probe = r->probes[i];
        if (probe->rows_in_turn) probe->rows_in_turn(probe->context, &r->pass, target->layer, block);
    }
}

static void show_heads(const runner *r, size_t layer) {
    const ss_config *c = r->config;
    const size_t stride = (c->heads + 2 * c->kv_heads) * c->head_width;
    const float *k = r->qkv + c->heads * c->head_width;
    const ss_heads_event event = {.pass = &r->pass,
                                  .layer = layer,
                                  .stride = stride,
                                  .q = r->qkv,
                                  .k = k,
                                  .v = k + c->kv_heads * c->head_width,
                                  .mix = r->mix,
                                  .max = r->max,
                                  .total = r->total};
    for (size_t i = 0; i < r->probe_count; i++) {
        const ss_probe *probe = r->probes[i];
        if (probe->heads) probe->heads(probe->context, &event);
    }
}

static bool wants_rows(const runner *r) {
    for (size_t i = 0; i < r->probe_count; i++)
        if (r->probes[i]->rows) return true;
    return false;
}

static bool wants_rows_in_turn(const runner *r) {
    for (size_t i = 0; i < r->probe_count; i++)
        if (r->probes[i]->rows_in_turn) return true;
    return false;
}

static bool wants_logits(const runner *r) {
    for (size_t i = 0; i < r->probe_count; i++)
        if (r->probes[i]->logits || (r->probes[i]->sites & SS_SITE_BIT(SS_SITE_LOGITS))) return true;
    return false;
}

/* Add work done and ask whether to go on. */
static ss_status advance(runner *r, double work) {
    r->done += work;
    const ss_forward_options *o = r->options;
    if (!o->progress || o->progress(o->progress_context, r->done / r->work)) return SS_OK;
    return ss_fail(r->error, SS_E_CANCELLED, NULL, "stopped on request");
}

/* ---- operators with this model's weights ------------------------------------------------------ */

static ss_status linear(runner *r, const ss_matrix *weight, const float *bias, const float *x, size_t rows,
                        float *y, ss_linear_mode mode) {
    return ss_linear(&r->options->compute, weight, bias, x, rows, y, mode, r->linear_space, r->error);
}

static void normalise(const runner *r, const ss_norm_weights *weights, const float *x, size_t rows,
                      float *y) {
    const ss_norm norm = {r->config->norm, r->config->norm_epsilon, weights->gamma, weights->beta};
    ss_norm_forward(&r->options->compute, &norm, x, rows, r->config->width, y);
}

static ss_status attend(runner *r, size_t layer) {
    const ss_config *c = r->config;
    const size_t stride = (c->heads + 2 * c->kv_heads) * c->head_width;
    if (c->positions == SS_POSITION_ROTARY) /* keys follow queries in memory: one call turns both */
        ss_rotary_apply(&r->options->compute, &c->rotary, r->cosines, r->sines, r->qkv, r->pass.tokens,
                        stride, c->heads + c->kv_heads, c->head_width);
    const float *k = r->qkv + c->heads * c->head_width;
    rows_target target = {r, layer};
    const ss_attention attention = {
        .tokens = r->pass.tokens,
        .heads = c->heads,
        .kv_heads = c->kv_heads,
        .head_width = c->head_width,
        .scale = c->score_scale,
        .soft_cap = c->soft_cap,
        .causal = c->causal,
        .window = c->window,
        .stride = stride,
        .q = r->qkv,
        .k = k,
        .v = k + c->kv_heads * c->head_width,
        .mix = r->mix,
        .max = r->max,
        .total = r->total,
        .rows = wants_rows(r) ? show_rows : NULL,
        .rows_in_turn = wants_rows_in_turn(r) ? show_rows_in_turn : NULL,
        .rows_context = &target,
        .shown = r->options->heads ? r->options->heads + layer * c->heads : NULL,
    };
    return ss_attention_forward(&r->options->compute, &attention, r->attention_space, r->error);
}

/* x += attention(norm(x)), or x = norm(x + attention(x)). */
static ss_status attention_branch(runner *r, size_t layer) {
    const ss_config *c = r->config;
    const ss_layer_weights *w = &r->model->weights.layers[layer];
    const size_t tokens = r->pass.tokens, qkv_width = (c->heads + 2 * c->kv_heads) * c->head_width;
    const bool pre = c->norm_place == SS_NORM_PRE;
    if (pre) {
        normalise(r, &w->attn_norm, r->x, tokens, r->normed);
        show_state(r, SS_SITE_ATTN_NORM, layer, r->normed, c->width);
    }
    SS_TRY(linear(r, &w->qkv, w->qkv_bias, pre ? r->normed : r->x, tokens, r->qkv, SS_LINEAR_STORE));
    show_state(r, SS_SITE_QKV, layer, r->qkv, qkv_width);
    SS_TRY(attend(r, layer));
    show_heads(r, layer);
    show_state(r, SS_SITE_ATTN_MIX, layer, r->mix, c->heads * c->head_width);
    SS_TRY(linear(r, &w->attn_out, w->attn_out_bias, r->mix, tokens, r->x, SS_LINEAR_ADD));
    show_state(r, SS_SITE_ATTN_OUT, layer, r->x, c->width);
    if (!pre) {
        normalise(r, &w->attn_norm, r->x, tokens, r->x);
        show_state(r, SS_SITE_ATTN_NORM, layer, r->x, c->width);
    }
    return SS_OK;
}

/* The feed-forward branch of tokens first .. first + rows - 1. */
static ss_status ffn_part(runner *r, size_t layer, size_t first, size_t rows) {
    const ss_config *c = r->config;
    const ss_compute *compute = &r->options->compute;
    const ss_layer_weights *w = &r->model->weights.layers[layer];
    const bool pre = c->norm_place == SS_NORM_PRE;
    float *x = r->x + first * c->width, *hidden = c->gated ? r->hidden : r->up;
    const float *input = x;
    if (pre) {
        normalise(r, &w->ffn_norm, x, rows, r->normed);
        show_hidden(r, SS_SITE_FFN_NORM, layer, c->width, first, rows, r->normed);
        input = r->normed;
    }
    SS_TRY(linear(r, &w->up, w->up_bias, input, rows, r->up, SS_LINEAR_STORE));
    if (c->gated)
        ss_activate_gated(compute, c->activation, r->up, rows, c->ffn_width, hidden);
    else
        ss_activate(compute, c->activation, hidden, rows, c->ffn_width);
    show_hidden(r, SS_SITE_FFN_HIDDEN, layer, c->ffn_width, first, rows, hidden);
    SS_TRY(linear(r, &w->down, w->down_bias, hidden, rows, x, SS_LINEAR_ADD));
    if (!pre) {
        normalise(r, &w->ffn_norm, x, rows, x);
        show_hidden(r, SS_SITE_FFN_NORM, layer, c->width, first, rows, x);
    }
    return SS_OK;
}

static ss_status ffn_branch(runner *r, size_t layer) {
    for (size_t first = 0; first < r->pass.tokens; first += r->ffn_rows) {
        size_t left = r->pass.tokens - first;
        SS_TRY(ffn_part(r, layer, first, left < r->ffn_rows ? left : r->ffn_rows));
    }
    show_state(r, SS_SITE_BLOCK, layer, r->x, r->config->width);
    return SS_OK;
}

/* ---- the output layer ------------------------------------------------------------------------- */

typedef struct logits_part {
    const runner *runner;
    size_t first;
} logits_part;

static void show_logits(void *context, size_t begin, size_t end, int worker) {
    const logits_part *part = context;
    const runner *r = part->runner;
    const ss_logits_event event = {.pass = &r->pass,
                                   .first = part->first + begin,
                                   .rows = end - begin,
                                   .logits = r->logits + begin * r->config->vocabulary,
                                   .worker = worker};
    for (size_t i = 0; i < r->probe_count; i++)
        if (r->probes[i]->logits) r->probes[i]->logits(r->probes[i]->context, &event);
}

static ss_status output_layer(runner *r) {
    const ss_config *c = r->config;
    for (size_t first = 0; first < r->pass.tokens; first += r->logit_rows) {
        size_t left = r->pass.tokens - first, rows = left < r->logit_rows ? left : r->logit_rows;
        SS_TRY(linear(r, &r->model->weights.head, NULL, r->x + first * c->width, rows, r->logits,
                      SS_LINEAR_STORE));
        show_hidden(r, SS_SITE_LOGITS, 0, c->vocabulary, first, rows, r->logits);
        logits_part part = {r, first};
        ss_team_split(r->options->compute.workers, rows, show_logits, &part);
        SS_TRY(advance(r, ss_head_work(c, rows)));
    }
    return SS_OK;
}

/* ---- the whole -------------------------------------------------------------------------------- */

double ss_layer_work(const ss_config *c, size_t tokens) {
    double t = (double)tokens, mixed = (double)(c->heads * c->head_width);
    double matrices = (double)c->width * (2 * mixed + 2 * (double)(c->kv_heads * c->head_width) +
                                          (c->gated ? 3 : 2) * (double)c->ffn_width);
    return t * matrices + t * t * mixed * (c->causal ? 1 : 2);
}

double ss_head_work(const ss_config *c, size_t tokens) {
    return (double)tokens * (double)c->vocabulary * (double)c->width;
}

static ss_status run_layers(runner *r) {
    const ss_config *c = r->config;
    const ss_weights *w = &r->model->weights;
    ss_embed(&r->options->compute, w->token_embed, w->position_embed, w->segment_embed, r->pass.ids,
             r->pass.tokens, c->width, r->x);
    if (c->embed_norm) normalise(r, &w->embed_norm, r->x, r->pass.tokens, r->x);
    show_state(r, SS_SITE_EMBEDDING, 0, r->x, c->width);
    if (c->positions == SS_POSITION_ROTARY)
        ss_rotary_fill(&c->rotary, w->rotary_factors, r->pass.tokens, r->cosines, r->sines);
    for (size_t layer = 0; layer < c->layers; layer++) {
        SS_TRY(attention_branch(r, layer));
        SS_TRY(ffn_branch(r, layer));
        SS_TRY(advance(r, ss_layer_work(c, r->pass.tokens)));
    }
    if (c->final_norm) {
        normalise(r, &w->final_norm, r->x, r->pass.tokens, r->x);
        show_state(r, SS_SITE_FINAL_NORM, 0, r->x, c->width);
    }
    return c->has_head && wants_logits(r) ? output_layer(r) : SS_OK;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t logit_rows(size_t vocabulary) {
    size_t rows = larger(LOGIT_FLOATS / vocabulary, 1);
    return rows < LOGIT_ROWS ? rows : rows / LOGIT_ROWS * LOGIT_ROWS;
}

static float *floats(runner *r, size_t rows, size_t columns) {
    size_t count;
    return ss_mul_size(rows, columns, &count) ? ss_alloc_large(r->model->memory, count, sizeof(float)) : NULL;
}

static bool allocate(runner *r) {
    const ss_config *c = r->config;
    const ss_compute *compute = &r->options->compute;
    const size_t tokens = r->pass.tokens, mixed = c->heads * c->head_width;
    const bool head = c->has_head && wants_logits(r);
    r->ffn_rows = smaller(tokens, FFN_TOKENS);
    r->logit_rows = head ? smaller(tokens, logit_rows(c->vocabulary)) : 0;

    r->x = floats(r, tokens, c->width);
    r->normed = floats(r, tokens, c->width);
    r->qkv = floats(r, tokens, mixed + 2 * c->kv_heads * c->head_width);
    r->mix = floats(r, tokens, mixed);
    r->up = floats(r, r->ffn_rows, c->gated ? 2 * c->ffn_width : c->ffn_width);
    r->hidden = floats(r, c->gated ? r->ffn_rows : 0, c->ffn_width);
    r->max = floats(r, c->heads, tokens);
    r->total = ss_alloc(r->model->memory, c->heads * tokens, sizeof *r->total);
    r->logits = floats(r, r->logit_rows, c->vocabulary);
    const size_t pairs = c->positions == SS_POSITION_ROTARY ? c->rotary.width / 2 : 0;
    r->cosines = floats(r, tokens, pairs);
    r->sines = floats(r, tokens, pairs);

    const ss_attention shape = {.tokens = tokens, .heads = c->heads};
    size_t attention_bytes;
    if (ss_attention_workspace(compute, &shape, &attention_bytes))
        r->attention_space = ss_alloc_large(r->model->memory, attention_bytes, 1);
    size_t widest = larger(c->width, mixed);
    size_t linear_bytes = larger(ss_linear_scratch(compute, tokens, widest),
                                 ss_linear_scratch(compute, r->ffn_rows, c->ffn_width));
    r->linear_space = ss_alloc(r->model->memory, linear_bytes, 1);
    return r->x && r->normed && r->qkv && r->mix && r->up && r->hidden && r->max && r->total && r->logits &&
           r->cosines && r->sines && r->attention_space && r->linear_space;
}

static void release(runner *r) {
    void *const blocks[] = {r->x,           r->normed, r->qkv,    r->mix,     r->up,    r->hidden,
                            r->max,         r->total,  r->logits, r->cosines, r->sines, r->attention_space,
                            r->linear_space};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) ss_free(r->model->memory, blocks[i]);
}

ss_status ss_model_check_tokens(const ss_model *model, const uint32_t *ids, size_t tokens, bool more,
                                ss_error *error) {
    const ss_config *c = &model->config;
    if (tokens == 0) return ss_fail(error, SS_E_VALUE, "input", "there are no tokens: give a longer text");
    if (tokens > c->context || more)
        return ss_fail(error, SS_E_VALUE, "input",
                       "%s%zu tokens, but the model's context is %zu: give a shorter text, or cut it with "
                       "--max-tokens %zu",
                       more ? "more than " : "", tokens, c->context, c->context);
    for (size_t t = 0; t < tokens; t++)
        if (ids[t] >= c->vocabulary)
            return ss_fail(error, SS_E_VALUE, "input", "token %zu has id %lu, but the vocabulary ends at %zu",
                           t, (unsigned long)ids[t], c->vocabulary - 1);
    return SS_OK;
}

ss_status ss_model_forward(const ss_model *model, const uint32_t *ids, size_t tokens,
                           const ss_forward_options *options, const ss_probe *const *probes,
                           size_t probe_count, ss_error *error) {
    SS_TRY(ss_model_check_tokens(model, ids, tokens, false, error));
    runner r = {.model = model,
                .config = &model->config,
                .options = options,
                .probes = probes,
                .probe_count = probe_count,
                .pass = {&model->config, &options->compute, ids, tokens},
                .error = error};
    r.work = ss_layer_work(r.config, tokens) * (double)r.config->layers;
    if (r.config->has_head && wants_logits(&r)) r.work += ss_head_work(r.config, tokens);
    ss_status status;
    if (allocate(&r)) {
        ss_team_scope scope = ss_team_enter(options->compute.workers);
        status = run_layers(&r);
        ss_team_leave(scope, options->compute.workers);
    } else {
        status = ss_fail(error, SS_E_MEMORY, "forward pass", "not enough memory for %zu tokens", tokens);
    }
    release(&r);
    return status;
}
