/* Any bytes as a vocab.txt; what stands before a NUL, if there is one, as its tokenizer_config.json. */
#include "encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t split = end ? (size_t)(end - data) : 0, skip = end ? split + 1 : 0;
    ss_string_view config = {(const char *)data, split}, list = {(const char *)data + skip, size - skip};
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    if (ss_tokenizer_from_vocabulary(NULL, "input", list, config, &tokenizer, &error))
        REQUIRE(!tokenizer && error.message[0]);
    else
        try_tokenizer(tokenizer);
    return 0;
}
