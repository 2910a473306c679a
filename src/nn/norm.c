/* Norms over all tokens, shared out over the team. Relies on: base/team, the row kernel. */
#include "nn/norm.h"

#include "base/team.h"

typedef struct job {
    const ss_norm *norm;
    ss_isa isa;
    const float *x;
    float *y;
    size_t width;
} job;

static void norm_rows(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const job *j = context;
    for (size_t t = begin; t < end; t++)
        SS_PICK_LEVEL(j->isa, ss_norm_row)(j->norm, j->x + t * j->width, j->width, j->y + t * j->width);
}

void ss_norm_forward(const ss_compute *compute, const ss_norm *norm, const float *x, size_t tokens,
                     size_t width, float *y) {
    job j = {.norm = norm, .isa = compute->isa, .x = x, .y = y, .width = width};
    ss_team_split(compute->workers, tokens, norm_rows, &j);
}
