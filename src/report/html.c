/* The report page: the template with its two places filled in. Documents travel as base64 of a zlib stream of
 * a JSON list, so nothing that a file says can be read as markup. Relies on: the template (page.h), jansson,
 * zlib. */
#include "report/html.h"

#include "base/file.h"
#include "formats/base64.h"
#include "report/page.h"

#include <string.h>
#include <zlib.h>

#define TITLE_PLACE     "{{softscope-title}}"
#define DOCUMENTS_PLACE "{{softscope-documents}}"

/* Nine digits: what documents promise, and a third smaller than all that a double has. */
#define JSON_FLAGS (JSON_COMPACT | JSON_REAL_PRECISION(9))

/* ---- JSON text -> deflate -> base64 -> file ----------------------------------------------------- */

#define SQUEEZED (3u << 12) /* whole base64 groups, so that only the last part is padded */

typedef struct packer {
    z_stream zip;
    FILE *stream;
    unsigned char squeezed[SQUEEZED]; /* zip's output */
} packer;

static void empty_output(packer *pack) {
    pack->zip.next_out = pack->squeezed;
    pack->zip.avail_out = SQUEEZED;
}

static void put_output(packer *pack) {
    char text[SS_BASE64_SIZE(SQUEEZED)];
    const size_t size = SQUEEZED - pack->zip.avail_out;
    ss_base64(pack->squeezed, size, text);
    fwrite(text, 1, SS_BASE64_SIZE(size), pack->stream);
    empty_output(pack);
}

/* Feed text to the stream. Z_FINISH closes it. False when zlib fails, which only lack of memory makes it do.
 */
static bool put_text(packer *pack, const char *text, size_t size, int flush) {
    pack->zip.next_in = (unsigned char *)(uintptr_t)text;
    pack->zip.avail_in = (uInt)size;
    bool full = true;
    while (full) {
        if (deflate(&pack->zip, flush) == Z_STREAM_ERROR) return false;
        full = pack->zip.avail_out == 0;
        if (full) put_output(pack);
    }
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
    put_output(pack);
    return true;
}

static ss_status put_documents(FILE *stream, const json_t *const documents[], size_t count, ss_error *error) {
    packer pack = {.stream = stream};
    empty_output(&pack);
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
