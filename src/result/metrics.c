/* The metric table as part of a document, so that a page or a script needs nothing else to label a number.
 * Relies on: measure/metric. */
#include "result/result.h"

#include "measure/metric.h"

#include <math.h>

static void set_bound(ss_result *result, json_t *object, const char *key, double bound) {
    if (isfinite(bound))
        ss_result_number(result, object, key, bound, NULL);
    else
        ss_result_text(result, object, key, NULL); /* null */
}

void ss_result_metrics(ss_result *result) {
    size_t count;
    const ss_metric *metrics = ss_metrics(&count);
    json_t *array = ss_result_array(result, result->root, "metrics");
    for (size_t i = 0; i < count; i++) {
        const ss_metric *m = &metrics[i];
        json_t *object = ss_result_item(result, array);
        if (!object) return;
        ss_result_text(result, object, "name", m->name);
        ss_result_text(result, object, "label", m->label);
        ss_result_text(result, object, "unit", m->unit);
        set_bound(result, object, "min", m->min);
        set_bound(result, object, "max", m->max);
        ss_result_text(result, object, "direction", ss_direction_name(m->direction));
        ss_result_text(result, object, "scope", ss_scope_name(m->scope));
        ss_result_text(result, object, "definition", m->definition);
        ss_result_text(result, object, "source", m->source);
    }
}
