/* Any bytes as a GGUF file, its tokenizer, and a text through what was loaded. */
#include "encoding.h"

#include "formats/gguf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ss_gguf *gguf = NULL;
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    if (ss_gguf_parse("input", data, size, NULL, &gguf, NULL)) return 0; /* fuzz_gguf looks at these */
    ss_status status = ss_tokenizer_open_gguf(NULL, gguf, &tokenizer, &error);
    ss_gguf_free(gguf); /* the tokenizer must not need it any more */
    if (status)
        REQUIRE(!tokenizer && error.message[0]);
    else
        try_tokenizer(tokenizer);
    return 0;
}
