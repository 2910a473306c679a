/* How fast inspect is, against what this machine's matrix products allow: all figures from one run.
 *
 *     bench_inspect MODEL TEXT [TOKENS [ROUNDS]]
 *
 * The limit is the best of a few large float32 products. "Work" counts the multiply-adds (twice) of the
 * linear layers, the head and the causal half of attention. Correctness comes first: the pass must give the
 * same likelihood at every level of instructions before any time is printed. Relies on: the library's rooms;
 * the model is opened once per number type. */
#include "base/clock.h"
#include "base/file.h"
#include "base/team.h"
#include "math/matmul.h"
#include "model/model.h"
#include "probe/probes.h"
#include "result/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct bench {
    ss_model *model;
    ss_compute compute;
    ss_encoding encoding;
    size_t tokens, rounds;
} bench;

static void must(ss_status status, const ss_error *error) {
    if (status == SS_OK) return;
    fprintf(stderr, "bench: %s: %s\n", error->where, error->message);
    exit(ss_status_exit(status));
}

/* ---- the limit -------------------------------------------------------------------------------- */

/* The better of both ways that the library has for a product of a weight [n][k] with m rows. */
static double product_rate(const ss_compute *compute, size_t m, size_t n, size_t k, size_t rounds) {
    float *a = ss_alloc_zero(NULL, m * k, sizeof *a), *b = ss_alloc_zero(NULL, n * k, sizeof *b);
    float *c = ss_alloc_zero(NULL, m * n, sizeof *c);
    const ss_matrix weight = {.out = n, .in = k, .f32 = b};
    double best = INFINITY;
    for (size_t i = 0; a && b && c && i < 2 * rounds; i++) {
        double started = ss_seconds();
        if (i % 2)
            ss_linear(compute, &weight, NULL, a, m, c, SS_LINEAR_STORE, NULL, NULL);
        else
            ss_matmul_f32(m, n, k, 1, a, k, b, k, true, 0, c, n);
        best = fmin(best, ss_seconds() - started);
    }
    ss_free(NULL, a), ss_free(NULL, b), ss_free(NULL, c);
    return 2.0 * (double)m * (double)n * (double)k / best;
}

static double matmul_limit(const ss_compute *compute, size_t rounds) {
    static const size_t shapes[][3] = {{2048, 2048, 2048}, {4096, 4096, 1024}, {1024, 3072, 2048}};
    double best = 0;
    ss_team_scope scope = ss_team_enter(compute->workers);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        best = fmax(best, product_rate(compute, shapes[i][0], shapes[i][1], shapes[i][2], rounds));
    ss_team_leave(scope, compute->workers);
    return best;
}

/* Floating-point operations of a pass over `tokens` tokens. */
static double work_of(const ss_config *c, size_t tokens) {
    return 2 * ((double)c->layers * ss_layer_work(c, tokens) + (c->has_head ? ss_head_work(c, tokens) : 0));
}

/* ---- passes ----------------------------------------------------------------------------------- */

static void ignore_logits(void *context, const ss_logits_event *event) {
    (void)context, (void)event;
}

/* One pass with the probes of `bits`, 0 for none (the logits are made all the same). */
static double pass(const bench *b, uint32_t bits, ss_probe_set **kept) {
    ss_error error = {0};
    const ss_probe_setup setup = {.config = ss_model_config(b->model),
                                  .ids = b->encoding.ids,
                                  .tokens = b->tokens,
                                  .compute = b->compute,
                                  .options = ss_probe_options_default()};
    const ss_probe bare = {.logits = ignore_logits};
    const ss_probe *const bare_list[] = {&bare};
    const ss_forward_options forward = {.compute = b->compute};
    ss_probe_set *set = NULL;
    if (bits) must(ss_probe_set_create(&setup, bits, &set, &error), &error);
    double started = ss_seconds();
    must(ss_model_forward(b->model, b->encoding.ids, b->tokens, &forward,
                          set ? ss_probe_set_list(set) : bare_list, set ? ss_probe_set_count(set) : 1,
                          &error),
         &error);
    double passed = ss_seconds() - started;
    if (kept)
        *kept = set;
    else
        ss_probe_set_free(set);
    return passed;
}

static double likelihood(const bench *b) {
    ss_error error = {0};
    uint32_t bits;
    ss_probe_set *set;
    must(ss_probes_parse("output", &bits, &error), &error);
    pass(b, bits, &set);
    ss_result *result = NULL;
    must(ss_result_create(&result, "bench", &error), &error);
    must(ss_probe_set_report(set, result, &error), &error);
    double nll = json_number_value(json_object_get(json_object_get(result->root, "output"), "nll_mean"));
    ss_result_free(result);
    ss_probe_set_free(set);
    return nll;
}

static void check(bench *b) {
    const ss_compute best = b->compute;
    const double right = likelihood(b);
    for (ss_isa isa = SS_ISA_BASE; isa < best.isa; isa++) {
        b->compute.isa = isa;
        double nll = likelihood(b);
        if (fabs(nll - right) > 2e-5) {
            fprintf(stderr, "bench: level %s gives a loss of %.7f, level %s %.7f\n", ss_isa_name(isa), nll,
                    ss_isa_name(best.isa), right);
            exit(1);
        }
    }
    b->compute = best;
    printf("correct: mean loss %.6f at every instruction set\n", right);
}

/* ---- the figures ------------------------------------------------------------------------------ */

enum { MOST_ROUNDS = 100 };

typedef struct variant {
    const char *name;
    const bench *bench; /* whose model and number type */
    uint32_t bits;
    double best;
    double seconds[MOST_ROUNDS]; /* of each round */
} variant;

/* The variants in turn, round after round, and the limit of the round: a slow spell of the machine hits all.
 */
static void time_variants(variant *variants, size_t count, size_t rounds, double *limits) {
    for (size_t i = 0; i < count; i++) variants[i].best = INFINITY;
    for (size_t round = 0; round < rounds; round++) {
        limits[round] = matmul_limit(&variants[0].bench->compute, 2);
        for (size_t i = 0; i < count; i++) {
            variants[i].seconds[round] = pass(variants[i].bench, variants[i].bits, NULL);
            variants[i].best = fmin(variants[i].best, variants[i].seconds[round]);
        }
    }
}

static int ascending(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, size_t count) {
    qsort(values, count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* The median over rounds of how much longer `v` took than `base` right beside it. */
static double time_ratio(const variant *v, const variant *base, size_t rounds) {
    double ratios[MOST_ROUNDS];
    for (size_t i = 0; i < rounds; i++) ratios[i] = v->seconds[i] / base->seconds[i];
    return median(ratios, rounds);
}

/* The median over rounds of the rate of `work` against the limit of that round. */
static double limit_share(const variant *v, double work, const double *limits, size_t rounds) {
    double shares[MOST_ROUNDS];
    for (size_t i = 0; i < rounds; i++) shares[i] = work / v->seconds[i] / limits[i];
    return median(shares, rounds);
}

static void open_model(bench *b, const char *path) {
    ss_error error = {0};
    double started = ss_seconds();
    must(ss_model_open(path, NULL, &b->compute, &b->model, &error), &error);
    printf("load (%s): %.2f s\n", b->compute.dtype == SS_DTYPE_F32 ? "f32" : "bf16", ss_seconds() - started);
}

static void encode(bench *b, const char *path, size_t tokens) {
    ss_error error = {0};
    ss_map map;
    must(ss_map_open(path, &map, &error), &error);
    const ss_tokenizer *tokenizer = ss_model_tokenizer(b->model, NULL);
    if (!tokenizer) exit(3);
    must(ss_tokenizer_encode(tokenizer, (const char *)map.data, map.size, SS_ENCODE_DEFAULT, tokens,
                             &b->encoding, &error),
         &error);
    ss_map_close(&map);
    b->tokens = tokens < b->encoding.count ? tokens : b->encoding.count;
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: bench_inspect MODEL TEXT [TOKENS [ROUNDS]]\n", stderr);
        return 2;
    }
    bench f32 = {.compute = ss_compute_default(), .rounds = argc > 4 ? strtoul(argv[4], NULL, 10) : 5};
    if (f32.rounds < 1 || f32.rounds > MOST_ROUNDS) f32.rounds = 5;
    open_model(&f32, argv[1]);
    encode(&f32, argv[2], argc > 3 ? strtoul(argv[3], NULL, 10) : 1024);
    check(&f32);
    bench bf16 = f32;
    bf16.compute.dtype = SS_DTYPE_BF16;
    open_model(&bf16, argv[1]);

    ss_error error = {0};
    variant variants[] = {{.name = "bare pass", .bench = &f32},
                          {.name = "all default probes", .bench = &f32, .bits = SS_PROBES_DEFAULT},
                          {.name = "... without rows", .bench = &f32},
                          {.name = "all probes in bf16", .bench = &bf16, .bits = SS_PROBES_DEFAULT}};
    enum { VARIANTS = sizeof variants / sizeof *variants };
    must(ss_probes_parse("keys,scale,hidden,output,health", &variants[2].bits, &error), &error);
    double limits[MOST_ROUNDS], limit = 0;
    const double work = work_of(ss_model_config(f32.model), f32.tokens);
    time_variants(variants, VARIANTS, f32.rounds, limits);
    for (size_t i = 0; i < f32.rounds; i++) limit = fmax(limit, limits[i]);
    printf("%zu tokens, %d threads, %s%s; work %.1f GFLOP; matmul limit %.0f GFLOP/s\n", f32.tokens,
           f32.compute.workers, ss_isa_name(f32.compute.isa),
           ss_has_bf16_matmul(f32.compute.isa) ? "" : " (bfloat16 rounded, multiplied in float32)",
           work / 1e9, limit / 1e9);
    printf(
        "the best of %zu rounds, and in brackets medians over the rounds of ratios within one, which a busy\n"
        "machine moves more:\n",
        f32.rounds);
    for (size_t i = 0; i < VARIANTS; i++) {
        const variant *v = &variants[i], *bare = &variants[0], *whole = &variants[1];
        printf("%-20s %6.3f s %5.0f tokens/s  %3.0f%% (%3.0f%%) of the limit  %.2f (%.2f) x bare  "
               "%.2f (%.2f) x default\n",
               v->name, v->best, (double)f32.tokens / v->best, 100 * work / v->best / limit,
               100 * limit_share(v, work, limits, f32.rounds), v->best / bare->best,
               time_ratio(v, bare, f32.rounds), v->best / whole->best, time_ratio(v, whole, f32.rounds));
    }
    ss_model_free(f32.model);
    ss_model_free(bf16.model);
    ss_encoding_free(&f32.encoding);
    return 0;
}
