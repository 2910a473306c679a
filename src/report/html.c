/* The report page: the template with its two places filled in. Documents travel as base64 of a zlib stream of
 * a JSON list, so nothing that a file says can be read as markup. Relies on: the template (page.h), jansson,
 * zlib. */
#include "report/html.h"

#include "base/file.h"
#include "report/page.h"

#include <string.h>
#include <zlib.h>

#define TITLE_PLACE     "{{softscope-title}}"
#define DOCUMENTS_PLACE "{{softscope-documents}}"

/* Nine digits: what documents promise, and a third smaller than all that a double has. */
#define JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* ---- JSON text -> deflate -> base64 -> file ----------------------------------------------------- */

typedef struct packer {
    z_stream zip;
    FILE *stream;
    unsigned char carry[3]; /* bytes that do not make a base64 group yet */
    size_t carried;
} packer;

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_group(packer *pack) {
    const unsigned char *byte = pack->carry;
    char group[4] = {digits[byte[0] >> 2], digits[(byte[0] & 3) << 4 | byte[1] >> 4],
                     digits[(byte[1] & 15) << 2 | byte[2] >> 6], digits[byte[2] & 63]};
    for (size_t missing = pack->carried; missing < 3; missing++) group[missing + 1] = '=';
    fwrite(group, 1, sizeof group, pack->stream);
    memset(pack->carry, 0, sizeof pack->carry);
    pack->carried = 0;
}

static void put_base64(packer *pack, const unsigned char *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        pack->carry[pack->carried++] = bytes[i];
        if (pack->carried == 3) put_group(pack);
    }
}

/* Feed text to the stream. Z_FINISH closes it. False when zlib fails, which only lack of memory makes it do.
 */
static bool put_text(packer *pack, const char *text, size_t size, int flush) {
    unsigned char squeezed[16384];
    pack->zip.next_in = (unsigned char *)(uintptr_t)text;
    pack->zip.avail_in = (uInt)size;
    do {
        pack->zip.next_out = squeezed;
        pack->zip.avail_out = sizeof squeezed;
        if (deflate(&pack->zip, flush) == Z_STREAM_ERROR) return false;
        put_base64(pack, squeezed, sizeof squeezed - pack->zip.avail_out);
    } while (pack->zip.avail_out == 0);
    return true;
}

static int put_json(const char *text, size_t size, void *context) {
    return put_text(context, text, size, Z_NO_FLUSH) ? 0 : -1;
}

static bool put_list(packer *pack, const json_t *const documents[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (!put_text(pack, i == 0 ? "[" : ",", 1, Z_NO_FLUSH)) return false;
        if (json_dump_callback(documents[i], put_json, pack, JSON_FLAGS) != 0) return false;
    }
    if (!put_text(pack, "]", 1, Z_FINISH)) return false;
    if (pack->carried > 0) put_group(pack);
    return true;
}

static ss_status put_documents(FILE *stream, const json_t *const documents[], size_t count, ss_error *error) {
    packer pack = {.stream = stream};
    if (deflateInit(&pack.zip, 9) != Z_OK) return ss_fail_memory(error, "the report page");
    bool done = put_list(&pack, documents, count);
    deflateEnd(&pack.zip);
    return done ? SS_OK : ss_fail_memory(error, "the report page");
}

/* ---- the title ---------------------------------------------------------------------------------- */

static void put_escaped(FILE *stream, const char *text) {
    static const char *const names[256] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;"};
    for (; *text; text++) {
        const char *name = names[(unsigned char)*text];
        if (name)
            fputs(name, stream);
        else
            fputc(*text, stream);
    }
}

/* What a document is called: the model's name, else the input's, else its command. */
static const char *name_of(const json_t *document) {
    static const char *const holders[] = {"model", "input"};
    for (size_t i = 0; i < sizeof holders / sizeof holders[0]; i++) {
        const char *name = json_string_value(json_object_get(json_object_get(document, holders[i]), "name"));
        if (name) return name;
    }
    const char *command = json_string_value(json_object_get(document, "command"));
    return command ? command : "result";
}

static void put_title(FILE *stream, const json_t *const documents[], size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (i > 0) fputs(", ", stream);
        put_escaped(stream, name_of(documents[i]));
    }
    fputs(" \xE2\x80\x93 softscope", stream);
}

/* ---- the file ----------------------------------------------------------------------------------- */

/* Offset of `place` in the template, or its size where it is not there. */
static size_t find(const char *place) {
    size_t length = strlen(place);
    for (size_t at = 0; at + length <= ss_report_page_size; at++)
        if (memcmp(ss_report_page + at, place, length) == 0) return at;
    return ss_report_page_size;
}

static ss_status put_page(FILE *stream, const json_t *const documents[], size_t count, ss_error *error) {
    size_t title = find(TITLE_PLACE), after_title = title + strlen(TITLE_PLACE);
    size_t data = find(DOCUMENTS_PLACE), after_data = data + strlen(DOCUMENTS_PLACE);
    fwrite(ss_report_page, 1, title, stream);
    put_title(stream, documents, count);
    fwrite(ss_report_page + after_title, 1, data - after_title, stream);
    SS_TRY(put_documents(stream, documents, count, error));
    fwrite(ss_report_page + after_data, 1, ss_report_page_size - after_data, stream);
    return SS_OK; /* a failed write stays in the stream and is found by ss_save_commit */
}

bool ss_report_html_available(void) {
    return ss_report_page_size > 0;
}

static ss_status check(const json_t *const documents[], size_t count, ss_error *error) {
    if (!ss_report_html_available())
        return ss_fail(
            error, SS_E_UNSUPPORTED, "HTML report",
            "this program was built without the report page: install Node.js 18 or later with npm and "
            "build again, or use --json");
    if (count == 0) return ss_fail(error, SS_E_VALUE, "HTML report", "no result to show");
    for (size_t i = 0; i < count; i++)
        if (!json_is_object(documents[i]))
            return ss_fail(error, SS_E_VALUE, "HTML report", "result %zu is not a JSON object", i + 1);
    return SS_OK;
}

ss_status ss_report_html(const json_t *const documents[], size_t count, const char *path, ss_error *error) {
    SS_TRY(check(documents, count, error));
    ss_save save;
    SS_TRY(ss_save_begin(path, &save, error));
    ss_status status = put_page(save.stream, documents, count, error);
    if (status != SS_OK) {
        ss_save_abort(&save);
        return status;
    }
    return ss_save_commit(&save, error);
}
