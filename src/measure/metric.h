/* The metric table: every measure that a result document, a terminal column or a chart names, listed once.
 * Definitions follow the project's specification; docs/result.md says where each stands in the document.
 * Relies on: nothing. Constant data, safe from any thread. */
#ifndef SS_MEASURE_METRIC_H
#define SS_MEASURE_METRIC_H

#include <stddef.h>

/* Which end of its range a reader should worry about. */
typedef enum ss_direction { SS_WORSE_NONE, SS_WORSE_LOW, SS_WORSE_HIGH } ss_direction;

/* What one value of the metric belongs to. */
typedef enum ss_scope { SS_SCOPE_ROW, SS_SCOPE_HEAD, SS_SCOPE_HIDDEN, SS_SCOPE_OUTPUT } ss_scope;

typedef struct ss_metric {
    const char *name;  /* in JSON and on the command line */
    const char *label; /* for people */
    const char *unit;  /* "" for a plain number or a share */
    double min, max;   /* of its range; -INFINITY and INFINITY where unbounded */
    ss_direction worse;
    ss_scope scope;
    const char *definition; /* one plain sentence */
    const char *source;     /* paper and equation */
} ss_metric;

/* All metrics in the order in which documents list them; *count gets how many. */
const ss_metric *ss_metrics(size_t *count);

/* The metric of that name, or NULL. */
const ss_metric *ss_metric_find(const char *name);

const char *ss_direction_name(ss_direction worse); /* "none", "low", "high" */
const char *ss_scope_name(ss_scope scope);         /* "row", "head", "hidden", "output" */

#endif
