#include "support/open_model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

const ss_compute plain = {.workers = 2, .isa = SS_ISA_BASE, .dtype = SS_DTYPE_F32};

opened open_path(const char *path, const ss_compute *compute) {
    opened o = {0};
    o.status = ss_model_open(path, NULL, compute, &o.model, &o.error);
    return o;
}

opened open_folder(tiny_model *tiny, const ss_compute *compute) {
    temp_path folder = temp_folder_make();
    tiny_write_folder(tiny, &folder);
    opened o = open_path(folder.text, compute);
    temp_folder_remove(&folder);
    tiny_free(tiny);
    return o;
}

opened open_gguf(tiny_model *tiny) {
    temp_path folder = temp_folder_make();
    temp_path path = tiny_write_gguf(tiny, &folder);
    opened o = open_path(path.text, &plain);
    temp_folder_remove(&folder);
    tiny_free(tiny);
    return o;
}

const ss_model *loaded(const opened *o) {
    if (o->status) print_error("%s: %s\n", o->error.where, o->error.message);
    assert_int_equal(o->status, SS_OK);
    return o->model;
}

void check_refused(opened o, ss_status status, const char *where, const char *message) {
    if (o.status != status || !strstr(o.error.where, where) || !strstr(o.error.message, message))
        print_error("%d, %s: %s\n", o.status, o.error.where, o.error.message);
    assert_int_equal(o.status, status);
    assert_non_null(strstr(o.error.where, where));
    assert_non_null(strstr(o.error.message, message));
    assert_null(o.model);
}

const char *warning_of(const ss_model *model, size_t expected) {
    size_t count;
    const char *const *warnings = ss_model_warnings(model, &count);
    if (count != expected) print_error("%zu warnings: %s\n", count, count ? warnings[0] : "");
    assert_int_equal(count, expected);
    return count ? warnings[0] : "";
}
