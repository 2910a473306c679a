/* The one tensor table: every weight of a loaded model with its name in the file, role, layer, shape and
 * place in memory. Loading, counting and the search for bad values walk this table. Weights that one matmul
 * reads together (queries, keys, values; gate, up) lie one after the other. */
#ifndef SS_MODEL_TENSORS_H
#define SS_MODEL_TENSORS_H

#include "math/types.h"
#include "model/config.h"

/* X(dimension, how a person reads it): what the rows or columns of a weight are counted by. */
#define SS_DIM_LIST(X)                                                                                       \
    X(SS_DIM_ONE, "1")                                                                                       \
    X(SS_DIM_WIDTH, "width")                                                                                 \
    X(SS_DIM_QUERIES, "heads x head width")                                                                  \
    X(SS_DIM_KEYS, "key/value heads x head width")                                                           \
    X(SS_DIM_FFN, "feed-forward width")                                                                      \
    X(SS_DIM_VOCABULARY, "vocabulary")                                                                       \
    X(SS_DIM_CONTEXT, "context")                                                                             \
    X(SS_DIM_SEGMENTS, "segments")                                                                           \
    X(SS_DIM_PAIRS, "rotated width / 2")

typedef enum ss_dim {
#define SS_DIM_ENUM(dim, text) dim,
    SS_DIM_LIST(SS_DIM_ENUM)
#undef SS_DIM_ENUM
} ss_dim;

/* X(role, name, per layer, rows, columns, first of the roles that lie together): in the order in which they
 * lie in memory. Vectors have SS_DIM_ONE row. */
#define SS_ROLE_LIST(X)                                                                                      \
    X(SS_ROLE_TOKEN_EMBED, "token embedding", false, VOCABULARY, WIDTH, TOKEN_EMBED)                         \
    X(SS_ROLE_POSITION_EMBED, "position embedding", false, CONTEXT, WIDTH, POSITION_EMBED)                   \
    X(SS_ROLE_SEGMENT_EMBED, "segment embedding", false, SEGMENTS, WIDTH, SEGMENT_EMBED)                     \
    X(SS_ROLE_EMBED_NORM_GAMMA, "embedding norm weight", false, ONE, WIDTH, EMBED_NORM_GAMMA)                \
    X(SS_ROLE_EMBED_NORM_BETA, "embedding norm bias", false, ONE, WIDTH, EMBED_NORM_BETA)                    \
    X(SS_ROLE_ROTARY_FACTORS, "rotary factors", false, ONE, PAIRS, ROTARY_FACTORS)                           \
    X(SS_ROLE_ATTN_NORM_GAMMA, "attention norm weight", true, ONE, WIDTH, ATTN_NORM_GAMMA)                   \
    X(SS_ROLE_ATTN_NORM_BETA, "attention norm bias", true, ONE, WIDTH, ATTN_NORM_BETA)                       \
    X(SS_ROLE_Q, "query weight", true, QUERIES, WIDTH, Q)                                                    \
    X(SS_ROLE_K, "key weight", true, KEYS, WIDTH, Q)                                                         \
    X(SS_ROLE_V, "value weight", true, KEYS, WIDTH, Q)                                                       \
    X(SS_ROLE_Q_BIAS, "query bias", true, ONE, QUERIES, Q_BIAS)                                              \
    X(SS_ROLE_K_BIAS, "key bias", true, ONE, KEYS, Q_BIAS)                                                   \
    X(SS_ROLE_V_BIAS, "value bias", true, ONE, KEYS, Q_BIAS)                                                 \
    X(SS_ROLE_ATTN_OUT, "attention output weight", true, WIDTH, QUERIES, ATTN_OUT)                           \
    X(SS_ROLE_ATTN_OUT_BIAS, "attention output bias", true, ONE, WIDTH, ATTN_OUT_BIAS)                       \
    X(SS_ROLE_FFN_NORM_GAMMA, "feed-forward norm weight", true, ONE, WIDTH, FFN_NORM_GAMMA)                  \
    X(SS_ROLE_FFN_NORM_BETA, "feed-forward norm bias", true, ONE, WIDTH, FFN_NORM_BETA)                      \
    X(SS_ROLE_GATE, "gate weight", true, FFN, WIDTH, GATE)                                                   \
    X(SS_ROLE_UP, "up weight", true, FFN, WIDTH, GATE)                                                       \
    X(SS_ROLE_GATE_BIAS, "gate bias", true, ONE, FFN, GATE_BIAS)                                             \
    X(SS_ROLE_UP_BIAS, "up bias", true, ONE, FFN, GATE_BIAS)                                                 \
    X(SS_ROLE_DOWN, "down weight", true, WIDTH, FFN, DOWN)                                                   \
    X(SS_ROLE_DOWN_BIAS, "down bias", true, ONE, WIDTH, DOWN_BIAS)                                           \
    X(SS_ROLE_FINAL_NORM_GAMMA, "final norm weight", false, ONE, WIDTH, FINAL_NORM_GAMMA)                    \
    X(SS_ROLE_FINAL_NORM_BETA, "final norm bias", false, ONE, WIDTH, FINAL_NORM_BETA)                        \
    X(SS_ROLE_HEAD, "output head weight", false, VOCABULARY, WIDTH, HEAD)

typedef enum ss_role {
#define SS_ROLE_ENUM(role, ...) role,
    SS_ROLE_LIST(SS_ROLE_ENUM)
#undef SS_ROLE_ENUM
        SS_ROLE_COUNT
} ss_role;

/* What a role is, whatever the model. */
typedef struct ss_role_facts {
    const char *name;
    bool per_layer;
    ss_dim rows, columns;
    ss_role together; /* roles with the same value lie one after the other: one matrix, or one bias */
} ss_role_facts;

const ss_role_facts *ss_role_describe(ss_role role);

const char *ss_role_name(ss_role role);

/* How many a dimension counts in a model, and how a person reads it. */
size_t ss_dim_size(ss_dim dim, const ss_config *config);
const char *ss_dim_name(ss_dim dim);

/* Is the role a weight of a matmul inside a layer (queries to down)? */
bool ss_role_is_matrix(ss_role role);

typedef struct ss_tensor {
    const char *name; /* as the file calls it; a fused tensor's name stands at each of its roles */
    ss_role role;
    size_t layer;         /* 0 for roles that are not per layer */
    size_t rows, columns; /* [out][in] of a matrix; rows = 1 for a vector */
    ss_type type;         /* as stored in the file */
    size_t offset;        /* into the weight block of its storage type, in elements */
    bool in_bf16;         /* stored in the bfloat16 block (a matmul input of a bf16 model) */
    uint64_t first_bad;   /* where the file's tensor of that name has this role's first NaN or infinity (index
                             into its values as stored, row by row), or SS_NO_BAD */
} ss_tensor;

#define SS_NO_BAD UINT64_MAX

/* Sorted by place in memory: roles in their order, the per-layer ones layer by layer. */
typedef struct ss_tensor_table {
    ss_tensor *tensors;
    size_t count;
} ss_tensor_table;

/* The tensor of a role and layer, or NULL where the model has none. */
const ss_tensor *ss_tensor_find(const ss_tensor_table *table, ss_role role, size_t layer);

#endif
