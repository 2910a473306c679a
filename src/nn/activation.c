/* Activations over all tokens, shared out over the team. Relies on: base/team, the row kernel. */
#include "nn/activation.h"

#include "base/team.h"

typedef struct job {
    ss_activation activation;
    ss_isa isa;
    const float *x;
    float *y;
    size_t width, x_stride;
    size_t up_offset; /* where the multiplier starts in a row of x; 0 when not gated */
} job;

static void activate_rows(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const job *j = context;
    for (size_t t = begin; t < end; t++) {
        const float *x = j->x + t * j->x_stride;
        SS_PICK_LEVEL(j->isa, ss_activate_row)
        (j->activation, x, j->up_offset ? x + j->up_offset : NULL, j->width, j->y + t * j->width);
    }
}

void ss_activate(const ss_compute *compute, ss_activation activation, float *x, size_t tokens, size_t width) {
    job j = {
        .activation = activation, .isa = compute->isa, .x = x, .y = x, .width = width, .x_stride = width};
    ss_team_split(compute->workers, tokens, activate_rows, &j);
}

void ss_activate_gated(const ss_compute *compute, ss_activation activation, const float *x, size_t tokens,
                       size_t width, float *y) {
    job j = {.activation = activation,
             .isa = compute->isa,
             .x = x,
             .y = y,
             .width = width,
             .x_stride = 2 * width,
             .up_offset = width};
    ss_team_split(compute->workers, tokens, activate_rows, &j);
}
