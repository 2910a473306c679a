/* NPZ archives: every array that they list is read, up to a megabyte each. */
#include "fuzz.h"

#include "formats/npy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const ss_npy_options options = {.limit = 1 << 20};
    ss_npz *npz = NULL;
    ss_error error = {0};
    if (ss_npz_parse("input", data, size, NULL, &npz, &error)) {
        REQUIRE(!npz && error.message[0]);
        return 0;
    }
    for (size_t i = 0; i < ss_npz_count(npz) && i < 8; i++) {
        ss_array array = {0};
        if (ss_npz_read(npz, ss_npz_name(npz, i), &options, &array, &error) == SS_OK)
            read_values(array.type, array.data, array.elements);
        ss_array_free(&array);
    }
    ss_npz_free(npz);
    return 0;
}
