/* The plain operators. Relies on: the C library. */
#include "support/nn_ref.h"

#include <math.h>

void ref_norm(const ss_norm *norm, const float *x, size_t width, double *y) {
    double mean = 0, square = 0;
    for (size_t i = 0; norm->kind == SS_NORM_LAYER && i < width; i++) mean += x[i] / (double)width;
    for (size_t i = 0; i < width; i++) square += (x[i] - mean) * (x[i] - mean) / (double)width;
    for (size_t i = 0; i < width; i++) {
        y[i] = norm->gamma[i] * (x[i] - mean) / sqrt(square + norm->epsilon);
        if (norm->kind == SS_NORM_LAYER) y[i] += norm->beta[i];
    }
}

double ref_activation(ss_activation activation, double x) {
    const double pi = 3.14159265358979323846;
    switch (activation) {
    case SS_GELU_TANH:
        return 0.5 * x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x * x * x)));
    case SS_GELU_ERF:
        return 0.5 * x * (1 + erf(x / sqrt(2)));
    case SS_SILU:
        return x / (1 + exp(-x));
    case SS_RELU:
        return x < 0 ? 0 : x;
    }
    return NAN;
}

void ref_rotary(const ss_rotary *rotary, size_t position, const double *x, size_t head_width, double *y) {
    for (size_t e = 0; e < head_width; e++) y[e] = x[e];
    for (size_t pair = 0; pair < rotary->width / 2; pair++) {
        const bool half = rotary->layout == SS_ROTARY_HALF;
        const size_t a = half ? pair : 2 * pair, b = half ? pair + rotary->width / 2 : 2 * pair + 1;
        const double angle =
            (double)position * pow(rotary->base, -2.0 * (double)pair / (double)rotary->width);
        y[a] = x[a] * cos(angle) - x[b] * sin(angle);
        y[b] = x[b] * cos(angle) + x[a] * sin(angle);
    }
}

static bool visible(const ss_attention *a, size_t query, size_t key) {
    if (a->causal && key > query) return false;
    return !a->window || key + a->window > query;
}

static double score(const ss_attention *a, size_t head, size_t query, size_t key) {
    const size_t kv = head / (a->heads / a->kv_heads);
    double dot = 0;
    for (size_t e = 0; e < a->head_width; e++)
        dot += (double)a->q[query * a->stride + head * a->head_width + e] *
               a->k[key * a->stride + kv * a->head_width + e];
    dot *= a->scale;
    return a->soft_cap > 0 ? a->soft_cap * tanh(dot / a->soft_cap) : dot;
}

void ref_attention(const ss_attention *a, double *scores, double *weights, double *mix) {
    const size_t tokens = a->tokens, width = a->head_width;
    for (size_t h = 0; h < a->heads; h++) {
        const size_t kv = h / (a->heads / a->kv_heads);
        for (size_t t = 0; t < tokens; t++) {
            double *s = scores + (h * tokens + t) * tokens, *w = weights + (h * tokens + t) * tokens;
            double max = -INFINITY, total = 0;
            for (size_t k = 0; k < tokens; k++) {
                s[k] = visible(a, t, k) ? score(a, h, t, k) : -INFINITY;
                max = fmax(max, s[k]);
            }
            for (size_t k = 0; k < tokens; k++) total += w[k] = exp(s[k] - max);
            for (size_t k = 0; k < tokens; k++) w[k] /= total;
            for (size_t e = 0; e < width; e++) {
                double sum = 0;
                for (size_t k = 0; k < tokens; k++) sum += w[k] * a->v[k * a->stride + kv * width + e];
                mix[(t * a->heads + h) * width + e] = sum;
            }
        }
    }
}

float ref_number(uint64_t *state) {
    *state += 0x9E3779B97F4A7C15u; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (float)(z >> 40) / (float)(1 << 23) - 1.0f;
}

void ref_fill(float *x, size_t count, float scale, uint64_t seed) {
    for (size_t i = 0; i < count; i++) x[i] = scale * ref_number(&seed);
}
