/* Processor detection. Relies on: __builtin_cpu_supports of GCC and clang. */
#include "math/isa.h"

#include <stddef.h>

ss_isa ss_isa_best(void) {
#if defined(__x86_64__)
    /* the flags of cmake/rooms.cmake, level by level */
    const bool avx2 =
        __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
    const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
    return !avx2 ? SS_ISA_BASE : avx512 ? SS_ISA_AVX512 : SS_ISA_AVX2;
#else
    return SS_ISA_BASE;
#endif
}

const char *ss_isa_name(ss_isa isa) {
    static const char *const names[] = {
#define SS_ISA_NAME(level, name) [level] = name,
        SS_ISA_LIST(SS_ISA_NAME)
#undef SS_ISA_NAME
    };
    return (size_t)isa < sizeof names / sizeof *names ? names[isa] : "unknown";
}
