/* Bins of consecutive positions, as profiles and maps use them: bin b of B over T positions holds
 * floor(b T / B) .. floor((b + 1) T / B) - 1. Bins of a fine map lie whole inside those of a coarse one,
 * since 4 fine bins make a coarse one. Relies on: nothing. */
#ifndef SS_PROBE_BINS_H
#define SS_PROBE_BINS_H

#include <stddef.h>

#define SS_MAX_BINS  ((size_t)64)  /* of a profile, and of every head's map */
#define SS_FINE_BINS ((size_t)256) /* of the maps of chosen heads */

/* at most `most` bins, and never more than positions */
static inline size_t ss_bin_count(size_t tokens, size_t most) {
    return tokens < most ? tokens : most;
}

/* first position of bin b of `bins`; b = bins gives the end */
static inline size_t ss_bin_begin(size_t tokens, size_t bins, size_t bin) {
    return tokens / bins * bin + tokens % bins * bin / bins; /* b T / B without overflow */
}

/* the bin of a position: the largest b whose beginning is not after it */
static inline size_t ss_bin_of(size_t tokens, size_t bins, size_t position) {
    size_t bin = (size_t)((double)position * (double)bins / (double)tokens);
    while (bin + 1 < bins && ss_bin_begin(tokens, bins, bin + 1) <= position) bin++;
    while (ss_bin_begin(tokens, bins, bin) > position) bin--;
    return bin;
}

#endif
