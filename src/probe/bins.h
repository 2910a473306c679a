/* Bins of consecutive positions, as profiles and maps use them: bin b of B over T positions holds
 * floor(b T / B) .. floor((b + 1) T / B) - 1. Relies on: nothing. */
#ifndef SS_PROBE_BINS_H
#define SS_PROBE_BINS_H

#include <stddef.h>

#define SS_MAX_BINS ((size_t)64)

static inline size_t ss_bin_count(size_t tokens) {
    return tokens < SS_MAX_BINS ? tokens : SS_MAX_BINS;
}

/* first position of bin b; b = bins gives the end */
static inline size_t ss_bin_begin(size_t tokens, size_t bin) {
    size_t bins = ss_bin_count(tokens);
    return tokens / bins * bin + tokens % bins * bin / bins; /* b T / B without overflow */
}

/* the bin of a position: the largest b whose beginning is not after it */
static inline size_t ss_bin_of(size_t tokens, size_t position) {
    size_t bins = ss_bin_count(tokens);
    size_t bin = (size_t)((double)position * (double)bins / (double)tokens);
    while (bin + 1 < bins && ss_bin_begin(tokens, bin + 1) <= position) bin++;
    while (ss_bin_begin(tokens, bin) > position) bin--;
    return bin;
}

#endif
