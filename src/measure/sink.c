/* Where the weight of a head goes: measure/sink.h. Relies on: nothing. */
#include "measure/sink.h"

#include <math.h>
#include <string.h>

size_t ss_sink_top(const double *sums, const size_t *rows, size_t keys, ss_sink *top, size_t most) {
    size_t found = 0;
    for (size_t key = 0; key < keys && most > 0; key++) {
        if (rows[key] == 0) continue;
        ss_sink sink = {.key = key, .weight = sums[key] / (double)rows[key], .found = true};
        size_t place = found;
        while (place > 0 && top[place - 1].weight < sink.weight) place--;
        if (place == most) continue;
        size_t moved = (found < most ? found : most - 1) - place;
        memmove(top + place + 1, top + place, moved * sizeof *top);
        top[place] = sink;
        if (found < most) found++;
    }
    return found;
}

ss_sink ss_sink_find(const double *sums, const size_t *rows, size_t keys) {
    ss_sink sink = {.key = 0};
    ss_sink_top(sums, rows, keys, &sink, 1);
    return sink;
}

double ss_sink_rate(double first_key, double threshold) {
    return isnan(first_key) ? first_key : first_key > threshold;
}
