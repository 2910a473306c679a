/* WordPiece with BERT's normaliser over any bytes. */
#include "encoding.h"

static ss_tokenizer *make_tokenizer(void) {
    static const char pieces[] =
        "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\na\n##a\nab\n##b\ne\n##e\n\xe4\xb8\xad\n.\n1\n##1\ncafe\n##'\n'";
    ss_tokenizer *tokenizer = NULL;
    REQUIRE(!ss_tokenizer_from_vocabulary(NULL, "fuzz", view_of(pieces), view_of(""), &tokenizer, NULL));
    return tokenizer;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ss_tokenizer *tokenizer; /* made once: it never changes */
    if (!tokenizer) tokenizer = make_tokenizer();
    encode_in_every_mode(tokenizer, (const char *)data, size);
    return 0;
}
