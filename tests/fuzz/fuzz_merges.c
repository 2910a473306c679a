/* Any bytes as a vocab.json and, after a NUL, a merges.txt. */
#include "encoding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const uint8_t *end = size ? memchr(data, 0, size) : NULL;
    size_t split = end ? (size_t)(end - data) : size, skip = end ? split + 1 : size;
    ss_string_view vocabulary = {(const char *)data, split},
                   merges = {(const char *)data + skip, size - skip};
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    if (ss_tokenizer_from_merges(NULL, "input", vocabulary, merges, view_of(""), &tokenizer, &error))
        REQUIRE(!tokenizer && error.message[0]);
    else
        try_tokenizer(tokenizer);
    return 0;
}
