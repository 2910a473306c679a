/* The metric table: every number that softscope reports, named once. It drives summaries, the JSON document,
 * terminal columns and charts. */
#ifndef SS_MEASURE_METRIC_H
#define SS_MEASURE_METRIC_H

#include <stddef.h>

/* X(scope, name): what a metric belongs to. */
#define SS_SCOPE_LIST(X)                                                                                     \
    X(SS_SCOPE_ROW, "row")                                                                                   \
    X(SS_SCOPE_HEAD, "head")                                                                                 \
    X(SS_SCOPE_HIDDEN, "hidden")                                                                             \
    X(SS_SCOPE_OUTPUT, "output")

typedef enum ss_metric_scope {
#define SS_SCOPE_ENUM(scope, name) scope,
    SS_SCOPE_LIST(SS_SCOPE_ENUM)
#undef SS_SCOPE_ENUM
} ss_metric_scope;

/* Which end of the range is trouble. */
typedef enum ss_metric_direction { SS_BAD_NONE, SS_BAD_LOW, SS_BAD_HIGH } ss_metric_direction;

typedef struct ss_metric {
    const char *name;  /* key in the document */
    const char *label; /* a heading for people */
    const char *unit;  /* "" for a pure number */
    double min, max;   /* NaN where unbounded */
    ss_metric_direction direction;
    ss_metric_scope scope;
    const char *definition; /* one plain sentence */
    const char *source;
} ss_metric;

const ss_metric *ss_metrics(size_t *count);

/* NULL when there is none of that name. */
const ss_metric *ss_metric_find(const char *name);

const char *ss_scope_name(ss_metric_scope scope);
const char *ss_direction_name(ss_metric_direction direction); /* "none", "low", "high" */

#endif
