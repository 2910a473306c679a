/* Opening models in tests: little ones that are written for it, and what loading said.
 *
 *     opened o = open_folder(tiny_llama(SS_NAMING_HF), &plain);
 *     ... loaded(&o)->weights ...
 *     ss_model_free(o.model);
 *
 * Relies on: support/tiny_model. */
#ifndef SS_TESTS_OPEN_MODEL_H
#define SS_TESTS_OPEN_MODEL_H

#include "model/model_impl.h"
#include "support/tiny_model.h"

extern const ss_compute plain; /* two threads, the base level, float32 */

typedef struct opened {
    ss_status status;
    ss_error error;
    ss_model *model;
} opened;

opened open_path(const char *path, const ss_compute *compute);

/* Write, open, and remove the files: a model does not need them any more. Frees `tiny`. */
opened open_folder(tiny_model *tiny, const ss_compute *compute);
opened open_gguf(tiny_model *tiny);

/* The model; the test fails when there is none. */
const ss_model *loaded(const opened *o);

/* Fail the test unless opening failed with `status`, and said `where` and `message` among other things. */
void check_refused(opened o, ss_status status, const char *where, const char *message);

/* The first of as many warnings as expected; "" for none. */
const char *warning_of(const ss_model *model, size_t expected);

#endif
