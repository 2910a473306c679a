/* The regular expressions of tokenizers: written for Oniguruma, run by PCRE2 (compiled to machine code where
 * that is available). \s, \p{L} and \p{N} mean what they mean to the Hugging Face library whatever edition of
 * Unicode PCRE2 was built with; other properties follow PCRE2. Relies on: PCRE2, text/unicode, text/span. */
#ifndef SS_TEXT_PATTERN_H
#define SS_TEXT_PATTERN_H

#include "text/span.h"

typedef struct ss_pattern ss_pattern; /* unchanging: shared by threads */
typedef struct ss_matcher ss_matcher; /* working memory of one thread */

/* Compile `length` bytes of a pattern, or of a literal string. SS_E_UNSUPPORTED, naming `where` and the
 * place, for what PCRE2 cannot say (nested character classes) or says otherwise (\h). */
ss_status ss_pattern_create(const ss_allocator *memory, const char *where, const char *source, size_t length,
                            bool literal, ss_pattern **pattern, ss_error *error);
void ss_pattern_free(ss_pattern *pattern);

ss_status ss_matcher_create(const ss_allocator *memory, ss_matcher **matcher, ss_error *error);
void ss_matcher_free(ss_matcher *matcher);

/* Append to `out` the cover of text[begin .. end - 1] by matches and what lies between them, in order, empty
 * spans left out; looking ahead or behind sees nothing beyond the two ends. The text must be valid UTF-8.
 * SS_E_VALUE when a match takes more steps than any honest pattern. */
ss_status ss_pattern_cover(const ss_pattern *pattern, ss_matcher *matcher, const char *text, size_t begin,
                           size_t end, ss_spans *out, ss_error *error);

#endif
