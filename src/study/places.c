/* Walking the result document. Relies on: the shapes of docs/result.md. */
#include "study/places.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct walk {
    const char *metric, *statistic;
    ss_place_fn *fn;
    void *context;
} walk;

static void visit(const walk *w, const ss_place *place) {
    const json_t *value = json_object_get(place->node, w->metric);
    double number =
        json_is_object(value) ? ss_number_at(value, w->statistic) : ss_number_at(place->node, w->metric);
    if (isfinite(number)) w->fn(w->context, place, number);
}

void ss_each_place(const ss_result *result, const char *metric, const char *statistic, ss_place_fn *fn,
                   void *context) {
    const walk w = {metric, statistic, fn, context};
    const json_t *root = result->root, *layer, *head, *group;
    static const char *const parts[] = {"embedding", "final", "output", "rows"};
    size_t i, j;
    for (i = 0; i < sizeof parts / sizeof *parts; i++)
        visit(&w, &(ss_place){parts[i], SS_NOWHERE, SS_NOWHERE, json_object_get(root, parts[i])});
    json_array_foreach(json_object_get(root, "layers"), i, layer) {
        size_t index = (size_t)json_integer_value(json_object_get(layer, "index"));
        visit(&w, &(ss_place){"hidden", index, SS_NOWHERE, json_object_get(layer, "hidden")});
        json_array_foreach(json_object_get(layer, "heads"), j, head) {
            size_t head_index = (size_t)json_integer_value(json_object_get(head, "index"));
            visit(&w, &(ss_place){"head", index, head_index, head});
        }
    }
    json_array_foreach(json_object_get(root, "groups"), i, group)
        visit(&w, &(ss_place){"group", SS_NOWHERE, SS_NOWHERE, group});
}

/* "in group [0, 3]" */
static void group_text(const json_t *group, char *text, size_t capacity) {
    const json_t *number;
    size_t i, used = (size_t)snprintf(text, capacity, "in group [");
    json_array_foreach(json_object_get(group, "index"), i, number) {
        if (used >= capacity) return;
        used += (size_t)snprintf(text + used, capacity - used, "%s%lld", i ? ", " : "",
                                 (long long)json_integer_value(number));
    }
    if (used < capacity) snprintf(text + used, capacity - used, "]");
}

void ss_place_text(const ss_place *place, char *text, size_t capacity) {
    if (place->head != SS_NOWHERE)
        snprintf(text, capacity, "in layer %zu head %zu", place->layer, place->head);
    else if (place->layer != SS_NOWHERE)
        snprintf(text, capacity, "after layer %zu", place->layer);
    else if (strcmp(place->part, "group") == 0)
        group_text(place->node, text, capacity);
    else
        snprintf(text, capacity, "%s",
                 strcmp(place->part, "embedding") == 0 ? "after the embedding"
                 : strcmp(place->part, "rows") == 0    ? "over all rows"
                 : strcmp(place->part, "final") == 0   ? "after the final norm"
                                                       : "in the output layer");
}
