/* Products through oneDNN, which has two ways: its packed sgemm, and a matmul primitive that alone reaches
 * AMX. In float32 the first is faster on most matrices of a layer, the second on long sums and on the head
 * (bench_matmul prints them).
 * Relies on: oneDNN 2.6 or later with the OpenMP runtime; its cache makes a repeated primitive cheap. */
#include "math/matmul.h"

#include "base/mem.h"
#include "base/team.h"
#include "math/types.h"

#include <oneapi/dnnl/dnnl.h>
#include <string.h>

bool ss_has_bf16_matmul(ss_isa isa) {
    if (isa != SS_ISA_AVX512) return false;
    dnnl_cpu_isa_t effective = dnnl_get_effective_cpu_isa();
    return effective == dnnl_cpu_isa_avx512_core_bf16 || effective == dnnl_cpu_isa_avx512_core_amx;
}

void ss_matmul_limit_isa(ss_isa isa) {
    static const dnnl_cpu_isa_t limits[] = {[SS_ISA_BASE] = dnnl_cpu_isa_sse41,
                                            [SS_ISA_AVX2] = dnnl_cpu_isa_avx2,
                                            [SS_ISA_AVX512] = dnnl_cpu_isa_all};
    dnnl_set_max_cpu_isa(limits[isa]);
}

size_t ss_linear_scratch(const ss_compute *compute, size_t rows, size_t in) {
    if (compute->dtype == SS_DTYPE_F32) return 0;
    size_t bf16 = ss_whole_lines(rows * in * sizeof(uint16_t));
    return ss_has_bf16_matmul(compute->isa) ? bf16 : bf16 + rows * in * sizeof(float);
}

ss_status ss_matmul_f32(size_t m, size_t n, size_t k, float alpha, const float *a, size_t a_stride,
                        const float *b, size_t b_stride, bool b_transposed, float beta, float *c,
                        size_t c_stride) {
    dnnl_status_t status =
        dnnl_sgemm('N', b_transposed ? 'T' : 'N', (dnnl_dim_t)m, (dnnl_dim_t)n, (dnnl_dim_t)k, alpha, a,
                   (dnnl_dim_t)a_stride, b, (dnnl_dim_t)b_stride, beta, c, (dnnl_dim_t)c_stride);
    return status == dnnl_success ? SS_OK : status == dnnl_out_of_memory ? SS_E_MEMORY : SS_E_SYSTEM;
}

/* ---- the product with a weight ---------------------------------------------------------------- */

typedef struct product {
    dnnl_engine_t engine;
    dnnl_stream_t stream;
    dnnl_primitive_desc_t description;
    dnnl_primitive_t primitive;
    dnnl_memory_t x, weight, y;
} product;

static void product_free(product *p) {
    if (p->x) dnnl_memory_destroy(p->x);
    if (p->weight) dnnl_memory_destroy(p->weight);
    if (p->y) dnnl_memory_destroy(p->y);
    if (p->primitive) dnnl_primitive_destroy(p->primitive);
    if (p->description) dnnl_primitive_desc_destroy(p->description);
    if (p->stream) dnnl_stream_destroy(p->stream);
    if (p->engine) dnnl_engine_destroy(p->engine);
}

#define DNNL_TRY(call)                                                                                       \
    do {                                                                                                     \
        dnnl_status_t dnnl_try_status = (call);                                                              \
        if (dnnl_try_status != dnnl_success) return dnnl_try_status;                                         \
    } while (0)

/* y [rows][out] (+)= x [rows][in] times W^T, described to oneDNN as the product with W^T [in][out]. x is of
 * the weight's type. */
static dnnl_status_t product_make(product *p, const ss_matrix *weight, const void *x, size_t rows, float *y,
                                  bool accumulate) {
    const dnnl_data_type_t type = weight->bf16 ? dnnl_bf16 : dnnl_f32;
    const void *values = weight->bf16 ? (const void *)weight->bf16 : weight->f32;
    dnnl_dim_t m = (dnnl_dim_t)rows, n = (dnnl_dim_t)weight->out, k = (dnnl_dim_t)weight->in;
    dnnl_memory_desc_t x_desc, w_desc, y_desc;
    DNNL_TRY(dnnl_memory_desc_init_by_strides(&x_desc, 2, (dnnl_dims_t){m, k}, type, (dnnl_dims_t){k, 1}));
    DNNL_TRY(dnnl_memory_desc_init_by_strides(&w_desc, 2, (dnnl_dims_t){k, n}, type, (dnnl_dims_t){1, k}));
    DNNL_TRY(
        dnnl_memory_desc_init_by_strides(&y_desc, 2, (dnnl_dims_t){m, n}, dnnl_f32, (dnnl_dims_t){n, 1}));
    dnnl_matmul_desc_t operation;
    DNNL_TRY(dnnl_matmul_desc_init(&operation, &x_desc, &w_desc, NULL, &y_desc));
    DNNL_TRY(dnnl_engine_create(&p->engine, dnnl_cpu, 0));
    DNNL_TRY(dnnl_stream_create(&p->stream, p->engine, dnnl_stream_default_flags));

    dnnl_post_ops_t post = NULL;
    dnnl_primitive_attr_t attributes = NULL;
    dnnl_status_t status = dnnl_primitive_attr_create(&attributes);
    if (status == dnnl_success && accumulate) {
        status = dnnl_post_ops_create(&post);
        if (status == dnnl_success) status = dnnl_post_ops_append_sum(post, 1.0f);
        if (status == dnnl_success) status = dnnl_primitive_attr_set_post_ops(attributes, post);
    }
    if (status == dnnl_success)
        status = dnnl_primitive_desc_create(&p->description, &operation, attributes, p->engine, NULL);
    if (post) dnnl_post_ops_destroy(post);
    if (attributes) dnnl_primitive_attr_destroy(attributes);
    DNNL_TRY(status);

    DNNL_TRY(dnnl_primitive_create(&p->primitive, p->description));
    DNNL_TRY(dnnl_memory_create(&p->x, &x_desc, p->engine, (void *)(uintptr_t)x));
    DNNL_TRY(dnnl_memory_create(&p->weight, &w_desc, p->engine, (void *)(uintptr_t)values));
    return dnnl_memory_create(&p->y, &y_desc, p->engine, y);
}

static dnnl_status_t product_run(product *p) {
    dnnl_exec_arg_t arguments[] = {{DNNL_ARG_SRC, p->x}, {DNNL_ARG_WEIGHTS, p->weight}, {DNNL_ARG_DST, p->y}};
    DNNL_TRY(dnnl_primitive_execute(p->primitive, p->stream, 3, arguments));
    return dnnl_stream_wait(p->stream);
}

static ss_status multiply(const ss_matrix *weight, const void *x, size_t rows, float *y, bool accumulate) {
    product p = {0};
    dnnl_status_t status = product_make(&p, weight, x, rows, y, accumulate);
    if (status == dnnl_success) status = product_run(&p);
    product_free(&p);
    return status == dnnl_success ? SS_OK : status == dnnl_out_of_memory ? SS_E_MEMORY : SS_E_SYSTEM;
}

/* ---- one entry for both ---------------------------------------------------------------------- */

typedef struct rounding {
    ss_isa isa;
    const float *x;
    uint16_t *bf16;
    float *f32; /* the rounded values again as float32, or NULL */
} rounding;

static void round_range(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const rounding *r = context;
    SS_PICK_LEVEL(r->isa, ss_f32_to_bf16)(r->x + begin, end - begin, r->bf16 + begin);
    if (r->f32) ss_to_f32(SS_TYPE_BF16, r->bf16 + begin, end - begin, r->f32 + begin);
}

static void spread_bias(float *y, const float *bias, size_t rows, size_t out, bool add) {
    for (size_t r = 0; r < rows; r++) {
        float *row = y + r * out;
        if (!add)
            memcpy(row, bias, out * sizeof *row);
        else
            for (size_t i = 0; i < out; i++) row[i] += bias[i];
    }
}

/* Are the sums longer than the output is wide, or is it as wide as a vocabulary, and are there rows enough
 * that calling the primitive costs nothing? It is then a tenth faster than sgemm, otherwise as much slower.
 */
static bool is_lopsided(const ss_matrix *weight, size_t rows) {
    return (weight->in > weight->out || weight->out > 16 * weight->in) && rows >= 16;
}

ss_status ss_linear(const ss_compute *compute, const ss_matrix *weight, const float *bias, const float *x,
                    size_t rows, float *y, ss_linear_mode mode, void *scratch, ss_error *error) {
    bool accumulate = mode == SS_LINEAR_ADD || bias;
    if (bias) spread_bias(y, bias, rows, weight->out, mode == SS_LINEAR_ADD);

    const void *input = x;
    if (compute->dtype == SS_DTYPE_BF16) {
        rounding r = {.isa = compute->isa, .x = x, .bf16 = scratch};
        if (!weight->bf16)
            r.f32 = (float *)((char *)scratch + ss_whole_lines(rows * weight->in * sizeof(uint16_t)));
        ss_team_split(compute->workers, rows * weight->in, round_range, &r);
        input = weight->bf16 ? scratch : (void *)r.f32;
    }
    ss_status status =
        weight->bf16 || is_lopsided(weight, rows)
            ? multiply(weight, input, rows, y, accumulate)
            : ss_matmul_f32(rows, weight->out, weight->in, 1.0f, input, weight->in, weight->f32, weight->in,
                            true, accumulate ? 1.0f : 0.0f, y, weight->out);
    if (status == SS_OK) return SS_OK;
    return ss_fail(error, status, "matrix product", "%zu x %zu by %zu failed in oneDNN", rows, weight->in,
                   weight->out);
}
