/* Translating a pattern from Oniguruma's syntax and covering a text by its matches.
 * Relies on: PCRE2 with UTF and UCP. The text is known to be valid, so PCRE2_NO_UTF_CHECK spares a scan of
 * the whole text at every match (300 times faster on 200 KB). */
#include "text/pattern.h"

#include "base/mem.h"
#include "text/tokenizer.h"
#include "text/unicode.h"
#include "text/utf8.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdio.h>
#include <string.h>

/* Honest patterns need a few steps a character; one that needs more than this at one place is out of hand. */
enum { STEP_LIMIT = 2000000, JIT_STACK_FIRST = 32 << 10, JIT_STACK_LIMIT = 1 << 20 };

struct ss_pattern {
    const ss_allocator *memory;
    pcre2_general_context *context;
    pcre2_code *code;
};

struct ss_matcher {
    const ss_allocator *memory;
    pcre2_general_context *context;
    pcre2_match_data *found;
    pcre2_match_context *limits;
    pcre2_jit_stack *stack; /* NULL where there is no compiler to machine code */
};

static void *give(PCRE2_SIZE size, void *memory) {
    return ss_alloc(memory, size, 1);
}

static void take(void *block, void *memory) {
    ss_free(memory, block);
}

/* PCRE2 hands its `memory` back as void *: the allocator itself is only read. */
static pcre2_general_context *make_context(const ss_allocator *memory) {
    return pcre2_general_context_create(give, take, (void *)(uintptr_t)memory);
}

/* ---- from Oniguruma's syntax to PCRE2's ------------------------------------------------------------ */

typedef struct translation {
    const char *where, *source;
    size_t length, at;
    bool in_class;
    ss_bytes out;
    ss_error *error;
} translation;

/* An escape that means something else to PCRE2: `members` are added to those of `base` inside brackets. */
static const struct escape {
    const char *name, *base;
    const ss_code_class *members;
    bool negated;
} escapes[] = {
    {"\\s", "", &ss_class_space, false},
    {"\\S", "", &ss_class_space, true},
    {"\\p{L}", "\\p{L}", &ss_class_late_letter, false},
    {"\\P{L}", "\\p{L}", &ss_class_late_letter, true},
    {"\\p{N}", "\\p{N}", &ss_class_late_number, false},
    {"\\P{N}", "\\p{N}", &ss_class_late_number, true},
};

static ss_status refuse(const translation *t, const char *what) {
    return ss_fail(t->error, SS_E_UNSUPPORTED, t->where,
                   "pattern uses %s at byte %zu, which is not supported; give token ids with --tokens FILE",
                   what, t->at);
}

static ss_status put(translation *t, const char *text) {
    return ss_bytes_add(&t->out, text, strlen(text), t->error);
}

static ss_status put_escape(translation *t, const struct escape *escape) {
    if (t->in_class && escape->negated) return refuse(t, "a negated property inside brackets");
    if (!t->in_class) SS_TRY(put(t, escape->negated ? "[^" : "["));
    SS_TRY(put(t, escape->base));
    for (size_t i = 0; i < escape->members->count; i++) {
        char range[48];
        snprintf(range, sizeof range, "\\x{%x}-\\x{%x}", (unsigned)escape->members->ranges[i].first,
                 (unsigned)escape->members->ranges[i].last);
        SS_TRY(put(t, range));
    }
    return t->in_class ? SS_OK : put(t, "]");
}

static ss_status translate_escape(translation *t) {
    size_t left = t->length - t->at;
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++) {
        size_t size = strlen(escapes[i].name);
        if (left < size || memcmp(t->source + t->at, escapes[i].name, size) != 0) continue;
        t->at += size;
        return put_escape(t, &escapes[i]);
    }
    if (left > 1 && strchr("hHCGKQE", t->source[t->at + 1]) && t->source[t->at + 1])
        return refuse(t, "an escape that differs between Oniguruma and PCRE2");
    size_t size = left > 1 ? 2 : 1;
    SS_TRY(ss_bytes_add(&t->out, t->source + t->at, size, t->error));
    t->at += size;
    return SS_OK;
}

static ss_status translate_other(translation *t) {
    char c = t->source[t->at], next = t->at + 1 < t->length ? t->source[t->at + 1] : '\0';
    if (t->in_class && c == '[' && next != ':') return refuse(t, "a character class inside another");
    if (t->in_class && c == '&' && next == '&') return refuse(t, "an intersection of character classes");
    if (!t->in_class && c == '(' && (next == '*' || next == '?')) {
        char kind = t->at + 2 < t->length ? t->source[t->at + 2] : '\0';
        if (next == '*' || !strchr(":i=!<>", kind)) return refuse(t, "a special group");
    }
    if (c == '[') t->in_class = true;
    if (c == ']') t->in_class = false;
    SS_TRY(ss_bytes_add(&t->out, &c, 1, t->error));
    t->at++;
    return SS_OK;
}

static ss_status translate(translation *t) {
    while (t->at < t->length) SS_TRY(t->source[t->at] == '\\' ? translate_escape(t) : translate_other(t));
    return SS_OK;
}

/* ---- compiling ---------------------------------------------------------------------------------------- */

static ss_status compile(ss_pattern *pattern, const char *where, const char *source, size_t length,
                         uint32_t options, ss_error *error) {
    pcre2_compile_context *rules = pcre2_compile_context_create(pattern->context);
    if (!rules) return ss_fail_memory(error, where);
    pcre2_set_newline(rules, PCRE2_NEWLINE_LF);
    int code;
    PCRE2_SIZE at;
    pattern->code = pcre2_compile((PCRE2_SPTR)source, length, options, &code, &at, rules);
    pcre2_compile_context_free(rules);
    if (pattern->code) {
        pcre2_jit_compile(pattern->code,
                          PCRE2_JIT_COMPLETE); /* without it the interpreter runs the pattern */
        return SS_OK;
    }
    if (code == PCRE2_ERROR_HEAP_FAILED) return ss_fail_memory(error, where);
    char reason[160];
    pcre2_get_error_message(code, (PCRE2_UCHAR *)reason, sizeof reason);
    return ss_fail(error, SS_E_UNSUPPORTED, where,
                   "pattern cannot be compiled (%s); give token ids with --tokens FILE", reason);
}

static ss_status create_regex(ss_pattern *pattern, const char *where, const char *source, size_t length,
                              ss_error *error) {
    translation t = {.where = where, .source = source, .length = length, .error = error};
    t.out.memory = pattern->memory;
    ss_status status = translate(&t);
    /* ^ and $ always mean the ends of lines to Oniguruma */
    const uint32_t options = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
    if (!status)
        status = compile(pattern, where, t.out.length ? t.out.data : "", t.out.length, options, error);
    ss_bytes_free(&t.out);
    return status;
}

ss_status ss_pattern_create(const ss_allocator *memory, const char *where, const char *source, size_t length,
                            bool literal, ss_pattern **pattern, ss_error *error) {
    ss_pattern *made = ss_alloc_zero(memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, where);
    made->memory = memory;
    made->context = make_context(memory);
    ss_status status = made->context ? SS_OK : ss_fail_memory(error, where);
    if (!status && literal) status = compile(made, where, source, length, PCRE2_UTF | PCRE2_LITERAL, error);
    if (!status && !literal) status = create_regex(made, where, source, length, error);
    if (status)
        ss_pattern_free(made);
    else
        *pattern = made;
    return status;
}

void ss_pattern_free(ss_pattern *pattern) {
    if (!pattern) return;
    pcre2_code_free(pattern->code);
    pcre2_general_context_free(pattern->context);
    ss_free(pattern->memory, pattern);
}

/* ---- matching ----------------------------------------------------------------------------------------- */

ss_status ss_matcher_create(const ss_allocator *memory, ss_matcher **matcher, ss_error *error) {
    ss_matcher *made = ss_alloc_zero(memory, 1, sizeof *made);
    if (!made) return ss_fail_memory(error, "matching patterns");
    made->memory = memory;
    made->context = make_context(memory);
    if (made->context) made->found = pcre2_match_data_create(1, made->context);
    if (made->found) made->limits = pcre2_match_context_create(made->context);
    if (!made->limits) {
        ss_matcher_free(made);
        return ss_fail_memory(error, "matching patterns");
    }
    pcre2_set_match_limit(made->limits, STEP_LIMIT);
    made->stack = pcre2_jit_stack_create(JIT_STACK_FIRST, JIT_STACK_LIMIT, made->context);
    if (made->stack) pcre2_jit_stack_assign(made->limits, NULL, made->stack);
    *matcher = made;
    return SS_OK;
}

void ss_matcher_free(ss_matcher *matcher) {
    if (!matcher) return;
    pcre2_jit_stack_free(matcher->stack);
    pcre2_match_context_free(matcher->limits);
    pcre2_match_data_free(matcher->found);
    pcre2_general_context_free(matcher->context);
    ss_free(matcher->memory, matcher);
}

static ss_status add_part(ss_spans *out, size_t begin, size_t end, bool matched, ss_error *error) {
    if (begin == end) return SS_OK;
    return ss_spans_add(out, (ss_span){begin, end, SS_NO_TOKEN, matched}, error);
}

static ss_status match_failed(int code, size_t at, ss_error *error) {
    if (code == PCRE2_ERROR_NOMEMORY || code == PCRE2_ERROR_HEAPLIMIT)
        return ss_fail_memory(error, "matching the tokenizer's pattern");
    return ss_fail_at(error, SS_E_VALUE, "text", at,
                      "the tokenizer's pattern does not come to an end (PCRE2 error %d); give token ids with "
                      "--tokens FILE",
                      code);
}

static size_t next_character(const char *text, size_t at, size_t end) {
    uint32_t code_point;
    bool valid;
    return at < end ? at + ss_utf8_read(text + at, end - at, &code_point, &valid) : end + 1;
}

ss_status ss_pattern_cover(const ss_pattern *pattern, ss_matcher *matcher, const char *text, size_t begin,
                           size_t end, ss_spans *out, ss_error *error) {
    size_t length = end - begin, covered = 0, search = 0;
    bool matched_before = false;
    while (search <= length) {
        int code = pcre2_match(pattern->code, (PCRE2_SPTR)text + begin, length, search, PCRE2_NO_UTF_CHECK,
                               matcher->found, matcher->limits);
        if (code == PCRE2_ERROR_NOMATCH) break;
        if (code < 0) return match_failed(code, begin + search, error);
        const PCRE2_SIZE *place = pcre2_get_ovector_pointer(matcher->found);
        /* an empty match right behind the last match does not count: look from the next character on */
        if (place[0] >= place[1] && matched_before && place[1] == covered) {
            search = next_character(text + begin, search, length);
            continue;
        }
        SS_TRY(add_part(out, begin + covered, begin + place[0], false, error));
        SS_TRY(add_part(out, begin + place[0], begin + place[1], true, error));
        covered = search = place[1];
        matched_before = true;
    }
    return add_part(out, begin + covered, end, false, error);
}
