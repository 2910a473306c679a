/* Tokenizers against the ids of the Hugging Face `tokenizers` library (tests/golden/text, made by
 * make_goldens.py): small vocabularies of our own always, the real ones where the environment variable
 * SOFTSCOPE_MODELS names the folder that has them. Other files, and what is refused: tokenizer_load_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/gguf.h"
#include "support/tokenizers.h"
#include "text/build.h"
#include "text/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- reading the goldens ----------------------------------------------------------------------- */

static uint64_t hash_more(uint64_t hash, const uint32_t *ids, size_t count) {
    for (size_t i = 0; i < 4 * count; i++)
        hash = (hash ^ (ids[i / 4] >> (8 * (i % 4)) & 0xFF)) * 0x100000001B3u;
    return hash;
}

#define HASH_START 0xCBF29CE484222325u

static void expect_ids(const char *name, size_t index, const ss_encoding *found, const json_t *expected) {
    if (json_is_string(expected)) {
        char brief[64];
        snprintf(brief, sizeof brief, "%zu:%016" PRIx64, found->count,
                 hash_more(HASH_START, found->ids, found->count));
        if (strcmp(brief, json_string_value(expected)) != 0)
            fail_msg("%s, text %zu: %s instead of %s", name, index, brief, json_string_value(expected));
        return;
    }
    for (size_t i = 0; i < found->count && i < json_array_size(expected); i++) {
        long long wanted = json_integer_value(json_array_get(expected, i));
        if (found->ids[i] != wanted)
            fail_msg("%s, text %zu, token %zu: %u instead of %lld", name, index, i, found->ids[i], wanted);
    }
    if (found->count != json_array_size(expected))
        fail_msg("%s, text %zu: %zu tokens instead of %zu", name, index, found->count,
                 json_array_size(expected));
}

static void check_text(const char *name, const ss_tokenizer *tokenizer, size_t index, const json_t *item,
                       const json_t *golden) {
    static const struct {
        const char *key;
        unsigned flags;
    } modes[] = {{"special", SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL}, {"plain", SS_ENCODE_PLAIN}};
    ss_string_view text = corpus_text(item);
    for (size_t m = 0; m < 2; m++) {
        ss_encoding ids = encode(tokenizer, text, modes[m].flags);
        expect_ids(name, index, &ids, json_array_get(json_object_get(golden, modes[m].key), index));
        ss_encoding_free(&ids);
    }
    free((char *)(uintptr_t)text.bytes);
}

/* "a{c}B {c}{c}1" for 256 code points c at a time, over the blocks of make_goldens.py. */
static void check_sweep(const char *name, const ss_tokenizer *tokenizer, const json_t *golden) {
    static const uint32_t blocks[][2] = {
        {0x0, 0x3400},      {0xA000, 0xAC00},   {0xD7A4, 0xD800},   {0xF900, 0x10000},  {0x10000, 0x12000},
        {0x16000, 0x17000}, {0x1B000, 0x1B400}, {0x1CC00, 0x1D400}, {0x1D7C0, 0x1FC00}, {0xE0000, 0xE0200}};
    uint64_t hash = HASH_START;
    size_t count = 0;
    for (size_t b = 0; b < sizeof blocks / sizeof *blocks; b++) {
        for (uint32_t first = blocks[b][0]; first < blocks[b][1]; first += 256) {
            char text[256 * 16];
            size_t length = 0;
            for (uint32_t c = first; c < first + 256 && c < blocks[b][1]; c++) {
                char character[4];
                int size = (int)ss_utf8_write(c, character);
                text[length++] = 'a';
                memcpy(text + length, character, (size_t)size);
                length += (size_t)size;
                text[length++] = 'B';
                text[length++] = ' ';
                for (int twice = 0; twice < 2; twice++, length += (size_t)size)
                    memcpy(text + length, character, (size_t)size);
                text[length++] = '1';
            }
            ss_encoding ids = encode(tokenizer, (ss_string_view){text, length}, SS_ENCODE_PARSE_SPECIAL);
            hash = hash_more(hash, ids.ids, ids.count);
            count += ids.count;
            ss_encoding_free(&ids);
        }
    }
    char brief[64];
    snprintf(brief, sizeof brief, "%zu:%016" PRIx64, count, hash);
    if (strcmp(brief, json_string_value(json_object_get(golden, "sweep"))) != 0)
        fail_msg("%s: the sweep over code points differs: %s", name, brief);
}

static void check_all(const char *name, const ss_tokenizer *tokenizer) {
    json_t *goldens = read_json(GOLDEN "text/golden.json"), *corpus = read_json(GOLDEN "text/corpus.json");
    const json_t *golden = json_object_get(goldens, name);
    assert_non_null(golden);
    assert_int_equal(json_array_size(corpus), json_array_size(json_object_get(golden, "plain")));
    for (size_t i = 0; i < json_array_size(corpus); i++)
        check_text(name, tokenizer, i, json_array_get(corpus, i), golden);
    check_sweep(name, tokenizer, golden);
    json_decref(corpus);
    json_decref(goldens);
}

/* ---- parts of a text --------------------------------------------------------------------------- */

/* What tokens begin and end with, in any order: white space of all kinds, letters, marks, digits, signs,
 * added tokens, broken bytes, characters that a normal form drops or takes apart. */
static size_t write_odd_text(char *text, size_t room) {
    static const char *const units[] = {
        " ",      " ",      "\n",     "\n",     "\r\n",          "\t",     "\u00a0",
        "\u3000", "a",      "E",      "the",    "cat",           "12",     "3",
        ".",      "'s",     "'",      "\u00e9", "\u0301",        "\u4e2d", "\U0001f600",
        "\u00b4", "\u200b", "\ufdfa", "\xff",   "<|endoftext|>", "[MASK]"};
    uint32_t random = 1;
    size_t length = 0;
    for (;;) {
        random = random * 1664525 + 1013904223;
        const char *unit = units[(random >> 8) % (sizeof units / sizeof *units)];
        if (length + strlen(unit) > room) return length;
        memcpy(text + length, unit, strlen(unit));
        length += strlen(unit);
    }
}

/* The ids of a text cut wherever it may be are those of the whole, and any number of first ids are the first.
 */
static void check_parts(ss_tokenizer *tokenizer, unsigned flags) {
    static char odd[30000];
    const ss_string_view text = {odd, write_odd_text(odd, sizeof odd)};
    const size_t usual = tokenizer->part_least;
    tokenizer->part_least = SIZE_MAX;
    ss_encoding whole = encode(tokenizer, text, flags);
    assert_false(whole.more);
    tokenizer->part_least = usual == SIZE_MAX ? usual : 0;
    const size_t wanted[] = {1, whole.count / 3, whole.count - 1, whole.count, SS_ALL_TOKENS};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const size_t most = wanted[i];
        ss_encoding first;
        assert_int_equal(ss_tokenizer_encode(tokenizer, text.bytes, text.length, flags, most, &first, NULL),
                         SS_OK);
        assert_int_equal(first.more, most < whole.count);
        assert_int_equal(first.count, first.more ? most : whole.count);
        assert_memory_equal(first.ids, whole.ids, first.count * sizeof *first.ids);
        ss_encoding_free(&first);
    }
    tokenizer->part_least = usual;
    ss_encoding_free(&whole);
}

/* ---- ids --------------------------------------------------------------------------------------- */

static void every_variant_gives_the_librarys_ids(void **state) {
    (void)state;
    json_t *variants = read_json(GOLDEN "text/variants.json");
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);
        char *text = varied_json(json_string_value(json_object_get(variant, "file")),
                                 json_object_get(variant, "parts"), json_object_get(variant, "model"));
        ss_tokenizer *tokenizer = from_json_text(text, "");
        check_all(json_string_value(json_object_get(variant, "name")), tokenizer);
        ss_tokenizer_free(tokenizer);
        free(text);
    }
    assert_true(json_array_size(variants) >= 15);
    json_decref(variants);
}

static ss_tokenizer *open_real(const char *name) {
    const char *models = getenv("SOFTSCOPE_MODELS");
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", models ? models : "", name);
    ss_error error = {0};
    ss_tokenizer *tokenizer = NULL;
    ss_status status;
    if (!models || !(ss_is_folder(path) || ss_is_file(path))) {
        print_message("skipped: no %s (set SOFTSCOPE_MODELS to the folder of real models)\n", name);
        skip();
    }
    if (ss_is_folder(path)) {
        status = ss_tokenizer_open_folder(NULL, path, &tokenizer, &error);
    } else {
        ss_gguf *gguf = NULL;
        status = ss_gguf_open(path, NULL, &gguf, &error);
        if (!status) status = ss_tokenizer_open_gguf(NULL, gguf, &tokenizer, &error);
        ss_gguf_free(gguf);
    }
    if (status) fail_msg("%s: %s", error.where, error.message);
    return tokenizer;
}

/* The ids that an independent forward pass was given (tests/golden/real); there may be fewer than the text
 * has. */
static void check_real_ids(const ss_tokenizer *tokenizer, const char *text_name, const char *json_name) {
    char path[4096];
    snprintf(path, sizeof path, GOLDEN "real/%s.txt", text_name);
    ss_string_view text = read_file(path);
    snprintf(path, sizeof path, GOLDEN "real/%s.json", json_name);
    json_t *golden = read_json(path);
    const json_t *expected = json_object_get(golden, "ids");
    ss_encoding ids = encode(tokenizer, text, SS_ENCODE_DEFAULT);
    assert_true(json_array_size(expected) > 0 && ids.count >= json_array_size(expected));
    ids.count = json_array_size(expected);
    expect_ids(json_name, 0, &ids, expected);
    ss_encoding_free(&ids);
    json_decref(golden);
    free((char *)(uintptr_t)text.bytes);
}

static void gpt2_gives_the_librarys_ids(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_real("gpt2");
    check_all("gpt2", tokenizer);
    assert_true(tokenizer->part_least != SIZE_MAX);
    check_parts(tokenizer, SS_ENCODE_DEFAULT);
    assert_int_equal(ss_tokenizer_size(tokenizer), 50257);
    assert_int_equal(ss_tokenizer_specials(tokenizer).eos, 50256);
    const uint32_t plain[] = {27, 91, 437, 1659, 5239, 91, 29};
    ss_encoding ids = encode(tokenizer, as_view("<|endoftext|>"), SS_ENCODE_PLAIN);
    assert_int_equal(ids.count, 7);
    assert_memory_equal(ids.ids, plain, sizeof plain);
    ss_encoding_free(&ids);
    ids = encode(tokenizer, as_view("<|endoftext|>"), SS_ENCODE_PARSE_SPECIAL);
    assert_int_equal(ids.count, 1);
    assert_int_equal(ids.ids[0], 50256);
    ss_encoding_free(&ids);
    ss_tokenizer_free(tokenizer);
}

static void smollm2_gives_the_librarys_ids(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_real("smollm2.gguf");
    check_all("smollm2", tokenizer);
    assert_true(tokenizer->part_least != SIZE_MAX);
    check_parts(tokenizer, SS_ENCODE_DEFAULT);
    check_real_ids(tokenizer, "lighthouse", "smollm2-135m");
    check_real_ids(tokenizer, "genesis-multiscript", "smollm2-135m-long");
    ss_tokenizer_free(tokenizer);
}

static void minilm_gives_the_librarys_ids(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_real("minilm");
    check_all("minilm", tokenizer);
    assert_true(tokenizer->part_least != SIZE_MAX);
    check_parts(tokenizer, SS_ENCODE_DEFAULT);
    check_real_ids(tokenizer, "lighthouse", "minilm-l6");
    check_real_ids(tokenizer, "genesis-multiscript", "minilm-l6-long");
    ss_tokenizer_free(tokenizer);
}

/* ---- what it knows ----------------------------------------------------------------------------- */

static void a_typed_bos_beside_the_automatic_one_is_flagged(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_golden("wordpiece.json");
    ss_encoding ids =
        encode(tokenizer, as_view("[CLS] text"), SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
    assert_true(ids.double_bos);
    assert_int_equal(ids.added_before, 1);
    assert_int_equal(ids.added_after, 1);
    ss_encoding_free(&ids);
    ids = encode(tokenizer, as_view("[CLS] text"), SS_ENCODE_PARSE_SPECIAL);
    assert_false(ids.double_bos);
    assert_int_equal(ids.added_before, 0);
    ss_encoding_free(&ids);
    ids = encode(tokenizer, as_view("text [CLS]"), SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
    assert_false(ids.double_bos);
    ss_encoding_free(&ids);
    ss_tokenizer_free(tokenizer);
}

static void pieces_read_as_they_do_in_text(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_golden("bpe.json");
    const char *text = "the  engine\n\xc3\xa9 \xf0\x9f\x98\x80<|endoftext|>";
    ss_encoding ids = encode(tokenizer, as_view(text), SS_ENCODE_PARSE_SPECIAL);
    char joined[128] = "", shown[16];
    size_t length = 0;
    for (size_t i = 0; i < ids.count; i++) {
        ss_string_view piece = ss_tokenizer_piece(tokenizer, ids.ids[i]);
        memcpy(joined + length, piece.bytes, piece.length);
        length += piece.length;
    }
    assert_int_equal(length, strlen(text));
    assert_memory_equal(joined, text, length);
    ss_encoding_free(&ids);
    uint32_t half = ss_tokenizer_find(tokenizer, "\u00c3", 2); /* byte C3 in GPT-2's alphabet */
    assert_int_not_equal(half, SS_NO_TOKEN);
    assert_int_equal(ss_tokenizer_display(tokenizer, half, shown, sizeof shown), 3);
    assert_string_equal(shown, "\uFFFD");
    assert_null(ss_tokenizer_piece(tokenizer, 1u << 30).bytes);
    assert_int_equal(ss_tokenizer_find(tokenizer, "no such piece", 13), SS_NO_TOKEN);
    assert_true(ss_tokenizer_is_special(tokenizer, ss_tokenizer_find(tokenizer, "<|endoftext|>", 13)));
    assert_false(ss_tokenizer_is_special(tokenizer, half));
    ss_tokenizer_free(tokenizer);
}

static void configuration_names_the_special_tokens(void **state) {
    (void)state;
    char *text = varied_json("bpe.json", NULL, NULL);
    ss_tokenizer *tokenizer = from_json_text(
        text,
        "{\"bos_token\": {\"content\": \"<s>\"}, \"eos_token\": \"<|endoftext|>\", \"pad_token\": null}");
    ss_special_ids ids = ss_tokenizer_specials(tokenizer);
    assert_int_equal(ids.bos, ss_tokenizer_find(tokenizer, "<s>", 3));
    assert_int_equal(ids.eos, 0);
    assert_int_equal(ids.pad, SS_NO_TOKEN);
    ss_tokenizer_free(tokenizer);
    free(text);
}

static void bytes_without_a_token_are_counted(void **state) {
    (void)state;
    ss_tokenizer *tokenizer =
        from_json_text("{\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0, \"b\": 1, \"ab\": 2},"
                       "\"merges\": [\"a b\"]}, \"pre_tokenizer\": {\"type\": \"ByteLevel\","
                       "\"add_prefix_space\": false}}",
                       "");
    ss_encoding ids = encode(tokenizer, as_view("axb z"), SS_ENCODE_DEFAULT);
    assert_int_equal(ids.count, 1); /* as the library does: x is dropped and its neighbours merge */
    assert_int_equal(ids.ids[0], 2);
    assert_int_equal(ids.dropped, 3);
    ss_encoding_free(&ids);
    ss_tokenizer_free(tokenizer);
}

/* ---- parts of a text, with other vocabularies ---------------------------------------------------- */

/* Make a cut show: white space of any kind merges; and leave out tokens that take white space beside them,
 * with which a text stays whole. */
static void make_cuts_show(json_t *file) {
    static const char *const pairs[][2] = {{"\u010a", "\u010a"},
                                           {"\u010a", "\u0120"},
                                           {"\u0120", "\u010a"},
                                           {"\u010d", "\u010a"},
                                           {".", "\u010a"}};
    json_t *added = json_object_get(file, "added_tokens"), *model = json_object_get(file, "model");
    for (size_t i = json_array_size(added); i-- > 0;)
        if (json_is_true(json_object_get(json_array_get(added, i), "lstrip"))) json_array_remove(added, i);
    for (size_t i = 0; json_object_get(model, "merges") && i < sizeof pairs / sizeof *pairs; i++) {
        char both[8];
        snprintf(both, sizeof both, "%s%s", pairs[i][0], pairs[i][1]);
        json_object_set_new(json_object_get(model, "vocab"), both, json_integer(600 + (json_int_t)i));
        json_array_append_new(json_object_get(model, "merges"), json_pack("[s,s]", pairs[i][0], pairs[i][1]));
    }
}

static void a_text_in_parts_has_the_ids_of_the_whole(void **state) {
    (void)state;
    static const char *const cut[] = {"bpe",       "smollm", "llama3",  "qwen2",
                                      "wordpiece", "cased",  "accents", "unclean"};
    json_t *variants = read_json(GOLDEN "text/variants.json");
    size_t in_parts = 0;
    for (size_t i = 0; i < json_array_size(variants); i++) {
        const json_t *variant = json_array_get(variants, i);
        char *varied = varied_json(json_string_value(json_object_get(variant, "file")),
                                   json_object_get(variant, "parts"), json_object_get(variant, "model"));
        json_t *file = json_loads(varied, 0, NULL);
        make_cuts_show(file);
        char *json = json_dumps(file, 0);
        ss_tokenizer *tokenizer = from_json_text(json, "");
        check_parts(tokenizer, SS_ENCODE_PLAIN);
        check_parts(tokenizer, SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
        bool expected = false;
        for (size_t k = 0; k < sizeof cut / sizeof *cut; k++)
            expected |= strcmp(cut[k], json_string_value(json_object_get(variant, "name"))) == 0;
        assert_int_equal(tokenizer->part_least != SIZE_MAX, expected);
        in_parts += expected;
        ss_tokenizer_free(tokenizer);
        free(json);
        json_decref(file);
        free(varied);
    }
    assert_int_equal(in_parts, sizeof cut / sizeof *cut);
    json_decref(variants);
}

/* A new line or a space that a token takes, or has inside, is no place to cut. */
static void tokens_that_reach_over_white_space_keep_a_text_whole(void **state) {
    (void)state;
    static const char *const tokens[] = {"{\"id\": 0, \"content\": \"x\", \"lstrip\": true}",
                                         "{\"id\": 0, \"content\": \"x\", \"rstrip\": true}",
                                         "{\"id\": 0, \"content\": \"x y\"}",
                                         "{\"id\": 0, \"content\": \"x\\ny\", \"normalized\": false}"};
    for (size_t i = 0; i < sizeof tokens / sizeof *tokens; i++) {
        json_t *token = json_loads(tokens[i], 0, NULL), *parts = json_pack("{s:[o]}", "added_tokens", token);
        char *json = varied_json("bpe.json", parts, NULL);
        ss_tokenizer *tokenizer = from_json_text(json, "");
        assert_true(tokenizer->part_least == SIZE_MAX);
        ss_tokenizer_free(tokenizer);
        free(json);
        json_decref(parts);
    }
}

static void a_text_that_cannot_be_cut_is_bounded(void **state) {
    (void)state;
    static char text[SS_TEXT_LIMIT + (128 << 10)];
    ss_tokenizer *tokenizer = open_golden("wordpiece.json");
    memset(text, 'e', sizeof text);
    ss_encoding ids = {0};
    ss_error error = {0};
    assert_int_equal(ss_tokenizer_encode(tokenizer, text, sizeof text, SS_ENCODE_PLAIN, 9, &ids, &error),
                     SS_E_VALUE);
    assert_non_null(strstr(error.message, "2097152"));
    assert_null(ids.ids);
    text[SS_TEXT_LIMIT] = ' '; /* a part of just as many bytes as it may have */
    assert_int_equal(ss_tokenizer_encode(tokenizer, text, sizeof text, SS_ENCODE_PLAIN, 9, &ids, &error),
                     SS_OK);
    assert_int_equal(ids.count, 2); /* two unknown words */
    ss_encoding_free(&ids);
    ss_tokenizer_free(tokenizer);
}

/* ---- time ---------------------------------------------------------------------------------------------- */

/* Processor seconds, which other work on the machine does not stretch. */
static double encoding_seconds(const ss_tokenizer *tokenizer, ss_string_view text) {
    clock_t start = clock();
    ss_encoding ids = encode(tokenizer, text, SS_ENCODE_PLAIN);
    assert_true(ids.count > 0);
    ss_encoding_free(&ids);
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* Merging by looking through the whole word each time would take 80,000,000,000 steps. */
static void a_word_of_400_000_letters_takes_no_quadratic_time(void **state) {
    (void)state;
    static char text[400000];
    memset(text, 'e', sizeof text);
    static const char *const files[] = {"bpe.json", "wordpiece.json"};
    for (size_t i = 0; i < 2; i++) {
        ss_tokenizer *tokenizer = open_golden(files[i]);
        assert_true(encoding_seconds(tokenizer, (ss_string_view){text, sizeof text}) < 3);
        ss_tokenizer_free(tokenizer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_gives_the_librarys_ids),
        cmocka_unit_test(gpt2_gives_the_librarys_ids),
        cmocka_unit_test(smollm2_gives_the_librarys_ids),
        cmocka_unit_test(minilm_gives_the_librarys_ids),
        cmocka_unit_test(a_typed_bos_beside_the_automatic_one_is_flagged),
        cmocka_unit_test(pieces_read_as_they_do_in_text),
        cmocka_unit_test(configuration_names_the_special_tokens),
        cmocka_unit_test(bytes_without_a_token_are_counted),
        cmocka_unit_test(a_text_in_parts_has_the_ids_of_the_whole),
        cmocka_unit_test(tokens_that_reach_over_white_space_keep_a_text_whole),
        cmocka_unit_test(a_text_that_cannot_be_cut_is_bounded),
        cmocka_unit_test(a_word_of_400_000_letters_takes_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
