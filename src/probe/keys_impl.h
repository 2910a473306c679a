/* What the keys probe keeps; for keys_probe.c and keys_report.c only. */
#ifndef SS_PROBE_KEYS_IMPL_H
#define SS_PROBE_KEYS_IMPL_H

#include "measure/sink.h"
#include "probe/bins.h"
#include "probe/columns.h"
#include "probe/keys_probe.h"
#include "probe/previous.h"

#define SS_TOP_KEYS ((size_t)5)

typedef struct ss_mean {
    double sum;
    size_t count;
} ss_mean;

/* Sums over the rows of one head of the layer being shown. */
typedef struct ss_keys_sums {
    double first_key[SS_MAX_BINS];
    size_t rows[SS_MAX_BINS]; /* measured rows of each query bin */
    ss_mean prev_token, same_token, induction;
    double dominance; /* of row 0; 0 when it was not measured */
} ss_keys_sums;

/* The answers for one head; NaN where there is none. */
typedef struct ss_keys_head {
    size_t rows;
    double first_key, sink_rate, sink_weight, sink_value_share;
    double prev_token, same_token, induction, dominance;
    ss_sink top[SS_TOP_KEYS]; /* the first is the sink key */
    size_t top_count;
    float first_key_profile[SS_MAX_BINS];
} ss_keys_head;

struct ss_keys_probe {
    const ss_allocator *memory;
    const ss_config *config;
    const uint32_t *ids;
    size_t tokens, bins;      /* bins of profiles */
    const uint8_t *fine_maps; /* [layers][H] heads with fine maps; NULL for none */
    size_t most_cells;        /* of the largest map */
    ss_compute compute;
    double sink_threshold;
    uint32_t *previous; /* [T] */
    /* of the layer being shown */
    ss_keys_sums *sums;  /* [H] */
    double *column;      /* [H][T + 1] weight on each key */
    size_t *views;       /* [H][T + 1] rows that may see each key, as differences that wrap */
    double *cells;       /* [H][most map bins, squared] weight of query bins on key bins */
    float *run_sums;     /* [workers][T] of a run of rows being added; zero between runs */
    ss_keys_head *heads; /* [layers][H] */
    double *shares;      /* [H][T] of the layer being shown: each token's share of its head's sink */
    float **maps;        /* [layers][H]: [map bins][map bins] of that head */
};

/* Bins of a head's map. */
static inline size_t ss_map_bins(const ss_keys_probe *probe, size_t layer, size_t head) {
    const bool fine = probe->fine_maps && probe->fine_maps[layer * probe->config->heads + head];
    return ss_bin_count(probe->tokens, fine ? SS_FINE_BINS : SS_MAX_BINS);
}

#endif
