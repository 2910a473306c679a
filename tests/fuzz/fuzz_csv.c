/* Rows of numbers as text. */
#include "fuzz.h"

#include "formats/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_array array = {0};
    ss_error error = {0};
    if (ss_csv_parse("input", data, size, NULL, &array, &error) == SS_OK) {
        REQUIRE(array.dims == 2 && array.elements == array.shape[0] * array.shape[1] && array.elements > 0);
        read_values(array.type, array.data, array.elements);
    } else {
        REQUIRE(!array.data && error.message[0]);
    }
    ss_array_free(&array);
    return 0;
}
