/* The inside of a model, for the files of this room only. */
#ifndef SS_MODEL_MODEL_IMPL_H
#define SS_MODEL_MODEL_IMPL_H

#include "base/arena.h"
#include "model/model.h"
#include "model/weights.h"

struct ss_model {
    const ss_allocator *memory;
    ss_arena arena; /* names, tables, views */
    ss_config config;
    ss_tensor_table table;
    ss_weights weights;
    float *f32_block;
    uint16_t *bf16_block;
    ss_tokenizer *tokenizer;
    const char *no_tokenizer; /* why there is none */
    const char **warnings;
    size_t warning_count;
    ss_model_facts facts;
};

#endif
