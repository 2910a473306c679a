/* The one tensor table: every weight of a loaded model with its name in the file, role, layer, shape and
 * place in memory. Loading, counting and the search for bad values walk this table. Weights that one matmul
 * reads together (queries, keys, values; gate, up) lie one after the other. */
#ifndef SS_MODEL_TENSORS_H
#define SS_MODEL_TENSORS_H

#include "math/types.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(role, name, per layer): in the order in which they lie in memory. */
#define SS_ROLE_LIST(X)                                                                                      \
    X(SS_ROLE_TOKEN_EMBED, "token embedding", false)                                                         \
    X(SS_ROLE_POSITION_EMBED, "position embedding", false)                                                   \
    X(SS_ROLE_SEGMENT_EMBED, "segment embedding", false)                                                     \
    X(SS_ROLE_EMBED_NORM_GAMMA, "embedding norm weight", false)                                              \
    X(SS_ROLE_EMBED_NORM_BETA, "embedding norm bias", false)                                                 \
    X(SS_ROLE_ROTARY_FACTORS, "rotary factors", false)                                                       \
    X(SS_ROLE_ATTN_NORM_GAMMA, "attention norm weight", true)                                                \
    X(SS_ROLE_ATTN_NORM_BETA, "attention norm bias", true)                                                   \
    X(SS_ROLE_Q, "query weight", true)                                                                       \
    X(SS_ROLE_K, "key weight", true)                                                                         \
    X(SS_ROLE_V, "value weight", true)                                                                       \
    X(SS_ROLE_Q_BIAS, "query bias", true)                                                                    \
    X(SS_ROLE_K_BIAS, "key bias", true)                                                                      \
    X(SS_ROLE_V_BIAS, "value bias", true)                                                                    \
    X(SS_ROLE_ATTN_OUT, "attention output weight", true)                                                     \
    X(SS_ROLE_ATTN_OUT_BIAS, "attention output bias", true)                                                  \
    X(SS_ROLE_FFN_NORM_GAMMA, "feed-forward norm weight", true)                                              \
    X(SS_ROLE_FFN_NORM_BETA, "feed-forward norm bias", true)                                                 \
    X(SS_ROLE_GATE, "gate weight", true)                                                                     \
    X(SS_ROLE_UP, "up weight", true)                                                                         \
    X(SS_ROLE_GATE_BIAS, "gate bias", true)                                                                  \
    X(SS_ROLE_UP_BIAS, "up bias", true)                                                                      \
    X(SS_ROLE_DOWN, "down weight", true)                                                                     \
    X(SS_ROLE_DOWN_BIAS, "down bias", true)                                                                  \
    X(SS_ROLE_FINAL_NORM_GAMMA, "final norm weight", false)                                                  \
    X(SS_ROLE_FINAL_NORM_BETA, "final norm bias", false)                                                     \
    X(SS_ROLE_HEAD, "output head weight", false)

typedef enum ss_role {
#define SS_ROLE_ENUM(role, name, per_layer) role,
    SS_ROLE_LIST(SS_ROLE_ENUM)
#undef SS_ROLE_ENUM
        SS_ROLE_COUNT
} ss_role;

typedef struct ss_tensor {
    const char *name; /* as the file calls it */
    ss_role role;
    size_t layer;         /* 0 for roles that are not per layer */
    size_t rows, columns; /* [out][in] of a matrix; rows = 1 for a vector */
    ss_type type;         /* as stored in the file */
    size_t offset;        /* into the weight block of its storage type, in elements */
    bool in_bf16;         /* stored in the bfloat16 block (a matmul input of a bf16 model) */
    uint64_t first_bad;   /* index of its first NaN or infinity, or SS_NO_BAD */
} ss_tensor;

#define SS_NO_BAD UINT64_MAX

typedef struct ss_tensor_table {
    ss_tensor *tensors;
    size_t count;
} ss_tensor_table;

/* The tensor of a role and layer, or NULL where the model has none. */
const ss_tensor *ss_tensor_find(const ss_tensor_table *table, ss_role role, size_t layer);

const char *ss_role_name(ss_role role);

#endif
