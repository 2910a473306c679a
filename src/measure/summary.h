#ifndef SS_MEASURE_SUMMARY_H
#define SS_MEASURE_SUMMARY_H
#include <stddef.h>
typedef struct ss_summary {
    size_t count;
    double mean, min, p5, p25, median, p75, p95, max;
} ss_summary;
ss_summary ss_summarize(double *values, size_t n);
#endif
