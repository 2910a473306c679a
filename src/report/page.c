/* The public way to the report page. Relies on: report/html. */
#include "report/html.h"
#include "result/result.h"

ss_status ss_result_save_page(const ss_result *const *results, size_t count, const char *path,
                              ss_error *error) {
    const json_t *documents[2];
    if (count < 1 || count > 2)
        return ss_fail(error, SS_E_USAGE, path, "a page shows one result, or two side by side");
    for (size_t i = 0; i < count; i++) documents[i] = results[i]->root;
    return ss_report_html(documents, count, path, error);
}
