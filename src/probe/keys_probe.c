/* Where heads look: gathering. The rows of each head are added up in turn; the `heads` event makes of the
 * sums one struct of answers a head (keys_report.c writes those). Relies on: probe/columns (sums),
 * measure/sink, probe/values (the sink's column), base/team. */
#include "probe/keys_impl.h"

#include "base/team.h"
#include "probe/values.h"

#include <math.h>
#include <string.h>

/* Rows added in float32 before they move to doubles: rounding stays far below what a report shows. */
#define ROWS_AT_ONCE 32

/* ---- making ---- */

static bool allocate_sums(ss_keys_probe *probe) {
    size_t heads = probe->config->heads, tokens = probe->tokens, share, runs;
    if (!ss_mul_size(heads, tokens + 1, &share)) return false;
    if (!ss_mul_size(tokens, (size_t)probe->compute.workers, &runs)) return false;
    probe->sums = ss_alloc_zero(probe->memory, heads, sizeof *probe->sums);
    probe->column = ss_alloc_zero(probe->memory, share, sizeof *probe->column);
    probe->views = ss_alloc_zero(probe->memory, share, sizeof *probe->views);
    probe->cells = ss_alloc_zero(probe->memory, heads, probe->most_cells * sizeof *probe->cells);
    probe->run_sums = ss_alloc_zero(probe->memory, runs, sizeof *probe->run_sums);
    return probe->sums && probe->column && probe->views && probe->cells && probe->run_sums;
}

/* One map a head; the largest sets how many cells are kept. */
static bool allocate_maps(ss_keys_probe *probe, size_t heads) {
    bool fits = (probe->maps = ss_alloc_zero(probe->memory, heads, sizeof *probe->maps)) != NULL;
    for (size_t i = 0; fits && i < heads; i++) {
        size_t bins = ss_map_bins(probe, i / probe->config->heads, i % probe->config->heads);
        probe->maps[i] = ss_alloc_zero(probe->memory, bins * bins, sizeof **probe->maps);
        if (bins * bins > probe->most_cells) probe->most_cells = bins * bins;
        fits = probe->maps[i] != NULL;
    }
    return fits;
}

static bool allocate(ss_keys_probe *probe) {
    size_t heads;
    if (!ss_mul_size(probe->config->layers, probe->config->heads, &heads)) return false;
    probe->previous = ss_alloc(probe->memory, probe->tokens, sizeof *probe->previous);
    probe->heads = ss_alloc_zero(probe->memory, heads, sizeof *probe->heads);
    probe->shares = ss_alloc(probe->memory, probe->config->heads, probe->tokens * sizeof *probe->shares);
    return probe->previous && probe->heads && probe->shares && allocate_maps(probe, heads) &&
           allocate_sums(probe) &&
           ss_previous_occurrences(probe->memory, probe->ids, probe->tokens, probe->previous);
}

ss_status ss_keys_probe_create(const ss_probe_setup *setup, ss_keys_probe **probe, ss_error *error) {
    ss_keys_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the keys probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->ids = setup->ids;
    made->tokens = setup->tokens;
    made->bins = ss_bin_count(setup->tokens, SS_MAX_BINS);
    made->fine_maps = setup->options.fine_maps;
    made->compute = setup->compute;
    made->sink_threshold = setup->options.sink_threshold;
    if (!allocate(made)) {
        ss_keys_probe_free(made);
        return ss_fail_memory(error, "the keys probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_keys_probe_free(ss_keys_probe *probe) {
    if (!probe) return;
    const ss_allocator *memory = probe->memory;
    ss_free(memory, probe->sums);
    ss_free(memory, probe->column);
    ss_free(memory, probe->views);
    ss_free(memory, probe->cells);
    ss_free(memory, probe->run_sums);
    ss_free(memory, probe->previous);
    ss_free(memory, probe->heads);
    ss_free(memory, probe->shares);
    for (size_t i = 0; probe->maps && i < probe->config->layers * probe->config->heads; i++)
        ss_free(memory, probe->maps[i]);
    ss_free(memory, probe->maps);
    ss_free(memory, probe);
}

/* ---- rows: the blocks of a head in turn ---- */

/* Consecutive measured rows of one query bin, added up together over all keys that any of them sees: the
 * weights of masked keys are 0. */
typedef struct row_run {
    size_t begin, end;         /* rows of the block */
    size_t low, high;          /* keys low .. high - 1 */
    float scale[ROWS_AT_ONCE]; /* 1 / total of each row */
} row_run;

static bool measured(const ss_row_block *block, size_t r) {
    return block->support[r] >= 2 && isfinite(block->total[r]) && isfinite(block->max[r]);
}

static void extend(row_run *run, const ss_row_block *block, size_t r) {
    size_t first = block->first_key[r], end = first + block->support[r];
    if (first < run->low) run->low = first;
    if (end > run->high) run->high = end;
    run->scale[r - run->begin] = (float)(1 / block->total[r]);
    run->end = r + 1;
}

/* The run that starts at row `begin`, empty when that row is not measured. */
static row_run find_run(const ss_row_block *block, size_t begin, size_t bin_end) {
    row_run found = {.begin = begin, .end = begin, .low = SIZE_MAX};
    for (size_t r = begin; r < block->rows && r - begin < ROWS_AT_ONCE; r++) {
        if (!measured(block, r) || block->first_query + r >= bin_end) break;
        extend(&found, block, r);
    }
    return found;
}

static void add_run(const ss_keys_probe *probe, const ss_row_block *block, const row_run *run, float *sums) {
    const float *weights = block->weights + run->begin * block->stride + run->low - block->begin_key;
    ss_columns_add(probe->compute.isa, weights, block->stride, run->scale, run->end - run->begin,
                   run->high - run->low, sums + run->low);
}

/* Move the sums of a run into the map's cells and into the columns of the head. */
static void close_run(ss_keys_probe *probe, size_t head, size_t bins, size_t query_bin, const row_run *run,
                      float *sums) {
    size_t tokens = probe->tokens;
    double *cells = probe->cells + head * probe->most_cells + query_bin * bins;
    for (size_t b = ss_bin_of(tokens, bins, run->low); b < bins && ss_bin_begin(tokens, bins, b) < run->high;
         b++) {
        size_t begin = ss_bin_begin(tokens, bins, b), end = ss_bin_begin(tokens, bins, b + 1);
        cells[b] += ss_columns_total(probe->compute.isa, sums + begin, end - begin);
    }
    ss_columns_close(probe->compute.isa, sums + run->low, run->high - run->low,
                     probe->column + head * (tokens + 1) + run->low);
}

/* Add the weight on one key, if the row sees it. */
static void add_key(ss_mean *mean, const ss_row_block *block, size_t r, size_t key) {
    size_t place = key - block->first_key[r]; /* wraps to a large number before the first key */
    if (place >= block->support[r]) return;
    mean->sum += ss_block_weights(block, r)[place] / block->total[r];
    mean->count++;
}

static void add_single_keys(const ss_keys_probe *probe, const ss_row_block *block, size_t r, size_t query_bin,
                            ss_keys_sums *sums) {
    size_t query = block->first_query + r;
    ss_mean first_key = {0};
    add_key(&first_key, block, r, 0);
    sums->first_key[query_bin] += first_key.sum;
    sums->rows[query_bin]++;
    if (query > 0) add_key(&sums->prev_token, block, r, query - 1);
    add_key(&sums->same_token, block, r, query);
    if (probe->previous[query] != SS_NO_PREVIOUS)
        add_key(&sums->induction, block, r, (size_t)probe->previous[query] + 1);
    if (query == 0) sums->dominance = 1 / block->total[r];
}

static void count_views(ss_keys_probe *probe, const ss_row_block *block, size_t r) {
    size_t *views = probe->views + block->head * (probe->tokens + 1);
    views[block->first_key[r]]++; /* differences: summed along the keys when the layer is done */
    views[block->first_key[r] + block->support[r]]--;
}

static void on_rows(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block) {
    (void)pass;
    ss_keys_probe *probe = context;
    float *sums = probe->run_sums + (size_t)block->worker * probe->tokens;
    const size_t map_bins = ss_map_bins(probe, layer, block->head);
    for (size_t r = 0; r < block->rows;) {
        const size_t query = block->first_query + r;
        const size_t map_bin = ss_bin_of(probe->tokens, map_bins, query);
        row_run run = find_run(block, r, ss_bin_begin(probe->tokens, map_bins, map_bin + 1));
        if (run.end == run.begin) {
            r++; /* a row that is not measured */
            continue;
        }
        add_run(probe, block, &run, sums);
        close_run(probe, block->head, map_bins, map_bin, &run, sums);
        const size_t bin = ss_bin_of(probe->tokens, probe->bins, query);
        for (; r < run.end; r++) {
            add_single_keys(probe, block, r, bin, &probe->sums[block->head]);
            count_views(probe, block, r);
        }
    }
}

/* ---- heads: from sums to answers ---- */

static double mean_of(double sum, size_t count) {
    return count ? sum / (double)count : NAN;
}

/* The strongest keys among those seen by at least a quarter as many rows as the most seen one; the others are
 * taken for not seen. */
static size_t find_strongest(const ss_keys_probe *probe, const double *column, size_t *views, ss_sink *top) {
    size_t most = 0;
    for (size_t j = 0; j < probe->tokens; j++) most = views[j] > most ? views[j] : most;
    for (size_t j = 0; j < probe->tokens; j++)
        if (views[j] < most / 4 + (most % 4 != 0)) views[j] = 0;
    return ss_sink_top(column, views, probe->tokens, top, SS_TOP_KEYS);
}

/* Sums of weights become means over the rows of a query bin: each row's weights add up to 1. */
static void finish_map(ss_keys_probe *probe, size_t layer, size_t h) {
    const size_t bins = ss_map_bins(probe, layer, h);
    const double *cells = probe->cells + h * probe->most_cells;
    float *map = probe->maps[layer * probe->config->heads + h];
    for (size_t b = 0; b < bins; b++) {
        double rows = 0;
        for (size_t k = 0; k < bins; k++) rows += cells[b * bins + k];
        for (size_t k = 0; k < bins; k++)
            map[b * bins + k] = rows > 0 ? (float)(cells[b * bins + k] / rows) : 0;
    }
}

static void finish_head(ss_keys_probe *probe, size_t layer, size_t h) {
    const ss_keys_sums *sums = &probe->sums[h];
    const double *column = probe->column + h * (probe->tokens + 1);
    size_t *views = probe->views + h * (probe->tokens + 1);
    ss_keys_head *head = &probe->heads[layer * probe->config->heads + h];
    double first_key = 0;
    finish_map(probe, layer, h);
    for (size_t b = 0; b < probe->bins; b++) {
        size_t rows = sums->rows[b];
        first_key += sums->first_key[b];
        head->rows += rows;
        head->first_key_profile[b] = (float)mean_of(sums->first_key[b], rows);
    }
    head->first_key = mean_of(first_key, head->rows);
    head->sink_rate = ss_sink_rate(head->first_key, probe->sink_threshold);
    head->prev_token = mean_of(sums->prev_token.sum, sums->prev_token.count);
    head->same_token = mean_of(sums->same_token.sum, sums->same_token.count);
    head->induction = mean_of(sums->induction.sum, sums->induction.count);
    head->dominance = sums->dominance > 0 ? sums->dominance : NAN;
    for (size_t j = 1; j < probe->tokens; j++) views[j] += views[j - 1]; /* differences become counts */
    head->top_count = find_strongest(probe, column, views, head->top);
    head->sink_weight = head->top_count ? head->top[0].weight : NAN;
    head->sink_value_share = NAN;
}

/* Nothing is added up yet, for the next layer. */
static void clear(ss_keys_probe *probe, size_t head) {
    size_t keys = probe->tokens + 1, cells = probe->most_cells;
    probe->sums[head] = (ss_keys_sums){0};
    memset(probe->column + head * keys, 0, keys * sizeof *probe->column);
    memset(probe->views + head * keys, 0, keys * sizeof *probe->views);
    memset(probe->cells + head * cells, 0, cells * sizeof *probe->cells);
}

/* ---- the value that the sink contributes ---- */

/* norm(weight x value of the sink) / norm(head output) of a token; NOT_SHARED where the token does not see
 * the sink or has no output. */
#define NOT_SHARED (-1.0)

/* Tokens taken together: all heads of a few tokens are one stretch of memory that is read in its order. */
#define TOKENS_AT_ONCE ((size_t)16)

typedef struct layer_task {
    ss_keys_probe *probe;
    const ss_heads_event *event;
} layer_task;

/* weight of a key with this product q k in row t, as the pass had it up to float32 rounding of the product */
static double weight_of(const ss_heads_event *event, size_t head, size_t t, double dot) {
    size_t place = head * event->pass->tokens + t;
    return exp(ss_score_of(event->pass->config, dot) - event->max[place]) / event->total[place];
}

static double share_of(const ss_heads_event *event, size_t head, size_t t, size_t sink, double dot,
                       double value_square, double mix_square) {
    ss_visible keys = ss_event_visible(event, t);
    if (keys.support < 2 || sink - keys.first >= keys.support) return NOT_SHARED;
    if (!(mix_square > 0)) return NOT_SHARED;
    return weight_of(event, head, t, dot) * sqrt(value_square) / sqrt(mix_square);
}

static void find_head_shares(const layer_task *task, size_t head, size_t sink, size_t first, size_t count) {
    const ss_heads_event *event = task->event;
    const ss_config *config = event->pass->config;
    const ss_isa isa = event->pass->compute->isa;
    const size_t width = config->head_width;
    double *shares = task->probe->shares + head * task->probe->tokens + first;
    float dots[TOKENS_AT_ONCE], squares[TOKENS_AT_ONCE], value_square;
    ss_dots(isa, ss_event_key(event, head, sink), ss_event_query(event, head, first), event->stride, count,
            width, dots);
    ss_squares(isa, ss_event_mix(event, head, first), config->heads * width, count, width, squares);
    ss_squares(isa, ss_event_value(event, head, sink), 0, 1, width, &value_square);
    for (size_t i = 0; i < count; i++)
        shares[i] = share_of(event, head, first + i, sink, dots[i], value_square, squares[i]);
}

static void find_shares(void *context, size_t begin, size_t end, int worker) {
    (void)worker;
    const layer_task *task = context;
    const size_t heads = task->probe->config->heads;
    const ss_keys_head *head = &task->probe->heads[task->event->layer * heads];
    for (size_t first = begin; first < end; first += TOKENS_AT_ONCE) {
        size_t count = end - first < TOKENS_AT_ONCE ? end - first : TOKENS_AT_ONCE;
        for (size_t h = 0; h < heads; h++)
            if (head[h].top_count > 0) find_head_shares(task, h, head[h].top[0].key, first, count);
    }
}

/* Mean over the tokens, in their order. */
static double mean_share(const double *shares /* [T] */, size_t tokens) {
    ss_mean mean = {0};
    for (size_t t = 0; t < tokens; t++) {
        if (shares[t] == NOT_SHARED) continue;
        mean.sum += shares[t];
        mean.count++;
    }
    return mean_of(mean.sum, mean.count);
}

static void answer_head(void *context, size_t h, int worker) {
    (void)worker;
    layer_task *task = context;
    finish_head(task->probe, task->event->layer, h);
    clear(task->probe, h);
}

static void on_heads(void *context, const ss_heads_event *event) {
    ss_keys_probe *probe = context;
    layer_task task = {.probe = probe, .event = event};
    ss_team_run(probe->compute.workers, probe->config->heads, answer_head, &task);
    ss_team_split(probe->compute.workers, probe->tokens, find_shares, &task);
    ss_keys_head *head = &probe->heads[event->layer * probe->config->heads];
    for (size_t h = 0; h < probe->config->heads; h++)
        if (head[h].top_count > 0)
            head[h].sink_value_share = mean_share(probe->shares + h * probe->tokens, probe->tokens);
}

ss_probe ss_keys_probe_subscribe(ss_keys_probe *probe) {
    return (ss_probe){.context = probe, .rows_in_turn = on_rows, .heads = on_heads};
}
