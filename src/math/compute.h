/* How to compute: threads, instruction set, number type of matmul inputs. Passed down, never global.
 * The types are public; this header is what rooms include for them. */
#ifndef SS_MATH_COMPUTE_H
#define SS_MATH_COMPUTE_H

#include "base/status.h"
#include "math/isa.h"

/* "f32", "bf16" */
const char *ss_dtype_name(ss_dtype dtype);

/* SS_E_USAGE names what cannot be: no worker, a level that this processor lacks, an unknown number type. For
 * the public functions that take a caller's word; below them compute is right. */
ss_status ss_compute_check(const ss_compute *compute, ss_error *error);

#endif
