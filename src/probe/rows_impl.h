/* What the rows probe keeps; for rows_probe.c and rows_report.c only. */
#ifndef SS_PROBE_ROWS_IMPL_H
#define SS_PROBE_ROWS_IMPL_H

#include "probe/row_table.h"
#include "probe/rows_probe.h"

/* What became of a row, in its slot of `kinds`. */
enum {
    SS_SLOT_NOT_SHOWN,
    SS_SLOT_MEASURED,
    SS_SLOT_SINGLE_KEY,
    SS_SLOT_MASKED,     /* no key at all */
    SS_SLOT_NON_FINITE, /* a score or a weight is NaN or infinite */
    SS_SLOT_KINDS,
    SS_SLOT_EXACT = 1 << 7 /* beside MEASURED: theta is proved */
};

struct ss_rows_probe {
    const ss_allocator *memory;
    const ss_config *config;
    size_t tokens;
    ss_compute compute;
    double saturated_theta;
    uint64_t theta_nodes;
    void *columns[SS_ROW_MEASURES]; /* [layers][H][T] of double where the table says wide, else float */
    uint8_t *kinds;                 /* [layers][H][T] */
    char *workspace;                /* [workers][workspace_bytes] */
    size_t workspace_bytes;
};

#endif
