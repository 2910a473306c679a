/* Summaries of many values: count, mean, extremes and percentiles by linear interpolation (NumPy's default),
 * found by selection, not by a sort. Relies on: nothing. Pure functions, safe from any thread. */
#ifndef SS_MEASURE_SUMMARY_H
#define SS_MEASURE_SUMMARY_H

#include <stddef.h>

/* All fields but `count` are NaN where count is 0. */
typedef struct ss_summary {
    size_t count; /* values that are not NaN */
    double mean;  /* added in double, in the order of the array */
    double min, p5, p25, median, p75, p95, max;
} ss_summary;

/* Summarise values[0..count). A NaN stands for an absent value and is left out. The array is used as working
 * space: its order afterwards is unspecified. O(count). */
ss_summary ss_summarize(double *values, size_t count);

#endif
