/* Matrix products of the shapes that a pass over SmolLM2-135M makes, beside large square ones: what a pass
 * could reach at most, and where it loses.
 *
 *     bench_matmul [ROUNDS]
 *
 * Linear layers use the whole team; the two products of attention run one a worker, as nn/attention calls
 * them. Relies on: math/matmul, base/team. */
#include "base/clock.h"
#include "base/mem.h"
#include "base/team.h"
#include "math/matmul.h"
#include "math/types.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct shape {
    const char *name;
    size_t rows, out, in;
    enum { LINEAR, SCORES, VALUES } kind; /* but for linear layers, every worker makes a product of its own */
} shape;

static const shape shapes[] = {
    {"large", 2048, 2048, 2048, LINEAR},
    {"large", 4096, 4096, 1024, LINEAR},
    {"queries, keys, values", 1024, 960, 576, LINEAR},
    {"attention output", 1024, 576, 576, LINEAR},
    {"gate and up", 1024, 3072, 576, LINEAR},
    {"down", 1024, 576, 1536, LINEAR},
    {"head", 256, 49152, 576, LINEAR},
    {"scores of a block", 64, 512, 64, SCORES},
    {"scores of a block", 64, 1024, 64, SCORES},
    {"values of a block", 64, 64, 1024, VALUES},
};

typedef struct work {
    const shape *s;
    const float *x, *weight;
    float *y; /* [workers][rows][out] */
} work;

enum { REPEATS = 200 /* of a product that one worker makes alone */ };

static void multiply(void *context, size_t index, int worker) {
    (void)index;
    const work *w = context;
    const shape *s = w->s;
    float *y = w->y + (size_t)worker * s->rows * s->out;
    const size_t b_stride = s->kind == VALUES ? s->out : s->in; /* values are [in][out] */
    for (size_t i = 0; i < REPEATS; i++)
        ss_matmul_f32(s->rows, s->out, s->in, 1, w->x, s->in, w->weight, b_stride, s->kind != VALUES, 0, y,
                      s->out);
}

static double flops(const shape *s) {
    return 2.0 * (double)s->rows * (double)s->out * (double)s->in;
}

/* GFLOP/s of a shape in float32. */
static double rate_f32(const ss_compute *compute, work *w, size_t rounds) {
    double best = INFINITY, done = flops(w->s);
    for (size_t i = 0; i < rounds; i++) {
        double started = ss_seconds();
        if (w->s->kind != LINEAR) {
            ss_team_run(compute->workers, (size_t)compute->workers, multiply, w);
        } else {
            const ss_matrix weight = {.out = w->s->out, .in = w->s->in, .f32 = w->weight};
            if (ss_linear(compute, &weight, NULL, w->x, w->s->rows, w->y, SS_LINEAR_STORE, NULL, NULL) !=
                SS_OK)
                exit(4);
        }
        best = fmin(best, ss_seconds() - started);
    }
    if (w->s->kind != LINEAR) done *= (double)REPEATS * compute->workers;
    return done / best / 1e9;
}

static double rate_bf16(const ss_compute *compute, const work *w, void *scratch, size_t rounds) {
    const shape *s = w->s;
    uint16_t *bf16 = ss_alloc(NULL, s->out * s->in, sizeof *bf16);
    if (!bf16) exit(4);
    SS_PICK_LEVEL(ss_isa_best(), ss_f32_to_bf16)(w->weight, s->out * s->in, bf16);
    const ss_matrix weight = {s->out, s->in, NULL, bf16};
    double best = INFINITY;
    for (size_t i = 0; i < rounds; i++) {
        double started = ss_seconds();
        if (ss_linear(compute, &weight, NULL, w->x, s->rows, w->y, SS_LINEAR_STORE, scratch, NULL) != SS_OK)
            exit(4);
        best = fmin(best, ss_seconds() - started);
    }
    ss_free(NULL, bf16);
    return flops(s) / best / 1e9;
}

static void report(const ss_compute *compute, const shape *s, size_t rounds) {
    const ss_compute bf16 = {compute->workers, compute->isa, SS_DTYPE_BF16};
    float *x = ss_alloc_zero(NULL, s->rows * s->in, sizeof *x);
    float *weight = ss_alloc_zero(NULL, s->out * s->in, sizeof *weight);
    float *y = ss_alloc_zero(NULL, (size_t)compute->workers * s->rows * s->out, sizeof *y);
    void *scratch = ss_alloc(NULL, ss_linear_scratch(&bf16, s->rows, s->in), 1);
    if (!x || !weight || !y || !scratch) exit(4);
    work w = {s, x, weight, y};
    printf("%-22s %5zu x %5zu x %5zu %8.0f", s->name, s->rows, s->out, s->in, rate_f32(compute, &w, rounds));
    if (s->kind == LINEAR && ss_has_bf16_matmul(compute->isa))
        printf(" %8.0f", rate_bf16(&bf16, &w, scratch, rounds));
    putchar('\n');
    ss_free(NULL, x), ss_free(NULL, weight), ss_free(NULL, y), ss_free(NULL, scratch);
}

int main(int argc, char **argv) {
    const ss_compute compute = ss_compute_default();
    const size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
    printf("%d threads, %s; GFLOP/s, best of %zu\n%-22s %5s   %5s   %5s %8s %8s\n", compute.workers,
           ss_isa_name(compute.isa), rounds, "product", "rows", "out", "in", "float32", "bfloat16");
    ss_team_scope scope = ss_team_enter(compute.workers);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) report(&compute, &shapes[i], rounds);
    ss_team_leave(scope, compute.workers);
    return 0;
}
