/* Weights from the files into memory: the plan's tensors converted in parallel, and the views that the pass
 * reads. Relies on: model/plan, base/team. */
#ifndef SS_MODEL_LOAD_H
#define SS_MODEL_LOAD_H

#include "math/compute.h"
#include "model/model_impl.h"
#include "model/plan.h"

/* Allocate the blocks of `model`, whose config and table (plan->table) are in place; fill them and
 * model->weights. Matmul inputs of a bfloat16 model lie in the bfloat16 block where the processor has such
 * products, else in float32 rounded to bfloat16 values; the token embedding stays float32 for look-up.
 * While converting, each tensor's first NaN or infinity is noted in the table. */
ss_status ss_load_weights(ss_model *model, ss_plan *plan, const ss_compute *compute, ss_error *error);

/* Do two tensors of the same shape hold the same numbers, bit by bit as float32? */
bool ss_load_equal(const ss_tensor_view *a, const ss_tensor_view *b);

#endif
