/* GGUF files: every key is read by every getter, every tensor value by value. */
#include "fuzz.h"

#include "formats/gguf.h"

static void read_key(const ss_gguf *gguf, const char *key) {
    uint64_t whole;
    double number, *numbers = NULL;
    bool flag;
    size_t count = 0, bytes = 0;
    ss_string_view string = {0}, *strings = NULL;
    (void)ss_gguf_u64(gguf, key, SS_REQUIRED, &whole, NULL);
    (void)ss_gguf_f64(gguf, key, SS_REQUIRED, &number, NULL);
    (void)ss_gguf_bool(gguf, key, SS_REQUIRED, &flag, NULL);
    (void)ss_gguf_string(gguf, key, SS_REQUIRED, &string, NULL);
    for (size_t i = 0; i < string.length; i++) bytes += (unsigned char)string.bytes[i];
    if (ss_gguf_strings(gguf, key, SS_REQUIRED, NULL, &strings, &count, NULL) == SS_OK)
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < strings[i].length; k++) bytes += (unsigned char)strings[i].bytes[k];
    (void)ss_gguf_numbers(gguf, key, SS_REQUIRED, NULL, &numbers, &count, NULL);
    REQUIRE(bytes < SIZE_MAX / 2);
    ss_free(NULL, strings);
    ss_free(NULL, numbers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_gguf *gguf = NULL;
    ss_error error = {0};
    if (ss_gguf_parse("input", data, size, NULL, &gguf, &error)) {
        REQUIRE(!gguf && error.message[0]);
        return 0;
    }
    for (size_t i = 0; i < ss_gguf_key_count(gguf); i++) read_key(gguf, ss_gguf_key(gguf, i));
    const ss_tensors *tensors = ss_gguf_tensors(gguf);
    for (size_t i = 0; i < ss_tensors_count(tensors); i++) {
        const ss_tensor_view *view = ss_tensors_at(tensors, i);
        REQUIRE(ss_tensors_find(tensors, view->name) == view);
        if (view->type != SS_TYPE_NONE) read_values(view->type, view->data, view->elements);
    }
    ss_gguf_free(gguf);
    return 0;
}
