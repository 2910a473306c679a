/* Is this row a distribution? Dumps hold rows with dropout left in, unnormalised attention, masked rows: such
 * rows get no entropy and no theta, but the reason. Relies on: nothing. Pure functions, safe from any thread.
 */
#ifndef SS_MEASURE_CHECK_H
#define SS_MEASURE_CHECK_H

#include <stddef.h>

/* X(code, name in a result document, sentence for a person) */
#define SS_ROW_STATE_LIST(X)                                                                                 \
    X(SS_ROW_OK, "ok", "the row is a distribution")                                                          \
    X(SS_ROW_MASKED, "masked", "every key of the row is masked: all weights are 0")                          \
    X(SS_ROW_NOT_FINITE, "not_finite", "the row holds a NaN or an infinity")                                 \
    X(SS_ROW_NEGATIVE, "negative",                                                                           \
      "the row holds a negative weight: these are scores or unnormalised attention")                         \
    X(SS_ROW_SUM, "sum",                                                                                     \
      "the weights do not sum to 1: dropout left on, a lost key, or unnormalised attention")

typedef enum ss_row_state {
#define SS_ROW_STATE_ENUM(code, name, sentence) code,
    SS_ROW_STATE_LIST(SS_ROW_STATE_ENUM)
#undef SS_ROW_STATE_ENUM
} ss_row_state;

const char *ss_row_state_name(ss_row_state state);
const char *ss_row_state_sentence(ss_row_state state);

/* The type the weights were stored in: it says how far from 1 rounding can bring a sum. */
typedef enum ss_row_type { SS_ROW_FLOAT64, SS_ROW_FLOAT32, SS_ROW_FLOAT16, SS_ROW_BFLOAT16 } ss_row_type;

/* 16 u + n v: u the unit roundoff of the type, v half its least subnormal. A softmax computed in that type
 * stays inside, dropout does not. */
double ss_row_tolerance(ss_row_type type, size_t n);

typedef struct ss_row_check_result {
    ss_row_state state;
    double sum;       /* in double; NaN where the row holds one */
    double sum_error; /* abs(sum - 1) */
    size_t at;        /* the first offending weight of SS_ROW_NOT_FINITE and SS_ROW_NEGATIVE */
} ss_row_check_result;

/* `type` is what the dump was stored in, whatever it was widened to since. n = 0 counts as masked. */
ss_row_check_result ss_row_check(const float *weights /* [n] */, size_t n, ss_row_type type);
ss_row_check_result ss_row_check_double(const double *weights /* [n] */, size_t n, ss_row_type type);

#endif
