/* Tokenizers and texts for tests, from tests/golden/text. Whatever cannot be read or made fails the test.
 * Relies on: text/tokenizer, jansson. */
#ifndef SS_TESTS_TOKENIZERS_H
#define SS_TESTS_TOKENIZERS_H

#include "text/tokenizer.h"

#include <jansson.h>

#define GOLDEN SS_TEST_DATA "/golden/"

json_t *read_json(const char *path);

/* The bytes of a file, to be freed. */
ss_string_view read_file(const char *path);

ss_string_view as_view(const char *text);

/* The bytes of one text of the corpus, to be freed. */
ss_string_view corpus_text(const json_t *item);

ss_encoding encode(const ss_tokenizer *tokenizer, ss_string_view text, unsigned flags);

ss_tokenizer *from_json_text(const char *json, const char *config);

/* A tokenizer.json of the goldens with some of its parts, and of its model's options, replaced; to be freed.
 */
char *varied_json(const char *file, json_t *parts, json_t *model);

ss_tokenizer *open_golden(const char *file);

#endif
