/* What a person should know first about a dump, in plain words: each function below looks for one kind of
 * trouble, or of news. Relies on: result, study/places. */
#include "study/dump_impl.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

/* Where a hint is given, and why there. */
static const struct {
    double logits_sum;      /* weights with dropout 0.5 sum to 2 at most now and then; logits anywhere */
    double saturated_share; /* more than half of the rows pass next to no gradient */
} limits = {.logits_sum = 2.5, .saturated_share = 0.5};

/* Everything the findings ask of the rows, counted once. */
typedef struct census {
    const ss_dump *dump;
    ss_result *result;
    const json_t *rows; /* of the document */
    size_t states[SS_DUMP_STATES];
    size_t first[SS_DUMP_STATES]; /* the first row of each state */
    size_t entries_outside, widened, far_below, above_diagonal;
    size_t minus_infinity; /* rows of weights with an entry that only a logit can be */
    size_t bad_with_zero;  /* rows that do not sum to 1 and hold a weight of exactly 0, or 0 alone */
    size_t beyond;         /* rows whose sum no dropout explains */
} census;

static census count(const ss_dump *dump, ss_result *result) {
    census c = {.dump = dump, .result = result, .rows = json_object_get(result->root, "rows")};
    for (size_t r = dump->rows; r-- > 0;) {
        const ss_dump_row *row = &dump->results[r];
        c.states[row->state]++;
        c.first[row->state] = r;
        c.widened += (row->flags & SS_DUMP_WIDENED) != 0;
        c.far_below += (row->flags & SS_DUMP_FAR_BELOW) != 0;
        c.above_diagonal += (row->flags & SS_DUMP_ABOVE_DIAGONAL) != 0;
        c.minus_infinity += (row->flags & SS_DUMP_MINUS_INFINITY) != 0;
        if (row->state == SS_DUMP_OUTSIDE) c.entries_outside += row->outside;
        if (row->state != SS_DUMP_SUM) continue;
        c.bad_with_zero += (row->flags & SS_DUMP_HAS_ZERO) != 0;
        c.beyond += row->value[SS_DUMP_sum] > limits.logits_sum;
    }
    return c;
}

#if defined(__GNUC__)
__attribute__((format(printf, 6, 7)))
#endif
static void
say(const census *c, const char *id, ss_severity severity, const char *metric, double value,
    const char *format, ...) {
    char text[640];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ss_result_finding(c->result, &(ss_finding){.id = id,
                                               .severity = severity,
                                               .text = text,
                                               .layer = SS_NOWHERE,
                                               .head = SS_NOWHERE,
                                               .token = SS_NOWHERE,
                                               .metric = metric,
                                               .value = value,
                                               .threshold = (double)NAN});
}

static const char *plural(size_t items) {
    return items == 1 ? "" : "s";
}

/* ---- what is no distribution --------------------------------------------------------------------- */

static void non_finite(const census *c) {
    const size_t rows = c->states[SS_DUMP_NOT_FINITE];
    if (rows == 0) return;
    say(c, "non-finite", SS_SEVERITY_ERROR, "non_finite_rows", (double)rows,
        "%zu of %zu rows hold a NaN or an infinity, first row %zu. %s", rows, c->dump->rows,
        c->first[SS_DUMP_NOT_FINITE],
        c->minus_infinity > 0
            ? "Minus infinity is how logits are masked: if these are logits, give --logits."
            : "Many frameworks make NaN of a row whose keys are all masked: if so, give --causal or --mask.");
}

/* "0.75, 0.5, 0.25, 0": the mean leaked mass by query, as far as there is room. */
static void leaks_text(const census *c, char *text, size_t capacity) {
    enum { MOST = 6 };
    const json_t *profile = json_object_get(json_object_get(c->rows, "outside_support"), "profile");
    const size_t bins = json_array_size(profile), shown = bins < MOST ? bins : MOST;
    size_t used = 0;
    text[0] = '\0';
    for (size_t b = 0; b < shown && used < capacity; b++)
        used += (size_t)snprintf(text + used, capacity - used, "%s%.4g", b ? ", " : "",
                                 json_number_value(json_array_get(profile, b)));
    if (shown < bins && used < capacity) snprintf(text + used, capacity - used, ", ...");
}

static void lost_mask(const census *c) {
    const size_t rows = c->states[SS_DUMP_OUTSIDE];
    if (rows == 0) return;
    char leaks[128];
    leaks_text(c, leaks, sizeof leaks);
    const bool causal = c->dump->options->causal;
    say(c, "lost-mask", SS_SEVERITY_WARNING, "outside_support", (double)c->entries_outside,
        "%zu entr%s %s hold%s weight, in %zu of %zu rows: %s. Leaked mass along the queries: %s. These rows "
        "get no entropy and no theta.",
        c->entries_outside, c->entries_outside == 1 ? "y" : "ies",
        causal ? "above the diagonal" : "outside the mask", c->entries_outside == 1 ? "s" : "", rows,
        c->dump->rows,
        causal ? "the dump lost its causal mask, or the model is not causal"
               : "the dump was not made under this mask",
        leaks);
}

static void look_like_logits(const census *c, size_t rows) {
    say(c, "looks-like-logits", SS_SEVERITY_WARNING, "not_distribution", (double)rows,
        "%zu of %zu rows cannot be weights (some are negative, or sum to far more than 1): they look like "
        "logits. If they are, give --logits (and --tau); unnormalised attention has no entropy and no theta.",
        rows, c->dump->rows);
}

static void not_normal(const census *c) {
    const size_t negative = c->states[SS_DUMP_NEGATIVE], sum = c->states[SS_DUMP_SUM], rows = negative + sum;
    const double error = ss_number_at(c->rows, "not_distribution.max_sum_error");
    if (rows == 0) return;
    if (2 * (negative + c->beyond) > rows)
        look_like_logits(c, rows);
    else if (c->bad_with_zero > 0 && c->beyond == 0)
        say(c, "looks-like-dropout", SS_SEVERITY_WARNING, "not_distribution", (double)rows,
            "%zu of %zu rows do not sum to 1 (off by up to %.3g), and weights of exactly 0 stand among them: "
            "this looks like dropout left on. Call model.eval() before dumping.",
            rows, c->dump->rows, error);
    else
        say(c, "not-distribution", SS_SEVERITY_WARNING, "not_distribution", (double)rows,
            "%zu of %zu rows do not sum to 1 (off by up to %.3g), first row %zu: lost keys, a sink left out, "
            "dropout, or unnormalised attention. They get no entropy and no theta.",
            rows, c->dump->rows, error, c->first[sum ? SS_DUMP_SUM : SS_DUMP_NEGATIVE]);
}

/* ---- how the numbers were read --------------------------------------------------------------------- */

static void far_below(const census *c) {
    if (c->far_below == 0) return;
    say(c, "mask-as-number", SS_SEVERITY_WARNING, NULL, (double)NAN,
        "%zu row%s hold%s logits of -10000 or less: a mask written as a number. These keys count as visible "
        "(entropy_norm and support are off); give --causal or --mask.",
        c->far_below, plural(c->far_below), c->far_below == 1 ? "s" : "");
}

static void left_out(const census *c) {
    static const struct {
        ss_dump_state state;
        const char *id, *what;
    } kinds[] = {{SS_DUMP_SINGLE_KEY, "single-key-rows", "a single key"},
                 {SS_DUMP_MASKED, "masked-rows", "every key masked"}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t rows = c->states[kinds[i].state];
        if (rows > 0)
            say(c, kinds[i].id, SS_SEVERITY_INFO, NULL, (double)rows,
                "%zu of %zu rows left out of all numbers: %s.", rows, c->dump->rows, kinds[i].what);
    }
}

/* A causal dump taken as it is counts keys that no query could see. */
static void undeclared_causal(const census *c) {
    const ss_dump *dump = c->dump;
    const ss_dump_options *o = dump->options;
    if (o->logits || o->causal || o->mask || dump->queries < 3 || dump->n < dump->queries) return;
    if (c->above_diagonal > 0 || c->states[SS_DUMP_MEASURED] == 0) return;
    say(c, "undeclared-causal", SS_SEVERITY_WARNING, NULL, (double)NAN,
        "Every weight above the diagonal is 0: if the model is causal, give --causal. Until then keys that "
        "no query could see count in support and entropy/log n.");
}

static void rounding(const census *c) {
    const double error = ss_number_at(c->rows, "max_sum_error");
    if (!(error > 0)) return;
    say(c, "divided-by-sum", SS_SEVERITY_INFO, "max_sum_error", error,
        "Rows were divided by their sum, which is 1 up to rounding: abs(sum - 1) <= %.3g%s.", error,
        c->widened ? ", as of float16 or bfloat16 weights saved in a wider type" : "");
}

/* ---- what the rows say ------------------------------------------------------------------------------ */

static void saturated(const census *c) {
    const double share = ss_number_at(c->rows, "saturated_share");
    if (!(share > limits.saturated_share)) return;
    say(c, "saturated-rows", SS_SEVERITY_WARNING, "saturated_share", share,
        "%.0f%% of the rows are saturated (theta <= %g): what queries and keys learn through them is damped "
        "at least %.4g-fold.",
        100 * share, c->dump->options->probe.saturated_theta, 1 / c->dump->options->probe.saturated_theta);
}

static void first_key_sink(const census *c) {
    const double first_key = ss_number_at(c->rows, "first_key"),
                 threshold = c->dump->options->probe.sink_threshold;
    if (!(first_key > threshold)) return;
    say(c, "attention-sink", SS_SEVERITY_INFO, "first_key", first_key,
        "Attention sink: the first key holds %.1f%% of the weight on average over rows with two or more keys "
        "(threshold %g%%).",
        100 * first_key, 100 * threshold);
}

static void learned_sink(const census *c) {
    const double mass = ss_number_at(c->rows, "sink_mass.mean");
    if (!isfinite(mass)) return;
    say(c, "sink-mass", SS_SEVERITY_INFO, "sink_mass", mass,
        "The learned sink takes %.1f%% of the mass on average (%.1f%% at most).", 100 * mass,
        100 * ss_number_at(c->rows, "sink_mass.max"));
}

static void proved(const census *c) {
    const double share = ss_number_at(c->rows, "theta_exact_share");
    const size_t rows = c->states[SS_DUMP_MEASURED];
    if (rows == 0) return;
    if (share == 1)
        say(c, "theta-proved", SS_SEVERITY_INFO, "theta_exact_share", share, "theta is proved exact for %s.",
            rows == 1 ? "the one row measured" : "every row measured");
    else
        say(c, "theta-proved", SS_SEVERITY_INFO, "theta_exact_share", share,
            "theta is proved exact for %.4f%% of %zu rows; the rest carry a bracket (--theta-budget widens "
            "the search).",
            100 * share, rows);
}

void ss_dump_findings(const ss_dump *dump, ss_result *result) {
    static void (*const all[])(const census *) = {
        non_finite,   lost_mask,      not_normal, far_below, undeclared_causal, saturated,
        learned_sink, first_key_sink, proved,     left_out,  rounding};
    const census c = count(dump, result);
    ss_result_array(result, result->root, "findings");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) all[i](&c);
}
