/* A loaded model and its forward pass; opening and freeing one are public (softscope.h).
 * Relies on: nn (operators), formats (containers), text (the tokenizer that came with the model). */
#ifndef SS_MODEL_MODEL_H
#define SS_MODEL_MODEL_H

#include "base/mem.h"
#include "base/status.h"
#include "model/config.h"
#include "model/events.h"
#include "model/tensors.h"
#include "text/tokenizer.h"

const ss_allocator *ss_model_memory(const ss_model *model);
const ss_config *ss_model_config(const ss_model *model);
const ss_tensor_table *ss_model_tensors(const ss_model *model);

/* The tokenizer that came with the model, or NULL; then *why says what was missing or not supported. */
const ss_tokenizer *ss_model_tokenizer(const ss_model *model, const char **why);

/* Things about the files worth telling the user (unknown keys, tied and present head that differ), one
 * sentence each; owned by the model. */
const char *const *ss_model_warnings(const ss_model *model, size_t *count);

typedef struct ss_forward_options {
    ss_compute compute;
    ss_progress_fn *progress; /* may be NULL */
    void *progress_context;
    const uint8_t *heads; /* [layers * H] which heads are shown to `rows`; NULL for all */
} ss_forward_options;

/* Multiply-adds of a pass over T tokens, in one layer (two products in attention, half of them where it is
 * causal) and in the head. */
double ss_layer_work(const ss_config *config, size_t tokens);
double ss_head_work(const ss_config *config, size_t tokens);

/* Do ids[T] suit the model: 1 <= T <= context, each id < V? `more`: there are more than these. SS_E_VALUE
 * says what to do. */
ss_status ss_model_check_tokens(const ss_model *model, const uint32_t *ids, size_t tokens, bool more,
                                ss_error *error);

/* Run the model once over ids[T], 1 <= T <= context, each id < V, showing every event to each probe.
 * Memory grows with T, never with T * T. */
ss_status ss_model_forward(const ss_model *model, const uint32_t *ids, size_t tokens,
                           const ss_forward_options *options, const ss_probe *const *probes,
                           size_t probe_count, ss_error *error);

#endif
