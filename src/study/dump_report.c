/* The document of the dump study: input, settings, and what all rows and each group of rows come to.
 * Relies on: result, probe/bins, measure/summary, measure/sink. */
#include "measure/sink.h"
#include "probe/bins.h"
#include "study/dump_impl.h"

#include <math.h>

enum { MOST_GROUPS = 4096 }; /* more would make a document of tens of megabytes */

/* A stretch of rows: a group, or all of them. */
typedef struct stretch {
    const ss_dump *dump;
    const ss_dump_row *rows; /* [count] */
    size_t count;
    double *scratch; /* [count] */
    ss_result *result;
    json_t *node;      /* where it is written */
    const char *empty; /* why no row was measured */
    size_t states[SS_DUMP_STATES];
} stretch;

static bool is_measured(const ss_dump_row *row) {
    return row->state == SS_DUMP_MEASURED;
}

/* ---- numbers of a row --------------------------------------------------------------------------- */

typedef double row_number(const stretch *s, const ss_dump_row *row);

static double entropy_norm_of(const stretch *s, const ss_dump_row *row) {
    return row->value[SS_DUMP_entropy] / log((double)ss_dump_atoms(s->dump, row));
}

static double jac_inf_1_of(const stretch *s, const ss_dump_row *row) {
    return row->value[SS_DUMP_theta] / s->dump->options->tau;
}

/* Every measure that is summarised, as inspect names them; `number` where it is not kept as it is. */
static const struct {
    const char *name;
    enum ss_dump_value kept;
    row_number *number;
} measures[] = {
    {"entropy", SS_DUMP_entropy, NULL},       {"entropy_norm", SS_DUMP_entropy, entropy_norm_of},
    {"p_max", SS_DUMP_p_max, NULL},           {"theta", SS_DUMP_theta, NULL},
    {"theta_cert", SS_DUMP_theta_cert, NULL}, {"jac_inf_1", SS_DUMP_theta, jac_inf_1_of},
    {"jac_2", SS_DUMP_jac_2, NULL},           {"jac_inf", SS_DUMP_jac_inf, NULL},
    {"jac_frob", SS_DUMP_jac_frob, NULL},
};

static double number_of(const stretch *s, const ss_dump_row *row, enum ss_dump_value kept,
                        row_number *number) {
    return number ? number(s, row) : row->value[kept];
}

static void write_summaries(const stretch *s) {
    for (size_t m = 0; m < sizeof measures / sizeof *measures; m++) {
        size_t count = 0;
        for (size_t r = 0; r < s->count; r++)
            if (is_measured(&s->rows[r]))
                s->scratch[count++] = number_of(s, &s->rows[r], measures[m].kept, measures[m].number);
        const ss_summary summary = ss_summarize(s->scratch, count);
        ss_result_summary(s->result, s->node, measures[m].name, &summary, s->empty);
    }
}

/* Of one kept value over the rows of a state. */
static ss_summary summary_of(const stretch *s, enum ss_dump_value kept, ss_dump_state state) {
    size_t count = 0;
    for (size_t r = 0; r < s->count; r++)
        if (s->rows[r].state == state) s->scratch[count++] = s->rows[r].value[kept];
    return ss_summarize(s->scratch, count);
}

/* ---- along the queries -------------------------------------------------------------------------- */

/* Means of a value over the rows of each query bin; `any_state`: of every row that has it. */
static void write_profile(const stretch *s, json_t *node, const char *name, enum ss_dump_value kept,
                          row_number *number, bool any_state) {
    const size_t queries = s->dump->queries, bins = ss_bin_count(queries, SS_MAX_BINS);
    double sums[SS_MAX_BINS] = {0};
    size_t counts[SS_MAX_BINS] = {0};
    for (size_t r = 0; r < s->count; r++) {
        const double value = number_of(s, &s->rows[r], kept, number);
        if (!(any_state || is_measured(&s->rows[r])) || isnan(value)) continue;
        const size_t bin = ss_bin_of(queries, bins, r % queries);
        sums[bin] += value;
        counts[bin]++;
    }
    for (size_t b = 0; b < bins; b++) sums[b] = counts[b] ? sums[b] / (double)counts[b] : (double)NAN;
    ss_result_numbers(s->result, node, name, sums, bins);
}

static void write_profiles(const stretch *s) {
    if (s->dump->queries < 2 || s->states[SS_DUMP_MEASURED] == 0) return;
    json_t *profile = ss_result_object(s->result, s->node, "profile");
    write_profile(s, profile, "theta", SS_DUMP_theta, NULL, false);
    write_profile(s, profile, "entropy_norm", SS_DUMP_entropy, entropy_norm_of, false);
    write_profile(s, profile, "p_max", SS_DUMP_p_max, NULL, false);
    write_profile(s, profile, "first_key", SS_DUMP_first_key, NULL, false);
}

/* ---- counts ------------------------------------------------------------------------------------- */

static void write_counts(const stretch *s) {
    static const struct {
        const char *name;
        ss_dump_state state;
    } counted[] = {{"rows", SS_DUMP_MEASURED},
                   {"single_key_rows", SS_DUMP_SINGLE_KEY},
                   {"masked_rows", SS_DUMP_MASKED},
                   {"non_finite_rows", SS_DUMP_NOT_FINITE}};
    ss_result_count(s->result, s->node, "count", s->count);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
        ss_result_count(s->result, s->node, counted[i].name, s->states[counted[i].state]);
}

static double sum_error(const ss_dump_row *row) {
    const double error = fabs(row->value[SS_DUMP_sum] - 1);
    return isfinite(error) ? error : 0;
}

/* The largest abs(sum - 1) of the rows that were divided by their sum, and of those that were refused. */
static void write_distributions(const stretch *s) {
    size_t refused = 0;
    double accepted_error = 0, refused_error = 0;
    for (int state = SS_DUMP_FIRST_REFUSED; state < SS_DUMP_STATES; state++) refused += s->states[state];
    for (size_t r = 0; r < s->count; r++) {
        const ss_dump_row *row = &s->rows[r];
        double *error = row->state >= SS_DUMP_FIRST_REFUSED ? &refused_error : &accepted_error;
        if (row->state != SS_DUMP_MASKED) *error = fmax(*error, sum_error(row));
    }
    if (!s->dump->options->logits)
        ss_result_number(s->result, s->node, "max_sum_error", accepted_error, NULL);
    json_t *node = ss_result_object(s->result, s->node, "not_distribution");
    ss_result_count(s->result, node, "count", refused);
    ss_result_number(s->result, node, "max_sum_error", refused_error, NULL);
    json_t *reasons = ss_result_object(s->result, node, "reasons");
    for (int state = SS_DUMP_FIRST_REFUSED; state < SS_DUMP_STATES; state++)
        if (s->states[state] > 0)
            ss_result_count(s->result, reasons, ss_dump_state_name((ss_dump_state)state), s->states[state]);
}

static void write_outside(const stretch *s) {
    size_t entries = 0;
    if (s->states[SS_DUMP_OUTSIDE] == 0) return;
    for (size_t r = 0; r < s->count; r++)
        if (s->rows[r].state == SS_DUMP_OUTSIDE) entries += s->rows[r].outside;
    const ss_summary mass = summary_of(s, SS_DUMP_aside, SS_DUMP_OUTSIDE);
    json_t *node = ss_result_object(s->result, s->node, "outside_support");
    ss_result_count(s->result, node, "rows", s->states[SS_DUMP_OUTSIDE]);
    ss_result_count(s->result, node, "entries", entries);
    ss_result_summary(s->result, node, "mass", &mass, NULL);
    write_profile(s, node, "profile", SS_DUMP_aside, NULL, true);
}

/* Mean over the rows that have the value. */
static double mean_of(const stretch *s, enum ss_dump_value kept) {
    double sum = 0;
    size_t count = 0;
    for (size_t r = 0; r < s->count; r++) {
        if (isnan(s->rows[r].value[kept])) continue;
        sum += s->rows[r].value[kept];
        count++;
    }
    return count ? sum / (double)count : (double)NAN;
}

static double largest_logit(const stretch *s) {
    double largest = (double)NAN;
    for (size_t r = 0; r < s->count; r++) largest = fmax(largest, s->rows[r].value[SS_DUMP_max_logit]);
    return largest;
}

static void write_scalars(const stretch *s) {
    const ss_probe_options *probe = &s->dump->options->probe;
    size_t exact = 0, saturated = 0;
    for (size_t r = 0; r < s->count; r++) {
        exact += is_measured(&s->rows[r]) && (s->rows[r].flags & SS_DUMP_EXACT);
        saturated += is_measured(&s->rows[r]) && s->rows[r].value[SS_DUMP_theta] <= probe->saturated_theta;
    }
    const double measured = (double)s->states[SS_DUMP_MEASURED]; /* 0 / 0: absent */
    const double first_key = mean_of(s, SS_DUMP_first_key);
    ss_result *r = s->result;
    ss_result_number(r, s->node, "theta_exact_share", (double)exact / measured, s->empty);
    ss_result_count(r, s->node, "saturated", saturated);
    ss_result_number(r, s->node, "saturated_share", (double)saturated / measured, s->empty);
    ss_result_number(r, s->node, "sparsity", mean_of(s, SS_DUMP_sparsity), "no row has two or more keys");
    ss_result_number(r, s->node, "first_key", first_key, s->empty);
    ss_result_number(r, s->node, "sink_rate", ss_sink_rate(first_key, probe->sink_threshold), s->empty);
    if (s->dump->options->logits)
        ss_result_number(r, s->node, "max_logit", largest_logit(s), "no row has a finite logit");
    if (s->dump->options->has_sink) {
        const ss_summary mass = summary_of(s, SS_DUMP_aside, SS_DUMP_MEASURED);
        ss_result_summary(r, s->node, "sink_mass", &mass, s->empty);
    }
}

/* ---- a stretch, and all of them ------------------------------------------------------------------ */

/* The reason that most rows have. */
static const char *why_empty(const size_t states[SS_DUMP_STATES]) {
    int most = SS_DUMP_SINGLE_KEY;
    for (int state = most + 1; state < SS_DUMP_STATES; state++)
        if (states[state] > states[most]) most = state;
    return ss_dump_state_reason((ss_dump_state)most);
}

static void write_stretch(stretch s) {
    for (size_t r = 0; r < s.count; r++) s.states[s.rows[r].state]++;
    s.empty = why_empty(s.states);
    write_counts(&s);
    write_summaries(&s);
    write_scalars(&s);
    write_distributions(&s);
    write_outside(&s);
    write_profiles(&s);
}

static void write_index(const ss_dump *dump, ss_result *result, json_t *node, size_t group) {
    const unsigned leading = dump->array.dims - 2;
    size_t index[SS_MAX_DIMS];
    for (unsigned axis = leading; axis-- > 0; group /= dump->array.shape[axis])
        index[axis] = group % dump->array.shape[axis];
    json_t *array = ss_result_array(result, node, "index");
    for (unsigned axis = 0; axis < leading; axis++) ss_result_append_count(result, array, index[axis]);
}

static void write_groups(const ss_dump *dump, ss_result *result, double *scratch) {
    if (dump->array.dims < 3) return;
    if (dump->groups > MOST_GROUPS) {
        ss_result_absent(result, result->root, "groups", "more than 4096 groups: split the array");
        return;
    }
    json_t *groups = ss_result_array(result, result->root, "groups");
    for (size_t g = 0; g < dump->groups; g++) {
        json_t *node = ss_result_item(result, groups);
        write_index(dump, result, node, g);
        write_stretch((stretch){.dump = dump,
                                .rows = dump->results + g * dump->queries,
                                .count = dump->queries,
                                .scratch = scratch,
                                .result = result,
                                .node = node});
    }
}

static void write_input(const ss_dump *dump, ss_result *result) {
    const ss_dump_options *o = dump->options;
    const ss_array *array = &dump->array;
    json_t *input = ss_result_object(result, result->root, "input");
    ss_result_text(result, input, "name", dump->name);
    if (dump->array_name) ss_result_text(result, input, "array", dump->array_name);
    json_t *shape = ss_result_array(result, input, "shape");
    for (unsigned i = 0; i < array->dims; i++) ss_result_append_count(result, shape, array->shape[i]);
    ss_result_text(result, input, "type", dump->is_text ? "text" : ss_type_name(array->type));
    ss_result_text(result, input, "kind", o->logits ? "logits" : "weights");
    ss_result_number(result, input, "tau", o->tau, NULL);
    ss_result_text(result, input, "support",
                   o->causal && o->mask ? "causal and mask"
                   : o->causal          ? "causal"
                   : o->mask            ? "mask"
                                        : "all");
    if (o->has_sink) ss_result_number(result, input, "sink", o->sink, NULL);
}

static void write_settings(const ss_dump *dump, ss_result *result) {
    const ss_dump_options *o = dump->options;
    json_t *settings = ss_result_object(result, result->root, "settings");
    ss_result_count(result, settings, "threads", (size_t)o->compute.workers);
    ss_result_text(result, settings, "isa", ss_isa_name(o->compute.isa));
    ss_result_text(result, settings, "row_range",
                   o->has_sink ? "rows with one or more keys beside the sink" : "rows with two or more keys");
    ss_result_number(result, settings, "sink_threshold", o->probe.sink_threshold, NULL);
    ss_result_number(result, settings, "saturated_theta", o->probe.saturated_theta, NULL);
    ss_result_count(result, settings, "theta_nodes", o->probe.theta_nodes);
}

ss_status ss_dump_report(const ss_dump *dump, ss_result *result, ss_error *error) {
    double *scratch = ss_alloc(NULL, dump->rows, sizeof *scratch);
    if (!scratch) return ss_fail_memory(error, dump->name);
    write_input(dump, result);
    write_settings(dump, result);
    ss_result_metrics(result);
    write_stretch((stretch){.dump = dump,
                            .rows = dump->results,
                            .count = dump->rows,
                            .scratch = scratch,
                            .result = result,
                            .node = ss_result_object(result, result->root, "rows")});
    write_groups(dump, result, scratch);
    ss_free(NULL, scratch);
    return ss_result_check(result, error);
}
