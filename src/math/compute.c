/* Defaults and names of how to compute. Relies on: base/team for the number of processors. */
#include "math/compute.h"

#include "base/team.h"

#include <stddef.h>

ss_compute ss_compute_default(void) {
    return (ss_compute){.workers = ss_team_size(0), .isa = ss_isa_best(), .dtype = SS_DTYPE_F32};
}

const char *ss_dtype_name(ss_dtype dtype) {
    static const char *const names[] = {
#define SS_DTYPE_NAME(type, name) [type] = name,
        SS_DTYPE_LIST(SS_DTYPE_NAME)
#undef SS_DTYPE_NAME
    };
    return (size_t)dtype < sizeof names / sizeof *names ? names[dtype] : "unknown";
}

ss_status ss_compute_check(const ss_compute *compute, ss_error *error) {
    if (compute->workers < 1)
        return ss_fail(error, SS_E_USAGE, "compute.workers", "%d threads cannot compute; give 1 or more",
                       compute->workers);
    if ((size_t)compute->isa > (size_t)ss_isa_best())
        return ss_fail(error, SS_E_USAGE, "compute.isa", "this processor has at most the level %s",
                       ss_isa_name(ss_isa_best()));
    if (compute->dtype != SS_DTYPE_F32 && compute->dtype != SS_DTYPE_BF16)
        return ss_fail(error, SS_E_USAGE, "compute.dtype", "there is no number type %d", (int)compute->dtype);
    return SS_OK;
}
