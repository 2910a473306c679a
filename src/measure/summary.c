#include "measure/summary.h"
#include <stdlib.h>
static int cmp(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double q(const double *v, size_t n, double p) {
    double at = p * (double)(n - 1);
    size_t i = (size_t)at;
    double f = at - (double)i;
    return i + 1 < n ? v[i] + f * (v[i + 1] - v[i]) : v[i];
}
ss_summary ss_summarize(double *v, size_t n) {
    ss_summary s = {.count = n};
    if (!n) return s;
    qsort(v, n, sizeof *v, cmp);
    double m = 0;
    for (size_t i = 0; i < n; i++) m += v[i];
    s.mean = m / (double)n;
    s.min = v[0];
    s.p5 = q(v, n, .05);
    s.p25 = q(v, n, .25);
    s.median = q(v, n, .5);
    s.p75 = q(v, n, .75);
    s.p95 = q(v, n, .95);
    s.max = v[n - 1];
    return s;
}
