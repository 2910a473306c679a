/* Tokenizers: from the bytes of a text to the ids a model was trained on, equal to those of the Hugging Face
 * `tokenizers` library. Two kinds: byte-level BPE (Sennrich et al. 2016 over the bytes of GPT-2) and
 * WordPiece with BERT's normaliser. Relies on: base/, formats/json, PCRE2, utf8proc.
 *
 *     ss_tokenizer *tokenizer = NULL;
 *     ss_encoding tokens = {0};
 *     SS_TRY(ss_tokenizer_open_folder(memory, "models/gpt2", &tokenizer, error));
 *     ss_status status = ss_tokenizer_encode(tokenizer, text, length, SS_ENCODE_DEFAULT, SS_ALL_TOKENS,
 * &tokens, error);
 *     ... tokens.ids[0 .. tokens.count - 1] ...
 *     ss_encoding_free(&tokens);
 *     ss_tokenizer_free(tokenizer);
 *
 * A tokenizer never changes after it was made: any number of threads may encode with it at once. Kinds that
 * are not built (Unigram, SentencePiece, pre-tokenizers or normalisers not listed here) are SS_E_UNSUPPORTED,
 * and the message names the part and points to `--tokens FILE`. */
#ifndef SS_TEXT_TOKENIZER_H
#define SS_TEXT_TOKENIZER_H

#include "base/status.h"
#include "base/view.h"

typedef struct ss_tokenizer ss_tokenizer;
typedef struct ss_gguf ss_gguf; /* formats/gguf.h */

#define SS_NO_TOKEN UINT32_MAX /* the id of a token that a vocabulary does not have */

/* ---- making one ------------------------------------------------------------------------------------- */

/* From the bytes of a Hugging Face tokenizer.json. `config` holds the bytes of tokenizer_config.json, from
 * which the bos, eos, ... tokens are known by name; an empty view is allowed. `name` is used in error
 * messages. Truncation and padding of the file are ignored: a text is never cut silently. */
ss_status ss_tokenizer_from_json(const ss_allocator *memory, const char *name, ss_string_view json,
                                 ss_string_view config, ss_tokenizer **tokenizer, ss_error *error);

/* From GPT-2's pair of files: vocab.json (or encoder.json), an object of piece -> id, and merges.txt (or
 * vocab.bpe). Pieces <|endoftext|> and the like become special tokens; `config` as above. */
ss_status ss_tokenizer_from_merges(const ss_allocator *memory, const char *name, ss_string_view vocabulary,
                                   ss_string_view merges, ss_string_view config, ss_tokenizer **tokenizer,
                                   ss_error *error);

/* From BERT's vocab.txt, one piece a line; do_lower_case, strip_accents, tokenize_chinese_chars and the names
 * of the special tokens come from `config` (absent: lower-case, [CLS] ... [SEP]). */
ss_status ss_tokenizer_from_vocabulary(const ss_allocator *memory, const char *name,
                                       ss_string_view vocabulary, ss_string_view config,
                                       ss_tokenizer **tokenizer, ss_error *error);

/* What a GGUF file says of its tokenizer (keys tokenizer.ggml.*), as plain arrays that are only read during
 * the call. An absent id is SS_NO_TOKEN; an absent flag is -1, and then the model kind's own default holds.
 */
typedef struct ss_gguf_tokenizer {
    ss_string_view model;         /* "gpt2" or "bert" are built */
    ss_string_view pre;           /* of "gpt2": "gpt-2", "smollm", "llama-bpe", ...; absent is "default" */
    const ss_string_view *pieces; /* [piece_count] tokens */
    size_t piece_count;
    const ss_string_view *merges; /* [merge_count] "left right" */
    size_t merge_count;
    const double *types; /* [piece_count] token_type, or NULL: 3 control, 4 user-defined */
    uint32_t bos, eos, unk, cls, sep;
    int add_bos, add_eos; /* 0, 1, or -1 when the key is absent */
} ss_gguf_tokenizer;

ss_status ss_tokenizer_from_gguf(const ss_allocator *memory, const char *name,
                                 const ss_gguf_tokenizer *source, ss_tokenizer **tokenizer, ss_error *error);

/* The same, gathered from an open GGUF file, which may be freed afterwards. */
ss_status ss_tokenizer_open_gguf(const ss_allocator *memory, const ss_gguf *gguf, ss_tokenizer **tokenizer,
                                 ss_error *error);

/* From a folder as Hugging Face lays it out: tokenizer.json, else vocab.json or encoder.json with merges.txt
 * or vocab.bpe, else vocab.txt; tokenizer_config.json beside it is read when it is there. */
ss_status ss_tokenizer_open_folder(const ss_allocator *memory, const char *folder, ss_tokenizer **tokenizer,
                                   ss_error *error);

void ss_tokenizer_free(ss_tokenizer *tokenizer); /* NULL is allowed */

/* ---- using one -------------------------------------------------------------------------------------- */

typedef enum ss_encode_flags {
    SS_ENCODE_PLAIN = 0,
    SS_ENCODE_PARSE_SPECIAL = 1, /* special tokens typed in the text ("<|endoftext|>") become their ids */
    SS_ENCODE_ADD_SPECIAL = 2,   /* add what the model expects around a text: BOS, or [CLS] ... [SEP] */
    SS_ENCODE_DEFAULT = SS_ENCODE_ADD_SPECIAL
} ss_encode_flags;

typedef struct ss_encoding {
    uint32_t *ids; /* [count] */
    size_t count;
    size_t added_before,
        added_after; /* how many of the ids SS_ENCODE_ADD_SPECIAL put around the text's own */
    bool more;       /* the text has more ids than were wanted: ids are the first of them */
    bool double_bos; /* a BOS (or [CLS]) was added and the text's own first token is one too: warn the user */
    size_t dropped;  /* bytes of text that the vocabulary has no token for, not even an unknown one: they have
                        no id */
    const ss_allocator *memory;
} ss_encoding;

#define SS_ALL_TOKENS SIZE_MAX

/* Bytes of a text that must be read as a whole: one without a space or a new line between words, or any text
 * of a tokenizer whose pattern is not known to end words there. */
#define SS_TEXT_LIMIT ((size_t)2 << 20)

/* The first `most` ids of `length` bytes of text with what is added around it; a text is read no further than
 * they need. Broken UTF-8 is read as Python's bytes.decode("utf-8", errors="replace") reads it; NUL is a
 * character like any other. SS_E_VALUE when more than SS_TEXT_LIMIT bytes must be read as a whole;
 * SS_E_MEMORY. Release with ss_encoding_free. */
ss_status ss_tokenizer_encode(const ss_tokenizer *tokenizer, const char *text, size_t length, unsigned flags,
                              size_t most, ss_encoding *encoding, ss_error *error);
void ss_encoding_free(ss_encoding *encoding);

/* One more than the largest id; ids inside may be unused. */
size_t ss_tokenizer_size(const ss_tokenizer *tokenizer);

/* The bytes of one token as it reads in a text (byte-level pieces decoded: may be broken UTF-8; WordPiece as
 * in the vocabulary, with ##). Lives as long as the tokenizer. {NULL, 0} for an id without a piece. */
ss_string_view ss_tokenizer_piece(const ss_tokenizer *tokenizer, uint32_t id);

/* The same as valid UTF-8 for display, broken bytes as U+FFFD: writes at most `capacity` bytes (whole
 * characters, then a NUL) and returns the length of the whole, as snprintf does. */
size_t ss_tokenizer_display(const ss_tokenizer *tokenizer, uint32_t id, char *out, size_t capacity);

/* The id of a piece given as it is written in the vocabulary, or SS_NO_TOKEN. */
uint32_t ss_tokenizer_find(const ss_tokenizer *tokenizer, const char *piece, size_t length);

typedef struct ss_special_ids {
    uint32_t bos, eos, unk, cls, sep, pad; /* SS_NO_TOKEN where there is none */
} ss_special_ids;

ss_special_ids ss_tokenizer_specials(const ss_tokenizer *tokenizer);

bool ss_tokenizer_is_special(const ss_tokenizer *tokenizer, uint32_t id);

/* "BPE" or "WordPiece". */
const char *ss_tokenizer_kind(const ss_tokenizer *tokenizer);

#endif
