/* The body of measure/summary.c, included once for each VALUE type; OF_TYPE(name) is a name of that type. No
 * guard. */

/* Move NaN out of the way; the others keep their order. Returns how many there are. */
static size_t OF_TYPE(close_up)(VALUE *values, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        VALUE value = values[i];
        values[kept] = value;
        kept += !isnan(value);
    }
    return kept;
}

static void OF_TYPE(insertion)(VALUE *values, size_t count) {
    for (size_t i = 1; i < count; i++) {
        VALUE value = values[i];
        size_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
}

static VALUE OF_TYPE(middle)(VALUE a, VALUE b, VALUE c) {
    VALUE low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Move values below the pivot to the front; returns how many. Without branches: the order of data is not to
 * be guessed. */
static size_t OF_TYPE(part_below)(VALUE *values, size_t count, VALUE pivot) {
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        VALUE value = values[i];
        values[i] = values[below];
        values[below] = value;
        below += value < pivot;
    }
    return below;
}

/* The same for values not above the pivot. */
static size_t OF_TYPE(part_not_above)(VALUE *values, size_t count, VALUE pivot) {
    size_t below = 0;
    for (size_t i = 0; i < count; i++) {
        VALUE value = values[i];
        values[i] = values[below];
        values[below] = value;
        below += value <= pivot;
    }
    return below;
}

/* Bring the values of the wanted ranks, which ascend and are offsets into the whole array, to their places:
 * those of values[0..count), whose first has rank `first`. Each part that holds a wanted rank is parted
 * again. */
static void OF_TYPE(place)(VALUE *values, size_t count, size_t first, const size_t *ranks, size_t wanted) {
    while (wanted > 0 && count > 32) {
        VALUE pivot =
            OF_TYPE(middle)(OF_TYPE(middle)(values[0], values[count / 8], values[count / 4]),
                            OF_TYPE(middle)(values[3 * count / 8], values[count / 2], values[5 * count / 8]),
                            OF_TYPE(middle)(values[3 * count / 4], values[7 * count / 8], values[count - 1]));
        size_t below = OF_TYPE(part_below)(values, count, pivot);
        size_t upto = below + OF_TYPE(part_not_above)(values + below, count - below, pivot);
        /* ranks [0, left) lie below the pivot, [left, right) at values equal to it, the others above */
        size_t left = 0, right = wanted;
        while (left < wanted && ranks[left] < first + below) left++;
        while (right > left && ranks[right - 1] >= first + upto) right--;
        OF_TYPE(place)(values, below, first, ranks, left);
        values += upto, count -= upto, first += upto;
        ranks += right, wanted -= right;
    }
    if (wanted > 0) OF_TYPE(insertion)(values, count);
}

/* Values fall into buckets of equal width by value; only those whose bucket holds a wanted rank can matter.
 * Close them up, lower the ranks by what went, and return how many are left. */
static size_t OF_TYPE(keep_wanted)(VALUE *values, size_t count, VALUE least, VALUE largest, size_t *ranks) {
    uint32_t counts[BUCKETS] = {0};
    bool wanted[BUCKETS] = {false};
    double scale = (BUCKETS - 1) / ((double)largest - least);
    if (!(scale > 0) || !isfinite(scale * ((double)largest - least))) return count;
    for (size_t i = 0; i < count; i++) counts[(size_t)(((double)values[i] - least) * scale)]++;
    size_t below = 0, gone = 0, next = 0;
    for (size_t bucket = 0; bucket < BUCKETS; bucket++) {
        size_t end = below + counts[bucket];
        size_t first = next;
        for (; next < RANKS && ranks[next] < end; next++) ranks[next] -= gone;
        wanted[bucket] = next > first;
        gone += wanted[bucket] ? 0 : counts[bucket];
        below = end;
    }
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        VALUE value = values[i];
        values[kept] = value;
        kept += wanted[(size_t)(((double)value - least) * scale)];
    }
    return kept;
}

static ss_summary OF_TYPE(summarize)(VALUE *values, size_t count) {
    ss_summary s = {.count = OF_TYPE(close_up)(values, count)};
    if (s.count == 0) return empty_summary();
    double sum = 0, quantiles[LEVELS];
    VALUE least = values[0], largest = values[0];
    for (size_t i = 0; i < s.count; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    size_t ranks[RANKS], sorted[RANKS];
    rank_levels(s.count, ranks, sorted);
    size_t places[RANKS];
    memcpy(places, sorted, sizeof places);
    size_t kept = s.count > BUCKETS / 8 && s.count < UINT32_MAX
                      ? OF_TYPE(keep_wanted)(values, s.count, least, largest, places)
                      : s.count;
    OF_TYPE(place)(values, kept, 0, places, RANKS);
    for (size_t k = 0; k < LEVELS; k++) {
        double low = values[place_of(ranks[2 * k], sorted, places)];
        double step = values[place_of(ranks[2 * k + 1], sorted, places)] - low;
        double at = levels[k] * (double)(s.count - 1);
        quantiles[k] = step == 0 ? low : low + (at - (double)ranks[2 * k]) * step;
    }
    s.mean = sum / (double)s.count;
    s.min = least, s.max = largest;
    s.p5 = quantiles[0], s.p25 = quantiles[1], s.median = quantiles[2], s.p75 = quantiles[3],
    s.p95 = quantiles[4];
    return s;
}
