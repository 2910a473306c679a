/* A result drawn for a terminal: the model, the findings in plain words, then a table with small bars.
 * Computes nothing new. Relies on: result, measure/metric. */
#ifndef SS_REPORT_TERMINAL_H
#define SS_REPORT_TERMINAL_H

#include "result/result.h"

#include <stdio.h>

typedef struct ss_terminal_style {
    size_t width; /* columns to fill; text is folded at this */
    bool color;   /* escape sequences for weight and colour */
    bool heads;   /* a line for each head as well */
} ss_terminal_style;

/* Write the view of any document that softscope makes. Control characters in names and tokens are shown,
 * never sent to the terminal. */
void ss_terminal_print(const ss_result *result, const ss_terminal_style *style, FILE *out);

#endif
