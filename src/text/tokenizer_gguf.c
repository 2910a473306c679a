/* Loading the tokenizer that a GGUF file carries in its metadata (keys tokenizer.ggml.*; docs/gguf.md of
 * ggml). Relies on: formats/gguf, text/build. */
#include "formats/gguf.h"
#include "text/build.h"

#include <string.h>

/* Kinds of tokens in tokenizer.ggml.token_type. */
enum { GGUF_UNKNOWN = 2, GGUF_CONTROL = 3, GGUF_USER_DEFINED = 4 };

/* What tokenizer.ggml.pre stands for: the pre-tokenizer of the model family's tokenizer.json. Files without
 * the key are older than it, from when GPT-2's was the only one. */
static const struct pre {
    const char *name, *pattern;
    bool digits, nfc, ignore_merges, add_bos;
} pres[] = {
    {.name = "default", .pattern = SS_PATTERN_GPT2},
    {.name = "gpt-2", .pattern = SS_PATTERN_GPT2},
    {.name = "phi-2", .pattern = SS_PATTERN_GPT2},
    {.name = "mpt", .pattern = SS_PATTERN_GPT2, .nfc = true},
    {.name = "olmo", .pattern = SS_PATTERN_GPT2, .nfc = true},
    {.name = "smollm", .pattern = SS_PATTERN_GPT2, .digits = true},
    {.name = "starcoder", .pattern = SS_PATTERN_GPT2, .digits = true},
    {.name = "refact", .pattern = SS_PATTERN_GPT2, .digits = true},
    {.name = "llama-bpe", .pattern = SS_PATTERN_LLAMA3, .ignore_merges = true, .add_bos = true},
    {.name = "qwen2", .pattern = SS_PATTERN_QWEN2, .nfc = true},
};

static bool equals(ss_string_view view, const char *text) {
    return view.length == strlen(text) && memcmp(view.bytes, text, view.length) == 0;
}

static ss_status refuse(ss_error *error, const char *where, const char *part, ss_string_view name) {
    char text[81];
    size_t length = name.length < sizeof text - 1 ? name.length : sizeof text - 1;
    memcpy(text, name.bytes, length);
    text[length] = '\0';
    return ss_unsupported(error, where, part, text);
}

static ss_status find_pre(const char *where, ss_string_view name, const struct pre **pre, ss_error *error) {
    for (size_t i = 0; i < sizeof pres / sizeof *pres; i++) {
        if (equals(name, pres[i].name) || (!name.length && i == 0)) {
            *pre = &pres[i];
            return SS_OK;
        }
    }
    return refuse(error, where, "pre-tokenizer", name);
}

static ss_status load_added(ss_tokenizer *tokenizer, const char *where, const ss_gguf_tokenizer *source,
                            ss_error *error) {
    for (size_t id = 0; source->types && id < source->piece_count; id++) {
        double type = source->types[id];
        if (type != GGUF_CONTROL && type != GGUF_USER_DEFINED && type != GGUF_UNKNOWN) continue;
        ss_added_token token = {.content = source->pieces[id].bytes,
                                .length = source->pieces[id].length,
                                .id = (uint32_t)id,
                                .special = type != GGUF_USER_DEFINED};
        SS_TRY(ss_build_added(tokenizer, where, token, error));
    }
    return SS_OK;
}

/* `add` is a flag of the file or, where it is absent, `usual`. */
static ss_status add_around(int add, bool usual, uint32_t id, ss_ids *list, ss_error *error) {
    bool wanted = add < 0 ? usual : add > 0;
    return wanted && id != SS_NO_TOKEN ? ss_ids_add(list, id, error) : SS_OK;
}

/* ---- byte-level BPE ---------------------------------------------------------------------------- */

static ss_status load_splitter(ss_tokenizer *tokenizer, const char *where, const struct pre *pre,
                               ss_error *error) {
    if (pre->nfc) SS_TRY(ss_build_normal_step(tokenizer, where, SS_NORMAL_NFC, error));
    if (pre->digits) SS_TRY(ss_build_digits(tokenizer, where, true, error));
    ss_split_step words = {.behavior = SS_SPLIT_ISOLATED};
    return ss_build_pattern_step(tokenizer, where, pre->pattern, strlen(pre->pattern), words, false, error);
}

static ss_status load_bpe(ss_tokenizer *tokenizer, const char *where, const ss_gguf_tokenizer *source,
                          ss_error *error) {
    const struct pre *pre = NULL;
    SS_TRY(find_pre(where, source->pre, &pre, error));
    SS_TRY(load_splitter(tokenizer, where, pre, error));
    for (size_t id = 0; id < source->piece_count; id++)
        SS_TRY(ss_vocabulary_add(&tokenizer->vocabulary, where, source->pieces[id].bytes,
                                 source->pieces[id].length, id, error));
    tokenizer->bpe = ss_bpe_make(tokenizer->memory, &tokenizer->vocabulary);
    tokenizer->bpe.ignore_merges = pre->ignore_merges;
    for (size_t i = 0; i < source->merge_count; i++)
        SS_TRY(ss_bpe_add_merge_line(&tokenizer->bpe, where, source->merges[i].bytes,
                                     source->merges[i].length, error));
    SS_TRY(load_added(tokenizer, where, source, error));
    SS_TRY(add_around(source->add_bos, pre->add_bos, source->bos, &tokenizer->before, error));
    return add_around(source->add_eos, false, source->eos, &tokenizer->after, error);
}

/* ---- WordPiece --------------------------------------------------------------------------------- */

#define WORD_START "\xE2\x96\x81" /* U+2581 */

/* GGUF marks the start of a word with U+2581 and leaves ## out; bracketed pieces stay as they are. Undo that.
 */
static ss_status add_wordpiece(ss_tokenizer *tokenizer, const char *where, ss_string_view piece, size_t id,
                               ss_bytes *spelling, ss_error *error) {
    size_t mark = strlen(WORD_START);
    bool starts = piece.length >= mark && memcmp(piece.bytes, WORD_START, mark) == 0;
    bool bracketed = piece.length > 1 && piece.bytes[0] == '[' && piece.bytes[piece.length - 1] == ']';
    spelling->length = 0;
    if (!starts && !bracketed) SS_TRY(ss_bytes_add(spelling, "##", 2, error));
    size_t skip = starts ? mark : 0;
    SS_TRY(ss_bytes_add(spelling, piece.bytes + skip, piece.length - skip, error));
    return ss_vocabulary_add(&tokenizer->vocabulary, where, spelling->data ? spelling->data : "",
                             spelling->length, id, error);
}

static ss_status load_pieces(ss_tokenizer *tokenizer, const char *where, const ss_gguf_tokenizer *source,
                             ss_error *error) {
    ss_bytes spelling = {.memory = tokenizer->memory};
    ss_status status = SS_OK;
    for (size_t id = 0; id < source->piece_count && !status; id++)
        status = add_wordpiece(tokenizer, where, source->pieces[id], id, &spelling, error);
    ss_bytes_free(&spelling);
    return status;
}

/* GGUF does not say whether a model is cased. A vocabulary with words that start with a capital letter is. */
static bool has_capitals(const ss_gguf_tokenizer *source) {
    size_t mark = strlen(WORD_START);
    for (size_t id = 0; id < source->piece_count; id++) {
        ss_string_view piece = source->pieces[id];
        if (piece.length <= mark || memcmp(piece.bytes, WORD_START, mark) != 0) continue;
        if (piece.bytes[mark] >= 'A' && piece.bytes[mark] <= 'Z') return true;
    }
    return false;
}

static ss_status load_bert(ss_tokenizer *tokenizer, const char *where, const ss_gguf_tokenizer *source,
                           ss_error *error) {
    bool lower = !has_capitals(source);
    ss_bert_options options = {.clean = true, .ideographs = true, .strip_accents = lower, .lower = lower};
    SS_TRY(ss_build_bert_normalizer(tokenizer, where, options, error));
    SS_TRY(ss_build_bert_splitter(tokenizer, where, error));
    SS_TRY(load_pieces(tokenizer, where, source, error));
    SS_TRY(load_added(tokenizer, where, source, error));
    SS_TRY(ss_build_wordpiece(tokenizer, where, "[UNK]", "##", 100, error));
    ss_special_ids *ids = &tokenizer->specials;
    if (ids->cls == SS_NO_TOKEN) ids->cls = source->bos;
    if (ids->sep == SS_NO_TOKEN) ids->sep = source->eos;
    return ss_build_bert_specials(tokenizer, where, source->add_bos != 0, source->add_eos != 0, error);
}

/* ---- both -------------------------------------------------------------------------------------- */

static ss_status load(ss_tokenizer *tokenizer, const char *where, const ss_gguf_tokenizer *source,
                      ss_error *error) {
    tokenizer->specials = (ss_special_ids){.bos = source->bos,
                                           .eos = source->eos,
                                           .unk = source->unk,
                                           .cls = source->cls,
                                           .sep = source->sep,
                                           .pad = SS_NO_TOKEN};
    if (equals(source->model, "gpt2")) return load_bpe(tokenizer, where, source, error);
    if (equals(source->model, "bert")) return load_bert(tokenizer, where, source, error);
    return refuse(error, where, "tokenizer model", source->model);
}

ss_status ss_tokenizer_from_gguf(const ss_allocator *memory, const char *name,
                                 const ss_gguf_tokenizer *source, ss_tokenizer **tokenizer, ss_error *error) {
    ss_tokenizer *made = ss_build_begin(memory, source->piece_count);
    if (!made) return ss_fail_memory(error, name);
    return ss_build_finish(made, load(made, name, source, error), name, tokenizer, error);
}

/* ---- an open file ------------------------------------------------------------------------------ */

static ss_status read_id(const ss_gguf *gguf, const char *key, uint32_t *id, ss_error *error) {
    uint64_t value = SS_NO_TOKEN;
    SS_TRY(ss_gguf_u64(gguf, key, SS_OPTIONAL, &value, error));
    *id = value < SS_NO_TOKEN ? (uint32_t)value : SS_NO_TOKEN;
    return SS_OK;
}

static ss_status read_flag(const ss_gguf *gguf, const char *key, int *flag, ss_error *error) {
    bool value = false;
    SS_TRY(ss_gguf_bool(gguf, key, SS_OPTIONAL, &value, error));
    *flag = ss_gguf_has(gguf, key) ? value : -1;
    return SS_OK;
}

static ss_status read_settings(const ss_gguf *gguf, ss_gguf_tokenizer *source, ss_error *error) {
    const struct {
        const char *key;
        uint32_t *id;
    } ids[] = {{"tokenizer.ggml.bos_token_id", &source->bos},
               {"tokenizer.ggml.eos_token_id", &source->eos},
               {"tokenizer.ggml.unknown_token_id", &source->unk},
               {"tokenizer.ggml.cls_token_id", &source->cls},
               {"tokenizer.ggml.seperator_token_id", &source->sep}}; /* spelled so in the format */
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) SS_TRY(read_id(gguf, ids[i].key, ids[i].id, error));
    SS_TRY(ss_gguf_string(gguf, "tokenizer.ggml.model", SS_REQUIRED, &source->model, error));
    SS_TRY(ss_gguf_string(gguf, "tokenizer.ggml.pre", SS_OPTIONAL, &source->pre, error));
    SS_TRY(read_flag(gguf, "tokenizer.ggml.add_bos_token", &source->add_bos, error));
    return read_flag(gguf, "tokenizer.ggml.add_eos_token", &source->add_eos, error);
}

ss_status ss_tokenizer_open_gguf(const ss_allocator *memory, const ss_gguf *gguf, ss_tokenizer **tokenizer,
                                 ss_error *error) {
    ss_gguf_tokenizer source = {.piece_count = 0};
    SS_TRY(read_settings(gguf, &source, error));
    ss_string_view *pieces = NULL, *merges = NULL;
    double *types = NULL;
    size_t type_count = 0;
    ss_status status = ss_gguf_strings(gguf, "tokenizer.ggml.tokens", SS_REQUIRED, memory, &pieces,
                                       &source.piece_count, error);
    if (!status)
        status = ss_gguf_strings(gguf, "tokenizer.ggml.merges", SS_OPTIONAL, memory, &merges,
                                 &source.merge_count, error);
    if (!status)
        status = ss_gguf_numbers(gguf, "tokenizer.ggml.token_type", SS_OPTIONAL, memory, &types, &type_count,
                                 error);
    if (!status && types && type_count != source.piece_count)
        status = ss_fail(error, SS_E_FORMAT, ss_gguf_file(gguf), "%zu tokens but %zu token types",
                         source.piece_count, type_count);
    source.pieces = pieces;
    source.merges = merges;
    source.types = types;
    if (!status) status = ss_tokenizer_from_gguf(memory, ss_gguf_file(gguf), &source, tokenizer, error);
    ss_free(memory, pieces);
    ss_free(memory, merges);
    ss_free(memory, types);
    return status;
}
