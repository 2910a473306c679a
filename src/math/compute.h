/* How to compute: threads, instruction set, number type of matmul inputs. Passed down, never global.
 * The types are public; this header is what rooms include for them. */
#ifndef SS_MATH_COMPUTE_H
#define SS_MATH_COMPUTE_H

#include "math/isa.h"

/* "f32", "bf16" */
const char *ss_dtype_name(ss_dtype dtype);

#endif
