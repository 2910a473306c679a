/* Row measures: gathering. Each row is measured by the worker that shows it and goes into a slot of its own
 * (rows_report.c summarises). Relies on: measure/row. */
#include "probe/rows_impl.h"

#include <math.h>

static bool allocate(ss_rows_probe *probe) {
    size_t rows;
    if (!ss_mul_size(probe->config->layers, probe->config->heads, &rows)) return false;
    if (!ss_mul_size(rows, probe->tokens, &rows)) return false;
    for (size_t m = 0; m < SS_ROW_MEASURES; m++) {
        size_t size = SS_ROW_TABLE[m].wide ? sizeof(double) : sizeof(float);
        probe->columns[m] = ss_alloc_large(probe->memory, rows, size);
        if (!probe->columns[m]) return false;
    }
    probe->workspace_bytes = ss_whole_lines(ss_row_workspace(probe->tokens));
    probe->kinds = ss_alloc_zero(probe->memory, rows, 1);
    probe->workspace = ss_alloc(probe->memory, (size_t)probe->compute.workers, probe->workspace_bytes);
    return probe->kinds && probe->workspace;
}

ss_status ss_rows_probe_create(const ss_probe_setup *setup, ss_rows_probe **probe, ss_error *error) {
    ss_rows_probe *made = ss_alloc_zero(setup->memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "the rows probe");
    made->memory = setup->memory;
    made->config = setup->config;
    made->tokens = setup->tokens;
    made->compute = setup->compute;
    made->saturated_theta = setup->options.saturated_theta;
    made->theta_nodes = setup->options.theta_nodes;
    if (!allocate(made)) {
        ss_rows_probe_free(made);
        return ss_fail_memory(error, "the rows probe");
    }
    *probe = made;
    return SS_OK;
}

void ss_rows_probe_free(ss_rows_probe *probe) {
    if (!probe) return;
    for (size_t m = 0; m < SS_ROW_MEASURES; m++) ss_free(probe->memory, probe->columns[m]);
    ss_free(probe->memory, probe->kinds);
    ss_free(probe->memory, probe->workspace);
    ss_free(probe->memory, probe);
}

static void keep(ss_rows_probe *probe, size_t slot, const ss_row_measures *row) {
    for (size_t m = 0; m < SS_ROW_MEASURES; m++) {
        double value = ss_row_value(row, m);
        if (SS_ROW_TABLE[m].wide)
            ((double *)probe->columns[m])[slot] = value;
        else
            ((float *)probe->columns[m])[slot] = (float)value;
    }
}

/* Softmax leaves a NaN or infinite score in the row's maximum or total. */
static uint8_t kind_of(const ss_row_block *block, size_t r) {
    if (block->support[r] == 0) return SS_SLOT_MASKED;
    if (!isfinite(block->max[r]) || !isfinite(block->total[r])) return SS_SLOT_NON_FINITE;
    return block->support[r] == 1 ? SS_SLOT_SINGLE_KEY : SS_SLOT_MEASURED;
}

static void on_rows(void *context, const ss_pass *pass, size_t layer, const ss_row_block *block) {
    (void)pass;
    ss_rows_probe *probe = context;
    void *workspace = probe->workspace + (size_t)block->worker * probe->workspace_bytes;
    size_t first = (layer * probe->config->heads + block->head) * probe->tokens + block->first_query;
    for (size_t r = 0; r < block->rows; r++) {
        uint8_t kind = kind_of(block, r);
        if (kind == SS_SLOT_MEASURED) {
            const ss_row row = {.weights = ss_block_weights(block, r),
                                .total = block->total[r],
                                .scores = ss_block_scores(block, r),
                                .max = block->max[r],
                                .n = block->support[r]};
            ss_row_measures measures;
            ss_row_measure(probe->compute.isa, &row, SS_ROW_ALL, probe->theta_nodes, workspace, &measures);
            keep(probe, first + r, &measures);
            if (measures.theta_exact) kind |= SS_SLOT_EXACT;
        }
        probe->kinds[first + r] = kind;
    }
}

ss_probe ss_rows_probe_subscribe(ss_rows_probe *probe) {
    return (ss_probe){.context = probe, .rows = on_rows};
}
