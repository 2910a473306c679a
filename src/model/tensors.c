/* Facts about roles and the search in the tensor table. Relies on: the lists in tensors.h. */
#include "model/tensors.h"

#include <stdlib.h>

static const ss_role_facts facts[] = {
#define SS_ROLE_FACTS(role, name, per_layer, rows, columns, together)                                        \
    [role] = {name, per_layer, SS_DIM_##rows, SS_DIM_##columns, SS_ROLE_##together},
    SS_ROLE_LIST(SS_ROLE_FACTS)
#undef SS_ROLE_FACTS
};

const ss_role_facts *ss_role_describe(ss_role role) {
    return &facts[role];
}

const char *ss_role_name(ss_role role) {
    return facts[role].name;
}

bool ss_role_is_matrix(ss_role role) {
    return facts[role].per_layer && facts[role].rows != SS_DIM_ONE;
}

size_t ss_dim_size(ss_dim dim, const ss_config *config) {
    switch (dim) {
    case SS_DIM_ONE:
        return 1;
    case SS_DIM_WIDTH:
        return config->width;
    case SS_DIM_QUERIES:
        return config->heads * config->head_width;
    case SS_DIM_KEYS:
        return config->kv_heads * config->head_width;
    case SS_DIM_FFN:
        return config->ffn_width;
    case SS_DIM_VOCABULARY:
        return config->vocabulary;
    case SS_DIM_CONTEXT:
        return config->context;
    case SS_DIM_SEGMENTS:
        return config->segments;
    case SS_DIM_PAIRS:
        return config->rotary.width / 2;
    }
    return 0;
}

const char *ss_dim_name(ss_dim dim) {
    static const char *const names[] = {
#define SS_DIM_NAME(dim_, text) [dim_] = text,
        SS_DIM_LIST(SS_DIM_NAME)
#undef SS_DIM_NAME
    };
    return names[dim];
}

/* roles before the per-layer ones, then layers, then the rest: the order of the table */
static int section(ss_role role) {
    return facts[role].per_layer ? 1 : role < SS_ROLE_ATTN_NORM_GAMMA ? 0 : 2;
}

static int compare(size_t a, size_t b) {
    return (a > b) - (a < b);
}

static int by_place(const void *key, const void *item) {
    const ss_tensor *a = key, *b = item;
    if (section(a->role) != section(b->role)) return section(a->role) - section(b->role);
    int layer = compare(a->layer, b->layer);
    return layer ? layer : (int)a->role - (int)b->role;
}

const ss_tensor *ss_tensor_find(const ss_tensor_table *table, ss_role role, size_t layer) {
    const ss_tensor key = {.role = role, .layer = facts[role].per_layer ? layer : 0};
    return bsearch(&key, table->tensors, table->count, sizeof key, by_place);
}
