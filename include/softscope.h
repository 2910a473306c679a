/* softscope: exact sensitivity, concentration and health of transformer attention.
 *
 * The whole public interface, readable top to bottom. Conventions that hold for every function:
 *   - a function that can fail returns ss_status and takes an optional ss_error (NULL is allowed);
 *     a failed call leaves its output arguments as they were and frees what it made;
 *   - ss_X_create / ss_X_open makes an opaque handle, ss_X_free releases it and accepts NULL;
 *   - `const ss_allocator *` may be NULL for the C library's allocator;
 *   - the library never prints, exits, reads the environment or keeps mutable globals.
 */
#ifndef SOFTSCOPE_H
#define SOFTSCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status and error ------------------------------------------------------------------------ */

/* X(code, name, exit status of the program). One list makes the enum, the names and the exit codes. */
#define SS_STATUS_LIST(X)                                                                                    \
    X(SS_OK, "ok", 0)                                                                                        \
    X(SS_E_USAGE, "usage error", 2)                                                                          \
    X(SS_E_IO, "cannot read or write", 3)                                                                    \
    X(SS_E_FORMAT, "malformed input", 3)                                                                     \
    X(SS_E_UNSUPPORTED, "unsupported input", 3)                                                              \
    X(SS_E_CONFIG, "invalid model configuration", 3)                                                         \
    X(SS_E_VALUE, "invalid value", 3)                                                                        \
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

#ifdef __cplusplus
}
#endif

#endif
