/* Little models that a test makes, changes and writes: every tensor by name, with values that tell where they
 * came from, as a Hugging Face folder or as a GGUF file.
 *
 *     tiny_model *model = tiny_llama(SS_NAMING_HF);
 *     tiny_remove(model, "model.norm.weight");
 *     tiny_write_folder(model, &folder);
 *     tiny_free(model);
 *
 * Value i of the n-th tensor (from 1) is 100 n + i, exact in float32. Failures of the system abort the test.
 * Relies on: support/temp_folder, jansson. */
#ifndef SS_TESTS_TINY_MODEL_H
#define SS_TESTS_TINY_MODEL_H

#include "model/architecture.h"
#include "support/temp_folder.h"

/* Sizes of the little models; K and E do not matter to gpt2 (K = H) and bert (K = H). */
enum { TINY_LAYERS = 2, TINY_D = 4, TINY_H = 2, TINY_K = 1, TINY_E = 2, TINY_F = 6, TINY_V = 5, TINY_C = 8 };

typedef struct tiny_tensor {
    char name[96];
    unsigned dims;
    size_t shape[3]; /* outermost first */
    float *values;
} tiny_tensor;

/* A key of GGUF metadata; kind is 'u' (u32), 'f' (f32), 'b' (bool) or 's' (string). */
typedef struct tiny_key {
    char name[64], text[32];
    char kind;
    double number;
} tiny_key;

typedef struct tiny_model {
    char config[2048]; /* config.json */
    tiny_tensor tensors[96];
    size_t count;
    tiny_key keys[32];
    size_t key_count;
} tiny_model;

/* Two layers of each architecture. The llama has K = 1 key head for H = 2, and an untied head. */
tiny_model *tiny_gpt2(ss_naming naming);
tiny_model *tiny_llama(ss_naming naming);
tiny_model *tiny_bert(ss_naming naming);
void tiny_free(tiny_model *model);

typedef struct tiny_row {
    const char *name;
    size_t rows, columns; /* as tiny_add takes them */
} tiny_row;

/* A model of other tensors than the ready ones. */
tiny_model *tiny_of_rows(const char *config, const tiny_row *rows, size_t count);

/* Add a tensor [rows][columns], or [columns] when rows is 0; its values count up from 100 x its number,
 * from 1. */
tiny_tensor *tiny_add(tiny_model *model, const char *name, size_t rows, size_t columns);
tiny_tensor *tiny_find(tiny_model *model, const char *name); /* aborts where there is none */
void tiny_remove(tiny_model *model, const char *name);

/* Put the keys of a JSON object into config.json, in place of those of the same name. */
void tiny_configure(tiny_model *model, const char *json);

/* Set or add a key of GGUF metadata; remove it. */
void tiny_set(tiny_model *model, const char *name, double number); /* a new one is 'u' or 'f' */
void tiny_set_text(tiny_model *model, const char *name, const char *text);
void tiny_unset(tiny_model *model, const char *name);

/* Write F32 tensors first .. first + count - 1 as folder/name. */
temp_path tiny_write_safetensors(const tiny_model *model, const temp_path *folder, const char *name,
                                 size_t first, size_t count);

/* config.json and model.safetensors. */
void tiny_write_folder(const tiny_model *model, const temp_path *folder);

/* config.json, an index, and two shards, of which the first has `first_count` tensors. */
void tiny_write_shards(const tiny_model *model, const temp_path *folder, size_t first_count);

/* folder/model.gguf, of F32 tensors. */
temp_path tiny_write_gguf(const tiny_model *model, const temp_path *folder);

#endif
