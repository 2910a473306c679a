/* softscope: exact sensitivity, concentration and health of transformer attention.
 *
 * The whole public interface, readable top to bottom. Conventions that hold for every function:
 *   - a function that can fail returns ss_status and takes an optional ss_error (NULL is allowed);
 *     a failed call leaves its output arguments as they were and frees what it made;
 *   - ss_X_create / ss_X_open makes an opaque handle, ss_X_free releases it and accepts NULL;
 *   - `const ss_allocator *` may be NULL for the C library's allocator;
 *   - the library never prints, exits, reads the environment or keeps mutable globals.
 *
 *     ss_model *model = NULL;
 *     ss_result *result = NULL;
 *     ss_inspect_options options = ss_inspect_options_default();
 *     ss_inspect_input input = {.name = "note", .text = text, .length = strlen(text)};
 *     ss_error error;
 *     if (ss_model_open("model.gguf", NULL, &options.compute, &model, &error) == SS_OK &&
 *         ss_inspect(model, &input, &options, &result, NULL, &error) == SS_OK)
 *         ss_result_save(result, "result.json", &error);
 *     ss_result_free(result);
 *     ss_model_free(model);
 */
#ifndef SOFTSCOPE_H
#define SOFTSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what stands here is all that the shared library shows */
#endif

/* ---- status and error ------------------------------------------------------------------------ */

/* X(code, name, exit status of the program). One list makes the enum, the names and the exit codes. */
#define SS_STATUS_LIST(X)                                                                                    \
    X(SS_OK, "ok", 0)                                                                                        \
    X(SS_E_USAGE, "usage error", 2)                                                                          \
    X(SS_E_IO, "cannot read", 3)                                                                             \
    X(SS_E_FORMAT, "malformed input", 3)                                                                     \
    X(SS_E_UNSUPPORTED, "unsupported input", 3)                                                              \
    X(SS_E_CONFIG, "invalid model configuration", 3)                                                         \
    X(SS_E_VALUE, "invalid value", 3)                                                                        \
    X(SS_E_WRITE, "cannot write", 4)                                                                         \
    X(SS_E_MEMORY, "out of memory", 4)                                                                       \
    X(SS_E_SYSTEM, "system error", 4)                                                                        \
    X(SS_E_CANCELLED, "cancelled", 4)

typedef enum ss_status {
#define SS_STATUS_ENUM(code, name, exit_status) code,
    SS_STATUS_LIST(SS_STATUS_ENUM)
#undef SS_STATUS_ENUM
} ss_status;

typedef struct ss_error {
    ss_status code;
    char where[256];   /* file and byte, tensor name, layer and head, option; may be empty */
    char message[512]; /* what is wrong and what to do */
} ss_error;

/* Name of a code, e.g. "malformed input". Never NULL. */
const char *ss_status_name(ss_status code);

/* Exit status the program uses for a code: 0 done, 2 usage, 3 input, 4 system. */
int ss_status_exit(ss_status code);

/* ---- memory ---------------------------------------------------------------------------------- */

/* Where memory comes from. `alloc` returns a block of `size` > 0 bytes aligned to `alignment` (a power of
 * two) or NULL; `free` accepts what alloc returned. Both may be called from several threads. */
typedef struct ss_allocator {
    void *(*alloc)(void *context, size_t alignment, size_t size);
    void (*free)(void *context, void *block);
    void *context;
} ss_allocator;

/* ---- how to compute -------------------------------------------------------------------------- */

/* X(level, name): instruction sets, from the lowest to the highest. */
#define SS_ISA_LIST(X)                                                                                       \
    X(SS_ISA_BASE, "base")                                                                                   \
    X(SS_ISA_AVX2, "avx2")                                                                                   \
    X(SS_ISA_AVX512, "avx512")

typedef enum ss_isa {
#define SS_ISA_ENUM(level, name) level,
    SS_ISA_LIST(SS_ISA_ENUM)
#undef SS_ISA_ENUM
} ss_isa;

/* X(type, name) of matrix product inputs; accumulation is float32 in both. */
#define SS_DTYPE_LIST(X)                                                                                     \
    X(SS_DTYPE_F32, "f32")                                                                                   \
    X(SS_DTYPE_BF16, "bf16")

typedef enum ss_dtype {
#define SS_DTYPE_ENUM(type, name) type,
    SS_DTYPE_LIST(SS_DTYPE_ENUM)
#undef SS_DTYPE_ENUM
} ss_dtype;

/* Functions that take one refuse what is outside these limits with SS_E_USAGE. */
typedef struct ss_compute {
    int workers; /* threads to use, at least 1 */
    ss_isa isa;  /* at most ss_isa_best() */
    ss_dtype dtype;
} ss_compute;

/* Every processor this process may use, the best instruction set, float32. */
ss_compute ss_compute_default(void);

/* The highest level that this processor and this build have; the name of a level. */
ss_isa ss_isa_best(void);
const char *ss_isa_name(ss_isa isa);

/* ---- exact theta ------------------------------------------------------------------------------ */

/* How sensitive one row of attention is: theta(p) = 4 max over subsets S of p(S) (1 - p(S)), the exact norm
 * of the softmax Jacobian from l_inf to l_1 (Emadi, Exact Attention Sensitivity, Theorem 3.2; divide by tau
 * for the norm with respect to the scores before the temperature). If no score moves by more than eps, the
 * row moves by at most eps theta / (2 tau) in total variation, to first order, and some direction attains
 * that.
 *
 *     float weights[] = {.4f, .1f, .4f, .1f};
 *     void *workspace = malloc(ss_theta_workspace(4));
 *     ss_theta_result result;
 *     ss_status status = ss_theta(weights, 4, NULL, workspace, &result, NULL);    result.theta == 1,
 * result.exact
 */
typedef struct ss_theta_options {
    bool scores; /* the row holds scores, not weights: their softmax at temperature tau is measured. A score
                    of minus infinity has weight 0 */
    double tau;  /* > 0; 0 stands for 1. Used with scores only */
    uint64_t budget;  /* branch-and-bound nodes; 0 stands for SS_THETA_BUDGET */
    uint8_t *witness; /* [n] or NULL: gets 1 for each key of the best subset found, else 0 */
} ss_theta_options;

#define SS_THETA_BUDGET ((uint64_t)20000) /* about a millisecond, spent on hopeless rows only */

typedef struct ss_theta_result {
    double theta;        /* of the best subset found; equal to lower */
    double lower, upper; /* theta is proved to lie between */
    bool exact;          /* upper - lower <= 2^-52, up to the rounding of sums in double */
    uint64_t nodes;      /* branch-and-bound nodes used */
    double theta_cert;   /* the paper's greedy lower bound (its appendix D.2) */
    double p_max;        /* the largest probability */
    double sum_error;    /* abs(sum of the weights - 1); 0 for scores */
} ss_theta_result;

/* Bytes of workspace for rows of up to n keys; any alignment that malloc gives. One workspace serves one
 * thread at a time, row after row, without clearing. Nothing is allocated by the calls. 0 when n is out of
 * reach. */
size_t ss_theta_workspace(size_t n);

/* Measure row[0..n), 1 <= n < 2^32. `options` may be NULL: weights, default budget, no witness. Weights must
 * be finite, not negative, and sum to 1 within 16 u + n v (u the unit roundoff of float32, v half its least
 * subnormal); they are divided by their sum in double. Anything else is SS_E_VALUE with the reason and
 * `result` is untouched. A single key has theta 0. Thread-safe. */
ss_status ss_theta(const float *row, size_t n, const ss_theta_options *options, void *workspace,
                   ss_theta_result *result, ss_error *error);

/* The same for float64 rows. */
ss_status ss_theta_double(const double *row, size_t n, const ss_theta_options *options, void *workspace,
                          ss_theta_result *result, ss_error *error);

/* ---- models ---------------------------------------------------------------------------------- */

typedef struct ss_model ss_model;

/* Open a GGUF file, a safetensors file with its config.json beside it, or a Hugging Face folder: read the
 * configuration, check every tensor, convert the weights to float32 (or bfloat16 for matrix product inputs
 * when compute->dtype says so). Errors name file, tensor or key. The files may go away afterwards. A model is
 * only read from then on: any number of threads may use it. */
ss_status ss_model_open(const char *path, const ss_allocator *memory, const ss_compute *compute,
                        ss_model **model, ss_error *error);
void ss_model_free(ss_model *model);

/* What a model is; the strings belong to it. */
typedef struct ss_model_facts {
    const char *name, *file;
    const char *architecture; /* "gpt2", "llama", "bert" */
    const char *weights;      /* how they are stored: "F32", "Q4_1", "mixed" */
    size_t layers, heads, kv_heads, width, head_width, ffn_width, vocabulary, context;
    uint64_t parameters;
    bool causal;
} ss_model_facts;

ss_model_facts ss_model_describe(const ss_model *model);

/* ---- results --------------------------------------------------------------------------------- */

/* A result document (docs/result.md): what every command makes and every view draws. */
typedef struct ss_result ss_result;

/* Read a document that softscope wrote: size, JSON, envelope and schema version are checked. */
ss_status ss_result_load(const char *path, ss_result **result, ss_error *error);

/* Write the whole document as JSON; `path` "-" is standard output. The file is replaced at once or not at
 * all, and does not depend on the locale. SS_E_WRITE where it cannot be written. */
ss_status ss_result_save(const ss_result *result, const char *path, ss_error *error);

/* The self-contained page of one result, or of two of a kind side by side (count 1 or 2). SS_E_UNSUPPORTED
 * where the page was not built in, SS_E_WRITE as above. */
ss_status ss_result_save_page(const ss_result *const *results, size_t count, const char *path,
                              ss_error *error);

void ss_result_free(ss_result *result);

/* ---- inspect --------------------------------------------------------------------------------- */

/* What to run a model on: a text for its tokenizer, or token ids as they are. */
typedef struct ss_inspect_input {
    const char *name; /* shown: a file name */
    const char *text; /* `length` bytes; NULL when ids are given */
    size_t length;
    const uint32_t *ids; /* [id_count] */
    size_t id_count;
    bool parse_special; /* "<|endoftext|>" typed in the text is that token */
    bool plain;         /* add no begin-of-text token, no [CLS] and [SEP] */
    size_t max_tokens;  /* 0: all; else only the first so many, and the result says so */
} ss_inspect_input;

/* What numbers mean; the result document repeats them under "settings". */
typedef struct ss_probe_options {
    double sink_threshold;    /* a head has a sink when the mean weight on key 0 exceeds this */
    double saturated_theta;   /* a row is saturated when theta is at most this */
    double confident;         /* an output row is confident when p_max exceeds this */
    size_t theta_nodes;       /* search budget of exact theta, a row */
    bool all_sites;           /* health: look at every site, not only at hidden states and logits */
    const uint8_t *heads;     /* [layers * H] heads to measure; NULL for all */
    const uint8_t *fine_maps; /* [layers * H] heads whose attention map has 256 x 256 cells instead of 64 x
                                 64; NULL for none */
} ss_probe_options;

ss_probe_options ss_probe_options_default(void);

/* Called now and then with the share of the work that is done, in [0, 1]; false cancels (SS_E_CANCELLED). */
typedef bool ss_progress_fn(void *context, double done);

typedef struct ss_inspect_options {
    ss_compute compute;
    ss_probe_options probe;
    const char *probes;       /* names, as "rows,keys"; NULL for those that are on by default */
    const char *fail_on;      /* conditions as "max_logit>100,theta.min<0.01", or NULL; "nan" is always one */
    ss_progress_fn *progress; /* may be NULL */
    void *progress_context;
} ss_inspect_options;

ss_inspect_options ss_inspect_options_default(void);

/* Run the model once over the input with every probe. Memory grows with the number of tokens T, never with
 * T x T. *failed (may be NULL): a condition of fail_on holds. */
ss_status ss_inspect(const ss_model *model, const ss_inspect_input *input, const ss_inspect_options *options,
                     ss_result **result, bool *failed, ss_error *error);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
