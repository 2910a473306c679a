/* Defaults and names of how to compute. Relies on: base/team for the number of processors. */
#include "math/compute.h"

#include "base/team.h"

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
