/* Scores by hand. Relies on: probe/values_simd. */
#include "probe/values.h"

#include <math.h>

double ss_score_of(const ss_config *config, double dot) {
    double score = dot * config->score_scale;
    return config->soft_cap > 0 ? config->soft_cap * tanh(score / config->soft_cap) : score;
}

void ss_unit_scores(ss_isa isa, const ss_config *config, double query_rms, const float *key_rms, size_t count,
                    float *scores) {
    if (!(config->soft_cap > 0)) {
        SS_PICK_LEVEL(isa, ss_unit_dots)(query_rms, key_rms, count, config->score_scale, scores);
        return;
    }
    for (size_t j = 0; j < count; j++)
        scores[j] =
            (float)ss_score_of(config, scores[j] == 0 ? 0 : (double)scores[j] / (query_rms * key_rms[j]));
}

void ss_dots(ss_isa isa, const float *x, const float *rows, size_t stride, size_t count, size_t width,
             float *dots) {
    SS_PICK_LEVEL(isa, ss_dots)(x, rows, stride, count, width, dots);
}

void ss_squares(ss_isa isa, const float *rows, size_t stride, size_t count, size_t width, float *squares) {
    SS_PICK_LEVEL(isa, ss_squares)(rows, stride, count, width, squares);
}
