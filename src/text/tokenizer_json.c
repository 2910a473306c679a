/* Loading a Hugging Face tokenizer.json: model, added tokens, normaliser, pre-tokenizer, template. What is
 * not built is refused by name, never skipped. Relies on: formats/json, text/build. */
#include "formats/json.h"
#include "text/build.h"

#include <string.h>

typedef struct loader {
    ss_tokenizer *tokenizer;
    const char *where;
    bool byte_level; /* the pre-tokenizer ended in ByteLevel */
    ss_error *error;
} loader;

static ss_status malformed(const loader *load, const char *what) {
    return ss_fail(load->error, SS_E_FORMAT, load->where, "%s", what);
}

static ss_status unsupported(const loader *load, const char *part, const char *name) {
    return ss_unsupported(load->error, load->where, part, name);
}

/* A part of the pipeline: its type's name decides which function loads it. */
typedef ss_status load_part(loader *load, const json_t *part);
typedef struct part_type {
    const char *name;
    load_part *load;
} part_type;

static ss_status load_by_type(loader *load, const char *what, const part_type *types, size_t count,
                              const json_t *part) {
    if (!part || json_is_null(part)) return SS_OK;
    const char *type = NULL;
    SS_TRY(ss_json_string(part, "type", SS_REQUIRED, load->where, &type, load->error));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(type, types[i].name) == 0) return types[i].load(load, part);
    }
    return unsupported(load, what, type);
}

/* The parts listed under `key`, one after the other. */
static ss_status load_list(loader *load, const json_t *part, const char *key, load_part *item) {
    json_t *list = NULL;
    SS_TRY(ss_json_array(part, key, SS_REQUIRED, load->where, &list, load->error));
    for (size_t i = 0; i < json_array_size(list); i++) SS_TRY(item(load, json_array_get(list, i)));
    return SS_OK;
}

static ss_status get_bool(const loader *load, const json_t *part, const char *key, bool *value) {
    return ss_json_bool(part, key, SS_OPTIONAL, load->where, value, load->error);
}

/* ---- model ------------------------------------------------------------------------------------- */

static ss_status load_vocabulary(loader *load, const json_t *model) {
    json_t *pieces = NULL;
    SS_TRY(ss_json_object(model, "vocab", SS_REQUIRED, load->where, &pieces, load->error));
    return ss_build_vocabulary(load->tokenizer, load->where, pieces, load->error);
}

static ss_status load_merge(const loader *load, const json_t *merge) {
    ss_bpe *bpe = &load->tokenizer->bpe;
    if (json_is_string(merge))
        return ss_bpe_add_merge_line(bpe, load->where, json_string_value(merge), json_string_length(merge),
                                     load->error);
    const json_t *left = json_array_get(merge, 0), *right = json_array_get(merge, 1);
    if (json_array_size(merge) != 2 || !json_is_string(left) || !json_is_string(right))
        return malformed(load, "a merge is neither \"left right\" nor [\"left\", \"right\"]");
    return ss_bpe_add_merge(
        bpe, load->where, (ss_string_view){json_string_value(left), json_string_length(left)},
        (ss_string_view){json_string_value(right), json_string_length(right)}, load->error);
}

/* Options of BPE that would change the ids and are not built. */
static ss_status check_bpe_options(const loader *load, const json_t *model) {
    static const char *const affixes[] = {"continuing_subword_prefix", "end_of_word_suffix"};
    for (size_t i = 0; i < 2; i++) {
        const char *affix = "";
        SS_TRY(ss_json_string(model, affixes[i], SS_OPTIONAL, load->where, &affix, load->error));
        if (*affix) return unsupported(load, affixes[i], affix);
    }
    bool byte_fallback = false;
    SS_TRY(get_bool(load, model, "byte_fallback", &byte_fallback));
    if (byte_fallback) return unsupported(load, "BPE option", "byte_fallback");
    double dropout = 0;
    SS_TRY(ss_json_number(model, "dropout", SS_OPTIONAL, load->where, &dropout, load->error));
    return dropout != 0 ? unsupported(load, "BPE option", "dropout") : SS_OK;
}

static ss_status load_bpe(loader *load, const json_t *model) {
    ss_tokenizer *tokenizer = load->tokenizer;
    if (!load->byte_level) return unsupported(load, "tokenizer", "BPE without a ByteLevel pre-tokenizer");
    SS_TRY(check_bpe_options(load, model));
    SS_TRY(load_vocabulary(load, model));
    tokenizer->bpe = ss_bpe_make(tokenizer->memory, &tokenizer->vocabulary);
    SS_TRY(get_bool(load, model, "ignore_merges", &tokenizer->bpe.ignore_merges));
    SS_TRY(get_bool(load, model, "fuse_unk", &tokenizer->bpe.fuse_unknown));
    const char *unknown = NULL;
    SS_TRY(ss_json_string(model, "unk_token", SS_OPTIONAL, load->where, &unknown, load->error));
    if (unknown && *unknown) {
        tokenizer->bpe.unknown = ss_vocabulary_find(&tokenizer->vocabulary, unknown, strlen(unknown));
        tokenizer->specials.unk = tokenizer->bpe.unknown;
    }
    json_t *merges = NULL;
    SS_TRY(ss_json_array(model, "merges", SS_REQUIRED, load->where, &merges, load->error));
    for (size_t i = 0; i < json_array_size(merges); i++) SS_TRY(load_merge(load, json_array_get(merges, i)));
    return SS_OK;
}

static ss_status load_wordpiece(loader *load, const json_t *model) {
    if (load->byte_level) return unsupported(load, "tokenizer", "WordPiece with a ByteLevel pre-tokenizer");
    SS_TRY(load_vocabulary(load, model));
    const char *unknown = "[UNK]", *prefix = "##";
    size_t longest = 100;
    SS_TRY(ss_json_string(model, "unk_token", SS_OPTIONAL, load->where, &unknown, load->error));
    SS_TRY(
        ss_json_string(model, "continuing_subword_prefix", SS_OPTIONAL, load->where, &prefix, load->error));
    SS_TRY(ss_json_size(model, "max_input_chars_per_word", SS_OPTIONAL, load->where, &longest, load->error));
    return ss_build_wordpiece(load->tokenizer, load->where, unknown, prefix, longest, load->error);
}

static ss_status load_model(loader *load, const json_t *model) {
    static const part_type types[] = {{"BPE", load_bpe}, {"WordPiece", load_wordpiece}};
    if (json_is_object(model) && !ss_json_has(model, "type")) /* files from before 2020 have no type */
        return ss_json_has(model, "merges") ? load_bpe(load, model) : load_wordpiece(load, model);
    return load_by_type(load, "tokenizer model", types, sizeof types / sizeof *types, model);
}

/* ---- normaliser -------------------------------------------------------------------------------- */

static load_part load_normalizer;

static ss_status load_bert_normalizer(loader *load, const json_t *part) {
    ss_bert_options options = {.clean = true, .ideographs = true, .lower = true};
    SS_TRY(get_bool(load, part, "clean_text", &options.clean));
    SS_TRY(get_bool(load, part, "handle_chinese_chars", &options.ideographs));
    SS_TRY(get_bool(load, part, "lowercase", &options.lower));
    options.strip_accents = options.lower; /* when the file has null */
    SS_TRY(get_bool(load, part, "strip_accents", &options.strip_accents));
    return ss_build_bert_normalizer(load->tokenizer, load->where, options, load->error);
}

static ss_status load_normalizers(loader *load, const json_t *part) {
    return load_list(load, part, "normalizers", load_normalizer);
}

static ss_status load_normalizer(loader *load, const json_t *part) {
    static const struct {
        const char *name;
        ss_normal_step step;
    } simple[] = {{"NFC", SS_NORMAL_NFC},
                  {"NFD", SS_NORMAL_NFD},
                  {"NFKC", SS_NORMAL_NFKC},
                  {"NFKD", SS_NORMAL_NFKD},
                  {"Lowercase", SS_NORMAL_LOWER}};
    static const part_type types[] = {{"BertNormalizer", load_bert_normalizer},
                                      {"Sequence", load_normalizers}};
    const char *type = json_string_value(json_object_get(part, "type"));
    for (size_t i = 0; type && i < sizeof simple / sizeof *simple; i++) {
        if (strcmp(type, simple[i].name) == 0)
            return ss_build_normal_step(load->tokenizer, load->where, simple[i].step, load->error);
    }
    return load_by_type(load, "normalizer", types, sizeof types / sizeof *types, part);
}

/* ---- pre-tokenizer ----------------------------------------------------------------------------- */

static load_part load_pre_tokenizer;

static ss_status load_byte_level(loader *load, const json_t *part) {
    bool prefix = true, pattern = true;
    SS_TRY(get_bool(load, part, "add_prefix_space", &prefix));
    SS_TRY(get_bool(load, part, "use_regex", &pattern));
    ss_split_step space = {.prefix_space = true}, gpt2 = {.behavior = SS_SPLIT_ISOLATED};
    if (prefix) SS_TRY(ss_build_split_step(load->tokenizer, load->where, space, load->error));
    load->byte_level = true;
    if (!pattern) return SS_OK;
    return ss_build_pattern_step(load->tokenizer, load->where, SS_PATTERN_GPT2, strlen(SS_PATTERN_GPT2), gpt2,
                                 false, load->error);
}

static ss_status load_digits(loader *load, const json_t *part) {
    bool individual = false;
    SS_TRY(get_bool(load, part, "individual_digits", &individual));
    return ss_build_digits(load->tokenizer, load->where, individual, load->error);
}

static ss_status load_split(loader *load, const json_t *part) {
    static const struct {
        const char *name;
        ss_split_behavior behavior;
    } behaviors[] = {{"Isolated", SS_SPLIT_ISOLATED},
                     {"Removed", SS_SPLIT_REMOVED},
                     {"Contiguous", SS_SPLIT_CONTIGUOUS},
                     {"MergedWithPrevious", SS_SPLIT_WITH_PREVIOUS},
                     {"MergedWithNext", SS_SPLIT_WITH_NEXT}};
    json_t *pattern = NULL;
    const char *behavior = NULL;
    ss_split_step step = {.pattern = NULL};
    SS_TRY(ss_json_object(part, "pattern", SS_REQUIRED, load->where, &pattern, load->error));
    SS_TRY(ss_json_string(part, "behavior", SS_REQUIRED, load->where, &behavior, load->error));
    SS_TRY(get_bool(load, part, "invert", &step.invert));
    size_t i = 0, count = sizeof behaviors / sizeof *behaviors;
    while (i < count && strcmp(behavior, behaviors[i].name) != 0) i++;
    if (i == count) return unsupported(load, "split behavior", behavior);
    step.behavior = behaviors[i].behavior;
    const json_t *regex = json_object_get(pattern, "Regex"), *literal = json_object_get(pattern, "String");
    const json_t *text = regex ? regex : literal;
    if (!json_is_string(text))
        return malformed(load, "the pattern of a Split has no \"Regex\" or \"String\"");
    return ss_build_pattern_step(load->tokenizer, load->where, json_string_value(text),
                                 json_string_length(text), step, !regex, load->error);
}

static ss_status load_bert_splitter(loader *load, const json_t *part) {
    (void)part;
    return ss_build_bert_splitter(load->tokenizer, load->where, load->error);
}

static ss_status load_pre_tokenizers(loader *load, const json_t *part) {
    return load_list(load, part, "pretokenizers", load_pre_tokenizer);
}

static ss_status load_pre_tokenizer(loader *load, const json_t *part) {
    static const part_type types[] = {{"ByteLevel", load_byte_level},
                                      {"Digits", load_digits},
                                      {"Split", load_split},
                                      {"BertPreTokenizer", load_bert_splitter},
                                      {"Sequence", load_pre_tokenizers}};
    /* ByteLevel rewrites the text into its alphabet; a step behind it would see that */
    if (load->byte_level) return unsupported(load, "pre-tokenizer", "steps after ByteLevel");
    return load_by_type(load, "pre-tokenizer", types, sizeof types / sizeof *types, part);
}

/* ---- template ---------------------------------------------------------------------------------- */

static load_part load_template;

static ss_status add_ids(const loader *load, const json_t *ids, ss_ids *list) {
    if (!json_is_array(ids)) return malformed(load, "a special token of the template has no ids");
    for (size_t i = 0; i < json_array_size(ids); i++) {
        size_t id;
        if (!ss_json_as_size(json_array_get(ids, i), &id) || id >= SS_NO_TOKEN)
            return malformed(load, "an id of the template is not a token id");
        SS_TRY(ss_ids_add(list, (uint32_t)id, load->error));
    }
    return SS_OK;
}

/* "single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...] */
static ss_status load_template_processing(loader *load, const json_t *part) {
    json_t *items = NULL, *tokens = NULL;
    SS_TRY(ss_json_array(part, "single", SS_REQUIRED, load->where, &items, load->error));
    SS_TRY(ss_json_object(part, "special_tokens", SS_REQUIRED, load->where, &tokens, load->error));
    ss_ids *list = &load->tokenizer->before;
    for (size_t i = 0; i < json_array_size(items); i++) {
        const json_t *item = json_array_get(items, i), *special = json_object_get(item, "SpecialToken");
        if (json_object_get(item, "Sequence")) {
            list = &load->tokenizer->after;
            continue;
        }
        const char *name = json_string_value(json_object_get(special, "id"));
        if (!name) return malformed(load, "an item of the template is no special token and no sequence");
        SS_TRY(add_ids(load, json_object_get(json_object_get(tokens, name), "ids"), list));
    }
    if (list == &load->tokenizer->before) return malformed(load, "the template has no place for the text");
    return SS_OK;
}

/* "cls": ["[CLS]", 101] and "sep" */
static ss_status load_bert_processing(loader *load, const json_t *part) {
    static const char *const keys[] = {"cls", "sep"};
    ss_ids *lists[] = {&load->tokenizer->before, &load->tokenizer->after};
    for (size_t i = 0; i < 2; i++) {
        size_t id;
        if (!ss_json_as_size(json_array_get(json_object_get(part, keys[i]), 1), &id) || id >= SS_NO_TOKEN)
            return malformed(load, "the post-processor has no ids for \"cls\" and \"sep\"");
        SS_TRY(ss_ids_add(lists[i], (uint32_t)id, load->error));
    }
    return SS_OK;
}

/* ByteLevel only trims offsets, which ids do not have. */
static ss_status load_nothing(loader *load, const json_t *part) {
    (void)load;
    (void)part;
    return SS_OK;
}

static ss_status load_templates(loader *load, const json_t *part) {
    return load_list(load, part, "processors", load_template);
}

static ss_status load_template(loader *load, const json_t *part) {
    static const part_type types[] = {{"TemplateProcessing", load_template_processing},
                                      {"BertProcessing", load_bert_processing},
                                      {"RobertaProcessing", load_bert_processing},
                                      {"ByteLevel", load_nothing},
                                      {"Sequence", load_templates}};
    return load_by_type(load, "post-processor", types, sizeof types / sizeof *types, part);
}

/* ---- the whole file ---------------------------------------------------------------------------- */

static ss_status load_added_token(loader *load, const json_t *item) {
    size_t id = 0;
    SS_TRY(ss_json_size(item, "id", SS_REQUIRED, load->where, &id, load->error));
    return ss_build_added_json(load->tokenizer, load->where, id, item, load->error);
}

static ss_status load_file(loader *load, const json_t *file) {
    /* the pre-tokenizer decides whether the model is byte-level, the normaliser how added tokens are spelled
     */
    SS_TRY(load_normalizer(load, json_object_get(file, "normalizer")));
    SS_TRY(load_pre_tokenizer(load, json_object_get(file, "pre_tokenizer")));
    json_t *model = NULL;
    SS_TRY(ss_json_object(file, "model", SS_REQUIRED, load->where, &model, load->error));
    SS_TRY(load_model(load, model));
    if (ss_json_has(file, "added_tokens")) SS_TRY(load_list(load, file, "added_tokens", load_added_token));
    return load_template(load, json_object_get(file, "post_processor"));
}

/* How many tokens the file lists: bounds the ids it may use. */
static size_t count_tokens(const json_t *file) {
    return json_object_size(json_object_get(json_object_get(file, "model"), "vocab")) +
           json_array_size(json_object_get(file, "added_tokens"));
}

ss_status ss_tokenizer_from_json(const ss_allocator *memory, const char *name, ss_string_view json,
                                 ss_string_view config, ss_tokenizer **tokenizer, ss_error *error) {
    json_t *file = NULL, *settings = NULL;
    SS_TRY(ss_json_parse(name, json.bytes, json.length, SS_TOKENIZER_LIMIT, &file, error));
    ss_status status = ss_parse_config(name, config, &settings, error);
    loader load = {.where = name, .error = error};
    if (!status) {
        load.tokenizer = ss_build_begin(memory, count_tokens(file));
        status = load.tokenizer ? load_file(&load, file) : ss_fail_memory(error, name);
    }
    if (!status) status = ss_build_config(load.tokenizer, name, settings, error);
    if (load.tokenizer) status = ss_build_finish(load.tokenizer, status, name, tokenizer, error);
    json_decref(settings);
    json_decref(file);
    return status;
}
