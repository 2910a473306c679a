/* Reading how to compute. Relies on: base/team, math/matmul (whose library has a level of its own). */
#include "compute_options.h"

#include "base/status.h"
#include "base/team.h"
#include "math/matmul.h"

#include <string.h>

static ss_status choose(const char *name, const char *typed, const char *const *names, size_t count,
                        size_t *index, ss_error *error) {
    for (size_t i = 0; i < count; i++) {
        if (strcmp(typed, names[i]) == 0) {
            *index = i;
            return SS_OK;
        }
    }
    const char *close = closest_name(typed, names, count);
    return ss_fail(error, SS_E_USAGE, name, "'%s' is not one of its values%s%s; --help lists them", typed,
                   close ? "; did you mean " : "", close ? close : "");
}

ss_status compute_options_read(const compute_options *o, ss_compute *compute, ss_error *error) {
#define NAME_OF(value, name) name,
    static const char *const isas[] = {SS_ISA_LIST(NAME_OF)}, *const dtypes[] = {SS_DTYPE_LIST(NAME_OF)};
#undef NAME_OF
    enum { MOST_THREADS = 1024, ISAS = sizeof isas / sizeof *isas, DTYPES = sizeof dtypes / sizeof *dtypes };
    size_t index;
    if (o->threads > MOST_THREADS) return ss_fail(error, SS_E_USAGE, "--threads", "at most %d", MOST_THREADS);
    compute->workers = ss_team_size((int)o->threads);
    if (o->isa) {
        SS_TRY(choose("--isa", o->isa, isas, ISAS, &index, error));
        if ((ss_isa)index < compute->isa) {
            compute->isa = (ss_isa)index;
            ss_matmul_limit_isa(compute->isa);
        }
    }
    if (o->dtype) {
        SS_TRY(choose("--dtype", o->dtype, dtypes, DTYPES, &index, error));
        compute->dtype = (ss_dtype)index;
    }
    return SS_OK;
}
