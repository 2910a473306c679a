/* Reading input files. Relies on: base/file, formats/npy. */
#include "input.h"

#include "base/mem.h"
#include "formats/npy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* All of standard input, in a growing buffer. */
static ss_status read_standard_input(file_input *input, ss_error *error) {
    char *bytes = NULL;
    size_t capacity = 0, length = 0, got;
    do {
        if (!ss_grow(NULL, &bytes, &capacity, length + 65536, 1)) {
            ss_free(NULL, bytes);
            return ss_fail_memory(error, "standard input");
        }
        got = fread(bytes + length, 1, 65536, stdin);
        length += got;
    } while (got > 0);
    input->name = "standard input";
    input->owned = bytes;
    input->text = bytes;
    input->length = length;
    if (ferror(stdin)) return ss_fail(error, SS_E_IO, "standard input", "cannot read: %s", strerror(errno));
    return SS_OK;
}

static ss_status open_text(file_input *input, const char *path, ss_error *error) {
    if (strcmp(path, "-") == 0) return read_standard_input(input, error);
    SS_TRY(ss_map_open(path, &input->map, error));
    input->name = ss_base_name(path);
    input->text = input->map.data ? (const char *)input->map.data : "";
    input->length = input->map.size;
    return SS_OK;
}

/* ---- token ids -------------------------------------------------------------------------------- */

static ss_status bad_id(ss_error *error, const char *path, size_t line, const char *text) {
    char where[300];
    snprintf(where, sizeof where, "%s, line %zu", path, line);
    return ss_fail(error, SS_E_FORMAT, where,
                   "'%.20s' is not a token id: write whole numbers of 0 or more, separated by "
                   "spaces, commas or new lines",
                   text);
}

/* Numbers separated by white space, commas or brackets. */
static ss_status parse_ids(file_input *input, const char *path, const char *text, size_t length,
                           ss_error *error) {
    uint32_t *ids = NULL;
    size_t capacity = 0, count = 0, line = 1;
    for (size_t i = 0; i < length;) {
        if (strchr(" \t\r,[]\n", text[i]) && text[i]) {
            line += text[i++] == '\n';
            continue;
        }
        uint64_t id = 0;
        size_t start = i;
        while (i < length && isdigit((unsigned char)text[i]) && id <= UINT32_MAX)
            id = id * 10 + (uint64_t)(text[i++] - '0');
        const bool ends = i == length || (text[i] && strchr(" \t\r,[]\n", text[i]));
        if (i == start || !ends || id > UINT32_MAX) {
            char shown[21] = {0};
            memcpy(shown, text + start, length - start < 20 ? length - start : 20);
            shown[strcspn(shown, "\r\n")] = '\0';
            ss_free(NULL, ids);
            return bad_id(error, path, line, shown);
        }
        if (!ss_grow(NULL, &ids, &capacity, count + 1, sizeof *ids)) {
            ss_free(NULL, ids);
            return ss_fail_memory(error, path);
        }
        ids[count++] = (uint32_t)id;
    }
    input->owned = ids;
    input->ids = ids;
    input->id_count = count;
    return SS_OK;
}

static ss_status convert_ids(file_input *input, const char *path, const ss_array *array, ss_error *error) {
    if (!ss_type_is_integer(array->type) || array->dims > 2 || (array->dims == 2 && array->shape[0] != 1))
        return ss_fail(error, SS_E_FORMAT, path, "token ids are a one-dimensional array of integers");
    uint32_t *ids = ss_alloc(NULL, array->elements, sizeof *ids);
    double *values = ss_alloc(NULL, array->elements, sizeof *values);
    ss_status status = ids && values ? SS_OK : ss_fail_memory(error, path);
    if (status == SS_OK) ss_to_f64(array->type, array->data, array->elements, values);
    for (size_t i = 0; status == SS_OK && i < array->elements; i++) {
        if (values[i] < 0 || values[i] > UINT32_MAX)
            status = ss_fail(error, SS_E_VALUE, path, "item %zu is %.0f, which is no token id", i, values[i]);
        else
            ids[i] = (uint32_t)values[i];
    }
    ss_free(NULL, values);
    if (status != SS_OK) {
        ss_free(NULL, ids);
        return status;
    }
    input->owned = ids;
    input->ids = ids;
    input->id_count = array->elements;
    return SS_OK;
}

static ss_status open_tokens(file_input *input, const char *path, ss_error *error) {
    file_input file = {0};
    SS_TRY(open_text(&file, path, error));
    ss_status status;
    if (file.length >= 6 && memcmp(file.text, "\x93NUMPY", 6) == 0) {
        ss_array array = {0};
        status = ss_npy_parse(path, file.text, file.length, NULL, NULL, &array, error);
        if (status == SS_OK) status = convert_ids(input, path, &array, error);
        ss_array_free(&array);
    } else {
        status = parse_ids(input, path, file.text, file.length, error);
    }
    input->name = file.name;
    file_input_close(&file);
    return status;
}

ss_status file_input_open(file_input *input, const char *text, const char *tokens, ss_error *error) {
    *input = (file_input){0};
    return text ? open_text(input, text, error) : open_tokens(input, tokens, error);
}

void file_input_close(file_input *input) {
    ss_map_close(&input->map);
    ss_free(NULL, input->owned);
    *input = (file_input){0};
}
