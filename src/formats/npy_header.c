/* The NPY header: a magic string, a version, and a Python dictionary with exactly three keys, read by a
 * strict parser for just that. Relies on: formats/npy_header.h. */
#include "formats/npy_header.h"

#include <string.h>

/* What follows the byte order in a descr, as NumPy names it. */
static const struct {
    const char *name;
    ss_type type;
} item_types[] = {
    {"b1", SS_TYPE_BOOL}, {"i1", SS_TYPE_I8},  {"u1", SS_TYPE_U8},  {"i2", SS_TYPE_I16},
    {"u2", SS_TYPE_U16},  {"i4", SS_TYPE_I32}, {"u4", SS_TYPE_U32}, {"i8", SS_TYPE_I64},
    {"u8", SS_TYPE_U64},  {"f2", SS_TYPE_F16}, {"f4", SS_TYPE_F32}, {"f8", SS_TYPE_F64},
};

static const char structure_reason[] = "holds raw bytes or structures; save one field as an array of numbers";

/* Why other kinds are refused, by the letter of the kind. */
static const struct {
    char kind;
    const char *reason;
} refused_kinds[] = {
    {'O', "holds Python objects, which softscope never unpickles; save a plain array of numbers"},
    {'c', "holds complex numbers; save the real part or the magnitude"},
    {'S', "holds strings, not numbers"},
    {'U', "holds strings, not numbers"},
    {'M', "holds dates, not numbers"},
    {'m', "holds time spans, not numbers"},
    {'V', structure_reason},
};

enum { LONGEST_DESCR = 15 };

/* The text of the dictionary, as found. */
typedef struct fields {
    char descr[LONGEST_DESCR + 1];
    bool fortran, structured;
    unsigned dims;
    size_t shape[SS_MAX_DIMS];
    bool has_descr, has_order, has_shape;
} fields;

static ss_status fail_here(ss_error *error, const ss_cursor *text, const char *what) {
    return ss_fail_at(error, SS_E_FORMAT, text->file, text->at, "NPY header: %s", what);
}

/* ---- the pieces of the dictionary ------------------------------------------------------------ */

static void skip_blanks(ss_cursor *text) {
    while (ss_cursor_left(text) && strchr(" \t\r\n", text->bytes[text->at]) && text->bytes[text->at])
        text->at++;
}

/* The next character after blanks, 0 at the end. */
static char peek(ss_cursor *text) {
    skip_blanks(text);
    return ss_cursor_left(text) ? (char)text->bytes[text->at] : '\0';
}

static bool accept(ss_cursor *text, char wanted) {
    if (peek(text) != wanted || !ss_cursor_left(text)) return false;
    text->at++;
    return true;
}

static bool accept_word(ss_cursor *text, const char *word) {
    size_t length = strlen(word);
    skip_blanks(text);
    if (ss_cursor_left(text) < length || memcmp(text->bytes + text->at, word, length) != 0) return false;
    text->at += length;
    return true;
}

/* A short string in either quote, without escapes: no key and no descr has any. */
static ss_status take_quoted(ss_cursor *text, char out[LONGEST_DESCR + 1], ss_error *error) {
    char quote = peek(text);
    if (quote != '\'' && quote != '"') return fail_here(error, text, "expected a string");
    const unsigned char *begin = text->bytes + text->at + 1;
    const unsigned char *end = memchr(begin, quote, ss_cursor_left(text) - 1);
    if (!end || end - begin > LONGEST_DESCR || memchr(begin, '\\', (size_t)(end - begin)))
        return fail_here(error, text, "a string is too long, does not end or holds a backslash");
    memcpy(out, begin, (size_t)(end - begin));
    out[end - begin] = '\0';
    text->at += (size_t)(end - begin) + 2;
    return SS_OK;
}

static ss_status take_size(ss_cursor *text, size_t *value, ss_error *error) {
    size_t number = 0;
    char digit = peek(text);
    if (digit < '0' || digit > '9') return fail_here(error, text, "expected a whole number in shape");
    for (; ss_cursor_left(text); text->at++) {
        digit = (char)text->bytes[text->at];
        if (digit < '0' || digit > '9') break;
        if (!ss_mul_size(number, 10, &number) || !ss_add_size(number, (size_t)(digit - '0'), &number))
            return fail_here(error, text, "a dimension does not fit into 64 bits");
    }
    accept(text, 'L'); /* Python 2 wrote long integers so */
    *value = number;
    return SS_OK;
}

/* (), (3,), (3, 4), ... */
static ss_status take_shape(ss_cursor *text, fields *found, ss_error *error) {
    if (!accept(text, '(')) return fail_here(error, text, "shape must be a tuple");
    bool comma = true;
    while (!accept(text, ')')) {
        if (!comma) return fail_here(error, text, "expected a comma or ) in shape");
        if (found->dims == SS_MAX_DIMS)
            return ss_fail(error, SS_E_UNSUPPORTED, text->file, "the array has more than %d dimensions",
                           SS_MAX_DIMS);
        SS_TRY(take_size(text, &found->shape[found->dims++], error));
        comma = accept(text, ',');
    }
    return SS_OK;
}

static ss_status take_value(ss_cursor *text, const char *key, fields *found, ss_error *error) {
    if (strcmp(key, "descr") == 0 && !found->has_descr) {
        found->has_descr = true;
        found->structured = peek(text) == '[';
        return found->structured ? SS_OK : take_quoted(text, found->descr, error);
    }
    if (strcmp(key, "fortran_order") == 0 && !found->has_order) {
        found->has_order = true;
        found->fortran = accept_word(text, "True");
        return found->fortran || accept_word(text, "False")
                   ? SS_OK
                   : fail_here(error, text, "expected True or False");
    }
    if (strcmp(key, "shape") == 0 && !found->has_shape) {
        found->has_shape = true;
        return take_shape(text, found, error);
    }
    return fail_here(error, text, "keys must be descr, fortran_order and shape, each once");
}

static ss_status take_dictionary(ss_cursor *text, fields *found, ss_error *error) {
    if (!accept(text, '{')) return fail_here(error, text, "expected {");
    bool comma = true;
    while (!accept(text, '}')) {
        char key[LONGEST_DESCR + 1];
        if (!comma) return fail_here(error, text, "expected a comma or }");
        SS_TRY(take_quoted(text, key, error));
        if (!accept(text, ':')) return fail_here(error, text, "expected a colon");
        SS_TRY(take_value(text, key, found, error));
        if (found->structured) return SS_OK; /* refused by its type: no need to read on */
        comma = accept(text, ',');
    }
    skip_blanks(text);
    if (ss_cursor_left(text)) return fail_here(error, text, "unexpected text after }");
    if (!found->has_descr || !found->has_order || !found->has_shape)
        return fail_here(error, text, "descr, fortran_order or shape is missing");
    return SS_OK;
}

/* ---- what they mean -------------------------------------------------------------------------- */

static ss_status refuse(ss_error *error, const char *file, const char *descr, const char *reason) {
    return ss_fail(error, SS_E_UNSUPPORTED, file, "the array ('%s') %s", descr, reason);
}

static ss_status read_descr(const ss_cursor *text, const fields *found, const ss_npy_options *options,
                            npy_header *header, ss_error *error) {
    const char *descr = found->descr, *item = descr;
    if (found->structured) return refuse(error, text->file, "[...]", structure_reason);
    bool ordered = descr[0] != '\0' && strchr("<>|=", descr[0]);
    if (ordered) item++;
    if (strcmp(item, "V2") == 0) {
        if (!options || !options->raw_is_bf16)
            return refuse(error, text->file, descr,
                          "holds raw two-byte items: is this bfloat16? NumPy stores it so; say that it is "
                          "(--bf16) to have it read, or save it as float32");
        header->type = SS_TYPE_BF16;
    }
    for (size_t i = 0; i < sizeof item_types / sizeof *item_types; i++)
        if (strcmp(item, item_types[i].name) == 0) header->type = item_types[i].type;
    for (size_t i = 0; header->type == SS_TYPE_NONE && i < sizeof refused_kinds / sizeof *refused_kinds; i++)
        if (item[0] == refused_kinds[i].kind)
            return refuse(error, text->file, descr, refused_kinds[i].reason);
    if (header->type == SS_TYPE_NONE)
        return refuse(error, text->file, descr, "has an item type that is not read");
    header->swapped = ordered && descr[0] == '>' && ss_type_block_bytes(header->type) > 1;
    return SS_OK;
}

static ss_status take_preamble(ss_cursor *cursor, ss_cursor *text, ss_error *error) {
    static const char lengths[] = {0, 2, 4, 4}; /* bytes of the header's length, by major version */
    const unsigned char *magic, *bytes;
    uint32_t length = 0;
    SS_TRY(ss_cursor_take(cursor, 8, "the mark of an NPY file", &magic, error));
    if (memcmp(magic, "\x93NUMPY", 6) != 0)
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, 0,
                          "this is no NPY file: it does not start with \\x93NUMPY");
    unsigned major = magic[6];
    if (major < 1 || major > 3)
        return ss_fail_at(error, SS_E_UNSUPPORTED, cursor->file, 6, "NPY version %u; softscope reads 1 to 3",
                          major);
    SS_TRY(ss_cursor_take(cursor, (uint64_t)lengths[major], "the header length", &bytes, error));
    memcpy(&length, bytes, (size_t)lengths[major]);
    size_t begin = cursor->at;
    SS_TRY(ss_cursor_take(cursor, length, "the header", &bytes, error));
    /* the text keeps the file's offsets, so that messages name the byte in the file */
    *text = (ss_cursor){.file = cursor->file, .bytes = cursor->bytes, .size = cursor->at, .at = begin};
    return SS_OK;
}

ss_status ss_npy_read_header(ss_cursor *cursor, const ss_npy_options *options, npy_header *header,
                             ss_error *error) {
    ss_cursor text;
    fields found = {0};
    npy_header read = {0};
    SS_TRY(take_preamble(cursor, &text, error));
    SS_TRY(take_dictionary(&text, &found, error));
    SS_TRY(read_descr(&text, &found, options, &read, error));
    read.fortran = found.fortran;
    read.dims = found.dims;
    memcpy(read.shape, found.shape, sizeof read.shape);
    if (!ss_shape_elements(read.dims, read.shape, &read.elements) ||
        !ss_type_bytes(read.type, read.elements, &read.bytes))
        return ss_fail(error, SS_E_FORMAT, cursor->file, "the product of the shape overflows");
    if (read.bytes > ss_cursor_left(cursor)) {
        char shape[160];
        return ss_fail_at(error, SS_E_FORMAT, cursor->file, cursor->at,
                          "shape %s takes %zu bytes, but %zu follow: is the file cut short?",
                          ss_shape_text(read.dims, read.shape, shape, sizeof shape), read.bytes,
                          ss_cursor_left(cursor));
    }
    *header = read;
    return SS_OK;
}

const char *ss_npy_descr(ss_type type) {
    return type == SS_TYPE_F64 ? "<f8" : type == SS_TYPE_F32 ? "<f4" : type == SS_TYPE_I64 ? "<i8" : NULL;
}
