/* Tokenizers against the ids of the Hugging Face `tokenizers` library (tests/golden/text, made by
 * make_goldens.py): small vocabularies of our own always, the real ones where the environment variable
 * SOFTSCOPE_MODELS names the folder that has them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/file.h"
#include "formats/gguf.h"
#include "support/failing_allocator.h"
#include "support/temp_folder.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GOLDEN SS_TEST_DATA "/golden/"

/* ---- reading the goldens ----------------------------------------------------------------------- */

static json_t *read_json(const char *path) {
    json_error_t reason;
    json_t *value = json_load_file(path, 0, &reason);
    if (!value) fail_msg("%s: %s", path, reason.text);
    return value;
}

static ss_string_view read_file(const char *path) {
    ss_map map;
    ss_error error;
    if (ss_map_open(path, &map, &error)) fail_msg("%s: %s", error.where, error.message);
    char *copy = malloc(map.size + 1);
    assert_non_null(copy);
    memcpy(copy, map.data, map.size);
    size_t size = map.size;
    ss_map_close(&map);
    return (ss_string_view){copy, size};
}

static ss_string_view as_view(const char *text) {
    return (ss_string_view){text, strlen(text)};
}

/* The bytes of one text of the corpus, to be freed. */
static ss_string_view corpus_text(const json_t *item) {
    const char *file = json_string_value(json_object_get(item, "file"));
    if (file) {
        char path[4096];
        snprintf(path, sizeof path, GOLDEN "%s", file);
        return read_file(path);
    }
    const char *hex = json_string_value(json_object_get(item, "hex"));
    const char *text = json_string_value(json_object_get(item, "text"));
    json_t *repeated = json_object_get(item, "times");
    size_t unit = strlen(hex ? hex : text), times = repeated ? (size_t)json_integer_value(repeated) : 1;
    char *bytes = malloc(unit * times + 1);
    assert_non_null(bytes);
    if (!hex) {
        for (size_t i = 0; i < times; i++) memcpy(bytes + i * unit, text, unit);
        return (ss_string_view){bytes, unit * times};
    }
    for (size_t i = 0; i < unit / 2; i++) {
        unsigned value = 0;
        sscanf(hex + 2 * i, "%2x", &value);
        bytes[i] = (char)value;
    }
    return (ss_string_view){bytes, unit / 2};
}

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

static ss_encoding encode(const ss_tokenizer *tokenizer, ss_string_view text, unsigned flags) {
    ss_encoding ids = {0};
    ss_error error = {0};
    if (ss_tokenizer_encode(tokenizer, text.bytes, text.length, flags, SS_ALL_TOKENS, &ids, &error))
        fail_msg("%s: %s", error.where, error.message);
    return ids;
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

/* ---- making tokenizers ------------------------------------------------------------------------- */

static ss_tokenizer *from_json_text(const char *json, const char *config) {
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    if (ss_tokenizer_from_json(NULL, "test", as_view(json), as_view(config), &tokenizer, &error))
        fail_msg("%s: %s", error.where, error.message);
    return tokenizer;
}

/* A tokenizer.json of the goldens with some of its parts, and of its model's options, replaced; to be freed.
 */
static char *varied_json(const char *file, json_t *parts, json_t *model) {
    char path[4096];
    snprintf(path, sizeof path, GOLDEN "text/%s", file);
    json_t *whole = read_json(path);
    json_object_update(whole, parts);
    json_object_update(json_object_get(whole, "model"), model);
    char *text = json_dumps(whole, 0);
    assert_non_null(text);
    json_decref(whole);
    return text;
}

static ss_tokenizer *open_golden(const char *file) {
    char *text = varied_json(file, NULL, NULL);
    ss_tokenizer *tokenizer = from_json_text(text, "");
    free(text);
    return tokenizer;
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
    check_real_ids(tokenizer, "lighthouse", "smollm2-135m");
    check_real_ids(tokenizer, "genesis-multiscript", "smollm2-135m-long");
    ss_tokenizer_free(tokenizer);
}

static void minilm_gives_the_librarys_ids(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = open_real("minilm");
    check_all("minilm", tokenizer);
    check_real_ids(tokenizer, "lighthouse", "minilm-l6");
    check_real_ids(tokenizer, "genesis-multiscript", "minilm-l6-long");
    ss_tokenizer_free(tokenizer);
}

/* ---- the other files give the same tokenizer --------------------------------------------------- */

static void same_ids(const ss_tokenizer *a, const ss_tokenizer *b, unsigned flags) {
    json_t *corpus = read_json(GOLDEN "text/corpus.json");
    for (size_t i = 0; i < json_array_size(corpus); i++) {
        ss_string_view text = corpus_text(json_array_get(corpus, i));
        ss_encoding left = encode(a, text, flags), right = encode(b, text, flags);
        if (left.count != right.count) fail_msg("text %zu: %zu and %zu tokens", i, left.count, right.count);
        if (left.count) assert_memory_equal(left.ids, right.ids, left.count * sizeof *left.ids);
        ss_encoding_free(&left);
        ss_encoding_free(&right);
        free((char *)(uintptr_t)text.bytes);
    }
    json_decref(corpus);
}

static void vocabulary_and_merges_files_equal_tokenizer_json(void **state) {
    (void)state;
    json_t *none = json_pack("{s:[]}", "added_tokens");
    char *text = varied_json("bpe.json", none, NULL);
    ss_tokenizer *whole = from_json_text(text, ""), *pair = NULL;
    ss_string_view vocabulary = read_file(GOLDEN "text/vocab.json"),
                   merges = read_file(GOLDEN "text/merges.txt");
    ss_error error = {0};
    assert_int_equal(ss_tokenizer_from_merges(NULL, "pair", vocabulary, merges, as_view(""), &pair, &error),
                     SS_OK);
    same_ids(whole, pair, SS_ENCODE_PLAIN);
    assert_true(
        ss_tokenizer_is_special(pair, ss_tokenizer_specials(pair).eos)); /* <|endoftext|> by its name */
    ss_tokenizer_free(whole);
    ss_tokenizer_free(pair);
    free((char *)(uintptr_t)vocabulary.bytes);
    free((char *)(uintptr_t)merges.bytes);
    free(text);
    json_decref(none);
}

static void vocabulary_file_equals_tokenizer_json(void **state) {
    (void)state;
    ss_tokenizer *whole = open_golden("wordpiece.json"), *list = NULL;
    ss_string_view vocabulary = read_file(GOLDEN "text/vocab.txt");
    ss_error error = {0};
    assert_int_equal(ss_tokenizer_from_vocabulary(NULL, "list", vocabulary, as_view(""), &list, &error),
                     SS_OK);
    same_ids(whole, list, SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
    ss_tokenizer_free(list);
    assert_int_equal(ss_tokenizer_from_vocabulary(NULL, "list", vocabulary,
                                                  as_view("{\"do_lower_case\": false}"), &list, &error),
                     SS_OK);
    json_t *parts = json_pack("{s:{s:s,s:b}}", "normalizer", "type", "BertNormalizer", "lowercase", 0);
    char *text = varied_json("wordpiece.json", parts, NULL);
    ss_tokenizer *cased = from_json_text(text, "");
    same_ids(cased, list, SS_ENCODE_DEFAULT);
    ss_tokenizer_free(cased);
    free(text);
    json_decref(parts);
    ss_tokenizer_free(list);
    ss_tokenizer_free(whole);
    free((char *)(uintptr_t)vocabulary.bytes);
}

static void a_folder_is_read_by_what_it_has(void **state) {
    (void)state;
    temp_path folder = temp_folder_make();
    ss_tokenizer *tokenizer = NULL;
    ss_error error = {0};
    assert_int_equal(ss_tokenizer_open_folder(NULL, folder.text, &tokenizer, &error), SS_E_IO);
    assert_non_null(strstr(error.message, "tokenizer.json"));
    ss_string_view list = read_file(GOLDEN "text/vocab.txt"), json = read_file(GOLDEN "text/bpe.json");
    temp_file_write(&folder, "vocab.txt", list.bytes, list.length);
    assert_int_equal(ss_tokenizer_open_folder(NULL, folder.text, &tokenizer, &error), SS_OK);
    assert_string_equal(ss_tokenizer_kind(tokenizer), "WordPiece");
    ss_tokenizer_free(tokenizer);
    temp_file_write(&folder, "tokenizer.json", json.bytes, json.length);
    assert_int_equal(ss_tokenizer_open_folder(NULL, folder.text, &tokenizer, &error), SS_OK);
    assert_string_equal(ss_tokenizer_kind(tokenizer), "BPE");
    ss_tokenizer_free(tokenizer);
    free((char *)(uintptr_t)list.bytes);
    free((char *)(uintptr_t)json.bytes);
    temp_folder_remove(&folder);
}

/* The pieces of a tokenizer.json by id, as views into it. */
static size_t list_pieces(const json_t *model, ss_string_view *pieces, size_t room) {
    size_t count = 0;
    const char *piece;
    json_t *id;
    json_object_foreach(json_object_get(model, "vocab"), piece, id) {
        size_t at = (size_t)json_integer_value(id);
        assert_true(at < room);
        pieces[at] = as_view(piece);
        count = at + 1 > count ? at + 1 : count;
    }
    return count;
}

static void gguf_byte_level_arrays_equal_tokenizer_json(void **state) {
    (void)state;
    json_t *whole = read_json(GOLDEN "text/bpe.json"), *model = json_object_get(whole, "model");
    static ss_string_view pieces[1024], merges[1024];
    static double types[1024];
    static char lines[1024][64];
    ss_gguf_tokenizer source = {.model = as_view("gpt2"),
                                .pre = as_view("smollm"),
                                .pieces = pieces,
                                .merges = merges,
                                .types = types,
                                .bos = 0,
                                .eos = 0,
                                .unk = SS_NO_TOKEN,
                                .cls = SS_NO_TOKEN,
                                .sep = SS_NO_TOKEN,
                                .add_bos = -1,
                                .add_eos = -1};
    source.piece_count = list_pieces(model, pieces, 1024);
    for (size_t i = 0; i < source.piece_count; i++) types[i] = i == 0 ? 3 : 1;
    const json_t *list = json_object_get(model, "merges");
    source.merge_count = json_array_size(list);
    for (size_t i = 0; i < source.merge_count; i++) {
        const json_t *pair = json_array_get(list, i);
        snprintf(lines[i], sizeof lines[i], "%s %s", json_string_value(json_array_get(pair, 0)),
                 json_string_value(json_array_get(pair, 1)));
        merges[i] = as_view(lines[i]);
    }
    ss_error error = {0};
    ss_tokenizer *gguf = NULL;
    assert_int_equal(ss_tokenizer_from_gguf(NULL, "gguf", &source, &gguf, &error), SS_OK);
    json_t *parts =
        json_loads("{\"added_tokens\": [{\"id\": 0, \"content\": \"<|endoftext|>\", \"special\": true}],"
                   "\"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Digits\","
                   "\"individual_digits\": true}, {\"type\": \"ByteLevel\", \"add_prefix_space\": false}]}}",
                   0, NULL);
    char *text = varied_json("bpe.json", parts, NULL);
    ss_tokenizer *json = from_json_text(text, "");
    same_ids(gguf, json, SS_ENCODE_PLAIN);
    same_ids(gguf, json, SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
    ss_tokenizer_free(gguf);
    source.add_bos = 1;
    assert_int_equal(ss_tokenizer_from_gguf(NULL, "gguf", &source, &gguf, &error), SS_OK);
    ss_encoding ids = encode(gguf, as_view("x"), SS_ENCODE_ADD_SPECIAL);
    assert_int_equal(ids.count, 2);
    assert_int_equal(ids.ids[0], 0);
    ss_encoding_free(&ids);
    ss_tokenizer_free(gguf);
    ss_tokenizer_free(json);
    free(text);
    json_decref(parts);
    json_decref(whole);
}

static void gguf_bert_arrays_equal_tokenizer_json(void **state) {
    (void)state;
    json_t *whole = read_json(GOLDEN "text/wordpiece.json");
    static ss_string_view pieces[1024];
    static char spelled[1024][128];
    ss_gguf_tokenizer source = {.model = as_view("bert"),
                                .pieces = pieces,
                                .bos = SS_NO_TOKEN,
                                .eos = SS_NO_TOKEN,
                                .unk = SS_NO_TOKEN,
                                .cls = SS_NO_TOKEN,
                                .sep = SS_NO_TOKEN,
                                .add_bos = -1,
                                .add_eos = -1};
    source.piece_count = list_pieces(json_object_get(whole, "model"), pieces, 1024);
    for (size_t i = 0; i < source.piece_count; i++) {
        const char *piece = pieces[i].bytes;
        bool continues = strncmp(piece, "##", 2) == 0;
        bool bracketed = pieces[i].length > 1 && piece[0] == '[' && piece[pieces[i].length - 1] == ']';
        snprintf(spelled[i], sizeof spelled[i], "%s%s", continues || bracketed ? "" : "\u2581",
                 continues ? piece + 2 : piece);
        pieces[i] = as_view(spelled[i]);
    }
    ss_error error = {0};
    ss_tokenizer *gguf = NULL, *json = open_golden("wordpiece.json");
    assert_int_equal(ss_tokenizer_from_gguf(NULL, "gguf", &source, &gguf, &error), SS_OK);
    same_ids(gguf, json, SS_ENCODE_PARSE_SPECIAL | SS_ENCODE_ADD_SPECIAL);
    ss_tokenizer_free(gguf);
    ss_tokenizer_free(json);
    json_decref(whole);
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

/* ---- what is refused --------------------------------------------------------------------------- */

#define BYTE_LEVEL "\"pre_tokenizer\": {\"type\": \"ByteLevel\"}"
#define TINY       "\"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": []}"

static void refused_files_name_what_is_wrong(void **state) {
    (void)state;
    static const struct {
        const char *json;
        ss_status status;
        const char *said;
    } cases[] = {
        {"", SS_E_FORMAT, ""},
        {"[]", SS_E_FORMAT, "model"},
        {"{\"model\": {\"type\": \"Unigram\"}, " BYTE_LEVEL "}", SS_E_UNSUPPORTED, "Unigram"},
        {"{" TINY ", \"pre_tokenizer\": {\"type\": \"Metaspace\"}}", SS_E_UNSUPPORTED, "Metaspace"},
        {"{" TINY "}", SS_E_UNSUPPORTED, "--tokens"},
        {"{" TINY ", " BYTE_LEVEL ", \"normalizer\": {\"type\": \"Precompiled\"}}", SS_E_UNSUPPORTED,
         "Precompiled"},
        {"{" TINY ", " BYTE_LEVEL ", \"post_processor\": {\"type\": \"Odd\"}}", SS_E_UNSUPPORTED, "Odd"},
        {"{" TINY ", \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"[a&&b]\"}, "
         "\"behavior\": \"Isolated\"}}",
         SS_E_UNSUPPORTED, "intersection"},
        {"{" TINY ", \"pre_tokenizer\": {\"type\": \"Split\", \"pattern\": {\"Regex\": \"(\"}, \"behavior\": "
         "\"Isolated\"}}",
         SS_E_UNSUPPORTED, "compiled"},
        {"{" BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a b\"]}}",
         SS_E_FORMAT, "\"b\""},
        {"{" BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 0}, \"merges\": [\"a a a\"]}}",
         SS_E_FORMAT, "merge 0"},
        {"{" BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": 4000000000}, \"merges\": []}}",
         SS_E_FORMAT, "4000000000"},
        {"{" BYTE_LEVEL ", \"model\": {\"type\": \"BPE\", \"vocab\": {\"a\": -1}, \"merges\": []}}",
         SS_E_FORMAT, "\"a\""},
        {"{" BYTE_LEVEL
         ", \"model\": {\"type\": \"BPE\", \"byte_fallback\": true, \"vocab\": {}, \"merges\": []}}",
         SS_E_UNSUPPORTED, "byte_fallback"},
        {"{\"model\": {\"type\": \"WordPiece\", \"vocab\": {\"a\": 0}}}", SS_E_FORMAT, "[UNK]"},
        {"{" TINY ", " BYTE_LEVEL
         ", \"post_processor\": {\"type\": \"BertProcessing\", \"cls\": [\"x\", 9], \"sep\": [\"y\", 9]}}",
         SS_E_FORMAT, "token 9"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_tokenizer *tokenizer = NULL;
        ss_error error = {0};
        ss_status status =
            ss_tokenizer_from_json(NULL, "test", as_view(cases[i].json), as_view(""), &tokenizer, &error);
        if (status != cases[i].status || !strstr(error.message, cases[i].said))
            fail_msg("%s: %s, %s", cases[i].json, ss_status_name(status), error.message);
        if (status == SS_E_UNSUPPORTED) assert_non_null(strstr(error.message, "--tokens"));
        assert_null(tokenizer);
    }
}

static void refused_gguf_kinds_are_named(void **state) {
    (void)state;
    static const char *const kinds[][2] = {{"llama", ""}, {"gpt2", "odd-pre"}, {"", ""}};
    for (size_t i = 0; i < 3; i++) {
        ss_gguf_tokenizer source = {.model = as_view(kinds[i][0]), .pre = as_view(kinds[i][1])};
        ss_tokenizer *tokenizer = NULL;
        ss_error error = {0};
        assert_int_equal(ss_tokenizer_from_gguf(NULL, "gguf", &source, &tokenizer, &error), SS_E_UNSUPPORTED);
        assert_non_null(strstr(error.message, kinds[i][1][0] ? kinds[i][1] : kinds[i][0]));
        assert_non_null(strstr(error.message, "--tokens FILE"));
    }
}

static void a_pattern_out_of_hand_is_an_error_within_a_second(void **state) {
    (void)state;
    ss_tokenizer *tokenizer = from_json_text(
        "{" TINY
        ", \"pre_tokenizer\": {\"type\": \"Sequence\", \"pretokenizers\": [{\"type\": \"Split\", \"pattern\":"
        "{\"Regex\": \"(a*)*(a*)*(a*)*[bd]\"}, \"behavior\": \"Isolated\"}, {\"type\": \"ByteLevel\"}]}}",
        "");
    char text[4001];
    memset(text, 'a', sizeof text);
    ss_encoding ids = {0};
    ss_error error = {0};
    clock_t start = clock();
    assert_int_equal(
        ss_tokenizer_encode(tokenizer, text, sizeof text, SS_ENCODE_PLAIN, SS_ALL_TOKENS, &ids, &error),
        SS_E_VALUE);
    assert_true(clock() - start < CLOCKS_PER_SEC);
    assert_null(ids.ids);
    ss_tokenizer_free(tokenizer);
}

/* ---- memory and time --------------------------------------------------------------------------- */

static ss_status load_and_encode(const ss_allocator *memory, ss_string_view json, ss_error *error) {
    ss_tokenizer *tokenizer = NULL;
    SS_TRY(ss_tokenizer_from_json(memory, "test", json, as_view(""), &tokenizer, error));
    ss_string_view text = as_view("The caf\u00e9's 12 engines \xff<mask>, \u4e2d and [MASK] nameless");
    ss_encoding ids = {0};
    ss_status status = ss_tokenizer_encode(tokenizer, text.bytes, text.length, SS_ENCODE_DEFAULT,
                                           SS_ALL_TOKENS, &ids, error);
    if (!status) ss_encoding_free(&ids);
    assert_null(ids.ids);
    ss_tokenizer_free(tokenizer);
    return status;
}

static void every_failing_allocation_is_reported_and_freed(void **state) {
    (void)state;
    static const char *const files[] = {GOLDEN "text/bpe.json", GOLDEN "text/wordpiece.json"};
    for (size_t f = 0; f < 2; f++) {
        ss_string_view json = read_file(files[f]);
        size_t n = 0, requests = SIZE_MAX;
        while (n < requests) {
            failing_allocator memory;
            failing_allocator_init(&memory, ++n);
            ss_error error = {0};
            ss_status status = load_and_encode(&memory.allocator, json, &error);
            /* one may fail in silence: without a stack of its own, matching only has a smaller one */
            if (status) assert_int_equal(status, SS_E_MEMORY);
            assert_int_equal(memory.state.live, 0);
            if (!status) requests = memory.state.requests;
        }
        assert_true(n > 20);
        free((char *)(uintptr_t)json.bytes);
    }
}

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
        cmocka_unit_test(vocabulary_and_merges_files_equal_tokenizer_json),
        cmocka_unit_test(vocabulary_file_equals_tokenizer_json),
        cmocka_unit_test(a_folder_is_read_by_what_it_has),
        cmocka_unit_test(gguf_byte_level_arrays_equal_tokenizer_json),
        cmocka_unit_test(gguf_bert_arrays_equal_tokenizer_json),
        cmocka_unit_test(a_typed_bos_beside_the_automatic_one_is_flagged),
        cmocka_unit_test(pieces_read_as_they_do_in_text),
        cmocka_unit_test(configuration_names_the_special_tokens),
        cmocka_unit_test(bytes_without_a_token_are_counted),
        cmocka_unit_test(refused_files_name_what_is_wrong),
        cmocka_unit_test(refused_gguf_kinds_are_named),
        cmocka_unit_test(a_pattern_out_of_hand_is_an_error_within_a_second),
        cmocka_unit_test(every_failing_allocation_is_reported_and_freed),
        cmocka_unit_test(a_word_of_400_000_letters_takes_no_quadratic_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
