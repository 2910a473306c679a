/* Picks the level of the softmax kernel. */
#include "math/softmax.h"

double ss_softmax_row(ss_isa isa, const float *scores, size_t n, float *weights, float *max) {
    return SS_PICK_LEVEL(isa, ss_softmax_row)(scores, n, weights, max);
}
