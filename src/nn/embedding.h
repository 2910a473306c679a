/* Embedding of tokens: the rows of the tables that are present, added up. */
#ifndef SS_NN_EMBEDDING_H
#define SS_NN_EMBEDDING_H

#include "math/compute.h"

#include <stddef.h>
#include <stdint.h>

/* y[t] = token_embed[ids[t]] + position_embed[t] + segment_embed[0]; the last two may be NULL.
 * token_embed [V][D], position_embed [>= T][D], segment_embed [>= 1][D], y [T][D]. */
void ss_embed(const ss_compute *compute, const float *token_embed, const float *position_embed,
              const float *segment_embed, const uint32_t *ids, size_t tokens, size_t width, float *y);

#endif
