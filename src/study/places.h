/* Places of a result document where a metric stands: heads, layers, hidden states, the output.
 * What findings and --fail-on search. Relies on: result. */
#ifndef SS_STUDY_PLACES_H
#define SS_STUDY_PLACES_H

#include "result/result.h"

typedef struct ss_place {
    const char *part;   /* "head", "hidden", "embedding", "final", "output"; of a dump: "rows", "group" */
    size_t layer, head; /* SS_NOWHERE where it has none */
    const json_t *node; /* the object that holds the metric; borrowed */
} ss_place;

/* Call `fn` with every finite value of `metric` in the document: the number itself, or the named statistic of
 * a summary. */
typedef void ss_place_fn(void *context, const ss_place *place, double value);
void ss_each_place(const ss_result *result, const char *metric, const char *statistic, ss_place_fn *fn,
                   void *context);

/* "in layer 3 head 5", "after layer 2", "after the embedding", "in the output layer",
 * "over all rows", "in group [0, 3]" */
void ss_place_text(const ss_place *place, char *text, size_t capacity);

#endif
