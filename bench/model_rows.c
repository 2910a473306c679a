/* Rows of a real model for the benchmarks: the last query of every head over a text of N tokens, so that each
 * row has N keys.
 *
 *     model_rows MODEL TEXT N OUT.npy       float32 [layers x heads][N], each row sums to 1
 *
 * A text shorter than N tokens is repeated. Relies on: the library's rooms. */
#include "base/file.h"
#include "formats/npy.h"
#include "model/model.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct catch {
    size_t tokens, heads;
    float *rows; /* [layers * heads][tokens] */
}
catch;

static void keep_last(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block) {
    (void)pass;
    const catch *c = context;
    const size_t r = c->tokens - 1 - block->first_query;
    if (r >= block->rows) return;
    const float *weights = ss_block_weights(block, r);
    float *row = c->rows + (layer * c->heads + block->head) * c->tokens;
    for (size_t j = 0; j < c->tokens; j++) row[j] = (float)(weights[j] / block->total[r]);
}

static void must(ss_status status, const ss_error *error) {
    if (status == SS_OK) return;
    fprintf(stderr, "model_rows: %s: %s\n", error->where, error->message);
    exit(ss_status_exit(status));
}

/* The ids of the text, over and over until there are enough. */
static uint32_t *encode(const ss_model *model, const char *path, size_t tokens) {
    ss_error error = {0};
    ss_map map;
    ss_encoding encoding = {0};
    const ss_tokenizer *tokenizer = ss_model_tokenizer(model, NULL);
    must(ss_map_open(path, &map, &error), &error);
    must(ss_tokenizer_encode(tokenizer, (const char *)map.data, map.size, SS_ENCODE_PLAIN, tokens, &encoding,
                             &error),
         &error);
    uint32_t *ids = malloc(tokens * sizeof *ids);
    for (size_t t = 0; ids && t < tokens; t++) ids[t] = encoding.ids[t % encoding.count];
    ss_encoding_free(&encoding);
    ss_map_close(&map);
    return ids;
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fputs("usage: model_rows MODEL TEXT N OUT.npy\n", stderr);
        return 2;
    }
    ss_error error = {0};
    ss_model *model = NULL;
    const ss_compute compute = ss_compute_default();
    must(ss_model_open(argv[1], NULL, &compute, &model, &error), &error);
    const ss_config *config = ss_model_config(model);
    catch c = {.tokens = strtoul(argv[3], NULL, 10), .heads = config->heads};
    const size_t shape[] = {config->layers * config->heads, c.tokens};
    uint32_t *ids = encode(model, argv[2], c.tokens);
    c.rows = calloc(shape[0] * shape[1], sizeof *c.rows);
    if (!ids || !c.rows) return 4;
    const ss_probe probe = {.context = &c, .rows = keep_last};
    must(ss_model_forward(model, ids, c.tokens, &(ss_forward_options){.compute = compute},
                          (const ss_probe *[]){&probe}, 1, &error),
         &error);
    must(ss_npy_save(argv[4], SS_TYPE_F32, 2, shape, c.rows, &error), &error);
    free(c.rows);
    free(ids);
    ss_model_free(model);
    return 0;
}
