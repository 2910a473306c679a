/* Summaries of many values: measure/summary.h. One body serves both types: summary_of.h. */
#include "measure/summary.h"

#include <math.h>

static const double levels[] = {0.05, 0.25, 0.5, 0.75, 0.95};
enum { LEVELS = sizeof levels / sizeof *levels };

#define VALUE      float
#define OF_TYPE(f) f##_float
#include "measure/summary_of.h"
#undef VALUE
#undef OF_TYPE

#define VALUE      double
#define OF_TYPE(f) f##_double
#include "measure/summary_of.h"
#undef VALUE
#undef OF_TYPE

ss_summary ss_summarize(float *values, size_t count) {
    return summarize_float(values, count);
}

ss_summary ss_summarize_double(double *values, size_t count) {
    return summarize_double(values, count);
}
