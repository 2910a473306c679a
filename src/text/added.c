/* Finding added tokens: a sorted list is walked like a trie, narrowing the range of tokens that share the
 * bytes seen so far. Relies on: text/unicode, text/utf8. */
#include "text/added.h"

#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/utf8.h"

#include <stdlib.h>
#include <string.h>

static int compare_tokens(const void *a, const void *b) {
    const ss_added_token *left = a, *right = b;
    size_t shorter = left->length < right->length ? left->length : right->length;
    int order = memcmp(left->content, right->content, shorter);
    if (order) return order;
    if (left->length != right->length) return left->length < right->length ? -1 : 1;
    return (left->id > right->id) - (left->id < right->id);
}

void ss_added_sort(ss_added *added) {
    if (!added->count) return;
    qsort(added->items, added->count, sizeof *added->items, compare_tokens);
    size_t kept = 0;
    for (size_t i = 1; i < added->count; i++) {
        const ss_added_token *last = &added->items[kept], *next = &added->items[i];
        bool same = last->length == next->length && memcmp(last->content, next->content, next->length) == 0;
        if (!same) kept++;
        added->items[kept] = *next;
    }
    added->count = kept + 1;
}

/* The first token of items[low .. high - 1], which agree in their first `depth` bytes, whose next byte is at
 * least `byte` (0 .. 256). Tokens that end at `depth` come first. */
static size_t lower_bound(const ss_added *added, size_t low, size_t high, size_t depth, unsigned byte) {
    while (low < high) {
        size_t middle = (low + high) / 2;
        const ss_added_token *token = &added->items[middle];
        if (token->length <= depth || (unsigned char)token->content[depth] < byte)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The longest token that starts at text[0], or NULL. */
static const ss_added_token *longest_at(const ss_added *added, const char *text, size_t length) {
    size_t low = 0, high = added->count;
    const ss_added_token *longest = NULL;
    for (size_t depth = 0; depth < length && low < high; depth++) {
        unsigned byte = (unsigned char)text[depth];
        low = lower_bound(added, low, high, depth, byte);
        high = lower_bound(added, low, high, depth, byte + 1);
        if (low < high && added->items[low].length == depth + 1) longest = &added->items[low];
    }
    return longest;
}

/* ---- what lies beside a token ------------------------------------------------------------------ */

static uint32_t character_at(const char *text, size_t at, size_t end, size_t *next) {
    uint32_t code_point;
    bool valid;
    *next = at + ss_utf8_read(text + at, end - at, &code_point, &valid);
    return code_point;
}

static uint32_t character_before(const char *text, size_t begin, size_t at, size_t *start) {
    size_t unused;
    *start = at - 1;
    while (*start > begin && ((unsigned char)text[*start] & 0xC0) == 0x80) --*start;
    return character_at(text, *start, at, &unused);
}

static bool stands_alone(const char *text, size_t begin, size_t end, const ss_span *match) {
    size_t unused;
    if (match->begin > begin && ss_is_word_character(character_before(text, begin, match->begin, &unused)))
        return false;
    return match->end == end || !ss_is_word_character(character_at(text, match->end, end, &unused));
}

static size_t skip_space_left(const char *text, size_t begin, size_t at) {
    for (size_t start = at; at > begin; at = start) {
        if (!ss_in_class(ss_class_space, character_before(text, begin, at, &start))) break;
    }
    return at;
}

static size_t skip_space_right(const char *text, size_t at, size_t end) {
    for (size_t next = at; at < end; at = next) {
        if (!ss_in_class(ss_class_space, character_at(text, at, end, &next))) break;
    }
    return at;
}

/* ---- the cover --------------------------------------------------------------------------------- */

ss_status ss_added_cover(const ss_added *added, const char *text, size_t begin, size_t end, bool special,
                         ss_spans *out, ss_error *error) {
    size_t covered = begin, at = begin;
    while (added->count && at < end) {
        const ss_added_token *token = longest_at(added, text + at, end - at);
        if (!token) {
            at++;
            continue;
        }
        ss_span match = {at, at + token->length, token->id, true};
        at = match.end;
        if (token->special && !special) continue;
        if (token->single_word && !stands_alone(text, begin, end, &match)) continue;
        if (token->strip_left) match.begin = skip_space_left(text, covered, match.begin);
        if (token->strip_right) match.end = skip_space_right(text, match.end, end);
        if (match.begin < covered)
            match.begin = covered; /* the token before took white space it starts with */
        if (covered < match.begin)
            SS_TRY(ss_spans_add(out, (ss_span){covered, match.begin, SS_NO_TOKEN, false}, error));
        SS_TRY(ss_spans_add(out, match, error));
        covered = match.end;
    }
    if (covered < end) SS_TRY(ss_spans_add(out, (ss_span){covered, end, SS_NO_TOKEN, false}, error));
    return SS_OK;
}
