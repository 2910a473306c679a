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

static ss_summary OF_TYPE(summarize)(VALUE *values, size_t count) {
    ss_summary s = {.count = OF_TYPE(close_up)(values, count)};
    double quantiles[LEVELS], none = (double)NAN;
    if (s.count == 0) {
        s.mean = s.min = s.p5 = s.p25 = s.median = s.p75 = s.p95 = s.max = none;
        return s;
    }
    double sum = 0;
    VALUE least = values[0], largest = values[0];
    for (size_t i = 0; i < s.count; i++) {
        sum += values[i];
        least = values[i] < least ? values[i] : least;
        largest = values[i] > largest ? values[i] : largest;
    }
    size_t ranks[2 * LEVELS];
    for (size_t k = 0; k < LEVELS; k++) {
        size_t below = (size_t)(levels[k] * (double)(s.count - 1));
        ranks[2 * k] = below;
        ranks[2 * k + 1] = below + 1 < s.count ? below + 1 : below;
    }
    for (size_t i = 1; i < 2 * LEVELS; i++) /* neighbours may cross where values are few */
        for (size_t k = i; k > 0 && ranks[k - 1] > ranks[k]; k--) {
            size_t other = ranks[k];
            ranks[k] = ranks[k - 1], ranks[k - 1] = other;
        }
    OF_TYPE(place)(values, s.count, 0, ranks, 2 * LEVELS);
    for (size_t k = 0; k < LEVELS; k++) {
        double at = levels[k] * (double)(s.count - 1);
        size_t below = (size_t)at, above = below + 1 < s.count ? below + 1 : below;
        double low = values[below], step = values[above] - low;
        quantiles[k] = step == 0 ? low : low + (at - (double)below) * step;
    }
    s.mean = sum / (double)s.count;
    s.min = least, s.max = largest;
    s.p5 = quantiles[0], s.p25 = quantiles[1], s.median = quantiles[2], s.p75 = quantiles[3],
    s.p95 = quantiles[4];
    return s;
}
