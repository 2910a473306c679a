/* Pre-tokenizers: from a text to its words, by a list of steps that each split every piece further.
 * Relies on: text/pattern, text/unicode. */
#ifndef SS_TEXT_PRETOKENIZE_H
#define SS_TEXT_PRETOKENIZE_H

#include "text/pattern.h"
#include "text/unicode.h"

/* Patterns of model families. GPT-2's: contractions, then words, numbers and other signs with one space
 * before them, then white space (the last of it goes with the word that follows). The others differ in what a
 * word may start with, how many digits stay together, and new lines. */
#define SS_PATTERN_GPT2 "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+"
#define SS_PATTERN_LLAMA3                                                                                    \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|" \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SS_PATTERN_QWEN2                                                                                     \
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|"      \
    "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"

/* What becomes of the matches of a step and of what lies between them. */
typedef enum ss_split_behavior {
    SS_SPLIT_ISOLATED,      /* each is a piece */
    SS_SPLIT_REMOVED,       /* matches go away */
    SS_SPLIT_CONTIGUOUS,    /* neighbouring matches are one piece */
    SS_SPLIT_WITH_PREVIOUS, /* a match joins the piece before it */
    SS_SPLIT_WITH_NEXT,     /* a match joins the piece after it */
} ss_split_behavior;

typedef struct ss_split_step {
    ss_pattern *pattern; /* what it matches, owned; or else */
    ss_code_class set;   /* single characters of a class */
    ss_split_behavior behavior;
    bool ends_words;   /* a piece ends where part_end of tokenizer.c cuts a text, whatever comes behind */
    bool invert;       /* matches and the rest change places */
    bool prefix_space; /* no split: a space before each piece that does not start with one */
} ss_split_step;

enum { SS_SPLIT_STEPS = 16 };

typedef struct ss_splitter {
    ss_split_step steps[SS_SPLIT_STEPS]; /* [count], in order */
    size_t count;
} ss_splitter;

void ss_splitter_free(ss_splitter *splitter);

/* Split pieces of a text into words. *text and *pieces are read and replaced; spare lists lend their room. */
typedef struct ss_split_work {
    ss_bytes text, spare_text;
    ss_spans pieces, spare_pieces, cover;
    ss_matcher *matcher;
} ss_split_work;

void ss_split_work_free(ss_split_work *work);

/* Run all steps on work->pieces, which lie in work->text. */
ss_status ss_split(const ss_splitter *splitter, ss_split_work *work, ss_error *error);

#endif
