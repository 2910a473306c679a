/* safetensors: values and shapes, shards, and hostile files refused before use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/safetensors.h"
#include "support/bytes.h"
#include "support/failing_allocator.h"
#include "support/temp_folder.h"

#include <stdio.h>

/* A file of `header` and `data_size` bytes 0, 1, 2, ... */
static void put_file(bytes *file, const char *header, size_t data_size) {
    put_u64(file, strlen(header));
    put_text(file, header);
    for (size_t i = 0; i < data_size; i++) put_u8(file, (uint8_t)i);
}

static ss_status parse(const bytes *file, ss_tensors **tensors, ss_error *error) {
    return ss_safetensors_parse("t.safetensors", file->data, file->size, NULL, tensors, error);
}

static void tensors_are_found_with_shape_type_and_data(void **state) {
    (void)state;
    static bytes file;
    ss_tensors *tensors;
    file.size = 0;
    put_file(&file,
             "{\"__metadata__\": {\"format\": \"pt\"},"
             "\"w\": {\"dtype\": \"F16\", \"shape\": [2, 3], \"data_offsets\": [4, 16]},"
             "\"b\": {\"dtype\": \"F32\", \"shape\": [], \"data_offsets\": [0, 4]},"
             "\"empty\": {\"dtype\": \"F64\", \"shape\": [0, 9], \"data_offsets\": [16, 16]}}  ",
             16);
    assert_int_equal(parse(&file, &tensors, NULL), SS_OK);
    assert_int_equal(ss_tensors_count(tensors), 3);
    const ss_tensor_view *w = ss_tensors_find(tensors, "w"), *b = ss_tensors_find(tensors, "b");
    assert_string_equal(w->name, "w");
    assert_string_equal(w->file, "t.safetensors");
    assert_true(w->type == SS_TYPE_F16 && w->dims == 2 && w->shape[0] == 2 && w->shape[1] == 3);
    assert_true(w->elements == 6 && w->bytes == 12 && ((const unsigned char *)w->data)[0] == 4);
    assert_true(b->dims == 0 && b->elements == 1 && b->bytes == 4);
    assert_true(ss_tensors_find(tensors, "empty")->data == NULL);
    assert_null(ss_tensors_find(tensors, "__metadata__"));
    ss_tensors_free(tensors);
}

static void absent_and_unreadable_tensors_are_named(void **state) {
    (void)state;
    static bytes file;
    ss_tensors *tensors;
    const ss_tensor_view *view = NULL;
    ss_error error;
    file.size = 0;
    put_file(&file,
             "{\"q\": {\"dtype\": \"F8_E4M3\", \"shape\": [4], \"data_offsets\": [0, 4]},"
             "\"g\": {\"dtype\": \"Q4_0\", \"shape\": [32], \"data_offsets\": [4, 22]}}",
             22);
    assert_int_equal(parse(&file, &tensors, NULL), SS_OK);
    assert_int_equal(ss_tensors_get(tensors, "q", &view, &error), SS_E_UNSUPPORTED);
    assert_string_equal(error.where, "q");
    assert_non_null(strstr(error.message, "F8_E4M3"));
    assert_int_equal(ss_tensors_get(tensors, "g", &view, &error), SS_E_UNSUPPORTED);
    assert_int_equal(ss_tensors_get(tensors, "k", &view, &error), SS_E_FORMAT);
    assert_string_equal(error.where, "k");
    assert_null(view);
    ss_tensors_free(tensors);
}

static void hostile_header_lengths_are_refused_in_little_memory(void **state) {
    (void)state;
    static const uint64_t lengths[] = {0xFFFFFFFFFFFFFFFB, 0x7FFFFFFFFFFFFFFF, 0, 21, (uint64_t)1 << 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        static bytes file;
        failing_allocator memory;
        ss_tensors *tensors = NULL;
        ss_error error = {0};
        failing_allocator_init(&memory, 0);
        file.size = 0;
        put_u64(&file, lengths[i]);
        put_text(&file, "{}          "); /* 20 bytes in all */
        assert_int_equal(ss_safetensors_parse("h", file.data, file.size, &memory.allocator, &tensors, &error),
                         SS_E_FORMAT);
        assert_null(tensors);
        assert_non_null(strstr(error.where, "byte"));
        assert_true(memory.state.live == 0 && memory.state.peak < 4096);
    }
}

static void a_header_over_the_limit_is_refused(void **state) {
    (void)state;
    size_t size = ((size_t)16 << 20) + 1;
    unsigned char *file = calloc(size + 8, 1);
    uint64_t length = size;
    ss_tensors *tensors = NULL;
    ss_error error;
    memcpy(file, &length, 8);
    memset(file + 8, ' ', size);
    file[8] = '{';
    assert_int_equal(ss_safetensors_parse("h", file, size + 8, NULL, &tensors, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "limit of 16777216"));
    free(file);
}

#define TENSOR(name, dtype, shape, begin, end)                                                               \
    "\"" name "\": {\"dtype\": \"" dtype "\", \"shape\": " shape ", \"data_offsets\": [" #begin ", " #end "]}"

static void inconsistent_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *header, *message; /* over 8 bytes of data */
    } cases[] = {
        {"[]", "no JSON object"},
        {"{\"a\": 3}", "no dtype"},
        {"{\"a\": {\"dtype\": 3}}", "no dtype"},
        {"{\"a\": {\"dtype\": \"F32\", \"data_offsets\": [0, 8]}}", "shape must be"},
        {"{\"a\": {\"dtype\": \"F32\", \"shape\": [2]}}", "data_offsets must be"},
        {"{" TENSOR("a", "F32", "[-2]", 0, 8) "}", "no whole number"},
        {"{" TENSOR("a", "F32", "[2.5]", 0, 8) "}", "no whole number"},
        {"{" TENSOR("a", "F32", "[1,1,1,1,1,1,1,1,2]", 0, 8) "}", "9 dimensions"},
        {"{" TENSOR("a", "F32", "[4294967296, 4294967296]", 0, 8) "}", "overflows"},
        {"{" TENSOR("a", "F64", "[4611686018427387904]", 0, 8) "}", "size overflows"},
        {"{" TENSOR("a", "F32", "[3]", 0, 8) "}", "[3] of F32 takes 12 bytes, data_offsets give 8"},
        {"{" TENSOR("a", "F32", "[2]", 8, 0) "}", "not within"},
        {"{" TENSOR("a", "F32", "[2]", 4, 12) "}", "not within"},
        {"{" TENSOR("a", "F32", "[2]", 18446744073709551615, 7) "}", "two whole numbers"},
        {"{" TENSOR("a", "F32", "[1]", 4, 8) "}", "leave a hole"},
        {"{" TENSOR("a", "F32", "[1]", 0, 4) "}", "cover 4 of the 8"},
        {"{}", "cover 0 of the 8"},
        {"{" TENSOR("a", "U8", "[4]", 0, 4) ", " TENSOR("b", "U8", "[5]", 3, 8) "}", "overlap"},
        {"{" TENSOR("a", "U8", "[3]", 0, 3) ", " TENSOR("b", "U8", "[4]", 4, 8) "}", "leave a hole"},
        {"{" TENSOR("a", "U8", "[4]", 0, 4) ", " TENSOR("a", "U8", "[4]", 4, 8) "}", "duplicate"},
        {"{\"__metadata__\": {\"n\": 1}, " TENSOR("a", "U8", "[8]", 0, 8) "}", "must be a string"},
        {"{\"__metadata__\": [], " TENSOR("a", "U8", "[8]", 0, 8) "}", "must be an object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static bytes file;
        ss_tensors *tensors = NULL;
        ss_error error = {0};
        file.size = 0;
        put_file(&file, cases[i].header, 8);
        ss_status status = parse(&file, &tensors, &error);
        if (status == SS_OK || !strstr(error.message, cases[i].message))
            fail_msg("%s gave \"%s\"", cases[i].header, error.message);
        assert_null(tensors);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    static bytes file;
    file.size = 0;
    put_file(&file, "{" TENSOR("a", "U8", "[3]", 0, 3) ", " TENSOR("b", "F32", "[1]", 3, 7) "}", 7);
    for (size_t size = 0; size < file.size; size++) {
        ss_tensors *tensors = NULL;
        unsigned char *exact = malloc(size ? size : 1); /* so that the sanitizer sees a read past the end */
        memcpy(exact, file.data, size);
        assert_int_equal(ss_safetensors_parse("t", exact, size, NULL, &tensors, NULL), SS_E_FORMAT);
        free(exact);
    }
}

/* ---- shards ---------------------------------------------------------------------------------- */

static temp_path write_shard(const temp_path *folder, const char *name, const char *header,
                             size_t data_size) {
    static bytes file;
    file.size = 0;
    put_file(&file, header, data_size);
    return temp_file_write(folder, name, file.data, file.size);
}

static temp_path write_index(const temp_path *folder, const char *text) {
    return temp_file_write(folder, "model.safetensors.index.json", text, strlen(text));
}

static const char good_index[] =
    "{\"metadata\": {\"total_size\": 8}, \"weight_map\":"
    "{\"a\": \"1.safetensors\", \"b\": \"2.safetensors\", \"c\": \"1.safetensors\"}}";

/* Shard 2 holds another "a", which the index does not ask for. */
static temp_path write_good_shards(const temp_path *folder) {
    write_shard(folder, "1.safetensors",
                "{" TENSOR("a", "U8", "[2]", 0, 2) ", " TENSOR("c", "U8", "[1]", 2, 3) "}", 3);
    write_shard(folder, "2.safetensors",
                "{" TENSOR("b", "U8", "[4]", 0, 4) ", " TENSOR("a", "U8", "[1]", 4, 5) "}", 5);
    return write_index(folder, good_index);
}

static void shards_become_one_set(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), index = write_good_shards(&folder);
    ss_tensors *tensors;
    ss_error error;
    assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, &error), SS_OK);
    assert_int_equal(ss_tensors_count(tensors), 3);
    assert_int_equal(ss_tensors_find(tensors, "a")->bytes, 2);
    assert_non_null(strstr(ss_tensors_find(tensors, "b")->file, "2.safetensors"));
    assert_int_equal(((const unsigned char *)ss_tensors_find(tensors, "c")->data)[0], 2);
    ss_tensors_free(tensors);
    temp_folder_remove(&folder);
}

static void shard_names_that_escape_are_refused_before_any_open(void **state) {
    (void)state;
    static const char *const names[] = {"../x.safetensors",  "/etc/passwd", "a/b.safetensors", "..", ".", "",
                                        "a\\\\b.safetensors"};
    temp_path folder = temp_folder_make();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char text[256];
        ss_tensors *tensors = NULL;
        ss_error error;
        /* the other shard does not exist: had anything been opened, the message would be about it */
        snprintf(text, sizeof text, "{\"weight_map\": {\"a\": \"absent.safetensors\", \"b\": \"%s\"}}",
                 names[i]);
        temp_path index = write_index(&folder, text);
        assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, &error), SS_E_FORMAT);
        assert_non_null(strstr(error.message, "is refused"));
        assert_null(tensors);
    }
    temp_folder_remove(&folder);
}

static void missing_shards_are_all_named(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), index = write_index(&folder, good_index);
    ss_tensors *tensors = NULL;
    ss_error error;
    assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, &error), SS_E_FORMAT);
    assert_string_equal(error.where, index.text);
    assert_non_null(strstr(error.message, "1.safetensors, 2.safetensors"));
    temp_folder_remove(&folder);
}

static void tensors_absent_from_their_shard_are_all_named(void **state) {
    (void)state;
    temp_path folder = temp_folder_make();
    write_good_shards(&folder);
    temp_path index =
        write_index(&folder, "{\"weight_map\": {\"a\": \"1.safetensors\", \"b\": \"1.safetensors\","
                             "\"d\": \"2.safetensors\"}}");
    ss_tensors *tensors = NULL;
    ss_error error;
    assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "b, d"));
    assert_null(tensors);
    temp_folder_remove(&folder);
}

static void long_lists_of_names_are_cut(void **state) {
    (void)state;
    static char text[40000] = "{\"weight_map\": {\"x0\": \"shard-00000.safetensors\"";
    for (int i = 1; i < 700; i++) sprintf(text + strlen(text), ", \"x%d\": \"shard-%05d.safetensors\"", i, i);
    strcat(text, "}}");
    temp_path folder = temp_folder_make(), index = write_index(&folder, text);
    ss_tensors *tensors = NULL;
    ss_error error;
    assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "shard-00001.safetensors"));
    assert_non_null(strstr(error.message, "more"));
    temp_folder_remove(&folder);
}

static void indices_that_are_none_are_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"[]",
                                        "{}",
                                        "{\"weight_map\": []}",
                                        "{\"weight_map\": {}}",
                                        "{\"weight_map\": {\"a\": 1}}",
                                        "{\"weight_map\": {\"a\": null}}",
                                        "x"};
    temp_path folder = temp_folder_make();
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ss_tensors *tensors = NULL;
        temp_path index = write_index(&folder, texts[i]);
        assert_int_equal(ss_safetensors_open_sharded(index.text, NULL, &tensors, NULL), SS_E_FORMAT);
    }
    temp_folder_remove(&folder);
}

static void files_that_cannot_be_opened_are_io_errors(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = temp_path_in(&folder, "none");
    ss_tensors *tensors = NULL;
    ss_error error;
    assert_int_equal(ss_safetensors_open(path.text, NULL, &tensors, &error), SS_E_IO);
    assert_string_equal(error.where, path.text);
    assert_int_equal(ss_safetensors_open(folder.text, NULL, &tensors, &error), SS_E_IO);
    assert_int_equal(ss_safetensors_open_sharded(path.text, NULL, &tensors, &error), SS_E_IO);
    temp_file_write(&folder, "none", "", 0);
    assert_int_equal(ss_safetensors_open(path.text, NULL, &tensors, &error), SS_E_FORMAT);
    temp_folder_remove(&folder);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), index = write_good_shards(&folder);
    ss_status status = SS_E_MEMORY;
    for (size_t n = 1; status; n++) {
        failing_allocator memory;
        ss_tensors *tensors = NULL;
        failing_allocator_init(&memory, n);
        status = ss_safetensors_open_sharded(index.text, &memory.allocator, &tensors, NULL);
        assert_true(status == SS_OK || status == SS_E_MEMORY);
        assert_true((tensors != NULL) == (status == SS_OK));
        ss_tensors_free(tensors);
        assert_int_equal(memory.state.live, 0);
        assert_true(n < 100);
    }
    temp_folder_remove(&folder);
}

static void every_failing_json_allocation_fails_cleanly(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), index = write_good_shards(&folder);
    ss_status status = SS_E_MEMORY;
    for (size_t n = 1; status; n++) {
        failing_allocator_state memory;
        ss_tensors *tensors = NULL;
        failing_jansson_init(&memory, n);
        status = ss_safetensors_open_sharded(index.text, NULL, &tensors, NULL);
        failing_jansson_end();
        assert_true((tensors != NULL) == (status == SS_OK));
        ss_tensors_free(tensors);
        assert_int_equal(memory.live, 0);
        assert_true(n < 1000);
    }
    temp_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_found_with_shape_type_and_data),
        cmocka_unit_test(absent_and_unreadable_tensors_are_named),
        cmocka_unit_test(hostile_header_lengths_are_refused_in_little_memory),
        cmocka_unit_test(a_header_over_the_limit_is_refused),
        cmocka_unit_test(inconsistent_headers_are_refused),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(shards_become_one_set),
        cmocka_unit_test(shard_names_that_escape_are_refused_before_any_open),
        cmocka_unit_test(missing_shards_are_all_named),
        cmocka_unit_test(tensors_absent_from_their_shard_are_all_named),
        cmocka_unit_test(long_lists_of_names_are_cut),
        cmocka_unit_test(indices_that_are_none_are_refused),
        cmocka_unit_test(files_that_cannot_be_opened_are_io_errors),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(every_failing_json_allocation_fails_cleanly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
