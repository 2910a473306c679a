/* Sharded safetensors: an index that says which file holds which tensor.
 * Relies on: formats/json, formats/tensors_build. */
#include "formats/safetensors.h"

#include "formats/json.h"
#include "formats/names.h"
#include "formats/tensors_build.h"

#include <stdlib.h>
#include <string.h>

typedef struct shard_index {
    const char *path;
    json_t *document, *weight_map; /* weight_map: tensor name -> shard name */
    const char **shards;           /* [shard_count] distinct names, borrowed from the document */
    size_t shard_count;
} shard_index;

static ss_status fail_names(ss_error *error, const char *path, const char *what, const ss_names *names) {
    return ss_fail(error, SS_E_FORMAT, path, "%s: %s", what, names->text);
}

/* A shard is a plain file name: nothing that could lead out of the index's folder. */
static bool is_plain_name(const char *name) {
    return name[0] != '\0' && !strpbrk(name, "/\\") && strcmp(name, ".") != 0 && !strstr(name, "..");
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static ss_status collect_shards(shard_index *index, ss_tensors *tensors, ss_error *error) {
    const char *tensor;
    json_t *shard;
    size_t count = 0;
    index->shards =
        ss_arena_alloc(&tensors->arena, json_object_size(index->weight_map), sizeof *index->shards);
    if (!index->shards) return ss_fail_memory(error, index->path);
    json_object_foreach(index->weight_map, tensor, shard) {
        const char *name = json_string_value(shard);
        if (!name)
            return ss_fail(error, SS_E_FORMAT, index->path, "weight_map \"%s\" must be a string", tensor);
        if (!is_plain_name(name))
            return ss_fail(
                error, SS_E_FORMAT, index->path,
                "the shard \"%s\" is refused: a shard must be a file name in the index's own folder", name);
        index->shards[count++] = name;
    }
    if (count == 0) return ss_fail(error, SS_E_FORMAT, index->path, "weight_map names no tensor");
    qsort(index->shards, count, sizeof *index->shards, by_text);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || strcmp(index->shards[i], index->shards[i - 1]) != 0)
            index->shards[index->shard_count++] = index->shards[i];
    return SS_OK;
}

/* The shard's path beside the index, in the set's arena. */
static const char *shard_path(const shard_index *index, const char *shard, ss_tensors *tensors) {
    const char *slash = strrchr(index->path, '/');
    size_t folder = slash ? (size_t)(slash - index->path) + 1 : 0, length = strlen(shard);
    char *path = ss_arena_alloc(&tensors->arena, folder + length + 1, 1);
    if (!path) return NULL;
    memcpy(path, index->path, folder);
    memcpy(path + folder, shard, length + 1);
    return path;
}

/* Turn names into paths, and name every shard that is not there. */
static ss_status find_shards(shard_index *index, ss_tensors *tensors, const char **paths, ss_error *error) {
    ss_names missing = {0};
    for (size_t i = 0; i < index->shard_count; i++) {
        paths[i] = shard_path(index, index->shards[i], tensors);
        if (!paths[i]) return ss_fail_memory(error, index->path);
        if (!ss_is_file(paths[i])) ss_names_add(&missing, index->shards[i]);
    }
    if (missing.count == 0) return SS_OK;
    return fail_names(error, index->path, "the index names shards that are not there", &missing);
}

static ss_status add_shard(const shard_index *index, size_t shard, const char *path, ss_tensors *tensors,
                           ss_error *error) {
    ss_map map;
    size_t kept = tensors->count, first = kept;
    SS_TRY(ss_tensors_map(tensors, path, &map, error));
    SS_TRY(ss_safetensors_add(tensors, path, map.data, map.size, error));
    for (size_t i = first; i < tensors->count; i++) {
        const char *owner = json_string_value(json_object_get(index->weight_map, tensors->views[i].name));
        if (owner && strcmp(owner, index->shards[shard]) == 0) tensors->views[kept++] = tensors->views[i];
    }
    tensors->count = kept;
    return SS_OK;
}

static ss_status check_complete(const shard_index *index, ss_tensors *tensors, ss_error *error) {
    ss_names missing = {0};
    const char *tensor;
    json_t *shard;
    SS_TRY(ss_tensors_sort(tensors, error));
    json_object_foreach(index->weight_map, tensor, shard) {
        if (!ss_tensors_find(tensors, tensor)) ss_names_add(&missing, tensor);
    }
    if (missing.count == 0) return SS_OK;
    return fail_names(error, index->path, "tensors are not in the shards that the index names for them",
                      &missing);
}

static ss_status read_shards(shard_index *index, ss_tensors *tensors, ss_error *error) {
    if (!json_is_object(index->document))
        return ss_fail(error, SS_E_FORMAT, index->path, "a shard index must be a JSON object");
    SS_TRY(
        ss_json_object(index->document, "weight_map", SS_REQUIRED, index->path, &index->weight_map, error));
    SS_TRY(collect_shards(index, tensors, error));
    const char **paths = ss_arena_alloc(&tensors->arena, index->shard_count, sizeof *paths);
    if (!paths) return ss_fail_memory(error, index->path);
    SS_TRY(find_shards(index, tensors, paths, error));
    for (size_t i = 0; i < index->shard_count; i++) SS_TRY(add_shard(index, i, paths[i], tensors, error));
    return check_complete(index, tensors, error);
}

ss_status ss_safetensors_open_sharded(const char *index_path, const ss_allocator *memory,
                                      ss_tensors **tensors, ss_error *error) {
    shard_index index = {.path = index_path};
    ss_tensors *filling;
    SS_TRY(ss_json_open(index_path, SS_JSON_LIMIT, &index.document, error));
    ss_status status = ss_tensors_create(memory, &filling, error);
    if (!status) {
        status = read_shards(&index, filling, error);
        status = ss_tensors_hand_over(filling, status, tensors, error);
    }
    json_decref(index.document);
    return status;
}
