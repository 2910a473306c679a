/* Reading options by table. Relies on: the C library. */
#include "options.h"

#include "base/status.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Edits (insert, delete, replace) between two short names. */
static size_t distance(const char *a, const char *b) {
    enum { LONGEST = 40 };
    size_t m = strlen(a), n = strlen(b), row[LONGEST + 1];
    if (m > LONGEST || n > LONGEST) return LONGEST;
    for (size_t j = 0; j <= n; j++) row[j] = j;
    for (size_t i = 1; i <= m; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            if (row[j] + 1 < best) best = row[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            row[j] = best;
        }
    }
    return row[n];
}

const char *closest_name(const char *typed, const char *const *names, size_t count) {
    const char *best = NULL;
    size_t least = strlen(typed) / 3 + 2; /* farther than that is another word */
    for (size_t i = 0; i < count; i++) {
        size_t edits = distance(typed, names[i]);
        if (edits < least) {
            least = edits;
            best = names[i];
        }
    }
    return best;
}

static const option *find(const command *c, const char *name, size_t length) {
    for (size_t i = 0; i < c->option_count; i++)
        if (strlen(c->options[i].name) == length && strncmp(c->options[i].name, name, length) == 0)
            return &c->options[i];
    return NULL;
}

static ss_status unknown(const command *c, const char *typed, ss_error *error) {
    enum { MOST = 64 };
    const char *names[MOST];
    size_t count = 0;
    for (; count < c->option_count && count < MOST; count++) names[count] = c->options[count].name;
    const char *close = closest_name(typed + strspn(typed, "-"), names, count);
    if (close) return ss_fail(error, SS_E_USAGE, typed, "there is no such option; did you mean --%s?", close);
    return ss_fail(error, SS_E_USAGE, typed, "there is no such option; 'softscope %s --help' lists them",
                   c->name);
}

static ss_status store(const option *o, const char *text, void *values, ss_error *error) {
    char *field = (char *)values + o->offset;
    char name[64], *end;
    snprintf(name, sizeof name, "--%s", o->name);
    errno = 0;
    if (o->kind == OPTION_FLAG) {
        memcpy(field, &(bool){true}, sizeof(bool));
    } else if (o->kind == OPTION_TEXT) {
        memcpy(field, &text, sizeof text);
    } else if (o->kind == OPTION_COUNT) {
        unsigned long long count = strtoull(text, &end, 10);
        if (end == text || *end != '\0' || errno || strchr(text, '-') || count == 0)
            return ss_fail(error, SS_E_USAGE, name, "'%s' is not a whole number of 1 or more", text);
        memcpy(field, &(size_t){(size_t)count}, sizeof(size_t));
    } else {
        double number = strtod(text, &end);
        if (end == text || *end != '\0' || !isfinite(number))
            return ss_fail(error, SS_E_USAGE, name, "'%s' is not a number", text);
        memcpy(field, &number, sizeof number);
    }
    return SS_OK;
}

/* One argument that starts with --; moves *i past its value. */
static ss_status read_option(const command *c, int argc, char **argv, int *i, void *values, ss_error *error) {
    const char *typed = argv[*i], *name = typed + 2, *equals = strchr(name, '=');
    const option *o = find(c, name, equals ? (size_t)(equals - name) : strlen(name));
    if (!o) return unknown(c, typed, error);
    if (o->kind == OPTION_FLAG) {
        if (equals) return ss_fail(error, SS_E_USAGE, typed, "this option takes no value");
        return store(o, NULL, values, error);
    }
    if (equals) return store(o, equals + 1, values, error);
    if (*i + 1 >= argc) return ss_fail(error, SS_E_USAGE, typed, "needs a value: --%s %s", o->name, o->value);
    return store(o, argv[++*i], values, error);
}

ss_status options_parse(const command *c, int argc, char **argv, void *values, arguments *plain,
                        ss_error *error) {
    bool only_plain = false;
    plain->items = (const char **)argv; /* plain arguments move to the front */
    plain->count = 0;
    for (int i = 1; i < argc; i++) {
        const char *typed = argv[i];
        if (only_plain || typed[0] != '-' || strcmp(typed, "-") == 0) {
            plain->items[plain->count++] = typed;
        } else if (strcmp(typed, "--") == 0) {
            only_plain = true;
        } else if (strncmp(typed, "--", 2) == 0) {
            SS_TRY(read_option(c, argc, argv, &i, values, error));
        } else if (strcmp(typed, "-o") == 0 && i + 1 < argc && find(c, "output", 6)) {
            SS_TRY(store(find(c, "output", 6), argv[++i], values, error));
        } else {
            return unknown(c, typed, error);
        }
    }
    if (plain->count < c->least)
        return ss_fail(error, SS_E_USAGE, NULL, "something is missing: softscope %s %s", c->name, c->usage);
    if (plain->count > c->most)
        return ss_fail(error, SS_E_USAGE, plain->items[c->most], "one argument too many: softscope %s %s",
                       c->name, c->usage);
    return SS_OK;
}

bool options_want_help(int argc, char **argv) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
    return false;
}

void options_print_help(const command *c, FILE *out) {
    fprintf(out, "softscope %s: %s\n\nUsage: softscope %s %s\n\n%s\n\nOptions:\n", c->name, c->summary,
            c->name, c->usage, c->text);
    for (size_t i = 0; i < c->option_count; i++) {
        char left[64];
        const option *o = &c->options[i];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->value ? " " : "", o->value ? o->value : "");
        fprintf(out, "  %-24s ", left);
        for (const char *at = o->help; *at; at++) { /* a new line in the table is a new line here */
            fputc(*at, out);
            if (*at == '\n') fprintf(out, "%27s", "");
        }
        fputc('\n', out);
    }
    fprintf(out, "  %-24s this text\n\nExamples:\n%s\n", "--help", c->examples);
}
