/* NPY files, both with raw two-byte items refused and taken for bfloat16. */
#include "fuzz.h"

#include "formats/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (int raw = 0; raw < 2; raw++) {
        const ss_npy_options options = {.raw_is_bf16 = raw};
        ss_array array = {0};
        ss_error error = {0};
        if (ss_npy_parse("input", data, size, &options, NULL, &array, &error) == SS_OK)
            read_values(array.type, array.data, array.elements);
        else
            REQUIRE(!array.data && error.message[0]);
        ss_array_free(&array);
    }
    return 0;
}
