/* Byte-level BPE over any bytes: the pieces of the ids, put together, are the text with its broken bytes
 * repaired. */
#include "encoding.h"

#include "text/byte_level.h"

enum { BYTES = 256, MERGES = 6, PIECES = BYTES + MERGES + 2 };

/* Every byte, a few merges, two special tokens. */
static ss_tokenizer *make_tokenizer(void) {
    static const char *const more[] = {"ab",           "aab",          "aa",  "\u0120a",
                                       "\u010a\u010a", "\u010a\u0120", "<s>", "<|x|>"};
    static const char *const merges[] = {"a b", "a ab", "a a", "\u0120 a", "\u010a \u010a", "\u010a \u0120"};
    char characters[BYTES][SS_BYTE_CHARACTER];
    ss_string_view pieces[PIECES], lines[MERGES];
    double types[PIECES] = {[PIECES - 2] = 3, [PIECES - 1] = 4};
    for (size_t byte = 0; byte < BYTES; byte++)
        pieces[byte] =
            (ss_string_view){characters[byte], ss_byte_level_write((uint8_t)byte, characters[byte])};
    for (size_t i = 0; i < PIECES - BYTES; i++) pieces[BYTES + i] = view_of(more[i]);
    for (size_t i = 0; i < MERGES; i++) lines[i] = view_of(merges[i]);
    ss_gguf_tokenizer source = {.model = view_of("gpt2"),
                                .pre = view_of("smollm"),
                                .pieces = pieces,
                                .piece_count = PIECES,
                                .merges = lines,
                                .merge_count = MERGES,
                                .types = types,
                                .bos = PIECES - 2,
                                .eos = SS_NO_TOKEN,
                                .unk = SS_NO_TOKEN,
                                .cls = SS_NO_TOKEN,
                                .sep = SS_NO_TOKEN,
                                .add_bos = 1,
                                .add_eos = -1};
    ss_tokenizer *tokenizer = NULL;
    REQUIRE(!ss_tokenizer_from_gguf(NULL, "fuzz", &source, &tokenizer, NULL));
    return tokenizer;
}

static void pieces_make_the_text(const ss_tokenizer *tokenizer, const char *text, size_t length) {
    size_t whole = ss_utf8_repair(text, length, NULL, 0), at = 0;
    char *repaired = malloc(whole + 1);
    REQUIRE(repaired);
    ss_utf8_repair(text, length, repaired, whole + 1);
    ss_encoding ids = {0};
    REQUIRE(
        !ss_tokenizer_encode(tokenizer, text, length, SS_ENCODE_PARSE_SPECIAL, SS_ALL_TOKENS, &ids, NULL));
    REQUIRE(ids.dropped == 0);
    for (size_t i = 0; i < ids.count; i++) {
        ss_string_view piece = ss_tokenizer_piece(tokenizer, ids.ids[i]);
        REQUIRE(piece.length <= whole - at && memcmp(repaired + at, piece.bytes, piece.length) == 0);
        at += piece.length;
    }
    REQUIRE(at == whole);
    ss_encoding_free(&ids);
    free(repaired);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static ss_tokenizer *tokenizer; /* made once: it never changes */
    if (!tokenizer) tokenizer = make_tokenizer();
    pieces_make_the_text(tokenizer, (const char *)data, size);
    encode_in_every_mode(tokenizer, (const char *)data, size);
    return 0;
}
