/* Operators against their plain twins, at every level of instruction set, over shapes that are ugly for
 * vectors. Tolerances are a few float32 roundings of numbers of size 1 (6e-8 each), wider where a sum is
 * long. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "math/softmax.h"
#include "support/nn_ref.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const size_t widths[] = {1, 2, 3, 5, 8, 15, 16, 17, 31, 33, 63, 64, 65, 127, 576};
enum { WIDTHS = sizeof widths / sizeof *widths, WIDEST = 576 };

#define FOR_EACH_LEVEL(isa) for (ss_isa isa = SS_ISA_BASE; isa <= ss_isa_best(); isa++)

static void close_to(double got, double right, double tolerance) {
    if (!(fabs(got - right) <= tolerance))
        fail_msg("got %.9g, right is %.9g, tolerance %.1e", got, right, tolerance);
}

/* ---- norms ------------------------------------------------------------------------------------ */

static void norms_equal_the_plain_ones(void **state) {
    (void)state;
    float x[WIDEST], gamma[WIDEST], beta[WIDEST], y[WIDEST];
    double right[WIDEST];
    ref_fill(gamma, WIDEST, 2, 1);
    ref_fill(beta, WIDEST, 1, 2);
    FOR_EACH_LEVEL(isa) {
        for (size_t i = 0; i < WIDTHS; i++) {
            for (int kind = SS_NORM_LAYER; kind <= SS_NORM_RMS; kind++) {
                const ss_norm norm = {(ss_norm_kind)kind, 1e-5, gamma, beta};
                const ss_compute compute = {1, isa, SS_DTYPE_F32};
                ref_fill(x, widths[i], 3, 10 + i);
                ss_norm_forward(&compute, &norm, x, 1, widths[i], y);
                ref_norm(&norm, x, widths[i], right);
                for (size_t d = 0; d < widths[i]; d++) close_to(y[d], right[d], 2e-6);
            }
        }
    }
}

static void layer_norm_keeps_a_small_variance_under_a_large_offset(void **state) {
    (void)state;
    float x[64], ones[64], zeros[64] = {0}, y[64];
    double right[64];
    for (size_t i = 0; i < 64; i++) {
        x[i] = 4096 + (float)(i % 4) / 4;
        ones[i] = 1;
    }
    const ss_norm norm = {SS_NORM_LAYER, 1e-5, ones, zeros};
    ref_norm(&norm, x, 64, right);
    FOR_EACH_LEVEL(isa) {
        ss_norm_forward(&(ss_compute){1, isa, SS_DTYPE_F32}, &norm, x, 1, 64, y);
        for (size_t i = 0; i < 64; i++) close_to(y[i], right[i], 1e-3);
    }
}

static void norm_values_of_the_field(void **state) { /* CASES 26 */
    (void)state;
    const float ones[] = {1, 1, 1, 1}, zeros[] = {0, 0, 0, 0}, small[] = {1e-3f, 1e-3f},
                ramp[] = {1, 2, 3, 4};
    float y[4];
    FOR_EACH_LEVEL(isa) {
        const ss_compute compute = {1, isa, SS_DTYPE_F32};
        ss_norm_forward(&compute, &(ss_norm){SS_NORM_RMS, 1e-6, ones, NULL}, small, 1, 2, y);
        close_to(y[0], .707107, 1e-6);
        ss_norm_forward(&compute, &(ss_norm){SS_NORM_LAYER, 1e-5, ones, zeros}, ramp, 1, 4, y);
        close_to(y[0], -1.341635, 1e-6);
        close_to(y[1], -.447212, 1e-6);
        close_to(y[3], 1.341635, 1e-6);
    }
}

/* ---- activations ------------------------------------------------------------------------------ */

static void activations_equal_the_plain_ones(void **state) {
    (void)state;
    float x[2 * WIDEST], y[WIDEST];
    FOR_EACH_LEVEL(isa) {
        const ss_compute compute = {1, isa, SS_DTYPE_F32};
        for (int activation = SS_GELU_TANH; activation <= SS_RELU; activation++) {
            for (size_t i = 0; i < WIDTHS; i++) {
                const size_t width = widths[i];
                ref_fill(x, 2 * width, 8, i);
                ss_activate_gated(&compute, (ss_activation)activation, x, 1, width, y);
                for (size_t f = 0; f < width; f++)
                    close_to(y[f], ref_activation((ss_activation)activation, x[f]) * x[width + f], 1e-5);
                memcpy(y, x, width * sizeof *y);
                ss_activate(&compute, (ss_activation)activation, y, 1, width);
                for (size_t f = 0; f < width; f++)
                    close_to(y[f], ref_activation((ss_activation)activation, x[f]), 1e-6);
            }
        }
    }
}

static void gelu_forms_differ_as_they_should(void **state) { /* CASES 26 */
    (void)state;
    FOR_EACH_LEVEL(isa) {
        const ss_compute compute = {1, isa, SS_DTYPE_F32};
        float tanh_form = -3, exact = -3;
        ss_activate(&compute, SS_GELU_TANH, &tanh_form, 1, 1);
        ss_activate(&compute, SS_GELU_ERF, &exact, 1, 1);
        close_to(tanh_form, -.00363739, 1e-6);
        close_to(exact, -.00404969, 1e-6);
    }
}

static void a_nan_passes_through_every_activation(void **state) {
    (void)state;
    FOR_EACH_LEVEL(isa) {
        for (int activation = SS_GELU_TANH; activation <= SS_RELU; activation++) {
            float x = NAN;
            ss_activate(&(ss_compute){1, isa, SS_DTYPE_F32}, (ss_activation)activation, &x, 1, 1);
            assert_true(isnan(x));
        }
    }
}

static void silu_at_the_ends_of_exp(void **state) {
    (void)state;
    static const float x[] = {-INFINITY, -1e30f, -120, -89, -80, 89, 200, 1e30f, INFINITY};
    FOR_EACH_LEVEL(isa)
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) {
        float y = x[i];
        ss_activate(&(ss_compute){1, isa, SS_DTYPE_F32}, SS_SILU, &y, 1, 1);
        if (x[i] > 0)
            assert_true(y == x[i]);
        else if (isinf(x[i]))
            assert_true(isnan(y)); /* minus infinity times nothing */
        else
            assert_true(y <= 0 && y >= -2e-33f);
    }
}

/* ---- softmax ---------------------------------------------------------------------------------- */

/* Scores below 0 beside one of 0: weights are exp of them. */
static void weights_are_exp_to_a_unit_in_the_last_place(void **state) {
    (void)state;
    enum { N = 50000 };
    float *scores = malloc(N * sizeof *scores), *weights = malloc(N * sizeof *weights), max;
    for (size_t i = 0; i < N; i++) scores[i] = -103.9f * (float)i / N;
    FOR_EACH_LEVEL(isa) {
        double total = ss_softmax_row(isa, scores, N, weights, &max), sum = 0;
        assert_true(max == 0 && weights[0] == 1);
        for (size_t i = 0; i < N; i++) {
            double right = exp((double)scores[i]);
            int exponent;
            frexp(right, &exponent);
            sum += weights[i];
            if (right >= FLT_MIN)
                assert_true(fabs(weights[i] - right) <= 1.1 * ldexp(1, exponent - FLT_MANT_DIG));
            else
                assert_true(weights[i] >= 0 && weights[i] <= FLT_MIN);
        }
        assert_true(fabs(total - sum) <= 1e-12 * sum);
    }
    free(scores), free(weights);
}

static void softmax_of_scores_at_the_ends(void **state) {
    (void)state;
    FOR_EACH_LEVEL(isa) {
        float scores[] = {-INFINITY, 3e38f, -3e38f, 3e38f, 2.9e38f}, weights[5], max;
        assert_true(ss_softmax_row(isa, scores + 1, 4, weights, &max) == 2);
        assert_true(max == 3e38f && weights[0] == 1 && weights[1] == 0 && weights[2] == 1 && weights[3] == 0);
        scores[2] = NAN;
        ss_softmax_row(isa, scores + 1, 4, weights, &max);
        assert_true(isnan(max));
    }
}

/* ---- rotary ----------------------------------------------------------------------------------- */

static void rotary_layouts_of_the_field(void **state) { /* CASES 21 */
    (void)state;
    static const float right[2][4] = {{-1.98411f, 1.95990f, 2.46238f, 4.01980f},
                                      {-1.14264f, 1.92208f, 2.95985f, 4.02980f}};
    for (int layout = SS_ROTARY_HALF; layout <= SS_ROTARY_INTERLEAVED; layout++) {
        const ss_rotary rotary = {.base = 1e4, .width = 4, .layout = (ss_rotary_layout)layout};
        float cosines[4], sines[4], x[8] = {0, 0, 0, 0, 1, 2, 3, 4};
        ss_rotary_fill(&rotary, NULL, 2, cosines, sines);
        ss_rotary_apply(&(ss_compute){1, ss_isa_best(), SS_DTYPE_F32}, &rotary, cosines, sines, x, 2, 4, 1,
                        4);
        for (size_t e = 0; e < 4; e++) close_to(x[4 + e], right[layout][e], 1e-5);
    }
}

static void rotary_turns_every_head_and_leaves_the_rest(void **state) {
    (void)state;
    enum { TOKENS = 7, HEADS = 3, WIDTH = 10, STRIDE = 37 };
    for (int layout = SS_ROTARY_HALF; layout <= SS_ROTARY_INTERLEAVED; layout++) {
        const ss_rotary rotary = {.base = 500, .width = 6, .layout = (ss_rotary_layout)layout};
        float cosines[TOKENS * 3], sines[TOKENS * 3], x[TOKENS * STRIDE], before[TOKENS * STRIDE];
        ref_fill(x, TOKENS * STRIDE, 1, 3);
        memcpy(before, x, sizeof x);
        ss_rotary_fill(&rotary, NULL, TOKENS, cosines, sines);
        ss_rotary_apply(&(ss_compute){2, ss_isa_best(), SS_DTYPE_F32}, &rotary, cosines, sines, x, TOKENS,
                        STRIDE, HEADS, WIDTH);
        for (size_t t = 0; t < TOKENS; t++) {
            for (size_t h = 0; h < HEADS; h++) {
                double in[WIDTH], right[WIDTH];
                for (size_t e = 0; e < WIDTH; e++) in[e] = before[t * STRIDE + h * WIDTH + e];
                ref_rotary(&rotary, t, in, WIDTH, right);
                for (size_t e = 0; e < WIDTH; e++) close_to(x[t * STRIDE + h * WIDTH + e], right[e], 1e-6);
            }
            for (size_t rest = HEADS * WIDTH; rest < STRIDE; rest++)
                assert_true(x[t * STRIDE + rest] == before[t * STRIDE + rest]);
        }
    }
}

static void llama3_scaling_stretches_long_waves_only(void **state) {
    (void)state;
    ss_rotary rotary = {.base = 500000,
                        .width = 128,
                        .scaling = SS_ROTARY_LLAMA3,
                        .factor = 8,
                        .low_freq_factor = 1,
                        .high_freq_factor = 4,
                        .original_context = 8192};
    ss_rotary plain = rotary;
    plain.scaling = SS_ROTARY_PLAIN;
    close_to(ss_rotary_frequency(&rotary, 0, NULL), 1, 1e-15); /* wavelength 6: far below 8192 / 4 */
    close_to(ss_rotary_frequency(&rotary, 63, NULL), ss_rotary_frequency(&plain, 63, NULL) / 8, 1e-18);
    /* pair 32: wavelength 4443, between 2048 and 8192: blended by (8192 / 4443 - 1) / 3 */
    double frequency = ss_rotary_frequency(&plain, 32, NULL),
           turns = 8192 * frequency / (2 * 3.14159265358979323846);
    double blend = (turns - 1) / 3;
    assert_true(blend > 0.2 && blend < 0.4);
    close_to(ss_rotary_frequency(&rotary, 32, NULL), (1 - blend) * frequency / 8 + blend * frequency, 1e-15);
    const float divisors[64] = {[32] = 2};
    close_to(ss_rotary_frequency(&plain, 32, divisors), frequency / 2, 1e-15);
}

/* ---- attention -------------------------------------------------------------------------------- */

typedef struct attention_case {
    size_t tokens, heads, kv_heads, width, window;
    double soft_cap;
    bool causal;
} attention_case;

static const attention_case cases[] = {
    {1, 1, 1, 1, 0, 0, true},     {2, 2, 1, 3, 0, 0, true},     {5, 1, 1, 4, 3, 0, true},
    {16, 4, 2, 8, 0, 0, true},    {17, 6, 3, 5, 0, 0, false},   {33, 3, 1, 16, 0, 30, true},
    {64, 2, 2, 16, 0, 0, true},   {65, 2, 2, 17, 0, 0, true},   {130, 3, 3, 8, 0, 0, false},
    {131, 4, 4, 32, 40, 0, true}, {200, 2, 1, 64, 0, 50, true}, {257, 1, 1, 24, 64, 0, true},
};

enum { MOST_HEADS = 8, MOST_TOKENS = 300 }; /* of the cases */

typedef struct seen {
    const double *scores, *weights; /* [H][T][T] */
    size_t tokens;
    bool capped;
    uint8_t checked[MOST_HEADS][MOST_TOKENS]; /* how often each row was shown to check_block */
    size_t left[MOST_HEADS];                  /* of each head: queries that note_turn did not see yet */
} seen;

/* Every row shown must hold the right scores, weights, maximum and total of its own keys only. */
static void check_block(void *context, const ss_row_block *block) {
    seen *s = context;
    for (size_t r = 0; r < block->rows; r++) {
        const size_t row =
            (block->head * s->tokens + block->first_query + r) * s->tokens + block->first_key[r];
        const float *scores = ss_block_scores(block, r), *weights = ss_block_weights(block, r);
        double max = -INFINITY;
        for (size_t i = 0; i < block->support[r]; i++) {
            close_to(scores[i], s->scores[row + i], 3e-5);
            close_to(weights[i] / block->total[r], s->weights[row + i], 3e-6);
            max = fmax(max, scores[i]);
        }
        assert_true(block->max[r] == (float)max);
        assert_true((block->raw_max != NULL) == s->capped);
        if (s->capped) assert_true(block->raw_max[r] >= block->max[r] || max < 0);
        if (block->first_key[r] > 0) assert_true(isinf(s->scores[row - 1]));
        s->checked[block->head][block->first_query + r]++;
    }
}

/* Blocks of a head join up from the last query to the first, each checked before; no other thread is in here
 * for that head. */
static void note_turn(void *context, const ss_row_block *block) {
    seen *s = context;
    assert_int_equal(block->first_query + block->rows, s->left[block->head]);
    s->left[block->head] = block->first_query;
    for (size_t r = 0; r < block->rows; r++)
        assert_int_equal(s->checked[block->head][block->first_query + r], 1);
}

/* Attention with a workspace of just its size. */
static void attend(const ss_compute *compute, const ss_attention *a) {
    size_t bytes;
    assert_true(ss_attention_workspace(compute, a, &bytes));
    void *workspace = ss_alloc(NULL, bytes, 1);
    assert_int_equal(ss_attention_forward(compute, a, workspace, NULL), SS_OK);
    ss_free(NULL, workspace);
}

static void run_case(const attention_case *c, ss_isa isa, int workers) {
    const size_t stride = (c->heads + 2 * c->kv_heads) * c->width + 3,
                 square = c->heads * c->tokens * c->tokens;
    float *qkv = malloc(c->tokens * stride * sizeof *qkv),
          *mix = malloc(c->tokens * c->heads * c->width * sizeof *mix);
    float *max = malloc(c->heads * c->tokens * sizeof *max);
    double *total = malloc(c->heads * c->tokens * sizeof *total);
    double *scores = malloc(square * sizeof *scores), *weights = malloc(square * sizeof *weights);
    double *right = malloc(c->tokens * c->heads * c->width * sizeof *right);
    ref_fill(qkv, c->tokens * stride, 3, c->tokens);
    seen s = {.scores = scores, .weights = weights, .tokens = c->tokens, .capped = c->soft_cap > 0};
    const ss_attention a = {.tokens = c->tokens,
                            .heads = c->heads,
                            .kv_heads = c->kv_heads,
                            .head_width = c->width,
                            .scale = 1 / sqrt((double)c->width),
                            .soft_cap = c->soft_cap,
                            .causal = c->causal,
                            .window = c->window,
                            .stride = stride,
                            .q = qkv,
                            .k = qkv + c->heads * c->width,
                            .v = qkv + (c->heads + c->kv_heads) * c->width,
                            .mix = mix,
                            .max = max,
                            .total = total,
                            .rows = check_block,
                            .rows_in_turn = note_turn,
                            .rows_context = &s};
    for (size_t h = 0; h < c->heads; h++) s.left[h] = c->tokens;
    const ss_compute compute = {workers, isa, SS_DTYPE_F32};
    ref_attention(&a, scores, weights, right);
    attend(&compute, &a);
    for (size_t i = 0; i < c->tokens * c->heads * c->width; i++) close_to(mix[i], right[i], 1e-5);
    for (size_t h = 0; h < c->heads; h++) assert_int_equal(s.left[h], 0);
    free(qkv), free(mix), free(max), free(total), free(scores), free(weights), free(right);
}

static void attention_and_its_rows_equal_the_plain_ones(void **state) {
    (void)state;
    FOR_EACH_LEVEL(isa)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int workers = 1; workers <= 3; workers++) run_case(&cases[i], isa, workers);
}

typedef struct copied {
    float weights[4][8];
    float max[8], raw_max[8];
    size_t support[8], tokens;
} copied;

static void copy_block(void *context, const ss_row_block *block) {
    copied *c = context;
    for (size_t r = 0; r < block->rows; r++) {
        size_t t = block->first_query + r;
        c->support[t] = block->support[r];
        c->max[t] = block->max[r];
        if (block->raw_max) c->raw_max[t] = block->raw_max[r];
        if (t + 1 < c->tokens) continue;
        for (size_t i = 0; i < block->support[r]; i++)
            c->weights[block->head][i] = (float)(ss_block_weights(block, r)[i] / block->total[r]);
    }
}

/* Attention over q, k, v laid out as [token][q heads, k heads, v heads], its last rows copied. */
static copied small_attention(ss_attention a, const float *qkv) {
    float mix[512], max[64];
    double total[64];
    copied c = {.tokens = a.tokens};
    a.stride = (a.heads + 2 * a.kv_heads) * a.head_width;
    a.q = qkv, a.k = qkv + a.heads * a.head_width, a.v = a.k + a.kv_heads * a.head_width;
    a.mix = mix, a.max = max, a.total = total, a.rows = copy_block, a.rows_context = &c;
    attend(&(ss_compute){1, ss_isa_best(), SS_DTYPE_F32}, &a);
    return c;
}

/* The mix of 6 tokens, one head, width 2, all scores 0, values 1 but for one token's. */
static void mix_around(ss_attention a, size_t token, float value, float *mix) {
    float qkv[6][6] = {{0}}, max[6];
    double total[6];
    for (size_t t = 0; t < 6; t++) qkv[t][4] = qkv[t][5] = t == token ? value : 1;
    a.tokens = 6, a.heads = a.kv_heads = 1, a.head_width = 2, a.scale = 1, a.stride = 6;
    a.q = qkv[0], a.k = qkv[0] + 2, a.v = qkv[0] + 4, a.mix = mix, a.max = max, a.total = total;
    attend(&(ss_compute){1, ss_isa_best(), SS_DTYPE_F32}, &a);
}

/* All six share a block, and there 0 times NaN would be NaN. */
static void a_bad_value_reaches_only_the_rows_that_see_its_key(void **state) {
    (void)state;
    const float bad[] = {NAN, INFINITY, -INFINITY};
    for (size_t i = 0; i < 3; i++) {
        float mix[12];
        mix_around((ss_attention){.causal = true}, 4, bad[i], mix);
        for (size_t e = 0; e < 8; e++) close_to(mix[e], 1, 1e-6);
        for (size_t e = 8; e < 12; e++) assert_false(isfinite(mix[e]));
        mix_around((ss_attention){.causal = true, .window = 2}, 0, bad[i], mix);
        for (size_t e = 0; e < 4; e++) assert_false(isfinite(mix[e]));
        for (size_t e = 4; e < 12; e++) close_to(mix[e], 1, 1e-6);
    }
}

static void grouped_queries_read_their_own_keys(void **state) { /* CASES 20 */
    (void)state;
    const float ln3 = 1.0986123f;
    const float qkv[] = {1, 1, 1, 1, 0,   ln3, 0, 0, /* token 0: 4 queries, K0 = 0, K1 = ln 3, values */
                         1, 1, 1, 1, ln3, 0,   0, 0};
    copied c = small_attention(
        (ss_attention){.tokens = 2, .heads = 4, .kv_heads = 2, .head_width = 1, .scale = 1, .causal = true},
        qkv);
    for (size_t h = 0; h < 4; h++) {
        close_to(c.weights[h][0], h < 2 ? .25 : .75, 1e-6);
        close_to(c.weights[h][1], h < 2 ? .75 : .25, 1e-6);
    }
}

static void a_sliding_window_counts_the_query_itself(void **state) { /* CASES 9 */
    (void)state;
    const float qkv[15] = {0};
    static const size_t supports[] = {1, 2, 3, 3, 3};
    copied c = small_attention(
        (ss_attention){
            .tokens = 5, .heads = 1, .kv_heads = 1, .head_width = 1, .scale = 1, .causal = true, .window = 3},
        qkv);
    for (size_t t = 0; t < 5; t++) assert_int_equal(c.support[t], supports[t]);
}

static void scores_beyond_float16_stay_finite(void **state) { /* CASES 12 */
    (void)state;
    float qkv[2 * 3 * 128];
    for (size_t i = 0; i < sizeof qkv / sizeof *qkv; i++) qkv[i] = 256;
    copied c = small_attention((ss_attention){.tokens = 2,
                                              .heads = 1,
                                              .kv_heads = 1,
                                              .head_width = 128,
                                              .scale = 1 / sqrt(128.0),
                                              .causal = false},
                               qkv);
    close_to(c.max[1], 741455.2, 0.1);
    close_to(c.weights[0][0], .5, 1e-7);
}

static void a_soft_cap_reports_both_maxima(void **state) { /* CASES 14 */
    (void)state;
    const float qkv[] = {20, 10, 0};
    copied c = small_attention((ss_attention){.tokens = 1,
                                              .heads = 1,
                                              .kv_heads = 1,
                                              .head_width = 1,
                                              .scale = 1,
                                              .soft_cap = 50,
                                              .causal = true},
                               qkv);
    close_to(c.max[0], 49.966465, 1e-5);
    close_to(c.raw_max[0], 200, 1e-4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(norms_equal_the_plain_ones),
        cmocka_unit_test(layer_norm_keeps_a_small_variance_under_a_large_offset),
        cmocka_unit_test(norm_values_of_the_field),
        cmocka_unit_test(activations_equal_the_plain_ones),
        cmocka_unit_test(gelu_forms_differ_as_they_should),
        cmocka_unit_test(a_nan_passes_through_every_activation),
        cmocka_unit_test(silu_at_the_ends_of_exp),
        cmocka_unit_test(weights_are_exp_to_a_unit_in_the_last_place),
        cmocka_unit_test(softmax_of_scores_at_the_ends),
        cmocka_unit_test(rotary_layouts_of_the_field),
        cmocka_unit_test(rotary_turns_every_head_and_leaves_the_rest),
        cmocka_unit_test(llama3_scaling_stretches_long_waves_only),
        cmocka_unit_test(attention_and_its_rows_equal_the_plain_ones),
        cmocka_unit_test(a_bad_value_reaches_only_the_rows_that_see_its_key),
        cmocka_unit_test(grouped_queries_read_their_own_keys),
        cmocka_unit_test(a_sliding_window_counts_the_query_itself),
        cmocka_unit_test(scores_beyond_float16_stay_finite),
        cmocka_unit_test(a_soft_cap_reports_both_maxima),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
