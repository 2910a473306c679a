/* What fuzz targets share: the entry point that libFuzzer and driver.c call, and reading of all values. */
#ifndef SS_TESTS_FUZZ_H
#define SS_TESTS_FUZZ_H

#include "math/types.h"

#include <stdlib.h>

/* Feed one input to the parser. Returns 0; a fault shows as a crash, a sanitizer report or an abort. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What must always hold; unlike assert it stays in release builds. */
#define REQUIRE(condition)                                                                                   \
    do {                                                                                                     \
        if (!(condition)) abort();                                                                           \
    } while (0)

/* Convert every value, so that a sanitizer sees a view that leaves its file. */
static inline void read_values(ss_type type, const void *data, size_t elements) {
    enum { CHUNK = 1024 }; /* a whole number of blocks of every type */
    double values[CHUNK];
    size_t chunk_bytes = CHUNK / ss_type_block_elements(type) * ss_type_block_bytes(type);
    for (const unsigned char *at = data; elements > 0; at += chunk_bytes) {
        size_t count = elements < CHUNK ? elements : CHUNK;
        ss_to_f64(type, at, count, values);
        elements -= count;
    }
}

#endif
