/* How to compute: threads, instruction set, number type of matmul inputs. Passed down, never global. */
#ifndef SS_MATH_COMPUTE_H
#define SS_MATH_COMPUTE_H

#include "math/isa.h"

/* X(type, name) of matmul inputs; accumulation is float32 in both. */
#define SS_DTYPE_LIST(X)                                                                                     \
    X(SS_DTYPE_F32, "f32")                                                                                   \
    X(SS_DTYPE_BF16, "bf16")

typedef enum ss_dtype {
#define SS_DTYPE_ENUM(type, name) type,
    SS_DTYPE_LIST(SS_DTYPE_ENUM)
#undef SS_DTYPE_ENUM
} ss_dtype;

typedef struct ss_compute {
    int workers; /* at least 1; see ss_team_size */
    ss_isa isa;
    ss_dtype dtype;
} ss_compute;

#endif
