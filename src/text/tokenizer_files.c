/* Loading the older pairs and lists of files (vocab.json with merges.txt, vocab.txt), and finding what a
 * folder has. Relies on: base/file, formats/json, text/build. */
#include "base/file.h"
#include "formats/json.h"
#include "text/build.h"
#include "text/utf8.h"

#include <stdio.h>
#include <string.h>

/* ---- lines ------------------------------------------------------------------------------------- */

/* The next line of *rest, without its end; false when there is none. */
static bool next_line(ss_string_view *rest, ss_string_view *line) {
    if (!rest->length) return false;
    const char *end = memchr(rest->bytes, '\n', rest->length);
    size_t length = end ? (size_t)(end - rest->bytes) : rest->length, taken = end ? length + 1 : length;
    *line = (ss_string_view){rest->bytes, length};
    *rest = (ss_string_view){rest->bytes + taken, rest->length - taken};
    return true;
}

/* Drop white space at the end, as the Hugging Face library does with the lines of vocab.txt. */
static ss_string_view trim_end(ss_string_view line) {
    while (line.length) {
        size_t start = line.length - 1;
        while (start > 0 && ((unsigned char)line.bytes[start] & 0xC0) == 0x80) start--;
        uint32_t code_point;
        bool valid;
        size_t size = ss_utf8_read(line.bytes + start, line.length - start, &code_point, &valid);
        if (!valid || start + size != line.length || !ss_in_class(ss_class_space, code_point)) break;
        line.length = start;
    }
    return line;
}

static size_t count_lines(ss_string_view text) {
    size_t count = 1;
    for (size_t i = 0; i < text.length; i++) count += text.bytes[i] == '\n';
    return count;
}

/* ---- GPT-2: vocab.json and merges.txt ---------------------------------------------------------- */

/* Tokenizers of other classes keep their files the same way but work otherwise. */
static ss_status check_class(const char *where, const json_t *config, ss_error *error) {
    static const char *const known[] = {"GPT2Tokenizer", "GPT2TokenizerFast", "CodeGenTokenizer",
                                        "CodeGenTokenizerFast"};
    const char *class = json_string_value(json_object_get(config, "tokenizer_class"));
    if (!class) return SS_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(class, known[i]) == 0) return SS_OK;
    }
    return ss_unsupported(error, where, "tokenizer class without a tokenizer.json,", class);
}

static ss_status load_merges(ss_tokenizer *tokenizer, const char *where, ss_string_view merges,
                             ss_error *error) {
    static const char comment[] = "#version";
    for (ss_string_view line; next_line(&merges, &line);) {
        if (line.length && line.bytes[line.length - 1] == '\r') line.length--;
        bool is_comment =
            line.length >= sizeof comment - 1 && memcmp(line.bytes, comment, sizeof comment - 1) == 0;
        if (!line.length || is_comment) continue;
        SS_TRY(ss_bpe_add_merge_line(&tokenizer->bpe, where, line.bytes, line.length, error));
    }
    return SS_OK;
}

/* "added_tokens_decoder": {"50256": {"content": ..., flags}} */
static ss_status load_added_decoder(ss_tokenizer *tokenizer, const char *where, const json_t *config,
                                    ss_error *error) {
    const char *key;
    json_t *item;
    json_object_foreach(json_object_get(config, "added_tokens_decoder"), key, item) {
        unsigned id;
        char rest;
        if (sscanf(key, "%9u%c", &id, &rest) != 1)
            return ss_fail(error, SS_E_FORMAT, where, "added_tokens_decoder: \"%.40s\" is no token id", key);
        SS_TRY(ss_build_added_json(tokenizer, where, id, item, error));
    }
    return SS_OK;
}

static ss_status load_gpt2(ss_tokenizer *tokenizer, const char *where, const json_t *vocabulary,
                           ss_string_view merges, const json_t *config, ss_error *error) {
    bool prefix = false;
    SS_TRY(check_class(where, config, error));
    if (config) SS_TRY(ss_json_bool(config, "add_prefix_space", SS_OPTIONAL, where, &prefix, error));
    ss_split_step space = {.prefix_space = true}, words = {.behavior = SS_SPLIT_ISOLATED};
    if (prefix) SS_TRY(ss_build_split_step(tokenizer, where, space, error));
    SS_TRY(ss_build_pattern_step(tokenizer, where, SS_PATTERN_GPT2, strlen(SS_PATTERN_GPT2), words, false,
                                 error));
    if (!json_is_object(vocabulary))
        return ss_fail(error, SS_E_FORMAT, where, "the vocabulary is no JSON object");
    SS_TRY(ss_build_vocabulary(tokenizer, where, vocabulary, error));
    tokenizer->bpe = ss_bpe_make(tokenizer->memory, &tokenizer->vocabulary);
    SS_TRY(load_merges(tokenizer, where, merges, error));
    SS_TRY(load_added_decoder(tokenizer, where, config, error));
    return ss_build_config(tokenizer, where, config, error);
}

ss_status ss_tokenizer_from_merges(const ss_allocator *memory, const char *name, ss_string_view vocabulary,
                                   ss_string_view merges, ss_string_view config, ss_tokenizer **tokenizer,
                                   ss_error *error) {
    json_t *pieces = NULL, *settings = NULL;
    SS_TRY(ss_json_parse(name, vocabulary.bytes, vocabulary.length, SS_TOKENIZER_LIMIT, &pieces, error));
    ss_status status = ss_parse_config(name, config, &settings, error);
    if (!status) {
        ss_tokenizer *made = ss_build_begin(memory, json_object_size(pieces));
        status = made ? load_gpt2(made, name, pieces, merges, settings, error) : ss_fail_memory(error, name);
        if (made) status = ss_build_finish(made, status, name, tokenizer, error);
    }
    json_decref(settings);
    json_decref(pieces);
    return status;
}

/* ---- BERT: vocab.txt --------------------------------------------------------------------------- */

static ss_status load_options(const char *where, const json_t *config, ss_bert_options *options,
                              ss_error *error) {
    *options = (ss_bert_options){.clean = true, .ideographs = true, .strip_accents = true, .lower = true};
    if (!config) return SS_OK;
    SS_TRY(ss_json_bool(config, "do_lower_case", SS_OPTIONAL, where, &options->lower, error));
    SS_TRY(ss_json_bool(config, "tokenize_chinese_chars", SS_OPTIONAL, where, &options->ideographs, error));
    options->strip_accents = options->lower; /* when the file has null or nothing */
    return ss_json_bool(config, "strip_accents", SS_OPTIONAL, where, &options->strip_accents, error);
}

static ss_status load_bert(ss_tokenizer *tokenizer, const char *where, ss_string_view vocabulary,
                           const json_t *config, ss_error *error) {
    ss_bert_options options;
    SS_TRY(load_options(where, config, &options, error));
    SS_TRY(ss_build_bert_normalizer(tokenizer, where, options, error));
    SS_TRY(ss_build_bert_splitter(tokenizer, where, error));
    size_t id = 0;
    for (ss_string_view line; next_line(&vocabulary, &line); id++) {
        line = trim_end(line);
        SS_TRY(ss_vocabulary_add(&tokenizer->vocabulary, where, line.bytes, line.length, id, error));
    }
    SS_TRY(load_added_decoder(tokenizer, where, config, error));
    SS_TRY(ss_build_config(tokenizer, where, config, error));
    const char *unknown = ss_config_token(config, "unk_token");
    SS_TRY(ss_build_wordpiece(tokenizer, where, unknown ? unknown : "[UNK]", "##", 100, error));
    return ss_build_bert_specials(tokenizer, where, true, true, error);
}

ss_status ss_tokenizer_from_vocabulary(const ss_allocator *memory, const char *name,
                                       ss_string_view vocabulary, ss_string_view config,
                                       ss_tokenizer **tokenizer, ss_error *error) {
    if (vocabulary.length > SS_TOKENIZER_LIMIT)
        return ss_fail(error, SS_E_FORMAT, name, "a vocabulary of %zu bytes is more than the limit of %zu",
                       vocabulary.length, SS_TOKENIZER_LIMIT);
    json_t *settings = NULL;
    SS_TRY(ss_parse_config(name, config, &settings, error));
    ss_tokenizer *made = ss_build_begin(memory, count_lines(vocabulary));
    ss_status status =
        made ? load_bert(made, name, vocabulary, settings, error) : ss_fail_memory(error, name);
    if (made) status = ss_build_finish(made, status, name, tokenizer, error);
    json_decref(settings);
    return status;
}

/* ---- a folder ---------------------------------------------------------------------------------- */

typedef struct folder_files {
    char path[4096]; /* of the file that was opened last */
    ss_map first, second, config;
} folder_files;

static ss_string_view view(const ss_map *map) {
    return (ss_string_view){(const char *)map->data, map->size};
}

/* Is there such a file? An empty name is always there. */
static bool find_file(folder_files *files, const char *folder, const char *name) {
    int length = snprintf(files->path, sizeof files->path, "%s/%s", folder, name);
    return !*name || (length > 0 && (size_t)length < sizeof files->path && ss_is_file(files->path));
}

static ss_status map_file(folder_files *files, const char *folder, const char *name, ss_map *map,
                          ss_error *error) {
    return *name && find_file(files, folder, name) ? ss_map_open(files->path, map, error) : SS_OK;
}

typedef enum layout_kind { LAYOUT_JSON, LAYOUT_MERGES, LAYOUT_VOCABULARY } layout_kind;

static ss_status load_layout(layout_kind kind, const folder_files *files, const ss_allocator *memory,
                             const char *name, ss_tokenizer **tokenizer, ss_error *error) {
    ss_string_view first = view(&files->first), second = view(&files->second), config = view(&files->config);
    if (kind == LAYOUT_JSON) return ss_tokenizer_from_json(memory, name, first, config, tokenizer, error);
    if (kind == LAYOUT_MERGES)
        return ss_tokenizer_from_merges(memory, name, first, second, config, tokenizer, error);
    return ss_tokenizer_from_vocabulary(memory, name, first, config, tokenizer, error);
}

ss_status ss_tokenizer_open_folder(const ss_allocator *memory, const char *folder, ss_tokenizer **tokenizer,
                                   ss_error *error) {
    static const struct {
        const char *first, *second;
        layout_kind kind;
    } layouts[] = {{"tokenizer.json", "", LAYOUT_JSON},
                   {"vocab.json", "merges.txt", LAYOUT_MERGES},
                   {"encoder.json", "vocab.bpe", LAYOUT_MERGES},
                   {"vocab.txt", "", LAYOUT_VOCABULARY}};
    folder_files files = {.path = ""};
    size_t i = 0, count = sizeof layouts / sizeof *layouts;
    while (i < count &&
           !(find_file(&files, folder, layouts[i].first) && find_file(&files, folder, layouts[i].second)))
        i++;
    if (i == count)
        return ss_fail(error, SS_E_IO, folder,
                       "no tokenizer.json, no vocab.json with merges.txt and no vocab.txt; give the ids with "
                       "--tokens FILE");
    ss_status status = map_file(&files, folder, layouts[i].first, &files.first, error);
    if (!status) status = map_file(&files, folder, layouts[i].second, &files.second, error);
    if (!status) status = map_file(&files, folder, "tokenizer_config.json", &files.config, error);
    char name[4096];
    snprintf(name, sizeof name, "%.3000s/%s%s%s", folder, layouts[i].first,
             *layouts[i].second ? " with " : "", layouts[i].second);
    if (!status) status = load_layout(layouts[i].kind, &files, memory, name, tokenizer, error);
    ss_map_close(&files.first);
    ss_map_close(&files.second);
    ss_map_close(&files.config);
    return status;
}
