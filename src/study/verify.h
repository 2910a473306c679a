/* The paper's numerical check and its corollaries, done again by this build (seed 000: Theorem 3.2, D.2).
 * Relies on: measure/theta. */
#ifndef SS_STUDY_VERIFY_H
#define SS_STUDY_VERIFY_H

#include "base/status.h"

/* One line of the table: a claim, on how many rows it was tried, and the largest error. */
typedef struct ss_verify_check {
    const char *group; /* which part of the paper */
    char claim[96];
    size_t rows;
    double error, limit; /* relative where the claim is an equality of two computed numbers */
} ss_verify_check;

enum { SS_VERIFY_MOST = 16 };

/* checks[0..*count). About a second. A check passes when error <= limit (a NaN fails). */
ss_status ss_verify(ss_verify_check checks[SS_VERIFY_MOST], size_t *count, ss_error *error);

#endif
