/* What the files of the dump study share: the opened dump and what is known of each row.
 * For src/study/dump*.c only. */
#ifndef SS_STUDY_DUMP_IMPL_H
#define SS_STUDY_DUMP_IMPL_H

#include "formats/array.h"
#include "measure/check.h"
#include "study/dump.h"

/* X(state, name in the document's reasons, why the row has no theta). The middle ones are what ss_row_check
 * finds, in its order. */
#define SS_DUMP_STATE_LIST(X)                                                                                \
    X(SS_DUMP_MEASURED, "measured", "")                                                                      \
    X(SS_DUMP_SINGLE_KEY, "single_key", "every row has a single key")                                        \
    X(SS_DUMP_MASKED, "masked", "all keys of every row are masked")                                          \
    X(SS_DUMP_NOT_FINITE, "not_finite", "rows hold a NaN or an infinity")                                    \
    X(SS_DUMP_NEGATIVE, "negative",                                                                          \
      "rows hold a negative weight: these are logits or unnormalised attention")                             \
    X(SS_DUMP_SUM, "sum",                                                                                    \
      "the weights of the rows do not sum to 1: dropout left on, lost keys or unnormalised attention")       \
    X(SS_DUMP_OUTSIDE, "outside_support", "rows put weight on keys that they may not see")

typedef enum ss_dump_state {
#define SS_DUMP_STATE_ENUM(state, name, reason) state,
    SS_DUMP_STATE_LIST(SS_DUMP_STATE_ENUM)
#undef SS_DUMP_STATE_ENUM
        SS_DUMP_STATES
} ss_dump_state;

enum { SS_DUMP_FIRST_REFUSED = SS_DUMP_NOT_FINITE }; /* from here on: no distribution */

const char *ss_dump_state_name(ss_dump_state state);
const char *ss_dump_state_reason(ss_dump_state state);

/* What is kept of a row; NaN where there is none. */
enum ss_dump_value {
    SS_DUMP_theta,
    SS_DUMP_lower,
    SS_DUMP_upper,
    SS_DUMP_theta_cert,
    SS_DUMP_entropy,
    SS_DUMP_p_max,
    SS_DUMP_jac_2, /* this and the next two: over tau */
    SS_DUMP_jac_inf,
    SS_DUMP_jac_frob,
    SS_DUMP_sparsity,  /* of rows that are no distribution too: largest abs(weight) / sum abs(weight) */
    SS_DUMP_first_key, /* weight on key 0 */
    SS_DUMP_sum,       /* weights only */
    SS_DUMP_aside,     /* mass of the sink (logits), or mass outside the support (weights) */
    SS_DUMP_max_logit, /* the largest score: logit over tau */
    SS_DUMP_VALUES
};

enum {
    SS_DUMP_EXACT = 1u << 0,
    SS_DUMP_HAS_ZERO = 1u << 1,       /* a weight of the support is exactly 0 */
    SS_DUMP_WIDENED = 1u << 2,        /* sums to 1 only as the narrower type that its weights came from */
    SS_DUMP_MINUS_INFINITY = 1u << 3, /* a weight that only a logit can be */
    SS_DUMP_ABOVE_DIAGONAL = 1u << 4, /* a weight that causality would have kept at 0 */
    SS_DUMP_FAR_BELOW = 1u << 5,      /* a logit that looks like a mask written as a number */
};

typedef struct ss_dump_row {
    double value[SS_DUMP_VALUES];
    uint32_t support; /* keys, without the sink */
    uint32_t outside; /* entries outside the support that are not 0 */
    uint8_t state;    /* ss_dump_state */
    uint8_t flags;
} ss_dump_row;

typedef struct ss_dump {
    const ss_dump_options *options;
    const char *name, *array_name;    /* for people; array_name NULL unless the file is an archive */
    ss_array array, mask;             /* mask.data NULL: none */
    size_t mask_strides[SS_MAX_DIMS]; /* in bytes, per axis of the array; 0 where the mask is repeated */
    bool is_text;                     /* numbers came as text: judged as float32 */
    size_t groups, queries, n, rows;  /* rows = groups * queries */
    ss_dump_row *results;             /* [rows] */
} ss_dump;

/* Fill array, mask, names and sizes. What was opened is released by ss_dump_close, also after a failure. */
ss_status ss_dump_open(ss_dump *dump, const char *path, ss_error *error);
void ss_dump_close(ss_dump *dump);

/* Fill results. */
ss_status ss_dump_measure(ss_dump *dump, ss_error *error);

/* The document, and what a person should know first. */
ss_status ss_dump_report(const ss_dump *dump, ss_result *result, ss_error *error);
void ss_dump_findings(const ss_dump *dump, ss_result *result);

/* --rows: one line a row. */
ss_status ss_dump_save_rows(const ss_dump *dump, const char *path, ss_error *error);
ss_status ss_dump_check_rows_path(const char *path, ss_error *error);

/* How many atoms a row has: its keys and the sink. */
static inline size_t ss_dump_atoms(const ss_dump *dump, const ss_dump_row *row) {
    return (size_t)row->support + dump->options->has_sink;
}

#endif
