/* Matching names to roles and laying out memory. Relies on: model/names. */
#include "model/plan.h"

#include "model/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct matcher {
    const ss_plan_input *input;
    const ss_architecture *architecture;
    ss_config *config;
    const char *prefix;
    ss_plan *plan;
    bool counting; /* the first walk counts and checks, the second one fills */
    ss_error *error;
} matcher;

/* ---- names -------------------------------------------------------------------------------------------- */

static const char *row_name(const matcher *m, const ss_tensor_name *row, size_t layer,
                            char name[SS_NAME_SIZE]) {
    const char *pattern = row->pattern[m->input->naming];
    return pattern ? ss_name_fill(row->root ? "" : m->prefix, pattern, layer, name) : NULL;
}

static const ss_tensor_view *row_view(const matcher *m, const ss_tensor_name *row, size_t layer) {
    char name[SS_NAME_SIZE];
    return row_name(m, row, layer, name) ? ss_tensors_find(m->input->files, name) : NULL;
}

static bool row_fills(const ss_tensor_name *row, ss_role role) {
    return row->role == role || (row->fused && row->role == ss_role_describe(role)->together);
}

/* The prefix under which the first row, the token embedding, is there; else the first. */
static const char *find_prefix(matcher *m) {
    if (m->input->naming == SS_NAMING_GGUF) return "";
    const char *const *prefixes = m->architecture->prefixes;
    for (const char *const *prefix = prefixes; *prefix; prefix++) {
        m->prefix = *prefix;
        if (row_view(m, &m->architecture->names[0], 0)) return *prefix;
    }
    return prefixes[0];
}

/* ---- one role ---------------------------------------------------------------------------------- */

/* A row's presence in this model: SS_ALWAYS, SS_MAYBE or SS_NEVER. */
static ss_presence presence(const matcher *m, const ss_tensor_name *row) {
    static const ss_presence of_bias[] = {
        [SS_BIAS_UNSAID] = SS_MAYBE, [SS_BIAS_NO] = SS_NEVER, [SS_BIAS_YES] = SS_ALWAYS};
    switch (row->presence) {
    case SS_IF_BIASED:
        return of_bias[m->input->draft->attn_bias];
    case SS_IF_FFN_BIASED:
        return of_bias[m->input->draft->ffn_bias];
    case SS_IF_UNTIED:
        if (m->input->naming == SS_NAMING_GGUF) return SS_MAYBE;
        return m->config->tied ? SS_NEVER : SS_ALWAYS;
    default:
        return row->presence;
    }
}

static ss_status missing(const matcher *m, const ss_tensor_name *row, size_t layer) {
    char name[SS_NAME_SIZE];
    if (!row_name(m, row, layer, name)) snprintf(name, sizeof name, "%s", ss_role_name(row->role));
    const char *advice = row->presence == SS_IF_UNTIED
                             ? "; the configuration says that the head is not tied to the token embedding"
                             : "";
    return ss_fail(m->error, SS_E_FORMAT, name, "the tensor (%s) is missing from %s%s",
                   ss_role_name(row->role), m->input->file, advice);
}

/* The shape that a row's tensor must have, before any transposition, and how to say it. */
typedef struct expected {
    size_t rows, columns;
    char text[320];
} expected;

static void say(expected *e, const char *separator, const char *word) {
    const size_t used = strlen(e->text);
    snprintf(e->text + used, sizeof e->text - used, "%s%s", separator, word);
}

/* Fused roles follow one another along their outputs: rows of a matrix, items of a vector. */
static expected expect(const matcher *m, const ss_tensor_name *row) {
    const ss_role_facts *first = ss_role_describe(row->role);
    const bool vector = first->rows == SS_DIM_ONE;
    expected e = {0};
    size_t outputs = 0;
    for (ss_role role = row->role; role < SS_ROLE_COUNT && row_fills(row, role); role++) {
        const ss_role_facts *facts = ss_role_describe(role);
        const ss_dim dim = vector ? facts->columns : facts->rows;
        outputs += ss_dim_size(dim, m->config);
        say(&e, role == row->role ? "" : " + ", ss_dim_name(dim));
    }
    e.rows = vector ? 1 : outputs;
    e.columns = vector ? outputs : ss_dim_size(first->columns, m->config);
    if (!vector) say(&e, ", ", ss_dim_name(first->columns));
    return e;
}

/* Leading dimensions of 1 are no difference: converters keep or drop them. */
static bool shape_is(const ss_tensor_view *view, size_t rows, size_t columns) {
    size_t shape[2] = {1, 1};
    for (unsigned i = 0; i < view->dims; i++) {
        const unsigned from_end = view->dims - 1 - i;
        if (from_end < 2)
            shape[1 - from_end] = view->shape[i];
        else if (view->shape[i] != 1)
            return false;
    }
    return shape[0] == rows && shape[1] == columns;
}

static bool transposed(const matcher *m, const ss_tensor_name *row) {
    return row->conv1d && m->input->naming == SS_NAMING_HF;
}

static ss_status check_shape(const matcher *m, const ss_tensor_name *row, const ss_tensor_view *view,
                             const expected *e) {
    const bool swapped = transposed(m, row);
    const size_t rows = swapped ? e->columns : e->rows, columns = swapped ? e->rows : e->columns;
    if (shape_is(view, rows, columns)) return SS_OK;
    char found[160], wanted[64];
    ss_shape_text(view->dims, view->shape, found, sizeof found);
    const bool vector = ss_role_describe(row->role)->rows == SS_DIM_ONE;
    ss_shape_text(vector ? 1 : 2, vector ? &columns : (const size_t[]){rows, columns}, wanted, sizeof wanted);
    return ss_fail(m->error, SS_E_FORMAT, view->name,
                   "the shape is %s, but the configuration asks for %s (%s%s)", found, wanted, e->text,
                   swapped ? "; transposed" : "");
}

static ss_status check_type(const matcher *m, const ss_tensor_view *view, size_t columns) {
    if (view->type < SS_TYPE_F64 || view->type > SS_TYPE_Q8_0)
        return ss_fail(m->error, SS_E_UNSUPPORTED, view->name,
                       "weights of type %s are not supported: convert them to F32, F16, BF16 or Q8_0",
                       view->type_name);
    const size_t block = ss_type_block_elements(view->type);
    if (columns % block != 0)
        return ss_fail(m->error, SS_E_FORMAT, view->name,
                       "rows of %zu are no whole number of %s blocks (%zu)", columns, view->type_name, block);
    return SS_OK;
}

static ss_status check(const matcher *m, const ss_tensor_name *row, const ss_tensor_view *view) {
    const expected e = expect(m, row);
    SS_TRY(check_shape(m, row, view, &e));
    return check_type(m, view, e.columns);
}

static ss_status add(matcher *m, ss_role role, size_t layer, const ss_tensor_name *row,
                     const ss_tensor_view *view) {
    ss_plan *plan = m->plan;
    const size_t index = plan->table.count++;
    if (m->counting) return check(m, row, view);
    const ss_role_facts *facts = ss_role_describe(role);
    const size_t rows = ss_dim_size(facts->rows, m->config), columns = ss_dim_size(facts->columns, m->config);
    ss_source source = {.view = view};
    if (transposed(m, row)) {
        source.stride = view->shape[view->dims - 1];
        source.start = row->fused ? ss_plan_together(m->config, role, true) / columns : 0;
    } else if (row->fused) {
        source.start = ss_plan_together(m->config, role, true);
    }
    const char *name = ss_arena_copy(m->input->arena, view->name, strlen(view->name));
    if (!name) return ss_fail_memory(m->error, "tensor table");
    plan->sources[index] = source;
    plan->table.tensors[index] = (ss_tensor){.name = name,
                                             .role = role,
                                             .layer = layer,
                                             .rows = rows,
                                             .columns = columns,
                                             .type = view->type,
                                             .first_bad = SS_NO_BAD};
    return SS_OK;
}

/* Find the first row of the role whose tensor is there. */
static ss_status visit(matcher *m, ss_role role, size_t layer) {
    const ss_tensor_name *needed = NULL;
    for (size_t i = 0; i < m->architecture->name_count; i++) {
        const ss_tensor_name *row = &m->architecture->names[i];
        if (!row_fills(row, role)) continue;
        const ss_presence rule = presence(m, row);
        const ss_tensor_view *view = row_view(m, row, layer);
        if (rule == SS_NEVER) {
            if (role == SS_ROLE_HEAD) m->plan->tied_head = view;
            continue;
        }
        if (view) return add(m, role, layer, row, view);
        if (rule == SS_ALWAYS && !needed) needed = row;
    }
    return needed ? missing(m, needed, layer) : SS_OK;
}

/* ---- all roles --------------------------------------------------------------------------------- */

static ss_status visit_all(matcher *m) {
    m->plan->table.count = 0;
    for (ss_role role = 0; role < SS_ROLE_COUNT; role++) {
        if (!ss_role_describe(role)->per_layer) {
            SS_TRY(visit(m, role, 0));
            continue;
        }
        const ss_role first = role;
        while (role + 1 < SS_ROLE_COUNT && ss_role_describe(role + 1)->per_layer) role++;
        for (size_t layer = 0; layer < m->config->layers; layer++)
            for (ss_role r = first; r <= role; r++) SS_TRY(visit(m, r, layer));
    }
    return SS_OK;
}

static int by_address(const void *a, const void *b) {
    const ss_tensor_view *const *left = a, *const *right = b;
    const uintptr_t x = (uintptr_t)*left, y = (uintptr_t)*right;
    return (x > y) - (x < y);
}

static bool is_ignored(const matcher *m, const ss_tensor_view *view) {
    const char *const *ignored = m->architecture->ignored;
    const size_t length = strlen(m->prefix);
    if (view == m->plan->tied_head || ss_name_matches_any(ignored, view->name)) return true;
    return strncmp(view->name, m->prefix, length) == 0 && ss_name_matches_any(ignored, view->name + length);
}

/* What is there and has no role is worth a sentence: it may belong to the computation. */
static ss_status warn_left_over(const matcher *m) {
    const ss_plan *plan = m->plan;
    const ss_tensor_view **used = ss_arena_alloc(m->input->arena, plan->table.count, sizeof *used);
    if (!used) return ss_fail_memory(m->error, "tensor table");
    for (size_t i = 0; i < plan->table.count; i++) used[i] = plan->sources[i].view;
    qsort(used, plan->table.count, sizeof *used, by_address);
    for (size_t i = 0; i < ss_tensors_count(m->input->files); i++) {
        const ss_tensor_view *view = ss_tensors_at(m->input->files, i);
        if (bsearch(&view, used, plan->table.count, sizeof *used, by_address) || is_ignored(m, view))
            continue;
        SS_TRY(ss_warn(m->input->warnings, m->error, "tensor ignored: %s is no part of a %s of %zu layers",
                       view->name, m->config->architecture, m->config->layers));
    }
    return SS_OK;
}

ss_status ss_plan_match(const ss_plan_input *input, ss_config *config, ss_plan *plan, ss_error *error) {
    ss_plan made = {0};
    matcher m = {.input = input,
                 .architecture = ss_architecture_find(config->architecture, strlen(config->architecture)),
                 .config = config,
                 .plan = &made,
                 .counting = true,
                 .error = error};
    m.prefix = find_prefix(&m);
    SS_TRY(visit_all(&m));
    made.table.tensors = ss_arena_alloc(input->arena, made.table.count, sizeof *made.table.tensors);
    made.sources = ss_arena_alloc(input->arena, made.table.count, sizeof *made.sources);
    if (!made.table.tensors || !made.sources) return ss_fail_memory(error, "tensor table");
    m.counting = false;
    SS_TRY(visit_all(&m));
    SS_TRY(warn_left_over(&m));
    if (input->naming == SS_NAMING_GGUF)
        config->tied = config->has_head && !ss_tensor_find(&made.table, SS_ROLE_HEAD, 0);
    *plan = made;
    return SS_OK;
}

/* ---- places ------------------------------------------------------------------------------------ */

/* Numbers that a role takes in memory where its group is there. */
static size_t role_size(const ss_config *config, ss_role role) {
    if (!config->gated && (role == SS_ROLE_GATE || role == SS_ROLE_GATE_BIAS)) return 0;
    const ss_role_facts *facts = ss_role_describe(role);
    return ss_dim_size(facts->rows, config) * ss_dim_size(facts->columns, config);
}

size_t ss_plan_together(const ss_config *config, ss_role role, bool before) {
    const ss_role first = ss_role_describe(role)->together;
    size_t sum = 0;
    for (ss_role r = first; r < SS_ROLE_COUNT && ss_role_describe(r)->together == first; r++) {
        if (before && r == role) break;
        sum += role_size(config, r);
    }
    return sum;
}

ss_plan_sizes ss_plan_place(ss_plan *plan, const ss_config *config, bool bf16) {
    ss_plan_sizes sizes = {0};
    size_t group = 0; /* where the current group starts in its block */
    for (size_t i = 0; i < plan->table.count; i++) {
        ss_tensor *tensor = &plan->table.tensors[i];
        const ss_tensor *before = i > 0 ? tensor - 1 : NULL;
        const ss_role together = ss_role_describe(tensor->role)->together;
        tensor->in_bf16 = bf16 && (ss_role_is_matrix(tensor->role) || tensor->role == SS_ROLE_HEAD);
        if (!before || before->layer != tensor->layer ||
            ss_role_describe(before->role)->together != together) {
            size_t *end = tensor->in_bf16 ? &sizes.bf16 : &sizes.f32;
            const size_t line = SS_ALIGNMENT / (tensor->in_bf16 ? sizeof(uint16_t) : sizeof(float));
            group = *end;
            *end = (group + ss_plan_together(config, tensor->role, false) + line - 1) / line * line;
        }
        tensor->offset = group + ss_plan_together(config, tensor->role, true);
    }
    return sizes;
}
