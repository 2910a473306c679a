/* What a tokenizer is made of, and what its loaders share. Private to src/text.
 * A loader takes ss_build_begin, fills the parts, and ends with ss_build_finish, which hands the tokenizer
 * over or frees it. Relies on: every other part of text/. */
#ifndef SS_TEXT_BUILD_H
#define SS_TEXT_BUILD_H

#include "text/added.h"
#include "text/bpe.h"
#include "text/normalize.h"
#include "text/pretokenize.h"
#include "text/tokenizer.h"
#include "text/wordpiece.h"

#include <jansson.h>

typedef enum ss_model_kind { SS_MODEL_BPE, SS_MODEL_WORDPIECE } ss_model_kind;

struct ss_tokenizer {
    const ss_allocator *memory;
    ss_arena arena; /* contents of added tokens, prefix, decoded pieces */
    ss_model_kind kind;
    ss_vocabulary vocabulary;   /* of the model */
    ss_vocabulary added_pieces; /* of the added tokens, which the model does not see */
    ss_bpe bpe;
    ss_wordpiece wordpiece;
    ss_normalizer normalizer;
    ss_splitter splitter;
    size_t part_least; /* bytes of a text before it is cut at a space or a new line; SIZE_MAX: never */
    ss_added added, added_normalized; /* looked for before and after normalising */
    ss_ids before, after;             /* what SS_ENCODE_ADD_SPECIAL adds */
    ss_special_ids specials;
    size_t size;
    ss_string_view *readable; /* [size] bytes of each token as it reads in a text */
    bool *is_special;         /* [size] */
};

/* How BERT's normaliser is set up. */
typedef struct ss_bert_options {
    bool clean, ideographs, strip_accents, lower;
} ss_bert_options;

/* An empty tokenizer for about `expected` tokens, or NULL when memory ran out. */
ss_tokenizer *ss_build_begin(const ss_allocator *memory, size_t expected);

/* `status` is how loading went: on SS_OK complete the tokenizer and hand it over in *tokenizer, else free it.
 */
ss_status ss_build_finish(ss_tokenizer *made, ss_status status, const char *where, ss_tokenizer **tokenizer,
                          ss_error *error);

/* SS_E_UNSUPPORTED: `part` ("pre-tokenizer") is `name`, and what to do instead. */
ss_status ss_unsupported(ss_error *error, const char *where, const char *part, const char *name);

/* Add one added token; content is copied (and normalised first when the token asks for it). Empty contents
 * and those that are no UTF-8 cannot occur in a text and are only listed. */
ss_status ss_build_added(ss_tokenizer *tokenizer, const char *where, ss_added_token token, ss_error *error);

/* The pieces of a JSON object, piece -> id. */
ss_status ss_build_vocabulary(ss_tokenizer *tokenizer, const char *where, const json_t *pieces,
                              ss_error *error);

/* An added token as tokenizer.json and tokenizer_config.json write it: content and flags. */
ss_status ss_build_added_json(ss_tokenizer *tokenizer, const char *where, size_t id, const json_t *item,
                              ss_error *error);

/* The special token that the vocabulary spells `content`; nothing happens when it has none. */
ss_status ss_build_special(ss_tokenizer *tokenizer, const char *where, const char *content, ss_error *error);

ss_status ss_build_normal_step(ss_tokenizer *tokenizer, const char *where, ss_normal_step step,
                               ss_error *error);
ss_status ss_build_bert_normalizer(ss_tokenizer *tokenizer, const char *where, ss_bert_options options,
                                   ss_error *error);

/* Add a step; its pattern is the tokenizer's from now on, also on failure. */
ss_status ss_build_split_step(ss_tokenizer *tokenizer, const char *where, ss_split_step step,
                              ss_error *error);
ss_status ss_build_pattern_step(ss_tokenizer *tokenizer, const char *where, const char *pattern,
                                size_t length, ss_split_step step, bool literal, ss_error *error);
ss_status ss_build_bert_splitter(ss_tokenizer *tokenizer, const char *where, ss_error *error);
ss_status ss_build_digits(ss_tokenizer *tokenizer, const char *where, bool individual, ss_error *error);

/* WordPiece over the complete vocabulary, with the unknown token and prefix by name. */
ss_status ss_build_wordpiece(ss_tokenizer *tokenizer, const char *where, const char *unknown,
                             const char *prefix, size_t longest_word, ss_error *error);

/* BERT's usual special tokens; [CLS] and [SEP], by their names where `specials` has no ids for them, are what
 * a text gets `before` and `after` it. */
ss_status ss_build_bert_specials(ss_tokenizer *tokenizer, const char *where, bool before, bool after,
                                 ss_error *error);

/* Take the names of bos, eos, ... from a tokenizer_config.json (may be empty: then from common names). */
ss_status ss_build_config(ss_tokenizer *tokenizer, const char *where, const json_t *config, ss_error *error);

/* Parse tokenizer_config.json; *config is NULL for an empty view. */
ss_status ss_parse_config(const char *where, ss_string_view bytes, json_t **config, ss_error *error);

/* The text of the token that `config` (may be NULL) names as `key`: a string, or an object with "content". Or
 * NULL. */
const char *ss_config_token(const json_t *config, const char *key);

/* Bytes of a tokenizer.json or a vocabulary. The largest known byte-level ones have 28 MB and 1.6 million
 * values, which formats/json bounds by the bytes. */
#define SS_TOKENIZER_LIMIT ((size_t)64 << 20)

#endif
