/* Inspect: run a model once over a text with every probe, and say what was found.
 * Relies on: model (the pass), probe (the measures), result (the document), study/findings. */
#ifndef SS_STUDY_INSPECT_H
#define SS_STUDY_INSPECT_H

#include "model/model.h"
#include "probe/probes.h"
#include "result/result.h"

/* What to read: a text for the model's tokenizer, or ids as they are. */
typedef struct ss_inspect_input {
    const char *name; /* shown: a file name */
    const char *text; /* `length` bytes; NULL when ids are given */
    size_t length;
    const uint32_t *ids; /* [id_count] */
    size_t id_count;
    bool parse_special; /* "<|endoftext|>" typed in the text is that token */
    bool plain;         /* add no BOS, no [CLS] and [SEP] */
    size_t max_tokens;  /* 0: all; else only the first so many, and the result says so */
} ss_inspect_input;

typedef struct ss_inspect_options {
    ss_compute compute;
    ss_probe_options probe;
    uint32_t probes;          /* bits of the probe table, or SS_PROBES_DEFAULT */
    const char *fail_on;      /* conditions of study/fail_on.h, or NULL for none but "nan" */
    ss_progress_fn *progress; /* may be NULL */
    void *progress_context;
} ss_inspect_options;

/* The document of `softscope inspect` (docs/result.md); *failed: a condition of fail_on holds. */
ss_status ss_inspect_run(const ss_model *model, const ss_inspect_input *input,
                         const ss_inspect_options *options, ss_result **result, bool *failed,
                         ss_error *error);

#endif
