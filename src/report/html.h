/* The report page: one self-contained HTML file made from result documents (docs/result.md).
 * Relies on: base/file.h for all-or-nothing writing, jansson, zlib, and the page built from web/. */
#ifndef SS_REPORT_HTML_H
#define SS_REPORT_HTML_H

#include "base/status.h"

#include <jansson.h>

/* Was the page built into this library? (It needs npm at build time.) */
bool ss_report_html_available(void);

/* Write a page that shows `documents` [count], each a result document, to `path` ("-" is standard output).
 * The first is shown when the page opens; two of a kind are compared. A reader of `path` sees the old file or
 * the whole new one. SS_E_UNSUPPORTED where the page was not built in, SS_E_VALUE for no document or one that
 * is no JSON object, SS_E_WRITE where the file cannot be written. Documents are only read; calls on different
 * paths may run at the same time. */
ss_status ss_report_html(const json_t *const documents[], size_t count, const char *path, ss_error *error);

#endif
