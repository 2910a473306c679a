/* The weights of a model as the forward pass reads them: views into the blocks that loading filled.
 * What a model does not have is NULL (a matrix: out = 0). Relies on: math/matmul for matrices. */
#ifndef SS_MODEL_WEIGHTS_H
#define SS_MODEL_WEIGHTS_H

#include "math/matmul.h"

typedef struct ss_norm_weights {
    const float *gamma, *beta; /* [D]; beta NULL for RMSNorm */
} ss_norm_weights;

typedef struct ss_layer_weights {
    ss_norm_weights attn_norm, ffn_norm; /* before the branch (pre-LN) or after the sum (post-LN) */
    ss_matrix qkv;                       /* [(H + 2K) E][D] */
    const float *qkv_bias;               /* [(H + 2K) E] */
    ss_matrix attn_out;                  /* [D][H E] */
    const float *attn_out_bias;          /* [D] */
    ss_matrix up;                        /* [F][D], or [2F][D] when gated: the gate's rows come first */
    const float *up_bias;                /* [F] or [2F] */
    ss_matrix down;                      /* [D][F] */
    const float *down_bias;              /* [D] */
} ss_layer_weights;

typedef struct ss_weights {
    const float *token_embed;    /* [V][D] */
    const float *position_embed; /* [context][D] */
    const float *segment_embed;  /* [segments][D] */
    ss_norm_weights embed_norm, final_norm;
    const float *rotary_factors; /* [rotary.width / 2]: frequencies are divided by these */
    ss_layer_weights *layers;    /* [N] */
    ss_matrix head;              /* [V][D]: out = V when config.has_head, tied or not */
} ss_weights;

#endif
