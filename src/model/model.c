/* Opening a model: which files make it, their configuration, tensors and tokenizer.
 * Relies on: model/config_hf, model/config_gguf, model/plan, model/load. */
#include "base/file.h"
#include "formats/gguf.h"
#include "formats/json.h"
#include "formats/safetensors.h"
#include "model/config_gguf.h"
#include "model/config_hf.h"
#include "model/load.h"

#include <stdio.h>
#include <string.h>

enum { PATH = 4096 };

/* An opened model on its way: the container stays open until its weights are converted. */
typedef struct opening {
    ss_model *model;
    const ss_compute *compute;
    ss_warnings warnings;
    ss_error *error;
    ss_naming naming;
    char folder[PATH]; /* where config.json and the tokenizer lie */
    char file[PATH];   /* the weights or their index */
    ss_gguf *gguf;
    ss_tensors *safetensors;
} opening;

/* ---- paths ------------------------------------------------------------------------------------- */

static ss_status join(const opening *o, const char *folder, const char *name, char path[PATH]) {
    int length = snprintf(path, PATH, "%s/%s", folder, name);
    if (length < 0 || length >= PATH) return ss_fail(o->error, SS_E_IO, folder, "the path is too long");
    return SS_OK;
}

static bool ends_with(const char *text, const char *end) {
    const size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

static ss_status set_folder(opening *o, const char *path, bool is_file) {
    size_t length = strlen(path);
    if (is_file)
        while (length > 0 && path[length - 1] != '/') length--;
    while (length > 1 && path[length - 1] == '/') length--;
    if (length >= PATH) return ss_fail(o->error, SS_E_IO, path, "the path is too long");
    memcpy(o->folder, length ? path : ".", length ? length : 1);
    o->folder[length ? length : 1] = '\0';
    return SS_OK;
}

/* The last part of a path, without slashes after it. */
static const char *last_part(ss_arena *arena, const char *path) {
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/') end--;
    size_t begin = end;
    while (begin > 0 && path[begin - 1] != '/') begin--;
    return ss_arena_copy(arena, path + begin, end - begin);
}

/* ---- which files ------------------------------------------------------------------------------- */

#define CONVERT                                                                                              \
    "PyTorch's pickle files are not read, as they can run code: convert the weights to safetensors, for "    \
    "example with save_pretrained(folder, safe_serialization=True)"

static ss_status find_weights(opening *o) {
    const char *const names[] = {"model.safetensors", "model.safetensors.index.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        SS_TRY(join(o, o->folder, names[i], o->file));
        if (ss_is_file(o->file)) return SS_OK;
    }
    const char *const pickles[] = {"pytorch_model.bin", "pytorch_model.bin.index.json"};
    for (size_t i = 0; i < sizeof pickles / sizeof *pickles; i++) {
        SS_TRY(join(o, o->folder, pickles[i], o->file));
        if (ss_is_file(o->file)) return ss_fail(o->error, SS_E_UNSUPPORTED, o->file, CONVERT);
    }
    return ss_fail(o->error, SS_E_IO, o->folder,
                   "there is neither %s nor %s in this folder; a GGUF file is given by its own path",
                   names[0], names[1]);
}

static ss_status find_files(opening *o, const char *path) {
    const bool is_folder = ss_is_folder(path);
    SS_TRY(set_folder(o, path, !is_folder));
    if (is_folder) return find_weights(o);
    if (snprintf(o->file, PATH, "%s", path) >= PATH)
        return ss_fail(o->error, SS_E_IO, path, "the path is too long");
    if (ends_with(path, ".bin") || ends_with(path, ".pt") || ends_with(path, ".pth"))
        return ss_fail(o->error, SS_E_UNSUPPORTED, path, CONVERT);
    if (!ends_with(path, ".safetensors") && !ends_with(path, ".safetensors.index.json"))
        o->naming = SS_NAMING_GGUF;
    return SS_OK;
}

/* ---- configuration and containers --------------------------------------------------------------------- */

static ss_status open_hf(opening *o, ss_config_draft *draft) {
    char path[PATH];
    SS_TRY(join(o, o->folder, "config.json", path));
    json_t *json = NULL;
    SS_TRY(ss_json_open(path, SS_JSON_LIMIT, &json, o->error));
    ss_status status = ss_config_from_hf(json, path, &o->warnings, draft, o->error);
    json_decref(json);
    if (status) return status;
    const bool sharded = ends_with(o->file, ".json");
    return (sharded ? ss_safetensors_open_sharded : ss_safetensors_open)(o->file, o->model->memory,
                                                                         &o->safetensors, o->error);
}

static ss_status open_gguf(opening *o, ss_config_draft *draft) {
    SS_TRY(ss_gguf_open(o->file, o->model->memory, &o->gguf, o->error));
    return ss_config_from_gguf(o->gguf, &o->warnings, draft, o->error);
}

/* ---- weights ----------------------------------------------------------------------------------- */

static ss_status compare_tied_head(opening *o, const ss_plan *plan) {
    if (!plan->tied_head) return SS_OK;
    /* the token embedding is the first tensor of the table */
    if (plan->tied_head->type != SS_TYPE_NONE && ss_load_equal(plan->tied_head, plan->sources[0].view))
        return SS_OK;
    return ss_warn(&o->warnings, o->error,
                   "%s differs from the token embedding although the configuration ties them: the embedding "
                   "is used",
                   plan->tied_head->name);
}

static ss_status load(opening *o, const ss_config_draft *draft) {
    ss_model *model = o->model;
    model->config = draft->config;
    const ss_plan_input input = {.files = o->gguf ? ss_gguf_tensors(o->gguf) : o->safetensors,
                                 .file = o->file,
                                 .naming = o->naming,
                                 .draft = draft,
                                 .arena = &model->arena,
                                 .warnings = &o->warnings};
    ss_plan plan;
    SS_TRY(ss_plan_match(&input, &model->config, &plan, o->error));
    SS_TRY(compare_tied_head(o, &plan));
    return ss_load_weights(model, &plan, o->compute, o->error);
}

/* ---- tokenizer and facts ----------------------------------------------------------------------- */

/* A model without a tokenizer is still a model: only memory is an error here. */
static ss_status find_tokenizer(opening *o) {
    ss_model *model = o->model;
    ss_error why = {0};
    const ss_status status =
        o->gguf ? ss_tokenizer_open_gguf(model->memory, o->gguf, &model->tokenizer, &why)
                : ss_tokenizer_open_folder(model->memory, o->folder, &model->tokenizer, &why);
    if (status == SS_OK) return SS_OK;
    if (status == SS_E_MEMORY) return ss_fail(o->error, SS_E_MEMORY, why.where, "%s", why.message);
    char text[sizeof why.where + sizeof why.message + 2];
    snprintf(text, sizeof text, "%s%s%s", why.where, why.where[0] ? ": " : "", why.message);
    model->no_tokenizer = ss_arena_copy(&model->arena, text, strlen(text));
    return model->no_tokenizer ? SS_OK : ss_fail_memory(o->error, "tokenizer");
}

/* The type in which more than half of the layers' weights are stored. */
static const char *stored_type(const ss_tensor_table *table) {
    double sizes[SS_TYPE_END] = {0}, all = 0;
    for (size_t i = 0; i < table->count; i++) {
        const ss_tensor *tensor = &table->tensors[i];
        if (!ss_role_is_matrix(tensor->role)) continue;
        sizes[tensor->type] += (double)tensor->rows * (double)tensor->columns;
        all += (double)tensor->rows * (double)tensor->columns;
    }
    for (int type = 0; type < SS_TYPE_END; type++)
        if (sizes[type] > all / 2) return ss_type_name((ss_type)type);
    return "mixed";
}

static uint64_t count_parameters(const ss_tensor_table *table) {
    uint64_t sum = 0;
    for (size_t i = 0; i < table->count; i++)
        if (table->tensors[i].role != SS_ROLE_ROTARY_FACTORS) /* a table, not learned */
            sum += (uint64_t)table->tensors[i].rows * table->tensors[i].columns;
    return sum;
}

static ss_status gather_facts(opening *o) {
    ss_model *model = o->model;
    ss_string_view name = {0};
    if (o->gguf) ss_gguf_string(o->gguf, "general.name", SS_OPTIONAL, &name, NULL);
    const ss_config *c = &model->config;
    model->facts = (ss_model_facts){
        .name = name.length ? ss_arena_copy(&model->arena, name.bytes, name.length)
                            : last_part(&model->arena, o->gguf ? o->file : o->folder),
        .file = last_part(&model->arena, o->file),
        .architecture = c->architecture,
        .weights = stored_type(&model->table),
        .layers = c->layers,
        .heads = c->heads,
        .kv_heads = c->kv_heads,
        .width = c->width,
        .head_width = c->head_width,
        .ffn_width = c->ffn_width,
        .vocabulary = c->vocabulary,
        .context = c->context,
        .causal = c->causal,
        .parameters = count_parameters(&model->table),
    };
    model->warnings = o->warnings.items;
    model->warning_count = o->warnings.count;
    return model->facts.name && model->facts.file ? SS_OK : ss_fail_memory(o->error, "model");
}

/* ---- the public functions ---------------------------------------------------------------------- */

static ss_status open_all(opening *o, const char *path) {
    ss_config_draft draft;
    SS_TRY(find_files(o, path));
    SS_TRY(o->naming == SS_NAMING_GGUF ? open_gguf(o, &draft) : open_hf(o, &draft));
    SS_TRY(load(o, &draft));
    SS_TRY(find_tokenizer(o));
    return gather_facts(o);
}

ss_status ss_model_open(const char *path, const ss_allocator *memory, const ss_compute *compute,
                        ss_model **model, ss_error *error) {
    SS_TRY(ss_compute_check(compute, error));
    ss_model *made = ss_alloc_zero(memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "model");
    made->memory = memory;
    made->arena = ss_arena_make(memory);
    opening o = {.model = made, .compute = compute, .warnings = {.arena = &made->arena}, .error = error};
    const ss_status status = open_all(&o, path);
    ss_gguf_free(o.gguf);
    ss_tensors_free(o.safetensors);
    if (status == SS_OK)
        *model = made;
    else
        ss_model_free(made);
    return status;
}

void ss_model_free(ss_model *model) {
    if (!model) return;
    const ss_allocator *memory = model->memory;
    ss_tokenizer_free(model->tokenizer);
    ss_free(memory, model->f32_block);
    ss_free(memory, model->bf16_block);
    ss_arena_free(&model->arena);
    ss_free(memory, model);
}

const ss_config *ss_model_config(const ss_model *model) {
    return &model->config;
}

const ss_tensor_table *ss_model_tensors(const ss_model *model) {
    return &model->table;
}

const ss_tokenizer *ss_model_tokenizer(const ss_model *model, const char **why) {
    if (why) *why = model->no_tokenizer;
    return model->tokenizer;
}

const char *const *ss_model_warnings(const ss_model *model, size_t *count) {
    *count = model->warning_count;
    return model->warnings;
}

const ss_allocator *ss_model_memory(const ss_model *model) {
    return model->memory;
}

ss_model_facts ss_model_describe(const ss_model *model) {
    return model->facts;
}
