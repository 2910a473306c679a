/* What the targets of tokenizers share: encode a text in every mode and look at all that comes out. */
#ifndef SS_TESTS_FUZZ_ENCODING_H
#define SS_TESTS_FUZZ_ENCODING_H

#include "fuzz.h"

#include "text/build.h"
#include "text/utf8.h"

#include <string.h>

static inline ss_string_view view_of(const char *text) {
    return (ss_string_view){text, strlen(text)};
}

/* Every id must have a place, and its display be valid UTF-8 of the length that was told. */
static inline void check_token(const ss_tokenizer *tokenizer, uint32_t id) {
    char shown[64];
    REQUIRE(id < ss_tokenizer_size(tokenizer));
    size_t length = ss_tokenizer_display(tokenizer, id, shown, sizeof shown);
    REQUIRE(strlen(shown) <= length && ss_utf8_is_valid(shown, strlen(shown)));
}

/* Where a text may be cut, cutting it at every such place changes no id. */
static inline void cut_everywhere(ss_tokenizer *tokenizer, const char *text, size_t length, unsigned flags,
                                  const ss_encoding *whole) {
    if (tokenizer->part_least == SIZE_MAX) return;
    const size_t usual = tokenizer->part_least;
    ss_encoding parts = {0};
    tokenizer->part_least = 0;
    REQUIRE(!ss_tokenizer_encode(tokenizer, text, length, flags, SS_ALL_TOKENS, &parts, NULL));
    REQUIRE(parts.count == whole->count && parts.dropped == whole->dropped);
    if (parts.count) REQUIRE(memcmp(parts.ids, whole->ids, parts.count * sizeof *parts.ids) == 0);
    tokenizer->part_least = usual;
    ss_encoding_free(&parts);
}

static inline void encode_in_every_mode(ss_tokenizer *tokenizer, const char *text, size_t length) {
    for (unsigned flags = 0; flags < 4; flags++) {
        ss_encoding ids = {0};
        ss_error error = {0};
        if (ss_tokenizer_encode(tokenizer, text, length, flags, SS_ALL_TOKENS, &ids, &error)) {
            REQUIRE(!ids.ids && error.message[0]);
            continue;
        }
        REQUIRE(ids.added_before + ids.added_after <= ids.count);
        for (size_t i = 0; i < ids.count; i++) check_token(tokenizer, ids.ids[i]);
        cut_everywhere(tokenizer, text, length, flags, &ids);
        ss_encoding_free(&ids);
    }
}

/* A text with something for every step: contractions, digits, accents, ideographs, broken bytes, special
 * tokens. */
static inline void try_tokenizer(ss_tokenizer *tokenizer) {
    static const char text[] =
        "The caf\xc3\xa9's 12 \xe4\xb8\xad\xff\n <|endoftext|>[MASK] aab\xc2\xa0x\xcc\x81";
    encode_in_every_mode(tokenizer, text, sizeof text);
    ss_tokenizer_free(tokenizer);
}

#endif
