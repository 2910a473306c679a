/* Wall-clock seconds from an arbitrary start, for progress and benchmarks. Relies on: POSIX. */
#ifndef SS_BASE_CLOCK_H
#define SS_BASE_CLOCK_H

#include <time.h>

static inline double ss_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
