/* Is this row a distribution? measure/check.h. Relies on: nothing. */
#include "measure/check.h"

#include <math.h>

const char *ss_row_state_name(ss_row_state state) {
    static const char *const names[] = {
#define SS_ROW_STATE_NAME(code, name, sentence) [code] = name,
        SS_ROW_STATE_LIST(SS_ROW_STATE_NAME)
#undef SS_ROW_STATE_NAME
    };
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

const char *ss_row_state_sentence(ss_row_state state) {
    static const char *const sentences[] = {
#define SS_ROW_STATE_SENTENCE(code, name, sentence) [code] = sentence,
        SS_ROW_STATE_LIST(SS_ROW_STATE_SENTENCE)
#undef SS_ROW_STATE_SENTENCE
    };
    return (size_t)state < sizeof sentences / sizeof *sentences ? sentences[state] : "unknown";
}

double ss_row_tolerance(ss_row_type type, size_t n) {
    static const struct {
        double roundoff, half_subnormal;
    } types[] = {
        [SS_ROW_FLOAT64] = {0x1p-53, 0},
        [SS_ROW_FLOAT32] = {0x1p-24, 0x1p-150},
        [SS_ROW_FLOAT16] = {0x1p-11, 0x1p-25},
        [SS_ROW_BFLOAT16] = {0x1p-8, 0x1p-134},
    };
    /* a float64 sum of n weights rounds by itself */
    double adding = type == SS_ROW_FLOAT64 ? 0x1p-53 * (double)n : 0;
    return 16 * types[type].roundoff + (double)n * types[type].half_subnormal + adding;
}

static ss_row_check_result judge(ss_row_check_result r, size_t n, ss_row_type type) {
    if (r.state == SS_ROW_NOT_FINITE) r.sum = (double)NAN; /* not +-infinity, whichever came first */
    r.sum_error = fabs(r.sum - 1);
    if (r.state != SS_ROW_OK) return r;
    if (r.sum == 0)
        r.state = SS_ROW_MASKED;
    else if (r.sum_error > ss_row_tolerance(type, n))
        r.state = SS_ROW_SUM;
    return r;
}

/* A NaN or an infinity outranks a negative weight; of each kind the first is named. */
static void look(ss_row_check_result *r, double weight, size_t i) {
    ss_row_state state = !isfinite(weight) ? SS_ROW_NOT_FINITE : weight < 0 ? SS_ROW_NEGATIVE : SS_ROW_OK;
    if (state != SS_ROW_OK && (r->state == SS_ROW_OK || state < r->state)) r->state = state, r->at = i;
    r->sum += weight;
}

ss_row_check_result ss_row_check(const float *weights, size_t n, ss_row_type type) {
    ss_row_check_result r = {.state = SS_ROW_OK};
    for (size_t i = 0; i < n; i++) look(&r, weights[i], i);
    return judge(r, n, type);
}

ss_row_check_result ss_row_check_double(const double *weights, size_t n, ss_row_type type) {
    ss_row_check_result r = {.state = SS_ROW_OK};
    for (size_t i = 0; i < n; i++) look(&r, weights[i], i);
    return judge(r, n, type);
}
