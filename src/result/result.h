/* The result document of docs/result.md: one JSON tree that every command fills and every view draws.
 *
 *     ss_result *result;
 *     SS_TRY(ss_result_create(&result, "inspect", error));
 *     json_t *head = ss_result_indexed(result, ss_result_array(result, layer, "heads"), 3);
 *     ss_result_number(result, head, "first_key", first_key, "no row has two or more keys");
 *     status = ss_result_save(result, "out.json", error); // says when memory ran out on the way
 *     ss_result_free(result);
 *
 * The tree is jansson's own; nodes are borrowed from it. Setters return nothing: the first allocation that
 * fails marks the result, later setters do nothing harmful, and ss_result_check (or saving) says SS_E_MEMORY.
 * jansson allocates from the C library. Not thread-safe. Relies on: jansson, formats/json, text/utf8. */
#ifndef SS_RESULT_RESULT_H
#define SS_RESULT_RESULT_H

#include "base/status.h"
#include "measure/summary.h"

#include <jansson.h>
#include <stdio.h>

#define SS_RESULT_SCHEMA 1

/* A larger file is refused: jansson needs some twenty bytes a byte of hostile JSON. */
#define SS_RESULT_MAX_BYTES ((size_t)128 << 20)

struct ss_result {
    json_t *root;
    bool failed; /* an allocation failed: the tree is not complete */
};

/* {"softscope": version, "schema": 1, "command": command}. */
ss_status ss_result_create(ss_result **result, const char *command, ss_error *error);

/* A result around a tree, which becomes the result's also when this fails; NULL: memory had run out. */
ss_status ss_result_wrap(json_t *root, ss_result **result, ss_error *error);

/* SS_E_MEMORY when an allocation failed on the way, else SS_OK. */
ss_status ss_result_check(const ss_result *result, ss_error *error);

/* ---- nodes: each is found or made; NULL (and the mark) when memory ran out ---- */
json_t *ss_result_object(ss_result *result, json_t *parent, const char *key);
json_t *ss_result_array(ss_result *result, json_t *parent, const char *key);
json_t *ss_result_item(ss_result *result, json_t *array); /* append an empty object */

/* The item of an array of objects whose "index" is `index`, appended when there is none. */
json_t *ss_result_indexed(ss_result *result, json_t *array, size_t index);

/* ---- values: set, replacing what was there ---- */

/* A real number. NaN and infinity become null, with `reason` in the object's "absent" (NULL: "not
 * finite"). */
void ss_result_number(ss_result *result, json_t *object, const char *key, double value, const char *reason);
void ss_result_count(ss_result *result, json_t *object, const char *key, size_t value);
void ss_result_bool(ss_result *result, json_t *object, const char *key, bool value);

/* Text from anywhere: bytes that are not UTF-8 become U+FFFD, and NUL, which many readers refuse, the control
 * character SUB. NULL text becomes null. */
void ss_result_text(ss_result *result, json_t *object, const char *key, const char *text);

/* null, and why. */
void ss_result_absent(ss_result *result, json_t *object, const char *key, const char *reason);

/* Numbers of an array; what is not finite is null. `values` [count]. */
void ss_result_numbers(ss_result *result, json_t *object, const char *key, const double *values,
                       size_t count);

/* A summary; absent for `reason` when it counts nothing. */
void ss_result_summary(ss_result *result, json_t *object, const char *key, const ss_summary *summary,
                       const char *reason);

/* {"queries", "keys", "data"}: cells [queries][keys] written as round(255 sqrt(cell)) in base64. */
void ss_result_map(ss_result *result, json_t *object, const char *key, const double *cells, size_t queries,
                   size_t keys);

/* Append text or a number to an array. */
void ss_result_append_text(ss_result *result, json_t *array, const char *bytes, size_t length);
void ss_result_append_count(ss_result *result, json_t *array, size_t value);

/* "metrics": the metric table (measure/metric.h). */
void ss_result_metrics(ss_result *result);

/* ---- reading ---- */

/* A number of an object; NaN when it is absent or null. With a dot, of an object inside: "theta.median". */
double ss_number_at(const json_t *object, const char *path);

/* Is `name` a statistic of a summary: "mean", "min", "p5", ...? */
bool ss_is_statistic(const char *name);

/* ---- findings ---- */

/* X(severity, name): from the most to the least severe. */
#define SS_SEVERITY_LIST(X)                                                                                  \
    X(SS_SEVERITY_ERROR, "error")                                                                            \
    X(SS_SEVERITY_WARNING, "warning")                                                                        \
    X(SS_SEVERITY_INFO, "info")

typedef enum ss_severity {
#define SS_SEVERITY_ENUM(severity, name) severity,
    SS_SEVERITY_LIST(SS_SEVERITY_ENUM)
#undef SS_SEVERITY_ENUM
} ss_severity;

#define SS_NOWHERE SIZE_MAX /* a place that a finding does not name */

typedef struct ss_finding {
    const char *id; /* stable name of the kind, e.g. "massive-activation" */
    ss_severity severity;
    const char *text;          /* a sentence for a person */
    size_t layer, head, token; /* SS_NOWHERE when it names none */
    const char *metric;        /* may be NULL */
    double value, threshold;   /* NaN when there is none */
} ss_finding;

/* Add to "findings", after those at least as severe. */
void ss_result_finding(ss_result *result, const ss_finding *finding);

/* The same for one that names no place and no number. */
void ss_result_note(ss_result *result, const char *id, ss_severity severity, const char *text);

bool ss_result_has_finding(const ss_result *result, const char *id);

#endif
