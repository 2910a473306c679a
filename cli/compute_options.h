/* How to compute, as options of every command that does: --threads, --isa, --dtype.
 * Relies on: options.h, softscope.h. */
#ifndef CLI_COMPUTE_OPTIONS_H
#define CLI_COMPUTE_OPTIONS_H

#include "options.h"

typedef struct compute_options {
    size_t threads;
    const char *isa, *dtype; /* NULL: not given */
} compute_options;

/* Their lines of an option table; `member` is where the command's struct holds its compute_options. */
#define THREADS_OPTION(type, member)                                                                         \
    {                                                                                                        \
        "threads", "N", OPTION_COUNT, offsetof(type, member.threads),                                        \
            "threads to use (default: every processor)"                                                      \
    }
#define ISA_OPTION(type, member)                                                                             \
    { "isa", "LEVEL", OPTION_TEXT, offsetof(type, member.isa), "use at most base, avx2 or avx512" }
#define DTYPE_OPTION(type, member)                                                                           \
    {                                                                                                        \
        "dtype", "f32|bf16", OPTION_TEXT, offsetof(type, member.dtype),                                      \
            "number type of matrix product inputs (default f32)"                                             \
    }

/* Change what was asked for in *compute; SS_E_USAGE names the option. A level that this processor lacks gives
 * the highest that it has. */
ss_status compute_options_read(const compute_options *options, ss_compute *compute, ss_error *error);

#endif
