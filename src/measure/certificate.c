/* The greedy certificate without a sort: measure/certificate.h. Relies on: measure/row_simd. */
#include "measure/certificate.h"

#include "measure/row_simd.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { FEW = 24 /* weights that are quicker sorted than cut again */ };

static void descend(float *weights, size_t count) {
    for (size_t i = 1; i < count; i++) {
        float weight = weights[i];
        size_t k = i;
        for (; k > 0 && weights[k - 1] < weight; k--) weights[k] = weights[k - 1];
        weights[k] = weight;
    }
}

/* A float `share` / 5 of the way from low to high, counted in floats: nearly geometric, and never stuck. */
static float between(float low, float high, uint32_t share) {
    uint32_t a, b;
    memcpy(&a, &low, sizeof a), memcpy(&b, &high, sizeof b);
    a += (uint32_t)((uint64_t)(b - a) * share / (SS_ROW_CUTS + 1));
    memcpy(&low, &a, sizeof low);
    return low;
}

/* Narrow (*low, *high] around the weight where the sum of larger weights passes `need`. */
static void narrow(ss_isa isa, const float *weights, size_t n, double need, float *low, float *high) {
    float cuts[SS_ROW_CUTS];
    double above[SS_ROW_CUTS];
    for (uint32_t k = 0; k < SS_ROW_CUTS; k++) cuts[k] = between(*low, *high, k + 1);
    SS_PICK_LEVEL(isa, ss_row_above)(weights, n, cuts, above);
    for (size_t k = 0; k < SS_ROW_CUTS; k++) {
        if (above[k] < need) {
            *high = cuts[k];
            return;
        }
        *low = cuts[k];
    }
}

ss_certificate ss_certify(ss_isa isa, const float *weights, size_t n, double total, float largest,
                          float *picked) {
    double half = 0.5 * total, sum = 0, above;
    if (largest >= half) return (ss_certificate){.gap = largest - half, .under = 0};
    /* weights up to total / 2n weigh half at most: the one sought is above */
    float low = (float)(total / (2.0 * (double)n) * (1 - 1e-6)), high = largest;
    float *to = picked, *other = picked + n + SS_ROW_PAD;
    const float *from = weights;
    size_t count = n, larger = 0, count_above;
    do {
        narrow(isa, from, count, half - sum, &low, &high);
        count = SS_PICK_LEVEL(isa, ss_row_pick)(from, count, low, high, to, &above, &count_above);
        sum += above, larger += count_above;
        float *filled = to;
        to = other, other = filled, from = filled;
    } while (count > FEW && nextafterf(low, high) < high);
    descend(other, count);
    /* the largest so far weigh less than half; one more, and one more, until they do not */
    double gap = larger ? fabs(half - sum) : INFINITY;
    for (size_t k = 0; k < count && sum < half; k++) {
        sum += other[k];
        larger += sum < half;
        gap = fmin(gap, fabs(half - sum));
    }
    return (ss_certificate){.gap = gap, .under = larger};
}
