/* Before anything is converted: which tensor of the files fills which role, checked for name, shape and type,
 * and where in memory each will lie. A plan costs memory in proportion to the tensors that are there, so a
 * configuration that promises a million layers fails on the first missing name.
 * Relies on: model/architecture, formats/tensors. */
#ifndef SS_MODEL_PLAN_H
#define SS_MODEL_PLAN_H

#include "formats/tensors.h"
#include "model/config_keys.h"
#include "model/warnings.h"

/* Where the values of a table's tensor come from: value (row, column) is the view's
 * start + row * columns + column, or start + column * stride + row where stride is not 0 (Conv1D). */
typedef struct ss_source {
    const ss_tensor_view *view;
    size_t start, stride;
} ss_source;

typedef struct ss_plan {
    ss_tensor_table table;
    ss_source *sources;              /* [table.count] */
    const ss_tensor_view *tied_head; /* a head that the files have although it is tied, or NULL */
} ss_plan;

/* The files and what they are, as planning reads them. */
typedef struct ss_plan_input {
    const ss_tensors *files;
    const char *file; /* named where no tensor can be */
    ss_naming naming;
    const ss_config_draft *draft;
    ss_arena *arena; /* owns what the plan and the table point to */
    ss_warnings *warnings;
} ss_plan_input;

/* Match every role. `config->tied` is set for GGUF, where a file without a head has a tied one. Errors name
 * the tensor: SS_E_FORMAT when it is missing or has another shape, SS_E_UNSUPPORTED for its type. Tensors
 * that no role uses become a warning. */
ss_status ss_plan_match(const ss_plan_input *input, ss_config *config, ss_plan *plan, ss_error *error);

/* Numbers in each block after placing. */
typedef struct ss_plan_sizes {
    size_t f32, bf16;
} ss_plan_sizes;

/* Give every tensor its offset; with `bf16`, matmul inputs go to the bfloat16 block. */
ss_plan_sizes ss_plan_place(ss_plan *plan, const ss_config *config, bool bf16);

/* How many numbers of the roles that lie together with `role` come before it (before = true), or all of them.
 */
size_t ss_plan_together(const ss_config *config, ss_role role, bool before);

#endif
