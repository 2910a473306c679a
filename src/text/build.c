/* The steps that loaders of tokenizers share. Relies on: every part of text/, formats/json. */
#include "text/build.h"

#include "formats/json.h"
#include "text/byte_level.h"
#include "text/utf8.h"

#include <stdio.h>
#include <string.h>

ss_tokenizer *ss_build_begin(const ss_allocator *memory, size_t expected) {
    ss_tokenizer *made = ss_alloc_zero(memory, 1, sizeof *made);
    if (!made) return NULL;
    made->memory = memory;
    made->arena = ss_arena_make(memory);
    made->vocabulary = ss_vocabulary_make(memory, expected);
    made->added_pieces = ss_vocabulary_make(memory, expected);
    made->bpe = (ss_bpe){.memory = memory};
    made->before.memory = made->after.memory = memory;
    made->specials =
        (ss_special_ids){SS_NO_TOKEN, SS_NO_TOKEN, SS_NO_TOKEN, SS_NO_TOKEN, SS_NO_TOKEN, SS_NO_TOKEN};
    return made;
}

ss_status ss_unsupported(ss_error *error, const char *where, const char *part, const char *name) {
    return ss_fail(
        error, SS_E_UNSUPPORTED, where,
        "%s \"%.80s\" is not supported; tokenize the text elsewhere and give the ids with --tokens FILE",
        part, name);
}

ss_status ss_build_vocabulary(ss_tokenizer *tokenizer, const char *where, const json_t *pieces,
                              ss_error *error) {
    const char *piece;
    size_t length;
    json_t *value;
    json_object_keylen_foreach((json_t *)(uintptr_t)pieces, piece, length, value) {
        size_t id;
        if (!ss_json_as_size(value, &id))
            return ss_fail(error, SS_E_FORMAT, where, "the vocabulary's \"%.80s\" has no token id", piece);
        SS_TRY(ss_vocabulary_add(&tokenizer->vocabulary, where, piece, length, id, error));
    }
    return SS_OK;
}

/* ---- added tokens ------------------------------------------------------------------------------ */

static ss_status copy_content(ss_tokenizer *tokenizer, const char *where, ss_added_token *token,
                              ss_error *error) {
    ss_bytes normal = {.memory = tokenizer->memory};
    static const ss_normalizer none = {.count = 0};
    const ss_normalizer *normalizer = token->normalized ? &tokenizer->normalizer : &none;
    ss_status status = ss_normalize(normalizer, token->content, token->length, &normal, error);
    if (!status) {
        token->content = ss_arena_copy(&tokenizer->arena, normal.data, normal.length);
        token->length = normal.length;
        if (!token->content) status = ss_fail_memory(error, where);
    }
    ss_bytes_free(&normal);
    return status;
}

ss_status ss_build_added(ss_tokenizer *tokenizer, const char *where, ss_added_token token, ss_error *error) {
    if (token.length > SS_ADDED_LONGEST)
        return ss_fail(error, SS_E_UNSUPPORTED, where, "the added token %u has %zu bytes, more than %d",
                       (unsigned)token.id, token.length, SS_ADDED_LONGEST);
    SS_TRY(ss_vocabulary_add(&tokenizer->added_pieces, where, token.content, token.length, token.id, error));
    if (!ss_utf8_is_valid(token.content, token.length)) return SS_OK;
    SS_TRY(copy_content(tokenizer, where, &token, error));
    if (!token.length) return SS_OK;
    ss_added *list = token.normalized ? &tokenizer->added_normalized : &tokenizer->added;
    if (!ss_grow(tokenizer->memory, &list->items, &list->capacity, list->count + 1, sizeof *list->items))
        return ss_fail_memory(error, where);
    list->items[list->count++] = token;
    return SS_OK;
}

ss_status ss_build_added_json(ss_tokenizer *tokenizer, const char *where, size_t id, const json_t *item,
                              ss_error *error) {
    ss_added_token token = {.content = NULL};
    SS_TRY(ss_json_string(item, "content", SS_REQUIRED, where, &token.content, error));
    SS_TRY(ss_json_bool(item, "special", SS_OPTIONAL, where, &token.special, error));
    token.normalized = !token.special;
    SS_TRY(ss_json_bool(item, "normalized", SS_OPTIONAL, where, &token.normalized, error));
    SS_TRY(ss_json_bool(item, "single_word", SS_OPTIONAL, where, &token.single_word, error));
    SS_TRY(ss_json_bool(item, "lstrip", SS_OPTIONAL, where, &token.strip_left, error));
    SS_TRY(ss_json_bool(item, "rstrip", SS_OPTIONAL, where, &token.strip_right, error));
    if (id >= SS_NO_TOKEN) return ss_fail(error, SS_E_FORMAT, where, "%zu is no token id", id);
    token.id = (uint32_t)id;
    token.length = strlen(token.content);
    return ss_build_added(tokenizer, where, token, error);
}

ss_status ss_build_special(ss_tokenizer *tokenizer, const char *where, const char *content, ss_error *error) {
    uint32_t id = ss_vocabulary_find(&tokenizer->vocabulary, content, strlen(content));
    if (id == SS_NO_TOKEN || ss_vocabulary_find(&tokenizer->added_pieces, content, strlen(content)) == id)
        return SS_OK;
    ss_added_token token = {.content = content, .length = strlen(content), .id = id, .special = true};
    return ss_build_added(tokenizer, where, token, error);
}

/* ---- normalisers and splitters ----------------------------------------------------------------- */

ss_status ss_build_normal_step(ss_tokenizer *tokenizer, const char *where, ss_normal_step step,
                               ss_error *error) {
    ss_normalizer *normalizer = &tokenizer->normalizer;
    if (normalizer->count == SS_NORMAL_STEPS)
        return ss_unsupported(error, where, "normalizer", "of many steps");
    normalizer->steps[normalizer->count++] = step;
    return SS_OK;
}

ss_status ss_build_bert_normalizer(ss_tokenizer *tokenizer, const char *where, ss_bert_options options,
                                   ss_error *error) {
    const bool wanted[] = {options.clean, options.ideographs, options.strip_accents, options.lower};
    static const ss_normal_step steps[] = {SS_NORMAL_CLEAN, SS_NORMAL_IDEOGRAPHS, SS_NORMAL_STRIP_ACCENTS,
                                           SS_NORMAL_LOWER};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (wanted[i]) SS_TRY(ss_build_normal_step(tokenizer, where, steps[i], error));
    }
    return SS_OK;
}

ss_status ss_build_split_step(ss_tokenizer *tokenizer, const char *where, ss_split_step step,
                              ss_error *error) {
    ss_splitter *splitter = &tokenizer->splitter;
    if (splitter->count == SS_SPLIT_STEPS) {
        ss_pattern_free(step.pattern);
        return ss_unsupported(error, where, "pre-tokenizer", "of many steps");
    }
    splitter->steps[splitter->count++] = step;
    return SS_OK;
}

ss_status ss_build_pattern_step(ss_tokenizer *tokenizer, const char *where, const char *pattern,
                                size_t length, ss_split_step step, bool literal, ss_error *error) {
    static const char *const known[] = {SS_PATTERN_GPT2, SS_PATTERN_LLAMA3, SS_PATTERN_QWEN2};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        step.ends_words |= !literal && step.behavior == SS_SPLIT_ISOLATED && strlen(known[i]) == length &&
                           memcmp(known[i], pattern, length) == 0;
    SS_TRY(ss_pattern_create(tokenizer->memory, where, pattern, length, literal, &step.pattern, error));
    return ss_build_split_step(tokenizer, where, step, error);
}

ss_status ss_build_bert_splitter(ss_tokenizer *tokenizer, const char *where, ss_error *error) {
    ss_split_step space = {.set = ss_class_space, .behavior = SS_SPLIT_REMOVED, .ends_words = true};
    ss_split_step punctuation = {.set = ss_class_punctuation, .behavior = SS_SPLIT_ISOLATED};
    SS_TRY(ss_build_split_step(tokenizer, where, space, error));
    return ss_build_split_step(tokenizer, where, punctuation, error);
}

ss_status ss_build_digits(ss_tokenizer *tokenizer, const char *where, bool individual, ss_error *error) {
    ss_split_step digits = {.set = ss_class_numeric,
                            .behavior = individual ? SS_SPLIT_ISOLATED : SS_SPLIT_CONTIGUOUS};
    return ss_build_split_step(tokenizer, where, digits, error);
}

/* ---- WordPiece --------------------------------------------------------------------------------- */

ss_status ss_build_wordpiece(ss_tokenizer *tokenizer, const char *where, const char *unknown,
                             const char *prefix, size_t longest_word, ss_error *error) {
    uint32_t id = ss_vocabulary_find(&tokenizer->vocabulary, unknown, strlen(unknown));
    if (id == SS_NO_TOKEN)
        return ss_fail(error, SS_E_FORMAT, where, "the vocabulary has no unknown token \"%.80s\"", unknown);
    if (longest_word > SS_WORD_LIMIT)
        return ss_fail(
            error, SS_E_UNSUPPORTED, where,
            "words of up to %zu characters are more than %d; tokenize the text elsewhere and give the "
            "ids with --tokens FILE",
            longest_word, SS_WORD_LIMIT);
    size_t length = strlen(prefix);
    const char *copy = ss_arena_copy(&tokenizer->arena, prefix, length);
    if (!copy) return ss_fail_memory(error, where);
    tokenizer->kind = SS_MODEL_WORDPIECE;
    tokenizer->wordpiece = (ss_wordpiece){&tokenizer->vocabulary, id, {copy, length}, longest_word};
    tokenizer->specials.unk = id;
    return SS_OK;
}

ss_status ss_build_bert_specials(ss_tokenizer *tokenizer, const char *where, bool before, bool after,
                                 ss_error *error) {
    static const char *const usual[] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"};
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
        SS_TRY(ss_build_special(tokenizer, where, usual[i], error));
    ss_special_ids *ids = &tokenizer->specials;
    if (ids->cls == SS_NO_TOKEN) ids->cls = ss_tokenizer_find(tokenizer, "[CLS]", 5);
    if (ids->sep == SS_NO_TOKEN) ids->sep = ss_tokenizer_find(tokenizer, "[SEP]", 5);
    if (before && ids->cls != SS_NO_TOKEN) SS_TRY(ss_ids_add(&tokenizer->before, ids->cls, error));
    return after && ids->sep != SS_NO_TOKEN ? ss_ids_add(&tokenizer->after, ids->sep, error) : SS_OK;
}

/* ---- tokenizer_config.json --------------------------------------------------------------------- */

/* Names that are used when no configuration says which tokens these are. */
static const struct role {
    const char *key;
    size_t offset; /* of the id in ss_special_ids */
    const char *usual[3];
} roles[] = {
    {"bos_token", offsetof(ss_special_ids, bos), {"<|begin_of_text|>", "<|endoftext|>", "<s>"}},
    {"eos_token", offsetof(ss_special_ids, eos), {"<|end_of_text|>", "<|endoftext|>", "</s>"}},
    {"unk_token", offsetof(ss_special_ids, unk), {"[UNK]", "<unk>", NULL}},
    {"cls_token", offsetof(ss_special_ids, cls), {"[CLS]", NULL, NULL}},
    {"sep_token", offsetof(ss_special_ids, sep), {"[SEP]", NULL, NULL}},
    {"pad_token", offsetof(ss_special_ids, pad), {"[PAD]", "<pad>", NULL}},
};

ss_status ss_parse_config(const char *where, ss_string_view bytes, json_t **config, ss_error *error) {
    *config = NULL;
    if (!bytes.length) return SS_OK;
    char file[sizeof((ss_error *)0)->where]; /* it stands beside the tokenizer, whose name `where` is */
    snprintf(file, sizeof file, "%s with its tokenizer_config.json", where);
    where = file;
    SS_TRY(ss_json_parse(where, bytes.bytes, bytes.length, SS_JSON_LIMIT, config, error));
    if (json_is_object(*config)) return SS_OK;
    json_decref(*config);
    *config = NULL;
    return ss_fail(error, SS_E_FORMAT, where, "the tokenizer's configuration is not a JSON object");
}

const char *ss_config_token(const json_t *config, const char *key) {
    const json_t *value = json_object_get(config, key);
    if (json_is_object(value)) value = json_object_get(value, "content");
    return json_string_value(value);
}

static ss_status take_role(ss_tokenizer *tokenizer, const char *where, const struct role *role,
                           const char *name, ss_error *error) {
    uint32_t id = ss_tokenizer_find(tokenizer, name, strlen(name));
    uint32_t *place = (uint32_t *)((char *)&tokenizer->specials + role->offset);
    if (id != SS_NO_TOKEN) *place = id;
    return ss_build_special(tokenizer, where, name, error);
}

ss_status ss_build_config(ss_tokenizer *tokenizer, const char *where, const json_t *config, ss_error *error) {
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        const char *name = ss_config_token(config, roles[i].key);
        for (size_t j = 0; j < 3 && !config && !name; j++) {
            const char *usual = roles[i].usual[j];
            if (usual && ss_tokenizer_find(tokenizer, usual, strlen(usual)) != SS_NO_TOKEN) name = usual;
        }
        if (name) SS_TRY(take_role(tokenizer, where, &roles[i], name, error));
    }
    return SS_OK;
}

/* ---- completing -------------------------------------------------------------------------------- */

static const ss_vocabulary *home_of(const ss_tokenizer *tokenizer, size_t id) {
    const ss_vocabulary *added = &tokenizer->added_pieces;
    return id < added->size && added->pieces[id].bytes ? added : &tokenizer->vocabulary;
}

/* Byte-level pieces are read back into bytes; everything else reads as it is written. */
static ss_status make_readable(ss_tokenizer *tokenizer, const char *where, size_t id, ss_error *error) {
    const ss_vocabulary *home = home_of(tokenizer, id);
    if (id >= home->size || !home->pieces[id].bytes) return SS_OK;
    ss_string_view piece = home->pieces[id];
    if (tokenizer->kind == SS_MODEL_BPE && home == &tokenizer->vocabulary) {
        char *bytes = ss_arena_alloc(&tokenizer->arena, piece.length + 1, 1);
        if (!bytes) return ss_fail_memory(error, where);
        piece = (ss_string_view){bytes, ss_byte_level_read(piece.bytes, piece.length, bytes)};
    }
    tokenizer->readable[id] = piece;
    return SS_OK;
}

static ss_status check_template(const ss_tokenizer *tokenizer, const char *where, const ss_ids *ids,
                                ss_error *error) {
    for (size_t i = 0; i < ids->count; i++) {
        if (ids->items[i] >= tokenizer->size)
            return ss_fail(error, SS_E_FORMAT, where,
                           "the template adds token %u, which the vocabulary lacks", (unsigned)ids->items[i]);
        tokenizer->is_special[ids->items[i]] = true;
    }
    return SS_OK;
}

/* ---- may a text be cut? ------------------------------------------------------------------------ */

/* Does no added token lie across such a place, or take white space from beyond it that would be encoded? */
static bool stays_in_part(const ss_added *added, bool space_counts) {
    for (size_t i = 0; i < added->count; i++) {
        const ss_added_token *token = &added->items[i];
        const bool strips = token->strip_left || token->strip_right;
        if ((strips && space_counts) || memchr(token->content, ' ', token->length) ||
            memchr(token->content, '\n', token->length))
            return false;
    }
    return true;
}

/* Does this step keep white space white space and everything else something else? */
static bool keeps_space(ss_normal_step step) {
    return step == SS_NORMAL_LOWER || step == SS_NORMAL_NFC || step == SS_NORMAL_NFD;
}

enum { PART_LEAST = 64 << 10 };

/* Every pattern must be a known one; where words are what lies between white space, no character that
 * normalising adds or drops joins two. */
static bool reads_in_parts(const ss_tokenizer *tokenizer) {
    bool ends_words = false, pattern = false;
    for (size_t i = 0; i < tokenizer->splitter.count; i++) {
        const ss_split_step *step = &tokenizer->splitter.steps[i];
        if (step->prefix_space || (step->pattern && !step->ends_words)) return false;
        ends_words |= step->ends_words;
        pattern |= step->pattern != NULL;
    }
    for (size_t i = 0; i < tokenizer->normalizer.count; i++) {
        if (pattern && !keeps_space(tokenizer->normalizer.steps[i])) return false;
    }
    return ends_words && stays_in_part(&tokenizer->added, pattern) &&
           stays_in_part(&tokenizer->added_normalized, pattern);
}

static ss_status complete(ss_tokenizer *made, const char *where, ss_error *error) {
    size_t model = made->vocabulary.size, added = made->added_pieces.size;
    made->size = model > added ? model : added;
    made->readable = ss_alloc_zero(made->memory, made->size, sizeof *made->readable);
    made->is_special = ss_alloc_zero(made->memory, made->size, sizeof *made->is_special);
    if (!made->readable || !made->is_special) return ss_fail_memory(error, where);
    for (size_t id = 0; id < made->size; id++) SS_TRY(make_readable(made, where, id, error));
    ss_added_sort(&made->added);
    ss_added_sort(&made->added_normalized);
    const ss_added *lists[] = {&made->added, &made->added_normalized};
    for (size_t i = 0; i < 2; i++) {
        for (size_t j = 0; j < lists[i]->count; j++) {
            if (lists[i]->items[j].special) made->is_special[lists[i]->items[j].id] = true;
        }
    }
    made->part_least = reads_in_parts(made) ? PART_LEAST : SIZE_MAX;
    SS_TRY(check_template(made, where, &made->before, error));
    return check_template(made, where, &made->after, error);
}

ss_status ss_build_finish(ss_tokenizer *made, ss_status status, const char *where, ss_tokenizer **tokenizer,
                          ss_error *error) {
    if (!status) status = complete(made, where, error);
    if (status)
        ss_tokenizer_free(made);
    else
        *tokenizer = made;
    return status;
}
