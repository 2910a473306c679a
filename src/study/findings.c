/* Findings of inspect, read from the finished document: each function below looks for one kind of trouble and
 * writes one sentence about it, naming the worst place. Relies on: result, study/places. */
#include "study/findings.h"

#include "study/places.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Where a number becomes a finding, and why there. */
static const struct {
    double saturated_head; /* share of saturated rows: more than half of a head's queries learn next to
                              nothing */
    double high_logit;     /* where QK-clipping methods step in (Kimi K2 clips at 100) */
    double float16_max;    /* the largest finite float16 */
    double induction;      /* a head that mostly looks at what followed last time */
    double previous;       /* a head that mostly looks one token back */
    double scale_driven;   /* share of a head's rows that are one-hot only by the size of its vectors */
    double least_rows;     /* fewer rows than this say nothing about a head */
} limits = {.saturated_head = 0.5,
            .high_logit = 100,
            .float16_max = 65504,
            .induction = 0.5,
            .previous = 0.5,
            .scale_driven = 0.25,
            .least_rows = 8};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
say(ss_result *result, ss_finding finding, const char *format, ...) {
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    finding.text = text;
    ss_result_finding(result, &finding);
}

/* ---- the largest of a metric over all places --------------------------------------------------- */

typedef struct extreme {
    double above;      /* count the places beyond this */
    double least_rows; /* leave out heads that are known to have fewer rows: their means say nothing */
    double value;      /* the largest */
    ss_place place;
    size_t count, total;
} extreme;

static void compare(void *context, const ss_place *place, double value) {
    extreme *e = context;
    if (ss_number_at(place->node, "rows") < e->least_rows) return;
    e->total++;
    if (value > e->above) e->count++;
    if (e->total == 1 || value > e->value) {
        e->value = value;
        e->place = *place;
    }
}

static extreme largest(const ss_result *result, const char *metric, double above, double least_rows) {
    extreme e = {.above = above, .least_rows = least_rows};
    ss_each_place(result, metric, "mean", compare, &e);
    return e;
}

static ss_finding found(const char *id, ss_severity severity, const extreme *e, const char *metric) {
    return (ss_finding){.id = id,
                        .severity = severity,
                        .layer = e->place.layer,
                        .head = e->place.head,
                        .token = SS_NOWHERE,
                        .metric = metric,
                        .value = e->value,
                        .threshold = e->above};
}

/* `token 3 "The"`, or `token 3` without a tokenizer. */
static void token_name(const ss_result *result, size_t token, char *name, size_t capacity) {
    const json_t *text = json_object_get(json_object_get(result->root, "input"), "text");
    const char *piece = json_string_value(json_array_get(text, token));
    if (piece)
        snprintf(name, capacity, "token %zu \"%s\"", token, strcmp(piece, "\n") == 0 ? "\\n" : piece);
    else
        snprintf(name, capacity, "token %zu", token);
}

/* ---- one function a finding -------------------------------------------------------------------- */

/* What health says of a part of the document, if the first bad value was there. */
static const json_t *first_bad_of(const json_t *part) {
    const json_t *bad = json_object_get(part, "non_finite");
    return json_is_false(json_object_get(bad, "downstream")) ? bad : NULL;
}

/* The first bad value in the order of the pass, or NULL; *layer is SS_NOWHERE outside the layers. */
static const json_t *find_first_bad(const json_t *root, size_t *layer) {
    static const char *const after[] = {"final", "output"};
    const json_t *item, *bad = first_bad_of(json_object_get(root, "embedding"));
    size_t i;
    *layer = SS_NOWHERE;
    json_array_foreach(json_object_get(root, "layers"), i, item) {
        if (bad) return bad;
        bad = first_bad_of(json_object_get(item, "hidden"));
        if (bad) *layer = (size_t)ss_number_at(item, "index");
    }
    for (i = 0; !bad && i < sizeof after / sizeof *after; i++)
        bad = first_bad_of(json_object_get(root, after[i]));
    return bad;
}

/* Rows that were not finite, of the heads and the output: told when nobody looked for the first bad value. */
static double non_finite_rows(const ss_result *r) {
    double rows = 0;
    const json_t *layer, *head;
    size_t i, j;
    const double output = ss_number_at(json_object_get(r->root, "output"), "non_finite_rows");
    if (output > 0) rows += output;
    json_array_foreach(json_object_get(r->root, "layers"), i, layer) {
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            const double here = ss_number_at(head, "non_finite_rows");
            if (here > 0) rows += here;
        }
    }
    return rows;
}

static void rows_not_finite(ss_result *r) {
    const double rows = non_finite_rows(r);
    if (rows == 0) return;
    say(r,
        (ss_finding){.id = "non-finite",
                     .severity = SS_SEVERITY_ERROR,
                     .layer = SS_NOWHERE,
                     .head = SS_NOWHERE,
                     .token = SS_NOWHERE,
                     .metric = "non_finite_rows",
                     .value = rows,
                     .threshold = 0},
        "%.0f row%s a NaN or an infinity. The probe health names the first one and the weight that brought "
        "it.",
        rows, rows == 1 ? " holds" : "s hold");
}

/* --fail-on's `nan` looks for this finding: study/fail_on.c. */
static void first_non_finite(ss_result *r) {
    size_t layer;
    const json_t *bad = find_first_bad(r->root, &layer);
    if (!bad) {
        rows_not_finite(r);
        return;
    }
    const char *tensor = json_string_value(json_object_get(bad, "tensor"));
    const size_t token = (size_t)ss_number_at(bad, "token");
    char name[96], where[32] = "", cause[300] = "every weight is finite, so it overflowed in the pass";
    token_name(r, token, name, sizeof name);
    if (layer != SS_NOWHERE) snprintf(where, sizeof where, "layer %zu, ", layer);
    if (tensor)
        snprintf(cause, sizeof cause, "the weight %.200s is not finite at index %.0f", tensor,
                 ss_number_at(bad, "index"));
    say(r,
        (ss_finding){.id = "non-finite",
                     .severity = SS_SEVERITY_ERROR,
                     .layer = layer,
                     .head = SS_NOWHERE,
                     .token = token,
                     .value = NAN,
                     .threshold = NAN},
        "The pass is not finite from %s%s on: %s at %s, dimension %.0f; %s. Numbers after that mean nothing.",
        where, json_string_value(json_object_get(bad, "site")),
        json_string_value(json_object_get(bad, "value")), name, ss_number_at(bad, "dimension"), cause);
}

static void saturated_heads(ss_result *r) {
    const extreme e = largest(r, "saturated_share", limits.saturated_head, limits.least_rows);
    if (e.count == 0) return;
    const double saturated = ss_number_at(r->root, "settings.saturated_theta");
    say(r, found("saturated-heads", SS_SEVERITY_WARNING, &e, "saturated_share"),
        "%zu of %zu heads %s saturated: in more than half of the rows theta <= %g, so what queries "
        "and keys learn is damped at least %.4g-fold. Most: layer %zu head %zu, %.0f%% of its rows.",
        e.count, e.total, e.count == 1 ? "is" : "are", saturated, 1 / saturated, e.place.layer, e.place.head,
        100 * e.value);
}

static void scale_driven_heads(ss_result *r) {
    const json_t *layer, *head;
    size_t i, j;
    extreme e = {.above = limits.scale_driven, .least_rows = limits.least_rows};
    json_array_foreach(json_object_get(r->root, "layers"), i, layer) {
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            const double share = ss_number_at(head, "scale_driven") / ss_number_at(head, "rows");
            const ss_place place = {"head", (size_t)ss_number_at(layer, "index"),
                                    (size_t)ss_number_at(head, "index"), head};
            if (isfinite(share)) compare(&e, &place, share);
        }
    }
    if (e.count == 0) return;
    say(r, found("scale-driven", SS_SEVERITY_WARNING, &e, "scale_driven"),
        "In %zu head%s more than a quarter of the rows are one-hot (p_max >= .99) only because queries and "
        "keys are large: scaled to RMS 1 they open up. QK-normalisation or a smaller scale would help. Most: "
        "layer %zu head %zu, %.0f%% of its rows.",
        e.count, e.count == 1 ? "" : "s", e.place.layer, e.place.head, 100 * e.value);
}

static void largest_logit(ss_result *r) {
    const extreme e = largest(r, "max_logit", limits.high_logit, 0);
    if (e.total == 0) return;
    if (e.value > limits.float16_max)
        say(r, found("float16-overflow", SS_SEVERITY_ERROR, &e, "max_logit"),
            "The largest attention logit, %.7g in layer %zu head %zu, exceeds 65504: in float16 it overflows "
            "to infinity.",
            e.value, e.place.layer, e.place.head);
    else if (e.count > 0)
        say(r, found("high-logit", SS_SEVERITY_WARNING, &e, "max_logit"),
            "%zu head%s attention logits above %.0f, where training tends to become unstable. Largest: %.1f "
            "in layer %zu head %zu.",
            e.count, e.count == 1 ? " has" : "s have", limits.high_logit, e.value, e.place.layer,
            e.place.head);
    else
        say(r, found("largest-logit", SS_SEVERITY_INFO, &e, "max_logit"),
            "The largest attention logit is %.1f, in layer %zu head %zu (trouble starts around %.0f).",
            e.value, e.place.layer, e.place.head, limits.high_logit);
}

static void first_key_sinks(ss_result *r) {
    const double threshold = ss_number_at(json_object_get(r->root, "settings"), "sink_threshold");
    const extreme e = largest(r, "first_key", threshold, limits.least_rows);
    if (e.count == 0) return;
    char token[96];
    token_name(r, 0, token, sizeof token);
    say(r, found("attention-sink", SS_SEVERITY_INFO, &e, "first_key"),
        "Attention sink: %zu of %zu heads (%.0f%%) put more than %.0f%% of their weight on %s, averaged over "
        "rows with two or more keys. Strongest: layer %zu head %zu, %.1f%%.",
        e.count, e.total, 100.0 * (double)e.count / (double)e.total, 100 * threshold, token, e.place.layer,
        e.place.head, 100 * e.value);
}

/* Sinks at a key other than the first. */
static void other_sinks(ss_result *r) {
    const double threshold = ss_number_at(json_object_get(r->root, "settings"), "sink_threshold");
    const json_t *layer, *head;
    size_t i, j;
    extreme e = {.above = threshold, .least_rows = limits.least_rows};
    json_array_foreach(json_object_get(r->root, "layers"), i, layer) {
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            double key = ss_number_at(head, "sink_key"), weight = ss_number_at(head, "sink_weight");
            if (!(key > 0) || !(weight > threshold)) continue;
            compare(&e,
                    &(ss_place){"head", (size_t)ss_number_at(layer, "index"),
                                (size_t)ss_number_at(head, "index"), head},
                    weight);
        }
    }
    if (e.count == 0) return;
    char token[96];
    token_name(r, (size_t)ss_number_at(e.place.node, "sink_key"), token, sizeof token);
    say(r, found("sink-elsewhere", SS_SEVERITY_INFO, &e, "sink_weight"),
        "%zu head%s a sink that is not the first token. Strongest: layer %zu head %zu puts %.1f%% on %s.",
        e.count, e.count == 1 ? " has" : "s have", e.place.layer, e.place.head, 100 * e.value, token);
}

static void massive_activations(ss_result *r) {
    const json_t *layer, *entry;
    size_t i, j, states = 0, token = 0, dimension = 0, first = 0, last = 0, at = 0;
    double top = 0, median = NAN;
    json_array_foreach(json_object_get(r->root, "layers"), i, layer) {
        const json_t *hidden = json_object_get(layer, "hidden"),
                     *massive = json_object_get(hidden, "massive");
        if (json_array_size(massive) == 0) continue;
        last = (size_t)ss_number_at(layer, "index");
        if (states++ == 0) first = last;
        json_array_foreach(massive, j, entry) {
            double value = ss_number_at(entry, "value");
            if (fabs(value) <= fabs(top)) continue;
            top = value;
            token = (size_t)ss_number_at(entry, "token");
            dimension = (size_t)ss_number_at(entry, "dimension");
            median = ss_number_at(hidden, "median_abs");
            at = last;
        }
    }
    if (states == 0) return;
    char name[96];
    token_name(r, token, name, sizeof name);
    say(r,
        (ss_finding){.id = "massive-activation",
                     .severity = SS_SEVERITY_INFO,
                     .layer = at,
                     .head = SS_NOWHERE,
                     .token = token,
                     .metric = "max_abs",
                     .value = top,
                     .threshold = 100},
        "Massive activations in %zu hidden state%s, from layer %zu to layer %zu. Largest: %.1f at %s, "
        "dimension %zu, after layer %zu (the median magnitude there is %.3g).",
        states, states == 1 ? "" : "s", first, last, top, name, dimension, at, median);
}

/* Heads whose mean weight on a kind of key says what they do. */
static void specialists(ss_result *r, const char *id, const char *metric, double above, const char *what) {
    const extreme e = largest(r, metric, above, limits.least_rows);
    if (e.count == 0) return;
    say(r, found(id, SS_SEVERITY_INFO, &e, metric),
        "%zu head%s mostly %s. Strongest: layer %zu head %zu, %.0f%% of its weight.", e.count,
        e.count == 1 ? " looks" : "s look", what, e.place.layer, e.place.head, 100 * e.value);
}

static void output_layer(ss_result *r) {
    const json_t *output = json_object_get(r->root, "output");
    const double wrong = ss_number_at(output, "confident_wrong"),
                 right = ss_number_at(output, "confident_correct");
    const double numeric = ss_number_at(output, "numeric");
    ss_finding finding = {.layer = SS_NOWHERE, .head = SS_NOWHERE, .token = SS_NOWHERE, .threshold = NAN};
    if (wrong > 0 && wrong >= limits.least_rows && wrong > right) {
        finding.id = "confident-wrong", finding.severity = SS_SEVERITY_WARNING;
        finding.metric = "confident_wrong", finding.value = wrong;
        say(r, finding,
            "The model is more often confidently wrong than confidently right (%.0f against %.0f tokens with "
            "p_max > %g).",
            wrong, right, ss_number_at(r->root, "settings.confident"));
    }
    if (numeric > 0) {
        finding.id = "numeric-saturation", finding.severity = SS_SEVERITY_INFO;
        finding.metric = "numeric", finding.value = numeric;
        say(r, finding,
            "At %.0f output position%s the largest probability rounds to 1 in float32: training on such a "
            "token, if it is the right one, has a gradient of exactly 0.",
            numeric, numeric == 1 ? "" : "s");
    }
}

static void unproved_rows(ss_result *r) {
    const json_t *layer, *head;
    size_t i, j;
    double rows = 0, proved = 0;
    json_array_foreach(json_object_get(r->root, "layers"), i, layer) {
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            double share = ss_number_at(head, "theta_exact_share"), count = ss_number_at(head, "theta.count");
            if (!isfinite(share) || !isfinite(count)) continue;
            rows += count;
            proved += share * count;
        }
    }
    if (rows == 0) return;
    const ss_finding finding = {.id = "theta-proved",
                                .severity = SS_SEVERITY_INFO,
                                .layer = SS_NOWHERE,
                                .head = SS_NOWHERE,
                                .token = SS_NOWHERE,
                                .metric = "theta_exact_share",
                                .value = proved / rows,
                                .threshold = NAN};
    if (rows - proved < 0.5)
        say(r, finding, "theta is proved exact for every one of the %.0f rows.", rows);
    else
        say(r, finding, "theta is proved exact for %.4f%% of %.0f rows; the rest carry a bracket.",
            100 * proved / rows, rows);
}

void ss_findings_add(ss_result *result) {
    ss_result_array(result, result->root, "findings"); /* there also when nothing is found */
    first_non_finite(result);
    saturated_heads(result);
    scale_driven_heads(result);
    largest_logit(result);
    first_key_sinks(result);
    other_sinks(result);
    massive_activations(result);
    specialists(result, "induction-heads", "induction", limits.induction,
                "at what followed the last occurrence of the current token (induction)");
    specialists(result, "previous-token-heads", "prev_token", limits.previous, "at the token before");
    output_layer(result);
    unproved_rows(result);
}
