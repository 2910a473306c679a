/* The greedy certificate without a sort of the row: measure/certificate.h. Relies on: measure/row_simd,
 * measure/theta_sort. */
#include "measure/certificate.h"

#include "measure/row_simd.h"
#include "measure/theta_sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    FEW = 24,  /* weights that are quicker sorted than cut again */
    HEAVY = 64 /* weights above total / 64 are looked at first */
};

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

/* Sums of larger weights, taken up one by one until they pass half. */
typedef struct climb {
    double half, sum, gap;
    size_t under;
} climb;

/* Take up weights[0..count), each below those so far. True once half is passed. */
static bool go_up(climb *c, float *weights, size_t count) {
    ss_sort_few(weights, count);
    for (size_t k = 0; k < count && c->sum < c->half; k++) {
        c->sum += weights[k];
        c->under += c->sum < c->half;
        c->gap = fmin(c->gap, fabs(c->half - c->sum));
    }
    return c->sum >= c->half;
}

ss_certificate ss_certify(ss_isa isa, const float *weights, size_t n, double sum, double total, float largest,
                          float *picked) {
    climb c = {.half = 0.5 * total, .gap = INFINITY};
    if (largest >= c.half) return (ss_certificate){.gap = largest - c.half, .under = 0};
    /* weights up to (sum - half) / n leave half to the others: the one sought is above. Those above
     * total / HEAVY are fewer than HEAVY, and often weigh half together. */
    float low = (float)((sum - c.half) / (double)n * (1 - 1e-6)), high = largest;
    float heavy = fmaxf(low, (float)(total / HEAVY));
    double above;
    size_t count_above,
        count = SS_PICK_LEVEL(isa, ss_row_pick)(weights, n, heavy, high, picked, &above, &count_above);
    if (go_up(&c, picked, count)) return (ss_certificate){.gap = c.gap, .under = c.under};
    if (count) high = heavy;
    float *to = picked, *other = picked + n + SS_ROW_PAD;
    const float *from = weights;
    count = n;
    c.sum = 0, c.under = 0; /* they are still in from[] */
    do {
        narrow(isa, from, count, c.half - c.sum, &low, &high);
        count = SS_PICK_LEVEL(isa, ss_row_pick)(from, count, low, high, to, &above, &count_above);
        c.sum += above, c.under += count_above;
        float *filled = to;
        to = other, other = filled, from = filled;
    } while (count > FEW && nextafterf(low, high) < high);
    /* the largest so far weigh less than half; one more, and one more, until they do not */
    if (c.under) c.gap = fmin(c.gap, fabs(c.half - c.sum));
    go_up(&c, other, count);
    return (ss_certificate){.gap = c.gap, .under = c.under};
}
