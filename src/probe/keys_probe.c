/* Where heads look: gathering. Workers add up the rows of a layer, each for itself; the `heads` event reduces
 * them in the order of the workers and leaves one struct of answers a head (keys_report.c writes those).
 * Relies on: probe/columns (sums), measure/sink, probe/values (the sink's column), base/team. */
#include "probe/keys_impl.h"

#include "base/team.h"
#include "probe/values.h"

#include <math.h>
#include <string.h>

/* Rows added in float32 before they move to doubles: rounding stays far below what a report shows. */
#define ROWS_AT_ONCE 32

/* ---- making ---- */

static bool allocate_workers(ss_keys_probe *probe) {
    size_t heads = probe->config->heads, tokens = probe->tokens, share;
    bool fits = ss_mul_size(heads, tokens + 1, &share);
    for (int w = 0; fits && w < probe->compute.workers; w++) {
        ss_keys_worker *worker = &probe->workers[w];
        worker->column = ss_alloc_zero(probe->memory, share, sizeof *worker->column);
        worker->views = ss_alloc_zero(probe->memory, share, sizeof *worker->views);
        worker->cells = ss_alloc_zero(probe->memory, heads, probe->most_cells * sizeof *worker->cells);
        worker->sums = ss_alloc_zero(probe->memory, tokens, sizeof *worker->sums);
        worker->heads = ss_alloc_zero(probe->memory, heads, sizeof *worker->heads);
        fits = worker->column && worker->views && worker->cells && worker->sums && worker->heads;
    }
    return fits;
}

/* One map a head; the largest sets how many cells a worker keeps. */
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
    probe->workers = ss_alloc_zero(probe->memory, (size_t)probe->compute.workers, sizeof *probe->workers);
    probe->previous = ss_alloc(probe->memory, probe->tokens, sizeof *probe->previous);
    probe->heads = ss_alloc_zero(probe->memory, heads, sizeof *probe->heads);
    probe->shares = ss_alloc(probe->memory, probe->config->heads, probe->tokens * sizeof *probe->shares);
    return probe->workers && probe->previous && probe->heads && probe->shares &&
           allocate_maps(probe, heads) && allocate_workers(probe) &&
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
    for (int w = 0; probe->workers && w < probe->compute.workers; w++) {
        ss_keys_worker *worker = &probe->workers[w];
        ss_free(memory, worker->column);
        ss_free(memory, worker->views);
        ss_free(memory, worker->cells);
        ss_free(memory, worker->sums);
        ss_free(memory, worker->heads);
    }
    ss_free(memory, probe->workers);
    ss_free(memory, probe->previous);
    ss_free(memory, probe->heads);
    ss_free(memory, probe->shares);
    for (size_t i = 0; probe->maps && i < probe->config->layers * probe->config->heads; i++)
        ss_free(memory, probe->maps[i]);
    ss_free(memory, probe->maps);
    ss_free(memory, probe);
}

/* ---- rows: every worker for itself ---- */

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
static void close_run(const ss_keys_probe *probe, ss_keys_worker *worker, size_t head, size_t bins,
                      size_t query_bin, const row_run *run) {
    size_t tokens = probe->tokens;
    double *cells = worker->cells + head * probe->most_cells + query_bin * bins;
    for (size_t b = ss_bin_of(tokens, bins, run->low); b < bins && ss_bin_begin(tokens, bins, b) < run->high;
         b++) {
        size_t begin = ss_bin_begin(tokens, bins, b), end = ss_bin_begin(tokens, bins, b + 1);
        cells[b] += ss_columns_total(probe->compute.isa, worker->sums + begin, end - begin);
    }
    ss_columns_close(probe->compute.isa, worker->sums + run->low, run->high - run->low,
                     worker->column + head * (tokens + 1) + run->low);
}

/* Add the weight on one key, if the row sees it. */
static void add_key(ss_mean *mean, const ss_row_block *block, size_t r, size_t key) {
    size_t place = key - block->first_key[r]; /* wraps to a large number before the first key */
    if (place >= block->support[r]) return;
    mean->sum += ss_block_weights(block, r)[place] / block->total[r];
    mean->count++;
}

static void add_single_keys(const ss_keys_probe *probe, const ss_row_block *block, size_t r, size_t query_bin,
                            ss_keys_worker_head *sums) {
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

static void count_views(const ss_keys_probe *probe, ss_keys_worker *worker, const ss_row_block *block,
                        size_t r) {
    size_t *views = worker->views + block->head * (probe->tokens + 1);
    views[block->first_key[r]]++; /* differences: summed along the keys when the layer is done */
    views[block->first_key[r] + block->support[r]]--;
}

static void on_rows(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block) {
    (void)pass;
    ss_keys_probe *probe = context;
    ss_keys_worker *worker = &probe->workers[block->worker];
    const size_t map_bins = ss_map_bins(probe, layer, block->head);
    for (size_t r = 0; r < block->rows;) {
        const size_t query = block->first_query + r;
        const size_t map_bin = ss_bin_of(probe->tokens, map_bins, query);
        row_run run = find_run(block, r, ss_bin_begin(probe->tokens, map_bins, map_bin + 1));
        if (run.end == run.begin) {
            r++; /* a row that is not measured */
            continue;
        }
        add_run(probe, block, &run, worker->sums);
        close_run(probe, worker, block->head, map_bins, map_bin, &run);
        const size_t bin = ss_bin_of(probe->tokens, probe->bins, query);
        for (; r < run.end; r++) {
            add_single_keys(probe, block, r, bin, &worker->heads[block->head]);
            count_views(probe, worker, block, r);
        }
    }
}

/* ---- heads: reduce, in the order of the workers ---- */

static void add_mean(ss_mean *to, const ss_mean *from) {
    to->sum += from->sum;
    to->count += from->count;
}

static void add_worker_head(const ss_keys_probe *probe, ss_keys_worker_head *to,
                            const ss_keys_worker_head *from) {
    for (size_t b = 0; b < probe->bins; b++) {
        to->first_key[b] += from->first_key[b];
        to->rows[b] += from->rows[b];
    }
    add_mean(&to->prev_token, &from->prev_token);
    add_mean(&to->same_token, &from->same_token);
    add_mean(&to->induction, &from->induction);
    to->dominance += from->dominance; /* the one worker that had the first row */
}

/* Fold every worker's sums of a head into the first worker's. */
static void fold(ss_keys_probe *probe, size_t head) {
    size_t tokens = probe->tokens, cells = probe->most_cells;
    ss_keys_worker *to = &probe->workers[0];
    for (int w = 1; w < probe->compute.workers; w++) {
        const ss_keys_worker *from = &probe->workers[w];
        for (size_t j = head * (tokens + 1); j < (head + 1) * (tokens + 1); j++) {
            to->column[j] += from->column[j];
            to->views[j] += from->views[j];
        }
        for (size_t c = head * cells; c < (head + 1) * cells; c++) to->cells[c] += from->cells[c];
        add_worker_head(probe, &to->heads[head], &from->heads[head]);
    }
    size_t *views = to->views + head * (tokens + 1);
    for (size_t j = 1; j < tokens; j++) views[j] += views[j - 1];
}

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
    const double *cells = probe->workers[0].cells + h * probe->most_cells;
    float *map = probe->maps[layer * probe->config->heads + h];
    for (size_t b = 0; b < bins; b++) {
        double rows = 0;
        for (size_t k = 0; k < bins; k++) rows += cells[b * bins + k];
        for (size_t k = 0; k < bins; k++)
            map[b * bins + k] = rows > 0 ? (float)(cells[b * bins + k] / rows) : 0;
    }
}

static void finish_head(ss_keys_probe *probe, size_t layer, size_t h) {
    ss_keys_worker *sums = &probe->workers[0];
    const ss_keys_worker_head *single = &sums->heads[h];
    ss_keys_head *head = &probe->heads[layer * probe->config->heads + h];
    double first_key = 0;
    finish_map(probe, layer, h);
    for (size_t b = 0; b < probe->bins; b++) {
        size_t rows = single->rows[b];
        first_key += single->first_key[b];
        head->rows += rows;
        head->first_key_profile[b] = (float)mean_of(single->first_key[b], rows);
    }
    head->first_key = mean_of(first_key, head->rows);
    head->sink_rate = ss_sink_rate(head->first_key, probe->sink_threshold);
    head->prev_token = mean_of(single->prev_token.sum, single->prev_token.count);
    head->same_token = mean_of(single->same_token.sum, single->same_token.count);
    head->induction = mean_of(single->induction.sum, single->induction.count);
    head->dominance = single->dominance > 0 ? single->dominance : NAN;
    head->top_count = find_strongest(probe, sums->column + h * (probe->tokens + 1),
                                     sums->views + h * (probe->tokens + 1), head->top);
    head->sink_weight = head->top_count ? head->top[0].weight : NAN;
    head->sink_value_share = NAN;
}

static void clear(ss_keys_probe *probe, size_t head) {
    size_t keys = probe->tokens + 1, cells = probe->most_cells;
    for (int w = 0; w < probe->compute.workers; w++) {
        ss_keys_worker *worker = &probe->workers[w];
        memset(worker->column + head * keys, 0, keys * sizeof *worker->column);
        memset(worker->views + head * keys, 0, keys * sizeof *worker->views);
        memset(worker->cells + head * cells, 0, cells * sizeof *worker->cells);
        worker->heads[head] = (ss_keys_worker_head){0};
    }
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

static void reduce_head(void *context, size_t h, int worker) {
    (void)worker;
    layer_task *task = context;
    fold(task->probe, h);
    finish_head(task->probe, task->event->layer, h);
    clear(task->probe, h);
}

static void on_heads(void *context, const ss_heads_event *event) {
    ss_keys_probe *probe = context;
    layer_task task = {.probe = probe, .event = event};
    ss_team_run(probe->compute.workers, probe->config->heads, reduce_head, &task);
    ss_team_split(probe->compute.workers, probe->tokens, find_shares, &task);
    ss_keys_head *head = &probe->heads[event->layer * probe->config->heads];
    for (size_t h = 0; h < probe->config->heads; h++)
        if (head[h].top_count > 0)
            head[h].sink_value_share = mean_share(probe->shares + h * probe->tokens, probe->tokens);
}

ss_probe ss_keys_probe_subscribe(ss_keys_probe *probe) {
    return (ss_probe){.context = probe, .rows = on_rows, .heads = on_heads};
}
