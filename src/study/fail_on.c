/* Reading and trying the conditions of --fail-on. Relies on: study/places (walking the document). */
#include "study/fail_on.h"

#include "measure/metric.h"
#include "study/places.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct condition {
    char metric[48], statistic[16];
    char comparison[3]; /* "<", "<=", ">" or ">=" */
    double bound;
} condition;

enum { CONDITION_LENGTH = 128 };

static ss_status refuse(ss_error *error, const char *text, const char *why) {
    return ss_fail(error, SS_E_USAGE, "--fail-on",
                   "'%s' %s: write METRIC<NUMBER or METRIC>NUMBER, such as max_logit>100 or theta.min<0.01",
                   text, why);
}

/* "theta.min<0.01" -> a condition; `nan` gives an empty metric. */
static ss_status parse_condition(const char *text, condition *c, ss_error *error) {
    *c = (condition){.statistic = "mean"};
    if (strcmp(text, "nan") == 0) return SS_OK;
    size_t name = strcspn(text, "<>");
    if (text[name] == '\0') return refuse(error, text, "has no comparison");
    size_t metric = strcspn(text, ".<>"), statistic = 0;
    if (metric < name) statistic = name - metric - 1;
    if (metric == 0 || metric >= sizeof c->metric) return refuse(error, text, "names no metric");
    if (statistic >= sizeof c->statistic) return refuse(error, text, "names no statistic");
    memcpy(c->metric, text, metric);
    if (metric < name) {
        memset(c->statistic, 0, sizeof c->statistic);
        memcpy(c->statistic, text + metric + 1, statistic);
    }
    const char *rest = text + name;
    c->comparison[0] = *rest++;
    if (*rest == '=') c->comparison[1] = *rest++;
    char *end;
    c->bound = strtod(rest, &end);
    if (end == rest || *end != '\0' || !isfinite(c->bound))
        return refuse(error, text, "has no number to compare with");
    if (!ss_metric_find(c->metric)) return refuse(error, text, "names a metric that does not exist");
    if (!ss_is_statistic(c->statistic)) return refuse(error, text, "names a statistic that does not exist");
    return SS_OK;
}

typedef ss_status condition_fn(void *context, const condition *c, ss_error *error);

/* Call `fn` for each condition of a comma-separated list. */
static ss_status each_condition(const char *conditions, condition_fn *fn, void *context, ss_error *error) {
    for (const char *at = conditions ? conditions : ""; *at != '\0';) {
        size_t length = strcspn(at, ",");
        char text[CONDITION_LENGTH];
        if (length >= sizeof text) return refuse(error, at, "is too long");
        memcpy(text, at, length);
        text[length] = '\0';
        condition c;
        SS_TRY(parse_condition(text, &c, error));
        SS_TRY(fn(context, &c, error));
        at += length + (at[length] == ',');
    }
    return SS_OK;
}

static ss_status accept(void *context, const condition *c, ss_error *error) {
    (void)context, (void)c, (void)error;
    return SS_OK;
}

ss_status ss_fail_on_check(const char *conditions, ss_error *error) {
    return each_condition(conditions, accept, NULL, error);
}

static bool holds(const condition *c, double value) {
    const bool equal = c->comparison[1] == '=' && value == c->bound;
    return equal || (c->comparison[0] == '<' ? value < c->bound : value > c->bound);
}

typedef struct search {
    const condition *condition;
    ss_place worst;
    double value;
    size_t seen, count; /* places where the metric stands, and where the condition holds */
} search;

static void look(void *context, const ss_place *place, double value) {
    search *s = context;
    s->seen++;
    if (!holds(s->condition, value)) return;
    const bool worse = s->condition->comparison[0] == '<' ? value < s->value : value > s->value;
    if (s->count == 0 || worse) {
        s->worst = *place;
        s->value = value;
    }
    s->count++;
}

typedef struct application {
    ss_result *result;
    bool *failed;
} application;

/* A condition on what was not measured would pass for ever: say so. */
static void warn_absent(ss_result *result, const condition *c) {
    char text[256];
    snprintf(text, sizeof text,
             "--fail-on asks about %s, which has no value here: this condition was not tried.", c->metric);
    ss_result_note(result, "fail-on-absent", SS_SEVERITY_WARNING, text);
}

static ss_status apply(void *context, const condition *c, ss_error *error) {
    (void)error;
    application *a = context;
    if (c->metric[0] == '\0') return SS_OK; /* nan: its own finding says it */
    search s = {.condition = c};
    ss_each_place(a->result, c->metric, c->statistic, look, &s);
    if (s.seen == 0) warn_absent(a->result, c);
    if (s.count == 0) return SS_OK;
    char where[64], text[256];
    ss_place_text(&s.worst, where, sizeof where);
    snprintf(text, sizeof text, "%s%s%s is %.6g %s, and --fail-on asks to fail at %s%g (%zu place%s).",
             c->metric, strcmp(c->statistic, "mean") == 0 ? "" : ".",
             strcmp(c->statistic, "mean") == 0 ? "" : c->statistic, s.value, where, c->comparison, c->bound,
             s.count, s.count == 1 ? "" : "s");
    ss_result_finding(a->result, &(ss_finding){.id = "fail-on",
                                               .severity = SS_SEVERITY_ERROR,
                                               .text = text,
                                               .layer = s.worst.layer,
                                               .head = s.worst.head,
                                               .token = SS_NOWHERE,
                                               .metric = c->metric,
                                               .value = s.value,
                                               .threshold = c->bound});
    *a->failed = true;
    return SS_OK;
}

ss_status ss_fail_on_apply(const char *conditions, ss_result *result, bool *failed, ss_error *error) {
    application a = {result, failed};
    SS_TRY(each_condition(conditions, apply, &a, error));
    if (ss_result_has_finding(result, "non-finite")) *failed = true;
    return SS_OK;
}
