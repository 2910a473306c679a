/* One safetensors file: what opens has views inside the file, in the order of names. */
#include "fuzz.h"

#include "formats/safetensors.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_tensors *tensors = NULL;
    ss_error error = {0};
    if (ss_safetensors_parse("input", data, size, NULL, &tensors, &error)) {
        REQUIRE(!tensors && error.message[0]);
        return 0;
    }
    for (size_t i = 0; i < ss_tensors_count(tensors); i++) {
        const ss_tensor_view *view = ss_tensors_at(tensors, i);
        REQUIRE(ss_tensors_find(tensors, view->name) == view);
        if (view->type != SS_TYPE_NONE) read_values(view->type, view->data, view->elements);
    }
    ss_tensors_free(tensors);
    return 0;
}
