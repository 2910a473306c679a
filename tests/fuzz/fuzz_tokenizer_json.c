/* Any bytes as a tokenizer.json, and a text through what was loaded. */
#include "encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    ss_string_view json = {(const char *)data, size};
    if (ss_tokenizer_from_json(NULL, "input", json, view_of(""), &tokenizer, &error))
        REQUIRE(!tokenizer && error.message[0]);
    else
        try_tokenizer(tokenizer);
    return 0;
}
