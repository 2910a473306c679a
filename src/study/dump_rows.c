/* Row by row: which keys a row holds, whether it is a distribution, and its measures. A row is converted to
 * double, its keys are packed together, and only then anything is computed; no copy of the array is made.
 * Relies on: measure/check, measure/row, measure/row_double, base/team. */
#include "base/team.h"
#include "measure/row_double.h"
#include "study/dump_impl.h"

#include <math.h>

const char *ss_dump_state_name(ss_dump_state state) {
    static const char *const names[] = {
#define SS_DUMP_STATE_NAME(state_, name, reason) [state_] = name,
        SS_DUMP_STATE_LIST(SS_DUMP_STATE_NAME)
#undef SS_DUMP_STATE_NAME
    };
    return names[state];
}

const char *ss_dump_state_reason(ss_dump_state state) {
    static const char *const reasons[] = {
#define SS_DUMP_STATE_REASON(state_, name, reason) [state_] = reason,
        SS_DUMP_STATE_LIST(SS_DUMP_STATE_REASON)
#undef SS_DUMP_STATE_REASON
    };
    return reasons[state];
}

/* What one worker needs for a row. */
typedef struct bench {
    double *values;  /* [n] the row as it is in the file */
    double *atoms;   /* [n + 1] the keys of its support, in order, then the sink */
    float *narrow;   /* [n + 1] the same in float32 */
    void *workspace; /* for measure/row and measure/row_double */
} bench;

/* A row on the bench. */
typedef struct loaded {
    size_t keys, atoms; /* atoms = keys and the sink */
    bool sees_first;    /* key 0 is in the row */
    double total;       /* of the atoms */
} loaded;

typedef struct pass {
    ss_dump *dump;
    bench *benches;          /* [workers] */
    size_t first, end, step; /* rows first..end-1 in blocks of `step` */
} pass;

/* ---- the support ------------------------------------------------------------------------------- */

/* Keys 0 .. limit - 1 are visible to this row of a causal model. */
static size_t causal_limit(const ss_dump *dump, size_t row) {
    const size_t reach = row % dump->queries + dump->n + 1; /* i + n - T + 1, T still to be taken off */
    const size_t limit = reach > dump->queries ? reach - dump->queries : 0;
    return limit < dump->n ? limit : dump->n;
}

/* The mask's items of this row; NULL without a mask. */
static const unsigned char *mask_row(const ss_dump *dump, size_t row) {
    const unsigned char *items = dump->mask.data;
    for (unsigned axis = dump->array.dims - 1; items && axis-- > 0;) {
        items += row % dump->array.shape[axis] * dump->mask_strides[axis];
        row /= dump->array.shape[axis];
    }
    return items;
}

static bool is_set(const unsigned char *item, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (item[i]) return true;
    return false;
}

typedef struct support {
    size_t limit;              /* causality */
    const unsigned char *mask; /* or NULL */
    size_t stride, bytes;      /* of a mask item */
} support;

static support support_of(const ss_dump *dump, size_t row) {
    return (support){.limit = dump->options->causal ? causal_limit(dump, row) : dump->n,
                     .mask = mask_row(dump, row),
                     .stride = dump->mask_strides[dump->array.dims - 1],
                     .bytes = ss_type_block_bytes(dump->mask.type)};
}

static inline bool sees(const support *s, size_t key) {
    return key < s->limit && (!s->mask || is_set(s->mask + key * s->stride, s->bytes));
}

/* ---- weights ----------------------------------------------------------------------------------- */

static loaded load_weights(const ss_dump *dump, size_t row, const bench *b, ss_dump_row *out) {
    const support s = support_of(dump, row);
    const size_t diagonal = causal_limit(dump, row);
    loaded l = {0};
    double outside = 0;
    for (size_t key = 0; key < dump->n; key++) {
        const double weight = b->values[key];
        if (key >= diagonal && weight != 0) out->flags |= SS_DUMP_ABOVE_DIAGONAL;
        if (weight == -INFINITY) out->flags |= SS_DUMP_MINUS_INFINITY;
        if (sees(&s, key)) {
            if (key == 0) l.sees_first = true;
            if (weight == 0) out->flags |= SS_DUMP_HAS_ZERO;
            b->atoms[l.keys++] = weight;
        } else if (weight != 0) { /* a NaN too */
            outside += fabs(weight);
            out->outside++;
        }
    }
    l.atoms = l.keys;
    if (l.keys > 0) out->value[SS_DUMP_aside] = outside;
    return l;
}

/* Floating-point types from the widest: digits of the significand, and the least number above 0. */
static const struct {
    ss_row_type type;
    int digits;
    double least;
} float_types[] = {
    {SS_ROW_FLOAT32, 24, 0x1p-149}, {SS_ROW_FLOAT16, 11, 0x1p-24}, {SS_ROW_BFLOAT16, 8, 0x1p-133}};

static bool all_fit(const double *weights, size_t count, int digits, double least) {
    for (size_t i = 0; i < count; i++) {
        int exponent;
        const double whole = ldexp(frexp(weights[i], &exponent), digits), steps = weights[i] / least;
        if (whole != rint(whole) || steps != rint(steps)) return false;
    }
    return true;
}

static ss_row_type stored_type(const ss_dump *dump) {
    if (dump->is_text) return SS_ROW_FLOAT32;
    switch (dump->array.type) {
    case SS_TYPE_F64:
        return SS_ROW_FLOAT64;
    case SS_TYPE_F16:
        return SS_ROW_FLOAT16;
    case SS_TYPE_BF16:
        return SS_ROW_BFLOAT16;
    default:
        return SS_ROW_FLOAT32;
    }
}

/* Frameworks widen before they save (NumPy has no bfloat16): where the sum is off by more than the file's
 * type explains, the narrowest type that holds every weight exactly may explain it. */
static ss_row_check_result check_weights(const ss_dump *dump, const double *weights, size_t count,
                                         ss_dump_row *out) {
    const ss_row_type stored = stored_type(dump);
    const ss_row_check_result check = ss_row_check_double(weights, count, stored);
    if (check.state != SS_ROW_SUM || dump->is_text) return check;
    for (size_t i = 0; i < sizeof float_types / sizeof *float_types; i++) {
        const ss_row_type type = float_types[i].type;
        if (type == stored || ss_row_tolerance(type, count) < check.sum_error) continue;
        if (!all_fit(weights, count, float_types[i].digits, float_types[i].least)) continue;
        out->flags |= SS_DUMP_WIDENED;
        return ss_row_check_double(weights, count, type);
    }
    return check;
}

static ss_dump_state judge_weights(const ss_dump *dump, const bench *b, loaded *l, ss_dump_row *out) {
    static const ss_dump_state states[] = {[SS_ROW_OK] = SS_DUMP_MEASURED,
                                           [SS_ROW_MASKED] = SS_DUMP_MASKED,
                                           [SS_ROW_NOT_FINITE] = SS_DUMP_NOT_FINITE,
                                           [SS_ROW_NEGATIVE] = SS_DUMP_NEGATIVE,
                                           [SS_ROW_SUM] = SS_DUMP_SUM};
    if (l->keys == 0) return SS_DUMP_MASKED;
    const ss_row_check_result check = check_weights(dump, b->atoms, l->keys, out);
    l->total = check.sum;
    out->value[SS_DUMP_sum] = check.sum;
    if (check.state == SS_ROW_NOT_FINITE || !isfinite(out->value[SS_DUMP_aside])) return SS_DUMP_NOT_FINITE;
    return out->outside ? SS_DUMP_OUTSIDE : states[check.state];
}

/* ---- logits ------------------------------------------------------------------------------------ */

/* A mask written as a number: nothing a model computes lies there (float16's lowest is -65504). */
static const double FAR_BELOW = -1e4;

static loaded load_logits(const ss_dump *dump, size_t row, const bench *b, ss_dump_row *out) {
    const support s = support_of(dump, row);
    loaded l = {0};
    for (size_t key = 0; key < dump->n; key++) {
        const double logit = b->values[key];
        if (!sees(&s, key) || logit == -INFINITY) continue;
        if (key == 0) l.sees_first = true;
        if (logit <= FAR_BELOW) out->flags |= SS_DUMP_FAR_BELOW;
        b->atoms[l.keys++] = logit;
    }
    l.atoms = l.keys;
    if (dump->options->has_sink) b->atoms[l.atoms++] = dump->options->sink;
    return l;
}

/* Atoms hold logits, then weights of which the largest is 1. */
static ss_dump_state weigh(const ss_dump *dump, const bench *b, loaded *l, ss_dump_row *out) {
    double top_key = -INFINITY, top = -INFINITY;
    if (l->keys == 0) return SS_DUMP_MASKED;
    for (size_t i = 0; i < l->atoms; i++) {
        if (!isfinite(b->atoms[i])) return SS_DUMP_NOT_FINITE;
        top = fmax(top, b->atoms[i]);
        if (i < l->keys) top_key = top;
    }
    const double tau = dump->options->tau;
    for (size_t i = 0; i < l->atoms; i++) {
        b->atoms[i] = exp((b->atoms[i] - top) / tau);
        l->total += b->atoms[i];
    }
    out->value[SS_DUMP_max_logit] = top_key / tau;
    if (dump->options->has_sink) out->value[SS_DUMP_aside] = b->atoms[l->keys] / l->total;
    return SS_DUMP_MEASURED;
}

/* ---- measures ---------------------------------------------------------------------------------- */

/* The largest share of abs(weight) over the keys, which rows have that are no distribution, too. */
static double sparsity(const double *weights, size_t keys) {
    double largest = 0, sum = 0;
    for (size_t i = 0; i < keys; i++) {
        sum += fabs(weights[i]);
        largest = fmax(largest, fabs(weights[i]));
    }
    return sum > 0 && isfinite(sum) ? largest / sum : (double)NAN;
}

/* Weights that a float holds go the fast way. */
static ss_row_measures measure_atoms(const ss_dump *dump, const bench *b, const loaded *l) {
    const ss_compute *compute = &dump->options->compute;
    const uint64_t budget = dump->options->probe.theta_nodes;
    ss_row_measures m;
    if (dump->options->logits || dump->array.type == SS_TYPE_F64) {
        ss_row_measure_double(compute->isa, b->atoms, l->atoms, budget, b->workspace, &m);
        return m;
    }
    for (size_t i = 0; i < l->atoms; i++) b->narrow[i] = (float)b->atoms[i];
    const ss_row row = {.weights = b->narrow, .total = l->total, .n = l->atoms};
    ss_row_measure(compute->isa, &row, SS_ROW_ALL, budget, b->workspace, &m);
    return m;
}

static void keep(const ss_dump *dump, const bench *b, const loaded *l, ss_dump_row *out) {
    const ss_row_measures m = measure_atoms(dump, b, l);
    const double tau = dump->options->tau;
    double *value = out->value;
    value[SS_DUMP_theta] = m.theta;
    value[SS_DUMP_lower] = m.theta_lower;
    value[SS_DUMP_upper] = m.theta_upper;
    value[SS_DUMP_theta_cert] = m.theta_cert;
    value[SS_DUMP_entropy] = m.entropy;
    value[SS_DUMP_p_max] = m.p_max;
    value[SS_DUMP_jac_2] = m.jac_2 / tau;
    value[SS_DUMP_jac_inf] = m.jac_inf / tau;
    value[SS_DUMP_jac_frob] = m.jac_frob / tau;
    value[SS_DUMP_first_key] = l->sees_first ? b->atoms[0] / l->total : 0;
    if (m.theta_exact) out->flags |= SS_DUMP_EXACT;
}

static void measure_row(const ss_dump *dump, size_t row, const bench *b, ss_dump_row *out) {
    const bool logits = dump->options->logits;
    const size_t bytes = dump->n * ss_type_block_bytes(dump->array.type);
    *out = (ss_dump_row){0};
    for (size_t v = 0; v < SS_DUMP_VALUES; v++) out->value[v] = (double)NAN;
    ss_to_f64(dump->array.type, (const char *)dump->array.data + row * bytes, dump->n, b->values);
    loaded l = logits ? load_logits(dump, row, b, out) : load_weights(dump, row, b, out);
    ss_dump_state state = logits ? weigh(dump, b, &l, out) : judge_weights(dump, b, &l, out);
    out->support = state == SS_DUMP_MASKED ? 0 : (uint32_t)l.keys;
    if (state == SS_DUMP_MEASURED && l.atoms == 1) state = SS_DUMP_SINGLE_KEY;
    out->state = (uint8_t)state;
    if (l.keys > 1 && !(logits && state == SS_DUMP_NOT_FINITE))
        out->value[SS_DUMP_sparsity] = sparsity(b->atoms, l.keys);
    if (state == SS_DUMP_MEASURED) keep(dump, b, &l, out);
}

/* ---- all rows ---------------------------------------------------------------------------------- */

static void measure_block(void *context, size_t index, int worker) {
    const pass *p = context;
    const size_t begin = p->first + index * p->step,
                 end = begin + p->step < p->end ? begin + p->step : p->end;
    for (size_t row = begin; row < end; row++)
        measure_row(p->dump, row, &p->benches[worker], &p->dump->results[row]);
}

/* Blocks of rows go to the team a batch at a time, so that progress can be shown and the work stopped. */
static ss_status run(pass *p, int workers, ss_error *error) {
    enum { BLOCK_NUMBERS = 1 << 16, BATCH_BLOCKS = 64 };
    const ss_dump *dump = p->dump;
    const ss_dump_options *o = dump->options;
    p->step = dump->n < BLOCK_NUMBERS ? BLOCK_NUMBERS / dump->n : 1;
    const size_t batch = p->step * BATCH_BLOCKS * (size_t)workers;
    for (p->first = 0; p->first < dump->rows; p->first = p->end) {
        p->end = dump->rows - p->first < batch ? dump->rows : p->first + batch;
        ss_team_run(workers, (p->end - p->first + p->step - 1) / p->step, measure_block, p);
        if (o->progress && !o->progress(o->progress_context, (double)p->end / (double)dump->rows))
            return ss_fail(error, SS_E_CANCELLED, NULL, "stopped");
    }
    return SS_OK;
}

static bool make_bench(bench *b, size_t n) {
    const size_t quick = ss_row_workspace(n + 1), wide = ss_row_double_workspace(n + 1);
    b->values = ss_alloc(NULL, n, sizeof *b->values);
    b->atoms = ss_alloc(NULL, n + 1, sizeof *b->atoms);
    b->narrow = ss_alloc(NULL, n + 1, sizeof *b->narrow);
    b->workspace = ss_alloc(NULL, quick > wide ? quick : wide, 1);
    return b->values && b->atoms && b->narrow && b->workspace;
}

static void free_bench(bench *b) {
    ss_free(NULL, b->values);
    ss_free(NULL, b->atoms);
    ss_free(NULL, b->narrow);
    ss_free(NULL, b->workspace);
}

ss_status ss_dump_measure(ss_dump *dump, ss_error *error) {
    const size_t asked = (size_t)dump->options->compute.workers,
                 workers = asked < dump->rows ? asked : dump->rows;
    pass p = {.dump = dump, .benches = ss_alloc_zero(NULL, workers, sizeof *p.benches)};
    dump->results = ss_alloc(NULL, dump->rows, sizeof *dump->results);
    bool ready = p.benches && dump->results;
    for (size_t w = 0; ready && w < workers; w++) ready = make_bench(&p.benches[w], dump->n);
    const ss_status status = ready ? run(&p, (int)workers, error) : ss_fail_memory(error, dump->name);
    for (size_t w = 0; p.benches && w < workers; w++) free_bench(&p.benches[w]);
    ss_free(NULL, p.benches);
    return status;
}
