/* Numbers as text. Relies on: strtod, base/locale. */
#include "formats/csv.h"

#include "base/locale.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_FIELD = 511 }; /* bytes; the longest exact decimal of interest is far shorter */

typedef struct table {
    const char *file;
    const ss_allocator *memory;
    size_t line;    /* from 1 */
    char separator; /* of every line, chosen from the first row; ' ' stands for any blanks */
    double *values; /* [rows][columns] */
    size_t count, capacity, rows, columns;
} table;

/* A stretch of text. */
typedef struct span {
    const char *begin, *end;
} span;

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static span trim(span text) {
    while (text.begin < text.end && is_blank(*text.begin)) text.begin++;
    while (text.begin < text.end && is_blank(text.end[-1])) text.end--;
    return text;
}

static ss_status fail_line(ss_error *error, const table *t, const char *what, span field) {
    enum { SHOWN = 60 };
    char where[sizeof error->where];
    const size_t length = (size_t)(field.end - field.begin);
    snprintf(where, sizeof where, "%s, line %zu", t->file, t->line);
    return ss_fail(error, SS_E_FORMAT, where, "%s: \"%.*s\"", what, (int)(length < SHOWN ? length : SHOWN),
                   field.begin);
}

/* A semicolon wins over a comma, which is then a decimal comma and refused as no number. */
static char find_separator(span line) {
    static const char candidates[] = {';', '\t', ','};
    for (size_t i = 0; i < sizeof candidates; i++)
        if (memchr(line.begin, candidates[i], (size_t)(line.end - line.begin))) return candidates[i];
    return ' ';
}

/* The next field of `rest`, which loses it together with its separator. *more: another field follows. */
static span take_field(span *rest, char separator, bool *more) {
    span field = *rest;
    if (separator == ' ') {
        const char *end = field.begin;
        while (end < rest->end && !is_blank(*end)) end++;
        field.end = end;
        while (end < rest->end && is_blank(*end)) end++;
        rest->begin = end;
        *more = end < rest->end;
        return field;
    }
    const char *end = memchr(field.begin, separator, (size_t)(rest->end - field.begin));
    *more = end != NULL;
    field.end = end ? end : rest->end;
    rest->begin = end ? end + 1 : rest->end;
    return trim(field);
}

static bool read_number(span field, double *value) {
    char text[LONGEST_FIELD + 1], *end;
    size_t length = (size_t)(field.end - field.begin);
    if (length == 0 || length > LONGEST_FIELD) return false;
    memcpy(text, field.begin, length);
    text[length] = '\0';
    *value = strtod(text, &end);
    return end == text + length;
}

static ss_status read_row(table *t, span line, ss_error *error) {
    size_t columns = 0;
    bool more = true;
    while (more) {
        span field = take_field(&line, t->separator, &more);
        if (!ss_grow(t->memory, &t->values, &t->capacity, t->count + 1, sizeof *t->values))
            return ss_fail_memory(error, t->file);
        if (!read_number(field, &t->values[t->count])) return fail_line(error, t, "this is no number", field);
        t->count++;
        columns++;
    }
    if (t->rows == 0) t->columns = columns;
    if (columns != t->columns) {
        char where[sizeof error->where];
        snprintf(where, sizeof where, "%s, line %zu", t->file, t->line);
        return ss_fail(error, SS_E_FORMAT, where, "this row has %zu numbers, the first has %zu", columns,
                       t->columns);
    }
    t->rows++;
    return SS_OK;
}

/* Does a line of names stand here? Only the first line that counts may be one. A field that begins like a
 * number but is none ("0,5") is a mistake to report, not a name to skip. */
static bool is_title(span line) {
    double value;
    bool more;
    span field = take_field(&line, find_separator(line), &more);
    return field.begin < field.end && !strchr("+-.0123456789", *field.begin) && !read_number(field, &value);
}

static ss_status read_lines(table *t, span text, ss_error *error) {
    bool first = true; /* the first line that counts may hold names */
    while (text.begin < text.end) {
        const char *newline = memchr(text.begin, '\n', (size_t)(text.end - text.begin));
        span line = trim((span){text.begin, newline ? newline : text.end});
        text.begin = newline ? newline + 1 : text.end;
        t->line++;
        if (line.begin == line.end || *line.begin == '#') continue;
        bool title = first && is_title(line);
        first = false;
        if (title) continue;
        if (t->rows == 0) t->separator = find_separator(line);
        SS_TRY(read_row(t, line, error));
    }
    if (t->rows == 0) return ss_fail(error, SS_E_FORMAT, t->file, "the file holds no row of numbers");
    return SS_OK;
}

static ss_status read_table(table *t, span text, ss_error *error) {
    ss_c_locale scope;
    if (!ss_c_locale_enter(&scope)) return ss_fail_memory(error, t->file);
    ss_status status = read_lines(t, text, error);
    ss_c_locale_leave(&scope);
    return status;
}

ss_status ss_csv_parse(const char *file, const void *bytes, size_t size, const ss_allocator *memory,
                       ss_array *array, ss_error *error) {
    table t = {.file = file, .memory = memory};
    const char *begin = size ? bytes : "";
    span text = {begin, begin + size};
    if (size >= 3 && memcmp(begin, "\xEF\xBB\xBF", 3) == 0) text.begin += 3; /* byte order mark */
    ss_status status = read_table(&t, text, error);
    if (status) {
        ss_free(memory, t.values);
        return status;
    }
    *array = (ss_array){.type = SS_TYPE_F64,
                        .dims = 2,
                        .shape = {t.rows, t.columns},
                        .elements = t.count,
                        .bytes = t.count * sizeof *t.values,
                        .data = t.values,
                        .memory = memory,
                        .owned = t.values};
    return SS_OK;
}

ss_status ss_csv_open(const char *path, const ss_allocator *memory, ss_array *array, ss_error *error) {
    ss_map map;
    SS_TRY(ss_map_open(path, &map, error));
    ss_status status = ss_csv_parse(path, map.data, map.size, memory, array, error);
    ss_map_close(&map);
    return status;
}
