/* Loading tokenizers: every kind of file gives the one that tokenizer.json gives; what is refused, and that
 * the message names it; memory running out at any point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/failing_allocator.h"
#include "support/temp_folder.h"
#include "support/tokenizers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
        {"{\"model\": {\"type\": \"WordPiece\", \"vocab\": {\"[UNK]\": 0}, \"max_input_chars_per_word\": "
         "1001}}",
         SS_E_UNSUPPORTED, "1001"},
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

/* ---- memory -------------------------------------------------------------------------------------------- */

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vocabulary_and_merges_files_equal_tokenizer_json),
        cmocka_unit_test(vocabulary_file_equals_tokenizer_json),
        cmocka_unit_test(a_folder_is_read_by_what_it_has),
        cmocka_unit_test(gguf_byte_level_arrays_equal_tokenizer_json),
        cmocka_unit_test(gguf_bert_arrays_equal_tokenizer_json),
        cmocka_unit_test(refused_files_name_what_is_wrong),
        cmocka_unit_test(refused_gguf_kinds_are_named),
        cmocka_unit_test(a_pattern_out_of_hand_is_an_error_within_a_second),
        cmocka_unit_test(every_failing_allocation_is_reported_and_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
