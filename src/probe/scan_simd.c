/* The scan for NaN and infinity: 0 times either is NaN, 0 times anything else is 0, and a NaN stays in the
 * sum. One multiplication and one addition a vector: as fast as memory. Relies on: math/simd. */
#include "probe/scan.h"

#include "math/simd.h"

bool SS_AT_LEVEL(ss_all_finite)(const float *x, size_t count) {
    vf a = vf_all(0), b = a, c = a, d = a;
    size_t i = 0;
    for (; i + 4 * SS_LANES <= count; i += 4 * SS_LANES) {
        a += vf_load(x + i) * 0.0f;
        b += vf_load(x + i + SS_LANES) * 0.0f;
        c += vf_load(x + i + 2 * SS_LANES) * 0.0f;
        d += vf_load(x + i + 3 * SS_LANES) * 0.0f;
    }
    for (; i + SS_LANES <= count; i += SS_LANES) a += vf_load(x + i) * 0.0f;
    if (i < count) b += vf_load_tail(x + i, count - i, 0) * 0.0f;
    vf sum = (a + b) + (c + d);
    float all = 0;
    for (size_t lane = 0; lane < SS_LANES; lane++) all += sum[lane];
    return all == 0;
}
