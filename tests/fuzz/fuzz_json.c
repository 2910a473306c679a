/* JSON documents, as configurations and shard indices are read. */
#include "fuzz.h"

#include "formats/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    json_t *document = NULL;
    ss_error error = {0};
    if (ss_json_parse("input", data, size, 1 << 20, &document, &error)) {
        REQUIRE(!document && error.message[0]);
        return 0;
    }
    size_t whole = 1;
    double number = 1;
    const char *text = "";
    if (json_is_object(document)) {
        (void)ss_json_size(document, "n", SS_OPTIONAL, "input", &whole, &error);
        (void)ss_json_number(document, "x", SS_OPTIONAL, "input", &number, &error);
        (void)ss_json_string(document, "s", SS_OPTIONAL, "input", &text, &error);
    }
    json_decref(document);
    return 0;
}
