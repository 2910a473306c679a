/* Embedding lookup. Relies on: base/team. */
#include "nn/embedding.h"

#include "base/team.h"

#include <string.h>

typedef struct job {
    const float *token_embed, *position_embed, *segment_embed;
    const uint32_t *ids;
    size_t width;
    float *y;
} job;

static void embed_tokens(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const job *j = context;
    for (size_t t = begin; t < end; t++) {
        float *y = j->y + t * j->width;
        memcpy(y, j->token_embed + (size_t)j->ids[t] * j->width, j->width * sizeof *y);
        for (size_t d = 0; j->segment_embed && d < j->width; d++) y[d] += j->segment_embed[d];
        for (size_t d = 0; j->position_embed && d < j->width; d++)
            y[d] += j->position_embed[t * j->width + d];
    }
}

void ss_embed(const ss_compute *compute, const float *token_embed, const float *position_embed,
              const float *segment_embed, const uint32_t *ids, size_t tokens, size_t width, float *y) {
    job j = {token_embed, position_embed, segment_embed, ids, width, y};
    ss_team_split(compute->workers, tokens, embed_tokens, &j);
}
