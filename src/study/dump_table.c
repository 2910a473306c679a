/* --rows: what is known of each row, one line a row, as NPY or CSV. The study runs in the "C" locale, so
 * printf writes a point. Relies on: formats/npy, base/file. */
#include "formats/npy.h"
#include "study/dump_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Columns that are no kept value. */
enum { ROW = SS_DUMP_VALUES, SUPPORT, EXACT };

static const struct {
    const char *name;
    int kept; /* ss_dump_value, or one of the others */
} columns[] = {
    {"row", ROW},
    {"support", SUPPORT},
    {"theta", SS_DUMP_theta},
    {"lower", SS_DUMP_lower},
    {"upper", SS_DUMP_upper},
    {"exact", EXACT},
    {"theta_cert", SS_DUMP_theta_cert},
    {"entropy", SS_DUMP_entropy},
    {"p_max", SS_DUMP_p_max},
    {"jac_2", SS_DUMP_jac_2},
    {"jac_inf", SS_DUMP_jac_inf},
    {"jac_frob", SS_DUMP_jac_frob},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static bool ends_in(const char *path, const char *ending) {
    const size_t length = strlen(path), wanted = strlen(ending);
    return length > wanted && strcmp(path + length - wanted, ending) == 0;
}

ss_status ss_dump_check_rows_path(const char *path, ss_error *error) {
    if (ends_in(path, ".npy") || ends_in(path, ".csv")) return SS_OK;
    return ss_fail(error, SS_E_USAGE, "--rows", "'%s' ends in neither .npy nor .csv", path);
}

static double cell(const ss_dump *dump, size_t row, size_t column) {
    const ss_dump_row *r = &dump->results[row];
    switch (columns[column].kept) {
    case ROW:
        return (double)row;
    case SUPPORT:
        return r->support;
    case EXACT:
        return r->state != SS_DUMP_MEASURED ? (double)NAN : (r->flags & SS_DUMP_EXACT) != 0;
    default:
        return r->value[columns[column].kept];
    }
}

static ss_status save_npy(const ss_dump *dump, const char *path, ss_error *error) {
    const size_t shape[] = {dump->rows, COLUMNS};
    double *cells = ss_alloc(NULL, dump->rows, COLUMNS * sizeof *cells);
    if (!cells) return ss_fail_memory(error, path);
    for (size_t r = 0; r < dump->rows; r++)
        for (size_t c = 0; c < COLUMNS; c++) cells[r * COLUMNS + c] = cell(dump, r, c);
    const ss_status status = ss_npy_save(path, SS_TYPE_F64, 2, shape, cells, error);
    ss_free(NULL, cells);
    return status;
}

/* The fewest digits, 15 or 17, that read back as the same number. */
static void put_number(FILE *stream, double value) {
    char text[40];
    snprintf(text, sizeof text, "%.15g", value);
    if (strtod(text, NULL) != value) snprintf(text, sizeof text, "%.17g", value);
    fputs(text, stream);
}

static ss_status save_csv(const ss_dump *dump, const char *path, ss_error *error) {
    ss_save save;
    SS_TRY(ss_save_begin(path, &save, error));
    for (size_t c = 0; c < COLUMNS; c++) fprintf(save.stream, "%s%s", c ? "," : "", columns[c].name);
    fputc('\n', save.stream);
    for (size_t r = 0; r < dump->rows; r++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            const double value = cell(dump, r, c);
            if (c) fputc(',', save.stream);
            if (!isnan(value)) put_number(save.stream, value);
        }
        fputc('\n', save.stream);
    }
    return ss_save_commit(&save, error);
}

ss_status ss_dump_save_rows(const ss_dump *dump, const char *path, ss_error *error) {
    return ends_in(path, ".npy") ? save_npy(dump, path, error) : save_csv(dump, path, error);
}
