/* Scores by hand. Relies on: probe/values_simd. */
#include "probe/values.h"

#include <math.h>

double ss_score_of(const ss_config *config, double dot) {
    double score = dot * config->score_scale;
    return config->soft_cap > 0 ? config->soft_cap * tanh(score / config->soft_cap) : score;
}

void ss_dots(ss_isa isa, const float *x, const float *rows, size_t stride, size_t count, size_t width,
             float *dots) {
    SS_PICK_LEVEL(isa, ss_dots)(x, rows, stride, count, width, dots);
}

void ss_squares(ss_isa isa, const float *rows, size_t stride, size_t count, size_t width, float *squares) {
    SS_PICK_LEVEL(isa, ss_squares)(rows, stride, count, width, squares);
}
