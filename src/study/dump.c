/* The dump study, step by step: options, file, rows, document, findings. Relies on: study/dump_*. */
#include "study/dump.h"

#include "base/locale.h"
#include "math/compute.h"
#include "study/dump_impl.h"
#include "study/fail_on.h"

#include <math.h>

ss_dump_options ss_dump_options_default(void) {
    return (ss_dump_options){.compute = ss_compute_default(), .probe = ss_probe_options_default(), .tau = 1};
}

static ss_status check_options(const ss_dump_options *o, ss_error *error) {
    SS_TRY(ss_compute_check(&o->compute, error));
    if (!(o->tau > 0 && isfinite(o->tau)))
        return ss_fail(error, SS_E_USAGE, "--tau", "the temperature is a finite number above 0");
    if (o->has_sink && !o->logits)
        return ss_fail(error, SS_E_USAGE, "--sink",
                       "a sink logit needs the logits it competes with: add --logits");
    if (o->has_sink && !isfinite(o->sink))
        return ss_fail(error, SS_E_USAGE, "--sink", "the sink logit is a finite number");
    if (o->array && o->row_length)
        return ss_fail(error, SS_E_USAGE, "--row-length",
                       "raw numbers have no array names: leave out --array");
    if (o->rows_path) SS_TRY(ss_dump_check_rows_path(o->rows_path, error));
    return ss_fail_on_check(o->fail_on, error);
}

static ss_status study(ss_dump *dump, const char *path, ss_result **result, bool *failed, ss_error *error) {
    const ss_dump_options *o = dump->options;
    SS_TRY(check_options(o, error));
    SS_TRY(ss_dump_open(dump, path, error));
    SS_TRY(ss_dump_measure(dump, error));
    SS_TRY(ss_result_create(result, "theta", error));
    SS_TRY(ss_dump_report(dump, *result, error));
    ss_dump_findings(dump, *result);
    SS_TRY(ss_fail_on_apply(o->fail_on, *result, failed, error));
    SS_TRY(ss_result_check(*result, error));
    return o->rows_path ? ss_dump_save_rows(dump, o->rows_path, error) : SS_OK;
}

ss_status ss_dump_study(const char *path, const ss_dump_options *options, ss_result **result, bool *failed,
                        ss_error *error) {
    ss_dump dump = {.options = options};
    ss_result *made = NULL;
    bool found = false;
    ss_c_locale scope;
    if (!ss_c_locale_enter(&scope)) return ss_fail_memory(error, path);
    const ss_status status = study(&dump, path, &made, &found, error);
    ss_c_locale_leave(&scope);
    ss_dump_close(&dump);
    if (status != SS_OK) {
        ss_result_free(made);
        return status;
    }
    *result = made;
    if (failed) *failed = found;
    return SS_OK;
}
