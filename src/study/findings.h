/* Findings: what a person should know first, in plain words, with where it shows.
 * Every threshold stands in one table (findings.c), with its reason. Relies on: result. */
#ifndef SS_STUDY_FINDINGS_H
#define SS_STUDY_FINDINGS_H

#include "result/result.h"

/* Read a finished document of inspect and add its findings. */
void ss_findings_add(ss_result *result);

#endif
