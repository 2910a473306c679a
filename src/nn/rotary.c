/* Rotary positions. Plain C: it touches each number once and is far below one percent of a pass.
 * Relies on: base/team. */
#include "nn/rotary.h"

#include "base/team.h"

#include <math.h>

/* Llama 3.1: wavelengths longer than original / low are stretched by the factor, shorter than
 * original / high stay, those between are blended linearly in original / wavelength. */
static double llama3_frequency(const ss_rotary *rotary, double frequency) {
    const double pi = 3.14159265358979323846;
    double turns = rotary->original_context * frequency / (2 * pi); /* original context / wavelength */
    if (turns < rotary->low_freq_factor) return frequency / rotary->factor;
    if (turns > rotary->high_freq_factor) return frequency;
    double blend = (turns - rotary->low_freq_factor) / (rotary->high_freq_factor - rotary->low_freq_factor);
    return (1 - blend) * frequency / rotary->factor + blend * frequency;
}

double ss_rotary_frequency(const ss_rotary *rotary, size_t pair, const float *divisors) {
    double frequency = pow(rotary->base, -2.0 * (double)pair / (double)rotary->width);
    if (rotary->scaling == SS_ROTARY_LINEAR) frequency /= rotary->factor;
    if (rotary->scaling == SS_ROTARY_LLAMA3) frequency = llama3_frequency(rotary, frequency);
    return divisors ? frequency / divisors[pair] : frequency;
}

void ss_rotary_fill(const ss_rotary *rotary, const float *divisors, size_t tokens, float *cosines,
                    float *sines) {
    const size_t pairs = rotary->width / 2;
    for (size_t pair = 0; pair < pairs; pair++) {
        const double frequency = ss_rotary_frequency(rotary, pair, divisors);
        for (size_t t = 0; t < tokens; t++) {
            cosines[t * pairs + pair] = (float)cos((double)t * frequency);
            sines[t * pairs + pair] = (float)sin((double)t * frequency);
        }
    }
}

typedef struct job {
    const ss_rotary *rotary;
    const float *cosines, *sines; /* [T][width / 2] */
    float *x;
    size_t stride, heads, head_width;
} job;

/* pair i is x[i * step] and x[i * step + gap] */
static void turn(float *restrict x, const float *restrict cosines, const float *restrict sines, size_t pairs,
                 size_t step, size_t gap) {
    for (size_t i = 0; i < pairs; i++) {
        float a = x[i * step], b = x[i * step + gap];
        x[i * step] = a * cosines[i] - b * sines[i];
        x[i * step + gap] = b * cosines[i] + a * sines[i];
    }
}

static void turn_tokens(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const job *j = context;
    const size_t pairs = j->rotary->width / 2;
    const bool half = j->rotary->layout == SS_ROTARY_HALF;
    for (size_t t = begin; t < end; t++) {
        for (size_t h = 0; h < j->heads; h++) {
            float *x = j->x + t * j->stride + h * j->head_width;
            turn(x, j->cosines + t * pairs, j->sines + t * pairs, pairs, half ? 1 : 2, half ? pairs : 1);
        }
    }
}

void ss_rotary_apply(const ss_compute *compute, const ss_rotary *rotary, const float *cosines,
                     const float *sines, float *x, size_t tokens, size_t stride, size_t heads,
                     size_t head_width) {
    job j = {rotary, cosines, sines, x, stride, heads, head_width};
    ss_team_split(compute->workers, tokens, turn_tokens, &j);
}
