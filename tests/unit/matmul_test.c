/* Products against plain sums in double: y = x W^T + b, stored or added, in float32 and with inputs rounded
 * to bfloat16. Tolerance: float32 rounding of a sum of `in` products of numbers below 1. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "math/matmul.h"
#include "math/types.h"
#include "support/nn_ref.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct shape {
    size_t rows, out, in;
} shape;

static const shape shapes[] = {{1, 1, 1},    {1, 3, 2},     {5, 7, 3},     {2, 16, 17},    {33, 31, 64},
                               {64, 65, 63}, {79, 192, 64}, {40, 96, 576}, {17, 130, 577}, {3, 2000, 128}};

/* One product as the test sees it; arrays are owned. */
typedef struct product {
    shape s;
    float *x, *weight, *bias, *y, *before;
    uint16_t *bf16;
    void *scratch;
} product;

static product product_new(const ss_compute *compute, shape s, uint64_t seed) {
    product p = {.s = s};
    p.x = malloc(s.rows * s.in * sizeof *p.x);
    p.weight = malloc(s.out * s.in * sizeof *p.weight);
    p.bias = malloc(s.out * sizeof *p.bias);
    p.y = malloc(s.rows * s.out * sizeof *p.y);
    p.before = malloc(s.rows * s.out * sizeof *p.before);
    p.bf16 = malloc(s.out * s.in * sizeof *p.bf16);
    p.scratch = ss_alloc(NULL, ss_linear_scratch(compute, s.rows, s.in), 1);
    ref_fill(p.x, s.rows * s.in, 1, seed);
    ref_fill(p.weight, s.out * s.in, 1, seed + 1);
    ref_fill(p.bias, s.out, 1, seed + 2);
    ref_fill(p.before, s.rows * s.out, 1, seed + 3);
    memcpy(p.y, p.before, s.rows * s.out * sizeof *p.y);
    return p;
}

static void product_free(product *p) {
    free(p->x), free(p->weight), free(p->bias), free(p->y), free(p->before), free(p->bf16);
    ss_free(NULL, p->scratch);
}

/* The value as bfloat16 holds it, by arithmetic on the number and not on its bits. */
static double rounded(float value) {
    int exponent;
    double fraction = frexp(value, &exponent);
    return ldexp(nearbyint(ldexp(fraction, 8)), exponent - 8);
}

static void check(const product *p, const float *bias, ss_linear_mode mode, bool bf16) {
    const shape s = p->s;
    for (size_t r = 0; r < s.rows; r++) {
        for (size_t o = 0; o < s.out; o++) {
            double right = (bias ? bias[o] : 0) + (mode == SS_LINEAR_ADD ? p->before[r * s.out + o] : 0),
                   size = 1;
            for (size_t i = 0; i < s.in; i++) {
                const float x = p->x[r * s.in + i], w = p->weight[o * s.in + i];
                right += bf16 ? rounded(x) * rounded(w) : (double)x * w;
                size += fabs((double)x * w);
            }
            const double got = p->y[r * s.out + o];
            if (!(fabs(got - right) <= 2e-7 * size + 1e-7 * sqrt((double)s.in)))
                fail_msg("%zu x %zu x %zu, %s: y[%zu][%zu] is %.9g, right is %.9g", s.rows, s.out, s.in,
                         bf16 ? "bf16" : "f32", r, o, got, right);
        }
    }
}

static void run(const ss_compute *compute, bool in_hardware) {
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        for (int with_bias = 0; with_bias < 2; with_bias++) {
            for (int mode = SS_LINEAR_STORE; mode <= SS_LINEAR_ADD; mode++) {
                product p = product_new(compute, shapes[i], 10 * i);
                const size_t count = p.s.out * p.s.in;
                const bool bf16 = compute->dtype == SS_DTYPE_BF16;
                ss_matrix weight = {p.s.out, p.s.in, p.weight, NULL};
                float *as_bf16 = malloc(count * sizeof *as_bf16);
                if (bf16) {
                    SS_PICK_LEVEL(SS_ISA_BASE, ss_f32_to_bf16)(p.weight, count, p.bf16);
                    ss_to_f32(SS_TYPE_BF16, p.bf16, count, as_bf16);
                    weight.f32 = in_hardware ? NULL : as_bf16;
                    weight.bf16 = in_hardware ? p.bf16 : NULL;
                }
                const float *bias = with_bias ? p.bias : NULL;
                assert_int_equal(ss_linear(compute, &weight, bias, p.x, p.s.rows, p.y, (ss_linear_mode)mode,
                                           p.scratch, NULL),
                                 SS_OK);
                check(&p, bias, (ss_linear_mode)mode, bf16);
                free(as_bf16);
                product_free(&p);
            }
        }
    }
}

static void float32_products_equal_plain_sums(void **state) {
    (void)state;
    for (int workers = 1; workers <= 2; workers++)
        run(&(ss_compute){workers, ss_isa_best(), SS_DTYPE_F32}, false);
}

static void bfloat16_inputs_are_rounded_and_summed_in_float32(void **state) {
    (void)state;
    run(&(ss_compute){2, SS_ISA_BASE, SS_DTYPE_BF16},
        false); /* emulated: the same rounding, float32 products */
}

static void bfloat16_products_of_the_processor_equal_plain_sums(void **state) {
    (void)state;
    if (!ss_has_bf16_matmul(ss_isa_best())) skip();
    run(&(ss_compute){2, ss_isa_best(), SS_DTYPE_BF16}, true);
}

static void strides_and_scales_are_those_asked_for(void **state) {
    (void)state;
    enum { M = 5, N = 7, K = 6, A = 9, B = 11, C = 13 };
    float a[M * A], b[N * B], c[M * C], before[M * C];
    ref_fill(a, M * A, 1, 1), ref_fill(b, N * B, 1, 2), ref_fill(before, M * C, 1, 3);
    for (int transposed = 0; transposed < 2; transposed++) {
        memcpy(c, before, sizeof c);
        assert_int_equal(ss_matmul_f32(M, N, K, 0.5f, a, A, b, B, transposed, 2.0f, c, C), SS_OK);
        for (size_t m = 0; m < M; m++) {
            for (size_t n = 0; n < N; n++) {
                double right = 2 * before[m * C + n];
                for (size_t k = 0; k < K; k++)
                    right += 0.5 * a[m * A + k] * (transposed ? b[n * B + k] : b[k * B + n]);
                assert_true(fabs(c[m * C + n] - right) < 1e-6);
            }
            for (size_t n = N; n < C; n++) assert_true(c[m * C + n] == before[m * C + n]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(float32_products_equal_plain_sums),
        cmocka_unit_test(bfloat16_inputs_are_rounded_and_summed_in_float32),
        cmocka_unit_test(bfloat16_products_of_the_processor_equal_plain_sums),
        cmocka_unit_test(strides_and_scales_are_those_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
