/* Matrix products: the only user of oneDNN, which picks AVX2, AVX-512 or AMX at run time.
 *
 *     ss_linear(&compute, &weight, bias, x, rows, y, SS_LINEAR_STORE, scratch, &error);   // y = x W^T + b
 *
 * Called outside a team task a product uses compute->workers threads; inside one it runs on that worker. */
#ifndef SS_MATH_MATMUL_H
#define SS_MATH_MATMUL_H

#include "base/status.h"
#include "math/compute.h"

#include <stdint.h>

/* A weight [out][in], row by row. In a bfloat16 model on a processor with bfloat16 products `bf16` holds it
 * and f32 may be NULL; otherwise `f32` holds it, rounded to bfloat16 values where the model is bfloat16. */
typedef struct ss_matrix {
    size_t out, in;
    const float *f32;
    const uint16_t *bf16;
} ss_matrix;

/* Has this processor, at this level, bfloat16 products (AMX or AVX-512 BF16)? */
bool ss_has_bf16_matmul(ss_isa isa);

/* Hold oneDNN to at most `isa`. Only the first call in a process counts, and only before any product. */
void ss_matmul_limit_isa(ss_isa isa);

typedef enum ss_linear_mode {
    SS_LINEAR_STORE, /* y  = x W^T + b */
    SS_LINEAR_ADD    /* y += x W^T + b, as at the end of a residual branch */
} ss_linear_mode;

/* Bytes of scratch that ss_linear needs for `rows` rows of `in` numbers: rounded copies of x in bfloat16. */
size_t ss_linear_scratch(const ss_compute *compute, size_t rows, size_t in);

/* x [rows][in], y [rows][out], bias [out] or NULL. SS_E_SYSTEM when oneDNN fails. */
ss_status ss_linear(const ss_compute *compute, const ss_matrix *weight, const float *bias, const float *x,
                    size_t rows, float *y, ss_linear_mode mode, void *scratch, ss_error *error);

/* C [m][n] = alpha A [m][k] B + beta C in float32, B [k][n], or [n][k] when `b_transposed`; the strides are
 * the floats from one row to the next. */
ss_status ss_matmul_f32(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                        const float *b, size_t b_stride, bool b_transposed, float beta, float *c,
                        size_t c_stride);

#endif
