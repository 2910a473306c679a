/* Writing little models. Relies on: jansson, stdio. */
#include "support/tiny_model.h"

#include "model/names.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- changing ---------------------------------------------------------------------------------- */

tiny_tensor *tiny_add(tiny_model *model, const char *name, size_t rows, size_t columns) {
    if (model->count == sizeof model->tensors / sizeof *model->tensors) abort();
    tiny_tensor *tensor = &model->tensors[model->count++];
    const size_t count = (rows ? rows : 1) * columns;
    snprintf(tensor->name, sizeof tensor->name, "%s", name);
    tensor->dims = rows ? 2 : 1;
    tensor->shape[0] = rows ? rows : columns;
    tensor->shape[1] = columns;
    tensor->values = malloc((count ? count : 1) * sizeof(float));
    if (!tensor->values) abort();
    for (size_t i = 0; i < count; i++) tensor->values[i] = (float)(100 * model->count + i);
    return tensor;
}

tiny_tensor *tiny_find(tiny_model *model, const char *name) {
    for (size_t i = 0; i < model->count; i++)
        if (strcmp(model->tensors[i].name, name) == 0) return &model->tensors[i];
    fprintf(stderr, "no tensor %s\n", name);
    abort();
}

void tiny_remove(tiny_model *model, const char *name) {
    tiny_tensor *tensor = tiny_find(model, name);
    free(tensor->values);
    *tensor = model->tensors[--model->count];
}

void tiny_free(tiny_model *model) {
    for (size_t i = 0; i < model->count; i++) free(model->tensors[i].values);
    free(model);
}

void tiny_configure(tiny_model *model, const char *json) {
    json_t *config = json_loads(model->config, 0, NULL), *changes = json_loads(json, 0, NULL);
    if (!config || !changes || json_object_update(config, changes) != 0) abort();
    const size_t size = json_dumpb(config, model->config, sizeof model->config - 1, 0);
    if (size >= sizeof model->config) abort();
    model->config[size] = '\0';
    json_decref(config);
    json_decref(changes);
}

static tiny_key *key_at(tiny_model *model, const char *name) {
    for (size_t i = 0; i < model->key_count; i++)
        if (strcmp(model->keys[i].name, name) == 0) return &model->keys[i];
    if (model->key_count == sizeof model->keys / sizeof *model->keys) abort();
    tiny_key *key = &model->keys[model->key_count++];
    *key = (tiny_key){.kind = 'u'};
    snprintf(key->name, sizeof key->name, "%s", name);
    return key;
}

void tiny_set(tiny_model *model, const char *name, double number) {
    const size_t before = model->key_count;
    tiny_key *key = key_at(model, name);
    if (model->key_count > before && number != floor(number)) key->kind = 'f'; /* a NaN is one too */
    key->number = number;
}

static void set_kind(tiny_model *model, const char *name, char kind, double number) {
    tiny_key *key = key_at(model, name);
    key->kind = kind;
    key->number = number;
}

void tiny_set_text(tiny_model *model, const char *name, const char *text) {
    tiny_key *key = key_at(model, name);
    key->kind = 's';
    snprintf(key->text, sizeof key->text, "%s", text);
}

void tiny_unset(tiny_model *model, const char *name) {
    *key_at(model, name) = model->keys[model->key_count - 1];
    model->key_count--;
}

/* ---- writing ----------------------------------------------------------------------------------- */

static size_t value_count(const tiny_tensor *tensor) {
    size_t count = 1;
    for (unsigned i = 0; i < tensor->dims; i++) count *= tensor->shape[i];
    return count;
}

static void put(FILE *file, const void *bytes, size_t size) {
    if (size && fwrite(bytes, 1, size, file) != size) abort();
}

static void put_u32(FILE *file, uint32_t value) {
    put(file, &value, sizeof value);
}

static void put_u64(FILE *file, uint64_t value) {
    put(file, &value, sizeof value);
}

static void put_string(FILE *file, const char *text) {
    put_u64(file, strlen(text));
    put(file, text, strlen(text));
}

static FILE *create(const temp_path *path) {
    FILE *file = fopen(path->text, "wb");
    if (!file) abort();
    return file;
}

static void finish(FILE *file) {
    if (fclose(file) != 0) abort();
}

static void put_values(FILE *file, const tiny_tensor *tensor) {
    put(file, tensor->values, value_count(tensor) * sizeof(float));
}

temp_path tiny_write_safetensors(const tiny_model *model, const temp_path *folder, const char *name,
                                 size_t first, size_t count) {
    json_t *header = json_object();
    size_t offset = 0;
    for (size_t i = first; i < first + count; i++) {
        const tiny_tensor *tensor = &model->tensors[i];
        const size_t end = offset + value_count(tensor) * sizeof(float);
        json_t *shape = json_array();
        for (unsigned d = 0; d < tensor->dims; d++)
            json_array_append_new(shape, json_integer((json_int_t)tensor->shape[d]));
        json_object_set_new(header, tensor->name,
                            json_pack("{s:s, s:o, s:[I, I]}", "dtype", "F32", "shape", shape, "data_offsets",
                                      (json_int_t)offset, (json_int_t)end));
        offset = end;
    }
    char *text = json_dumps(header, 0);
    if (!text) abort();
    temp_path path = temp_path_in(folder, name);
    FILE *file = create(&path);
    put_string(file, text);
    for (size_t i = first; i < first + count; i++) put_values(file, &model->tensors[i]);
    finish(file);
    free(text);
    json_decref(header);
    return path;
}

void tiny_write_folder(const tiny_model *model, const temp_path *folder) {
    temp_file_write(folder, "config.json", model->config, strlen(model->config));
    tiny_write_safetensors(model, folder, "model.safetensors", 0, model->count);
}

void tiny_write_shards(const tiny_model *model, const temp_path *folder, size_t first_count) {
    json_t *map = json_object();
    for (size_t i = 0; i < model->count; i++)
        json_object_set_new(map, model->tensors[i].name,
                            json_string(i < first_count ? "a.safetensors" : "b.safetensors"));
    json_t *index = json_pack("{s:o}", "weight_map", map);
    char *text = json_dumps(index, 0);
    if (!text) abort();
    temp_file_write(folder, "model.safetensors.index.json", text, strlen(text));
    free(text);
    json_decref(index);
    temp_file_write(folder, "config.json", model->config, strlen(model->config));
    tiny_write_safetensors(model, folder, "a.safetensors", 0, first_count);
    tiny_write_safetensors(model, folder, "b.safetensors", first_count, model->count - first_count);
}

static void put_key(FILE *file, const tiny_key *key) {
    const uint32_t number = (uint32_t)(isfinite(key->number) ? key->number : 0);
    const float real = (float)key->number;
    const uint8_t truth = key->number != 0;
    put_string(file, key->name);
    switch (key->kind) {
    case 'u':
        put_u32(file, 4), put_u32(file, number);
        break;
    case 'f':
        put_u32(file, 6), put(file, &real, sizeof real);
        break;
    case 'b':
        put_u32(file, 7), put(file, &truth, sizeof truth);
        break;
    default:
        put_u32(file, 8), put_string(file, key->text);
    }
}

/* zeros up to a whole number of 32 bytes, the alignment of GGUF */
static void align(FILE *file) {
    static const char zeros[32];
    const size_t at = (size_t)ftell(file) % 32;
    if (at) put(file, zeros, 32 - at);
}

temp_path tiny_write_gguf(const tiny_model *model, const temp_path *folder) {
    temp_path path = temp_path_in(folder, "model.gguf");
    FILE *file = create(&path);
    size_t offset = 0;
    put(file, "GGUF", 4);
    put_u32(file, 3);
    put_u64(file, model->count);
    put_u64(file, model->key_count);
    for (size_t i = 0; i < model->key_count; i++) put_key(file, &model->keys[i]);
    for (size_t i = 0; i < model->count; i++) {
        const tiny_tensor *tensor = &model->tensors[i];
        put_string(file, tensor->name);
        put_u32(file, tensor->dims);
        for (unsigned d = tensor->dims; d > 0; d--) put_u64(file, tensor->shape[d - 1]);
        put_u32(file, 0);
        put_u64(file, offset);
        offset = (offset + value_count(tensor) * sizeof(float) + 31) / 32 * 32;
    }
    for (size_t i = 0; i < model->count; i++) {
        align(file);
        put_values(file, &model->tensors[i]);
    }
    align(file);
    finish(file);
    return path;
}

/* ---- the models -------------------------------------------------------------------------------- */

typedef struct shape_row {
    const char *name[SS_NAMING_COUNT]; /* "#" is the layer */
    size_t rows, columns;              /* as GGUF has them; rows 0 for a vector */
    bool conv1d;                       /* Hugging Face has them the other way round */
} shape_row;

enum { D = TINY_D, Q = TINY_H * TINY_E, KV = TINY_K * TINY_E, F = TINY_F, V = TINY_V, C = TINY_C };

static const shape_row gpt2_rows[] = {
    {{"transformer.wte.weight", "token_embd.weight"}, V, D, false},
    {{"transformer.wpe.weight", "position_embd.weight"}, C, D, false},
    {{"transformer.h.#.ln_1.weight", "blk.#.attn_norm.weight"}, 0, D, false},
    {{"transformer.h.#.ln_1.bias", "blk.#.attn_norm.bias"}, 0, D, false},
    {{"transformer.h.#.attn.c_attn.weight", "blk.#.attn_qkv.weight"}, 3 * D, D, true},
    {{"transformer.h.#.attn.c_attn.bias", "blk.#.attn_qkv.bias"}, 0, 3 * D, false},
    {{"transformer.h.#.attn.c_proj.weight", "blk.#.attn_output.weight"}, D, D, true},
    {{"transformer.h.#.attn.c_proj.bias", "blk.#.attn_output.bias"}, 0, D, false},
    {{"transformer.h.#.ln_2.weight", "blk.#.ffn_norm.weight"}, 0, D, false},
    {{"transformer.h.#.ln_2.bias", "blk.#.ffn_norm.bias"}, 0, D, false},
    {{"transformer.h.#.mlp.c_fc.weight", "blk.#.ffn_up.weight"}, F, D, true},
    {{"transformer.h.#.mlp.c_fc.bias", "blk.#.ffn_up.bias"}, 0, F, false},
    {{"transformer.h.#.mlp.c_proj.weight", "blk.#.ffn_down.weight"}, D, F, true},
    {{"transformer.h.#.mlp.c_proj.bias", "blk.#.ffn_down.bias"}, 0, D, false},
    {{"transformer.ln_f.weight", "output_norm.weight"}, 0, D, false},
    {{"transformer.ln_f.bias", "output_norm.bias"}, 0, D, false},
};

static const shape_row llama_rows[] = {
    {{"model.embed_tokens.weight", "token_embd.weight"}, V, D, false},
    {{"model.layers.#.input_layernorm.weight", "blk.#.attn_norm.weight"}, 0, D, false},
    {{"model.layers.#.self_attn.q_proj.weight", "blk.#.attn_q.weight"}, Q, D, false},
    {{"model.layers.#.self_attn.k_proj.weight", "blk.#.attn_k.weight"}, KV, D, false},
    {{"model.layers.#.self_attn.v_proj.weight", "blk.#.attn_v.weight"}, KV, D, false},
    {{"model.layers.#.self_attn.o_proj.weight", "blk.#.attn_output.weight"}, D, Q, false},
    {{"model.layers.#.post_attention_layernorm.weight", "blk.#.ffn_norm.weight"}, 0, D, false},
    {{"model.layers.#.mlp.gate_proj.weight", "blk.#.ffn_gate.weight"}, F, D, false},
    {{"model.layers.#.mlp.up_proj.weight", "blk.#.ffn_up.weight"}, F, D, false},
    {{"model.layers.#.mlp.down_proj.weight", "blk.#.ffn_down.weight"}, D, F, false},
    {{"model.norm.weight", "output_norm.weight"}, 0, D, false},
    {{"lm_head.weight", "output.weight"}, V, D, false},
};

#define LAYER "encoder.layer.#."
static const shape_row bert_rows[] = {
    {{"embeddings.word_embeddings.weight", "token_embd.weight"}, V, D, false},
    {{"embeddings.position_embeddings.weight", "position_embd.weight"}, C, D, false},
    {{"embeddings.token_type_embeddings.weight", "token_types.weight"}, 2, D, false},
    {{"embeddings.LayerNorm.weight", "token_embd_norm.weight"}, 0, D, false},
    {{"embeddings.LayerNorm.bias", "token_embd_norm.bias"}, 0, D, false},
    {{LAYER "attention.self.query.weight", "blk.#.attn_q.weight"}, D, D, false},
    {{LAYER "attention.self.query.bias", "blk.#.attn_q.bias"}, 0, D, false},
    {{LAYER "attention.self.key.weight", "blk.#.attn_k.weight"}, D, D, false},
    {{LAYER "attention.self.key.bias", "blk.#.attn_k.bias"}, 0, D, false},
    {{LAYER "attention.self.value.weight", "blk.#.attn_v.weight"}, D, D, false},
    {{LAYER "attention.self.value.bias", "blk.#.attn_v.bias"}, 0, D, false},
    {{LAYER "attention.output.dense.weight", "blk.#.attn_output.weight"}, D, D, false},
    {{LAYER "attention.output.dense.bias", "blk.#.attn_output.bias"}, 0, D, false},
    {{LAYER "attention.output.LayerNorm.weight", "blk.#.attn_output_norm.weight"}, 0, D, false},
    {{LAYER "attention.output.LayerNorm.bias", "blk.#.attn_output_norm.bias"}, 0, D, false},
    {{LAYER "intermediate.dense.weight", "blk.#.ffn_up.weight"}, F, D, false},
    {{LAYER "intermediate.dense.bias", "blk.#.ffn_up.bias"}, 0, F, false},
    {{LAYER "output.dense.weight", "blk.#.ffn_down.weight"}, D, F, false},
    {{LAYER "output.dense.bias", "blk.#.ffn_down.bias"}, 0, D, false},
    {{LAYER "output.LayerNorm.weight", "blk.#.layer_output_norm.weight"}, 0, D, false},
    {{LAYER "output.LayerNorm.bias", "blk.#.layer_output_norm.bias"}, 0, D, false},
};

static tiny_model *make(ss_naming naming, const shape_row *rows, size_t count) {
    tiny_model *model = calloc(1, sizeof *model);
    if (!model) abort();
    for (size_t i = 0; i < count; i++) {
        const shape_row *row = &rows[i];
        const bool swapped = row->conv1d && naming == SS_NAMING_HF;
        const size_t layers = strchr(row->name[naming], '#') ? TINY_LAYERS : 1;
        for (size_t layer = 0; layer < layers; layer++) {
            char name[SS_NAME_SIZE];
            tiny_add(model, ss_name_fill("", row->name[naming], layer, name),
                     swapped ? row->columns : row->rows, swapped ? row->rows : row->columns);
        }
    }
    return model;
}

/* the keys that every architecture has in GGUF */
static void set_keys(tiny_model *model, const char *architecture, const char *epsilon) {
    const struct {
        const char *name;
        size_t value;
    } sizes[] = {
        {"block_count", TINY_LAYERS},    {"embedding_length", TINY_D}, {"attention.head_count", TINY_H},
        {"feed_forward_length", TINY_F}, {"context_length", TINY_C},
    };
    char name[64];
    tiny_set_text(model, "general.architecture", architecture);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        snprintf(name, sizeof name, "%s.%s", architecture, sizes[i].name);
        tiny_set(model, name, (double)sizes[i].value);
    }
    snprintf(name, sizeof name, "%s.attention.%s", architecture, epsilon);
    set_kind(model, name, 'f', 0.25);
}

tiny_model *tiny_gpt2(ss_naming naming) {
    tiny_model *model = make(naming, gpt2_rows, sizeof gpt2_rows / sizeof *gpt2_rows);
    snprintf(model->config, sizeof model->config,
             "{\"model_type\": \"gpt2\", \"n_embd\": %d, \"n_layer\": %d, \"n_head\": %d, \"n_inner\": %d, "
             "\"vocab_size\": %d, \"n_positions\": %d, \"layer_norm_epsilon\": 0.25}",
             TINY_D, TINY_LAYERS, TINY_H, TINY_F, TINY_V, TINY_C);
    set_keys(model, "gpt2", "layer_norm_epsilon");
    return model;
}

tiny_model *tiny_llama(ss_naming naming) {
    tiny_model *model = make(naming, llama_rows, sizeof llama_rows / sizeof *llama_rows);
    snprintf(model->config, sizeof model->config,
             "{\"model_type\": \"llama\", \"hidden_size\": %d, \"num_hidden_layers\": %d, "
             "\"num_attention_heads\": %d, \"num_key_value_heads\": %d, \"intermediate_size\": %d, "
             "\"vocab_size\": %d, \"max_position_embeddings\": %d, \"rms_norm_eps\": 0.25, "
             "\"tie_word_embeddings\": false}",
             TINY_D, TINY_LAYERS, TINY_H, TINY_K, TINY_F, TINY_V, TINY_C);
    set_keys(model, "llama", "layer_norm_rms_epsilon");
    tiny_set(model, "llama.attention.head_count_kv", TINY_K);
    return model;
}

tiny_model *tiny_bert(ss_naming naming) {
    tiny_model *model = make(naming, bert_rows, sizeof bert_rows / sizeof *bert_rows);
    snprintf(model->config, sizeof model->config,
             "{\"model_type\": \"bert\", \"hidden_size\": %d, \"num_hidden_layers\": %d, "
             "\"num_attention_heads\": %d, \"intermediate_size\": %d, \"vocab_size\": %d, "
             "\"max_position_embeddings\": %d, \"type_vocab_size\": 2, \"layer_norm_eps\": 0.25}",
             TINY_D, TINY_LAYERS, TINY_H, TINY_F, TINY_V, TINY_C);
    set_keys(model, "bert", "layer_norm_epsilon");
    set_kind(model, "bert.attention.causal", 'b', 0);
    return model;
}

tiny_model *tiny_of_rows(const char *config, const tiny_row *rows, size_t count) {
    tiny_model *model = calloc(1, sizeof *model);
    if (!model) abort();
    snprintf(model->config, sizeof model->config, "%s", config);
    for (size_t i = 0; i < count; i++) tiny_add(model, rows[i].name, rows[i].rows, rows[i].columns);
    return model;
}
