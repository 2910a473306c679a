/* Processor detection. Relies on: __builtin_cpu_supports of GCC and clang. */
#include "math/isa.h"

#include <stddef.h>

ss_isa ss_isa_best(void) {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return SS_ISA_AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return SS_ISA_AVX2;
#endif
    return SS_ISA_BASE;
}

const char *ss_isa_name(ss_isa isa) {
    static const char *const names[] = {
#define SS_ISA_NAME(level, name) [level] = name,
        SS_ISA_LIST(SS_ISA_NAME)
#undef SS_ISA_NAME
    };
    return (size_t)isa < sizeof names / sizeof *names ? names[isa] : "unknown";
}
