/* Conditions that turn a finding into exit status 1, as in --fail-on 'nan,max_logit>100,theta.min<0.01'.
 *
 * A condition is `nan`, or METRIC[.STATISTIC] OPERATOR NUMBER with one of < <= > >=. It is tried on every
 * head, hidden state and the output where the metric stands; the statistic of a row measure is its mean
 * unless named. `nan` is always one of the conditions. Relies on: result, measure/metric. */
#ifndef SS_STUDY_FAIL_ON_H
#define SS_STUDY_FAIL_ON_H

#include "result/result.h"

/* Read the conditions without a result, so that a mistake is told before any work. SS_E_USAGE. */
ss_status ss_fail_on_check(const char *conditions, ss_error *error);

/* Try them, add a finding for each that holds (with its worst place), and set *failed. */
ss_status ss_fail_on_apply(const char *conditions, ss_result *result, bool *failed, ss_error *error);

#endif
