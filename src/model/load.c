/* Conversion of weights. A tensor is cut into chunks that stay in cache, so that looking for bad values and
 * rounding to bfloat16 cost no second trip through memory; chunks are dealt to the team, and each worker is
 * the first to touch the pages it fills. Relies on: math/types. */
#include "model/load.h"

#include "base/team.h"
#include "math/matmul.h"

#include <math.h>
#include <string.h>

enum {
    CHUNK = 1 << 16,   /* values of one task */
    STEP = 4096,       /* values converted before they are looked at again: 16 KB, the first cache */
    TILE_ROWS = 64,    /* outputs of a transposed chunk: 256 bytes of a file's row */
    TILE_COLUMNS = 16, /* inputs of a tile: one cache line of the result */
};

typedef struct chunk {
    size_t tensor, first, count; /* values, or rows of a transposed tensor */
    uint64_t first_bad;
} chunk;

typedef struct job {
    const ss_plan *plan;
    chunk *chunks;
    size_t chunk_count;
    float *f32;
    uint16_t *bf16;
    ss_isa isa;
    bool round; /* matmul inputs in the float32 block take bfloat16 values */
} job;

/* ---- a run of values --------------------------------------------------------------------------- */

/* Index of the first NaN or infinity in values[count], or count. The first loop has no branch, so that it
 * becomes vector code. */
static size_t find_bad(const float *values, size_t count) {
    const uint32_t infinity = 0x7f800000u;
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, values + i, sizeof bits);
        bad |= (bits & infinity) == infinity;
    }
    if (!bad) return count;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return i;
    return count;
}

static const unsigned char *value_at(const ss_tensor_view *view, size_t index) {
    const unsigned char *data = view->data;
    return data + index / ss_type_block_elements(view->type) * ss_type_block_bytes(view->type);
}

/* values = values rounded to bfloat16, which also go to halves[count] */
static void round_values(const job *j, float *values, size_t count, uint16_t *halves) {
    SS_PICK_LEVEL(j->isa, ss_f32_to_bf16)(values, count, halves);
    ss_to_f32(SS_TYPE_BF16, halves, count, values);
}

static bool rounds(const job *j, const ss_tensor *tensor) {
    return j->round && (ss_role_is_matrix(tensor->role) || tensor->role == SS_ROLE_HEAD);
}

/* ---- chunks ------------------------------------------------------------------------------------ */

static void convert_run(const job *j, chunk *c) {
    const ss_tensor *tensor = &j->plan->table.tensors[c->tensor];
    const ss_source *source = &j->plan->sources[c->tensor];
    const bool rounded = rounds(j, tensor);
    float values[STEP];
    uint16_t halves[STEP];
    for (size_t done = 0, count; done < c->count; done += count) {
        count = c->count - done < STEP ? c->count - done : STEP;
        const size_t index = c->first + done, place = tensor->offset + index;
        float *to = tensor->in_bf16 ? values : j->f32 + place;
        ss_to_f32(source->view->type, value_at(source->view, source->start + index), count, to);
        if (tensor->in_bf16 || rounded)
            round_values(j, to, count, tensor->in_bf16 ? j->bf16 + place : halves);
        const size_t bad = find_bad(to, count);
        if (bad < count && c->first_bad == SS_NO_BAD) c->first_bad = source->start + index + bad;
    }
}

/* tile [columns][rows] of a file that holds [in][out] -> rows of the block */
static void scatter(const job *j, const ss_tensor *tensor, const float *tile, const uint16_t *halves,
                    size_t row, size_t rows, size_t column, size_t columns) {
    for (size_t r = 0; r < rows; r++) {
        const size_t place = tensor->offset + (row + r) * tensor->columns + column;
        for (size_t c = 0; c < columns; c++) {
            if (tensor->in_bf16)
                j->bf16[place + c] = halves[c * rows + r];
            else
                j->f32[place + c] = tile[c * rows + r];
        }
    }
}

static void convert_transposed(const job *j, chunk *c) {
    const ss_tensor *tensor = &j->plan->table.tensors[c->tensor];
    const ss_source *source = &j->plan->sources[c->tensor];
    const bool rounded = rounds(j, tensor) || tensor->in_bf16;
    const size_t rows = c->count;
    float tile[TILE_COLUMNS * TILE_ROWS];
    uint16_t halves[TILE_COLUMNS * TILE_ROWS];
    for (size_t column = 0, columns; column < tensor->columns; column += columns) {
        columns = tensor->columns - column < TILE_COLUMNS ? tensor->columns - column : TILE_COLUMNS;
        const size_t corner = source->start + column * source->stride + c->first;
        for (size_t i = 0; i < columns; i++)
            ss_to_f32(source->view->type, value_at(source->view, corner + i * source->stride), rows,
                      tile + i * rows);
        if (rounded) round_values(j, tile, columns * rows, halves);
        const size_t bad = find_bad(tile, columns * rows);
        if (bad < columns * rows && c->first_bad == SS_NO_BAD)
            c->first_bad = corner + bad / rows * source->stride + bad % rows;
        scatter(j, tensor, tile, halves, c->first, rows, column, columns);
    }
}

static void convert_chunk(void *context, size_t index, int worker) {
    (void)worker;
    const job *j = context;
    chunk *c = &j->chunks[index];
    if (j->plan->sources[c->tensor].stride)
        convert_transposed(j, c);
    else
        convert_run(j, c);
}

/* Cut every tensor; with chunks NULL only count. */
static size_t cut(const ss_plan *plan, chunk *chunks) {
    size_t made = 0;
    for (size_t i = 0; i < plan->table.count; i++) {
        const ss_tensor *tensor = &plan->table.tensors[i];
        const bool turned = plan->sources[i].stride != 0;
        const size_t items = turned ? tensor->rows : tensor->rows * tensor->columns;
        const size_t step = turned ? TILE_ROWS : CHUNK;
        for (size_t first = 0; first < items; first += step, made++)
            if (chunks)
                chunks[made] = (chunk){i, first, items - first < step ? items - first : step, SS_NO_BAD};
    }
    return made;
}

static ss_status convert(ss_model *model, ss_plan *plan, const ss_compute *compute, bool round,
                         ss_error *error) {
    job j = {.plan = plan,
             .f32 = model->f32_block,
             .bf16 = model->bf16_block,
             .isa = compute->isa,
             .round = round};
    j.chunk_count = cut(plan, NULL);
    j.chunks = ss_alloc(model->memory, j.chunk_count, sizeof *j.chunks);
    if (!j.chunks) return ss_fail_memory(error, "weights");
    cut(plan, j.chunks);
    ss_team_run(compute->workers, j.chunk_count, convert_chunk, &j);
    for (size_t i = 0; i < j.chunk_count; i++) {
        ss_tensor *tensor = &model->table.tensors[j.chunks[i].tensor];
        if (j.chunks[i].first_bad < tensor->first_bad) tensor->first_bad = j.chunks[i].first_bad;
    }
    ss_free(model->memory, j.chunks);
    return SS_OK;
}

/* ---- views ------------------------------------------------------------------------------------- */

/* The first tensor of `role`'s group in a layer and where the group starts, or NULL where there is none. */
static const ss_tensor *find_group(const ss_model *model, ss_role role, size_t layer, size_t *start) {
    for (ss_role r = role; r < SS_ROLE_COUNT && ss_role_describe(r)->together == role; r++) {
        const ss_tensor *tensor = ss_tensor_find(&model->table, r, layer);
        if (!tensor) continue;
        *start = tensor->offset - ss_plan_together(&model->config, r, true);
        return tensor;
    }
    return NULL;
}

/* A vector; parts of a group that the files do not have (a bias of keys only) are zero. */
static const float *vector(ss_model *model, ss_role role, size_t layer) {
    size_t start;
    if (!find_group(model, role, layer, &start)) return NULL;
    for (ss_role r = role; r < SS_ROLE_COUNT && ss_role_describe(r)->together == role; r++) {
        const size_t before = ss_plan_together(&model->config, r, true);
        const size_t after = r + 1 < SS_ROLE_COUNT && ss_role_describe(r + 1)->together == role
                                 ? ss_plan_together(&model->config, r + 1, true)
                                 : ss_plan_together(&model->config, r, false);
        if (!ss_tensor_find(&model->table, r, layer))
            memset(model->f32_block + start + before, 0, (after - before) * sizeof(float));
    }
    return model->f32_block + start;
}

static ss_matrix matrix(const ss_model *model, ss_role role, size_t layer) {
    size_t start;
    const ss_tensor *tensor = find_group(model, role, layer, &start);
    if (!tensor) return (ss_matrix){0};
    ss_matrix view = {.out = ss_plan_together(&model->config, role, false) / tensor->columns,
                      .in = tensor->columns};
    if (tensor->in_bf16)
        view.bf16 = model->bf16_block + start;
    else
        view.f32 = model->f32_block + start;
    return view;
}

static ss_norm_weights norm(ss_model *model, ss_role gamma, ss_role beta, size_t layer) {
    return (ss_norm_weights){vector(model, gamma, layer), vector(model, beta, layer)};
}

static ss_status view_layers(ss_model *model, ss_error *error) {
    ss_layer_weights *layers = ss_arena_alloc(&model->arena, model->config.layers, sizeof *layers);
    if (!layers) return ss_fail_memory(error, "weights");
    for (size_t l = 0; l < model->config.layers; l++)
        layers[l] = (ss_layer_weights){
            .attn_norm = norm(model, SS_ROLE_ATTN_NORM_GAMMA, SS_ROLE_ATTN_NORM_BETA, l),
            .ffn_norm = norm(model, SS_ROLE_FFN_NORM_GAMMA, SS_ROLE_FFN_NORM_BETA, l),
            .qkv = matrix(model, SS_ROLE_Q, l),
            .qkv_bias = vector(model, SS_ROLE_Q_BIAS, l),
            .attn_out = matrix(model, SS_ROLE_ATTN_OUT, l),
            .attn_out_bias = vector(model, SS_ROLE_ATTN_OUT_BIAS, l),
            .up = matrix(model, SS_ROLE_GATE, l),
            .up_bias = vector(model, SS_ROLE_GATE_BIAS, l),
            .down = matrix(model, SS_ROLE_DOWN, l),
            .down_bias = vector(model, SS_ROLE_DOWN_BIAS, l),
        };
    model->weights.layers = layers;
    return SS_OK;
}

static ss_status view_weights(ss_model *model, ss_error *error) {
    model->weights = (ss_weights){
        .token_embed = vector(model, SS_ROLE_TOKEN_EMBED, 0),
        .position_embed = vector(model, SS_ROLE_POSITION_EMBED, 0),
        .segment_embed = vector(model, SS_ROLE_SEGMENT_EMBED, 0),
        .embed_norm = norm(model, SS_ROLE_EMBED_NORM_GAMMA, SS_ROLE_EMBED_NORM_BETA, 0),
        .final_norm = norm(model, SS_ROLE_FINAL_NORM_GAMMA, SS_ROLE_FINAL_NORM_BETA, 0),
        .rotary_factors = vector(model, SS_ROLE_ROTARY_FACTORS, 0),
        .head = matrix(model, model->config.tied ? SS_ROLE_TOKEN_EMBED : SS_ROLE_HEAD, 0),
    };
    if (!model->config.has_head) model->weights.head = (ss_matrix){0};
    return view_layers(model, error);
}

/* ---- the tied head of a bfloat16 model --------------------------------------------------------------- */

typedef struct head_copy {
    ss_isa isa;
    const float *embedding;
    float *f32; /* one of them, the other NULL */
    uint16_t *bf16;
} head_copy;

static void copy_head(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const head_copy *copy = context;
    uint16_t halves[STEP];
    for (size_t i = begin, count; i < end; i += count) {
        count = end - i < STEP ? end - i : STEP;
        uint16_t *to = copy->bf16 ? copy->bf16 + i : halves;
        SS_PICK_LEVEL(copy->isa, ss_f32_to_bf16)(copy->embedding + i, count, to);
        if (copy->f32) ss_to_f32(SS_TYPE_BF16, to, count, copy->f32 + i);
    }
}

/* Look-up wants the embedding as it is, the head wants it rounded: `start` is where the copy lies. */
static void round_head(ss_model *model, const ss_compute *compute, bool bf16, size_t start) {
    ss_matrix *head = &model->weights.head;
    head_copy copy = {.isa = compute->isa, .embedding = model->weights.token_embed};
    if (bf16)
        head->bf16 = copy.bf16 = model->bf16_block + start;
    else
        copy.f32 = model->f32_block + start;
    head->f32 = copy.f32;
    ss_team_split(compute->workers, head->out * head->in, copy_head, &copy);
}

ss_status ss_load_weights(ss_model *model, ss_plan *plan, const ss_compute *compute, ss_error *error) {
    const ss_config *config = &model->config;
    const bool round = compute->dtype == SS_DTYPE_BF16;
    const bool bf16 = round && ss_has_bf16_matmul(compute->isa);
    ss_plan_sizes sizes = ss_plan_place(plan, config, bf16);
    const bool copies_head = round && config->has_head && config->tied;
    const size_t copy_start = bf16 ? sizes.bf16 : sizes.f32;
    if (copies_head) *(bf16 ? &sizes.bf16 : &sizes.f32) += config->vocabulary * config->width;

    model->table = plan->table;
    model->f32_block = ss_alloc_large(model->memory, sizes.f32, sizeof *model->f32_block);
    if (bf16) model->bf16_block = ss_alloc_large(model->memory, sizes.bf16, sizeof *model->bf16_block);
    if (!model->f32_block || (bf16 && !model->bf16_block))
        return ss_fail(error, SS_E_MEMORY, "weights", "not enough memory: they take %zu MiB",
                       (sizes.f32 * sizeof(float) + sizes.bf16 * sizeof(uint16_t)) >> 20);
    SS_TRY(convert(model, plan, compute, round && !bf16, error));
    SS_TRY(view_weights(model, error));
    if (copies_head) round_head(model, compute, bf16, copy_start);
    return SS_OK;
}

bool ss_load_equal(const ss_tensor_view *a, const ss_tensor_view *b) {
    float x[STEP], y[STEP];
    if (a->elements != b->elements) return false;
    for (size_t i = 0, count; i < a->elements; i += count) {
        count = a->elements - i < STEP ? a->elements - i : STEP;
        ss_to_f32(a->type, value_at(a, i), count, x);
        ss_to_f32(b->type, value_at(b, i), count, y);
        if (memcmp(x, y, count * sizeof *x) != 0) return false;
    }
    return true;
}
