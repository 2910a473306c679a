/* theta of a file: rows of attention weights or logits from any framework, diagnosed without a model.
 *
 *     ss_dump_options options = ss_dump_options_default();
 *     options.causal = true;
 *     status = ss_dump_study("attention.npy", &options, &result, &failed, &error);
 *
 * Reads NPY, NPZ, text and raw float32. Shape [..., n]: the last axis is the row, the one before it the
 * query, those before it groups (such as [layers][heads][queries][keys]). Each row is judged by SPEC section
 * 1: what is no distribution gets no entropy and no theta, and is counted with its reason.
 * Memory: the mapped file, and 128 bytes a row. Relies on: formats, measure, result, base/team. */
#ifndef SS_STUDY_DUMP_H
#define SS_STUDY_DUMP_H

#include "result/result.h"

typedef struct ss_dump_options {
    ss_compute compute;
    ss_probe_options probe; /* sink_threshold, saturated_theta, theta_nodes */

    /* reading */
    const char *array; /* which array of an NPZ file; NULL: the only one */
    size_t row_length; /* > 0: the file is raw float32 in rows of so many numbers */
    bool raw_is_bf16;  /* two-byte items without a type ('<V2') are bfloat16 */

    /* what the numbers are */
    bool logits;      /* weights = softmax(logits / tau); minus infinity: the key is not in the row */
    double tau;       /* > 0; Jacobian norms are divided by it, for weights as well */
    bool has_sink;    /* logits only: a learned sink logit is one more atom of every row */
    double sink;      /* its logit */
    bool causal;      /* key j is in the row of query i when j <= i + n - queries */
    const char *mask; /* NPY of bool or integers that broadcasts to the array: zero: the key is not in the row
                       */

    const char *rows_path; /* one line a row: .npy (float64 [rows][12]) or .csv; NULL: not written */
    const char *fail_on;   /* conditions, or NULL */
    ss_progress_fn *progress;
    void *progress_context;
} ss_dump_options;

ss_dump_options ss_dump_options_default(void);

/* `path` "-" is standard input (raw float32). *result is a document of command "theta" (docs/result.md).
 * *failed: a condition of fail_on holds, or a row holds a NaN. SS_E_USAGE for options that contradict each
 * other. */
ss_status ss_dump_study(const char *path, const ss_dump_options *options, ss_result **result, bool *failed,
                        ss_error *error);

#endif
