/* NPY and NPZ, CSV and raw rows: every variant that NumPy writes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/csv.h"
#include "formats/npy.h"
#include "formats/raw.h"
#include "support/bytes.h"
#include "support/failing_allocator.h"
#include "support/temp_folder.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <zip.h>

static bytes file;

/* Preamble of version `major` and the dictionary, padded with blanks to at least `least` bytes. */
static void put_npy_header(unsigned major, const char *dictionary, size_t least) {
    size_t length = strlen(dictionary) + 1;
    uint32_t padded = (uint32_t)(length < least ? least : length);
    file.size = 0;
    put(&file, "\x93NUMPY", 6);
    put_u8(&file, (uint8_t)major), put_u8(&file, 0);
    put(&file, &padded, major == 1 ? 2 : 4);
    put_text(&file, dictionary);
    for (size_t i = length; i < padded; i++) put_u8(&file, ' ');
    put_u8(&file, '\n');
}

static void put_dictionary(const char *descr, const char *order, const char *shape) {
    char text[200];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': %s, 'shape': %s, }", descr, order, shape);
    put_npy_header(1, text, 0);
}

static ss_status parse(ss_array *array, ss_error *error) {
    return ss_npy_parse("t.npy", file.data, file.size, NULL, NULL, array, error);
}

static double item(const ss_array *array, size_t index) {
    double value;
    ss_to_f64(array->type, (const char *)array->data + index * ss_type_block_bytes(array->type), 1, &value);
    return value;
}

static void fortran_order_becomes_c_order(void **state) {
    (void)state;
    static const double wanted[] = {1, 3, 5, 2, 4, 6}; /* [[1,3,5],[2,4,6]] */
    ss_array array;
    put_dictionary("<f4", "True", "(2, 3)");
    for (int i = 1; i <= 6; i++) put_f32(&file, (float)i);
    assert_int_equal(parse(&array, NULL), SS_OK);
    assert_true(array.dims == 2 && array.shape[0] == 2 && array.shape[1] == 3);
    for (size_t i = 0; i < 6; i++) assert_true(item(&array, i) == wanted[i]);
    ss_array_free(&array);
}

static void three_dimensions_of_fortran_order_are_transposed(void **state) {
    (void)state;
    ss_array array;
    put_dictionary("<u2", "True", "(2, 3, 4)");
    for (unsigned k = 0; k < 4; k++)
        for (unsigned j = 0; j < 3; j++)
            for (unsigned i = 0; i < 2; i++) put_u8(&file, (uint8_t)(i * 100 + j * 10 + k)), put_u8(&file, 0);
    assert_int_equal(parse(&array, NULL), SS_OK);
    for (size_t n = 0; n < 24; n++)
        assert_true(item(&array, n) == (double)(n / 12 * 100 + n / 4 % 3 * 10 + n % 4));
    ss_array_free(&array);
}

static void big_endian_items_are_swapped(void **state) {
    (void)state;
    static const struct {
        const char *descr, *bytes;
        size_t size;
        double value;
    } cases[] = {
        {">f4", "\x3F\x80\x00\x00", 4, 1},
        {">f8", "\xC0\x00\x00\x00\x00\x00\x00\x00", 8, -2},
        {">i2", "\x01\x02", 2, 258},
        {">f2", "\x3C\x00", 2, 1},
        {">u8", "\x00\x00\x00\x00\x00\x00\x01\x00", 8, 256},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_array array;
        put_dictionary(cases[i].descr, "False", "(1,)");
        put(&file, cases[i].bytes, cases[i].size);
        assert_int_equal(parse(&array, NULL), SS_OK);
        assert_true(item(&array, 0) == cases[i].value);
        ss_array_free(&array);
    }
}

static void every_number_type_is_read(void **state) {
    (void)state;
    static const struct {
        const char *descr;
        ss_type type;
    } cases[] = {
        {"|b1", SS_TYPE_BOOL}, {"|i1", SS_TYPE_I8},  {"|u1", SS_TYPE_U8},  {"<i2", SS_TYPE_I16},
        {"<u2", SS_TYPE_U16},  {"<i4", SS_TYPE_I32}, {"<u4", SS_TYPE_U32}, {"<i8", SS_TYPE_I64},
        {"<u8", SS_TYPE_U64},  {"<f2", SS_TYPE_F16}, {"<f4", SS_TYPE_F32}, {"<f8", SS_TYPE_F64},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_array array;
        put_dictionary(cases[i].descr, "False", "(3,)");
        put_zeros(&file, 3 * ss_type_block_bytes(cases[i].type));
        assert_int_equal(parse(&array, NULL), SS_OK);
        assert_int_equal(array.type, cases[i].type);
        assert_int_equal(array.elements, 3);
        ss_array_free(&array);
    }
}

static void all_versions_and_long_headers_are_read(void **state) {
    (void)state;
    static const char dictionary[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }";
    for (unsigned major = 1; major <= 3; major++) {
        for (size_t least = 0; least <= 60000; least += 60000) { /* 60 KB fit into version 1 too */
            ss_array array;
            put_npy_header(major, dictionary, least);
            put_f32(&file, 2.5f);
            assert_int_equal(parse(&array, NULL), SS_OK);
            assert_true(item(&array, 0) == 2.5);
            ss_array_free(&array);
        }
    }
}

static void an_empty_shape_is_one_number(void **state) {
    (void)state;
    static const char *const orders[] = {"False", "True"};
    for (int i = 0; i < 2; i++) {
        ss_array array;
        put_dictionary(">f4", orders[i], "()");
        put(&file, "\x3F\x80\x00\x00", 4);
        assert_int_equal(parse(&array, NULL), SS_OK);
        assert_true(array.dims == 0 && array.elements == 1 && item(&array, 0) == 1);
        ss_array_free(&array);
    }
}

static void arrays_without_elements_are_read(void **state) {
    (void)state;
    ss_array array;
    put_dictionary(">f8", "True", "(0, 5)");
    assert_int_equal(parse(&array, NULL), SS_OK);
    assert_true(array.elements == 0 && array.shape[1] == 5);
    ss_array_free(&array);
}

static void native_files_are_not_copied(void **state) {
    (void)state;
    temp_path folder = temp_folder_make();
    failing_allocator memory;
    ss_array array;
    failing_allocator_init(&memory, 1); /* the first allocation would fail */
    put_dictionary("<f4", "False", "(2,)");
    put_f32(&file, 1), put_f32(&file, 2);
    temp_path path = temp_file_write(&folder, "a.npy", file.data, file.size);
    assert_int_equal(ss_npy_open(path.text, NULL, &memory.allocator, &array, NULL), SS_OK);
    assert_true(item(&array, 1) == 2);
    ss_array_free(&array);
    temp_folder_remove(&folder);
}

static void raw_pairs_of_bytes_ask_whether_they_are_bfloat16(void **state) {
    (void)state;
    const ss_npy_options options = {.raw_is_bf16 = true};
    ss_array array = {0};
    ss_error error;
    put_dictionary("<V2", "False", "(1,)");
    put(&file, "\x80\x3F", 2);
    assert_int_equal(parse(&array, &error), SS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "is this bfloat16?"));
    assert_int_equal(ss_npy_parse("t", file.data, file.size, &options, NULL, &array, &error), SS_OK);
    assert_true(array.type == SS_TYPE_BF16 && item(&array, 0) == 1);
    ss_array_free(&array);
    put_dictionary("|V4", "False", "(1,)");
    put_zeros(&file, 4);
    assert_int_equal(ss_npy_parse("t", file.data, file.size, &options, NULL, &array, &error),
                     SS_E_UNSUPPORTED);
}

static void items_that_are_no_numbers_are_refused_with_a_reason(void **state) {
    (void)state;
    static const struct {
        const char *descr, *reason;
    } cases[] = {
        {"|O", "never unpickles"}, {"<c8", "complex"},   {"|S3", "strings"},
        {"<U7", "strings"},        {"<M8[ns]", "dates"}, {"<f16", "item type"},
        {"<i3", "item type"},      {"", "item type"},    {"|V8", "structures"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_array array = {0};
        ss_error error;
        put_dictionary(cases[i].descr, "False", "(1,)");
        put_zeros(&file, 64);
        assert_int_equal(parse(&array, &error), SS_E_UNSUPPORTED);
        assert_non_null(strstr(error.message, cases[i].reason));
        assert_null(array.data);
    }
}

static void malformed_headers_are_refused(void **state) {
    (void)state;
    static const struct {
        const char *dictionary, *message;
    } cases[] = {
        {"", "expected {"},
        {"{}", "missing"},
        {"{'descr': '<f4', 'fortran_order': False}", "missing"},
        {"{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", "comma"},
        {"{'descr' '<f4', 'fortran_order': False, 'shape': (1,)}", "colon"},
        {"{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "each once"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "each once"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}", "True or False"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': 1}", "tuple"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}", "comma"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "whole number"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}", "64 bits"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "overflows"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "overflows"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1000,)}", "takes 4000 bytes, but 8 follow"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1)}", "more than 8 dimensions"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x", "unexpected text"},
        {"{'descr': '<f4, 'fortran_order': False, 'shape': (1,)}", "comma"},
        {"{'descr': '<f4", "does not end"},
        {"{'a rather long descr': 1}", "too long"},
        {"{'de\\x73cr': '<f4', 'fortran_order': False, 'shape': (1,)}", "backslash"},
        {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", "structures"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (1", "comma or )"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_array array = {0};
        ss_error error = {0};
        put_npy_header(1, cases[i].dictionary, 0);
        put_zeros(&file, 8);
        ss_status status = parse(&array, &error);
        if (status == SS_OK || !strstr(error.message, cases[i].message))
            fail_msg("%s gave \"%s\"", cases[i].dictionary, error.message);
    }
}

static void dictionaries_as_old_writers_wrote_them_are_read(void **state) {
    (void)state;
    static const char *const dictionaries[] = {
        "{\"shape\": (1L,), \"fortran_order\": False, \"descr\": \"<f4\"}",
        "{ 'descr' : '<f4' , 'shape' : ( 1 , ) , 'fortran_order' : False , }",
        "{'descr':'f4','shape':(1),'fortran_order':False}",
    };
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
        ss_array array;
        put_npy_header(1, dictionaries[i], 0);
        put_f32(&file, 7);
        assert_int_equal(parse(&array, NULL), SS_OK);
        assert_true(array.dims == 1 && item(&array, 0) == 7);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    put_dictionary(">f4", "True", "(2, 2)");
    put_zeros(&file, 16);
    for (size_t size = 0; size < file.size; size++) {
        unsigned char *exact = malloc(size ? size : 1);
        ss_array array = {0};
        memcpy(exact, file.data, size);
        assert_int_not_equal(ss_npy_parse("t", exact, size, NULL, NULL, &array, NULL), SS_OK);
        free(exact);
    }
}

static void saved_arrays_are_read_back(void **state) {
    (void)state;
    static const float f32[] = {1, -2, 3.5f, 0, 5, 6};
    static const int64_t i64[] = {INT64_MIN, 7};
    temp_path folder = temp_folder_make(), path = temp_path_in(&folder, "a.npy");
    ss_array array;
    assert_int_equal(ss_npy_save(path.text, SS_TYPE_F32, 2, (size_t[]){2, 3}, f32, NULL), SS_OK);
    assert_int_equal(ss_npy_open(path.text, NULL, NULL, &array, NULL), SS_OK);
    assert_true(array.type == SS_TYPE_F32 && array.dims == 2 && array.shape[1] == 3);
    assert_memory_equal(array.data, f32, sizeof f32);
    assert_int_equal((uintptr_t)array.data % 64, 0); /* the header is padded as NumPy does */
    ss_array_free(&array);
    assert_int_equal(ss_npy_save(path.text, SS_TYPE_I64, 1, (size_t[]){2}, i64, NULL), SS_OK);
    assert_int_equal(ss_npy_open(path.text, NULL, NULL, &array, NULL), SS_OK);
    assert_memory_equal(array.data, i64, sizeof i64);
    ss_array_free(&array);
    assert_int_equal(ss_npy_save(path.text, SS_TYPE_F64, 0, NULL, &(double){0.1}, NULL), SS_OK);
    assert_int_equal(ss_npy_open(path.text, NULL, NULL, &array, NULL), SS_OK);
    assert_true(array.dims == 0 && item(&array, 0) == 0.1);
    ss_array_free(&array);
    assert_int_equal(ss_npy_save(path.text, SS_TYPE_Q4_0, 1, (size_t[]){32}, f32, NULL), SS_E_UNSUPPORTED);
    temp_folder_remove(&folder);
}

/* ---- NPZ ------------------------------------------------------------------------------------- */

/* Add the bytes now in `file` to an archive as NAME. */
static void add_member(zip_t *archive, const char *name, zip_int32_t method) {
    unsigned char *copy = malloc(file.size);
    memcpy(copy, file.data, file.size);
    zip_int64_t index = zip_file_add(archive, name, zip_source_buffer(archive, copy, file.size, 1), 0);
    assert_true(index >= 0);
    assert_int_equal(zip_set_file_compression(archive, (zip_uint64_t)index, method, 0), 0);
}

static void put_counted_array(size_t count) {
    char shape[32];
    snprintf(shape, sizeof shape, "(%zu,)", count);
    put_dictionary("<f4", "False", shape);
    for (size_t i = 0; i < count; i++) put_f32(&file, (float)i);
}

/* Two arrays, one stored, one deflated, and a text that is none. */
static temp_path write_npz(const temp_path *folder) {
    temp_path path = temp_path_in(folder, "t.npz");
    zip_t *archive = zip_open(path.text, ZIP_CREATE | ZIP_TRUNCATE, NULL);
    put_counted_array(3);
    add_member(archive, "stored.npy", ZIP_CM_STORE);
    put_counted_array(2000);
    add_member(archive, "deflated.npy", ZIP_CM_DEFLATE);
    add_member(archive, "readme.txt", ZIP_CM_STORE);
    assert_int_equal(zip_close(archive), 0);
    return path;
}

static void arrays_of_an_archive_are_read_by_name(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = write_npz(&folder);
    ss_npz *npz;
    ss_array array;
    ss_error error;
    assert_int_equal(ss_npz_open(path.text, NULL, &npz, NULL), SS_OK);
    assert_int_equal(ss_npz_count(npz), 2);
    assert_string_equal(ss_npz_name(npz, 0), "stored");
    assert_int_equal(ss_npz_read(npz, "deflated", NULL, &array, NULL), SS_OK);
    assert_true(array.elements == 2000 && item(&array, 1999) == 1999);
    ss_array_free(&array);
    assert_int_equal(ss_npz_read(npz, "stored", NULL, &array, NULL), SS_OK);
    assert_true(array.elements == 3 && item(&array, 2) == 2);
    ss_array_free(&array);
    assert_int_equal(ss_npz_read(npz, NULL, NULL, &array, &error), SS_E_USAGE);
    assert_string_equal(error.message, "choose one array; the arrays are: stored, deflated");
    assert_int_equal(ss_npz_read(npz, "other", NULL, &array, &error), SS_E_USAGE);
    assert_non_null(strstr(error.message, "stored, deflated"));
    ss_npz_free(npz);
    temp_folder_remove(&folder);
}

static bytes archive_bytes;

/* Read the archive at `path` into archive_bytes. */
static void load_archive(const temp_path *path) {
    FILE *stream = fopen(path->text, "rb");
    archive_bytes.size = fread(archive_bytes.data, 1, sizeof archive_bytes.data, stream);
    fclose(stream);
}

/* Where the central directory's entry of `name` begins. */
static unsigned char *central_entry(const char *name) {
    for (size_t i = 0; i + 46 + strlen(name) <= archive_bytes.size; i++) {
        unsigned char *entry = archive_bytes.data + i;
        if (memcmp(entry, "PK\x01\x02", 4) == 0 && memcmp(entry + 46, name, strlen(name)) == 0) return entry;
    }
    fail();
    return NULL;
}

static ss_status read_tampered(const char *name, const ss_npy_options *options, ss_error *error) {
    failing_allocator memory;
    ss_npz *npz;
    ss_array array = {0};
    failing_allocator_init(&memory, 0);
    ss_status status =
        ss_npz_parse("t.npz", archive_bytes.data, archive_bytes.size, &memory.allocator, &npz, error);
    if (!status) {
        status = ss_npz_read(npz, name, options, &array, error);
        ss_npz_free(npz);
        ss_array_free(&array);
    }
    assert_int_equal(memory.state.live, 0);
    assert_true(memory.state.peak < 100000);
    return status;
}

static void incredible_member_sizes_are_refused_unread(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = write_npz(&folder);
    const ss_npy_options small = {.limit = 1000};
    const uint32_t claimed = 0xF0000000;
    ss_error error;
    load_archive(&path);
    memcpy(central_entry("deflated.npy") + 24, &claimed, 4);
    assert_int_equal(read_tampered("deflated", NULL, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "that cannot be"));
    load_archive(&path);
    assert_int_equal(read_tampered("deflated", &small, &error), SS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "limit of 1000"));
    temp_folder_remove(&folder);
}

static void members_that_lie_about_size_or_sum_are_refused(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = write_npz(&folder);
    ss_error error;
    for (int offset = 16; offset <= 24; offset += 8) { /* the CRC, then the unpacked size */
        load_archive(&path);
        central_entry("deflated.npy")[offset] ^= 4;
        assert_int_equal(read_tampered("deflated", NULL, &error), SS_E_FORMAT);
    }
    load_archive(&path);
    central_entry("deflated.npy")[24] ^= 0x40; /* 64 bytes less than there are */
    assert_int_equal(read_tampered("deflated", NULL, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "size it claims"));
    load_archive(&path);
    central_entry("deflated.npy")[10] = 12; /* bzip2 */
    assert_int_equal(read_tampered("deflated", NULL, &error), SS_E_UNSUPPORTED);
    assert_non_null(strstr(error.message, "method 12"));
    temp_folder_remove(&folder);
}

static void files_that_are_no_archive_are_refused(void **state) {
    (void)state;
    ss_npz *npz = NULL;
    ss_error error;
    assert_int_equal(ss_npz_parse("t.npz", "", 0, NULL, &npz, &error), SS_E_FORMAT);
    assert_int_equal(ss_npz_parse("t.npz", "no archive", 10, NULL, &npz, &error), SS_E_FORMAT);
    assert_non_null(strstr(error.message, "no NPZ file"));
    assert_int_equal(ss_npz_open("/nonexistent.npz", NULL, &npz, &error), SS_E_IO);
    assert_null(npz);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state) {
    (void)state;
    temp_path folder = temp_folder_make(), path = temp_path_in(&folder, "f.npz");
    zip_t *archive = zip_open(path.text, ZIP_CREATE, NULL);
    put_dictionary(">f4", "True", "(2, 2)"); /* needs a conversion */
    put_zeros(&file, 16);
    add_member(archive, "a.npy", ZIP_CM_DEFLATE);
    assert_int_equal(zip_close(archive), 0);
    ss_status status = SS_E_MEMORY;
    for (size_t n = 1; status; n++) {
        failing_allocator memory;
        ss_npz *npz = NULL;
        ss_array array = {0};
        failing_allocator_init(&memory, n);
        status = ss_npz_open(path.text, &memory.allocator, &npz, NULL);
        if (!status) status = ss_npz_read(npz, NULL, NULL, &array, NULL);
        assert_true(status == SS_OK || status == SS_E_MEMORY);
        ss_array_free(&array);
        ss_npz_free(npz);
        assert_int_equal(memory.state.live, 0);
        assert_true(n < 100);
    }
    temp_folder_remove(&folder);
}

/* ---- CSV and raw ----------------------------------------------------------------------------- */

static ss_status parse_csv(const char *text, ss_array *array, ss_error *error) {
    return ss_csv_parse("t.csv", text, strlen(text), NULL, array, error);
}

static void rows_of_text_are_read_under_any_separator(void **state) {
    (void)state;
    static const char *const texts[] = {
        "1,2,3\n4,5,6\n",
        "1;2;3\r\n4;5;6\r\n",
        "1\t2\t3\n4\t5\t6",
        "  1 2   3 \n4 5 6\n\n",
        "a,b,c\n1, 2 ,3\n4,5,6",
        "# made by x\n\n1,2,3\n4,5,6",
        "\xEF\xBB\xBF"
        "1,2,3\n4,5,6",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ss_array array = {0};
        ss_error error = {0};
        if (parse_csv(texts[i], &array, &error)) fail_msg("%s: %s", texts[i], error.message);
        assert_true(array.dims == 2 && array.shape[0] == 2 && array.shape[1] == 3);
        for (size_t k = 0; k < 6; k++) assert_true(item(&array, k) == (double)(k + 1));
        ss_array_free(&array);
    }
}

static void numbers_read_the_same_under_every_locale(void **state) {
    (void)state;
    ss_array array;
    setlocale(LC_ALL, "de_DE.UTF-8"); /* where it is installed, its decimal comma must not matter */
    assert_int_equal(parse_csv("0.1,-1e-300,nan,inf\n", &array, NULL), SS_OK);
    setlocale(LC_ALL, "C");
    assert_true(item(&array, 0) == 0.1 && item(&array, 1) == -1e-300);
    assert_true(isnan(item(&array, 2)) && isinf(item(&array, 3)));
    ss_array_free(&array);
}

static void bad_rows_of_text_are_refused_with_their_line(void **state) {
    (void)state;
    static const struct {
        const char *text, *where, *message;
    } cases[] = {
        {"1,2\n3,4\n5\n", "t.csv, line 3", "this row has 1 numbers, the first has 2"},
        {"1,2\n3,x\n", "t.csv, line 2", "no number: \"x\""},
        {"1,2\n3,\n", "t.csv, line 2", "no number"},
        {"0,5;0,5\n", "t.csv, line 1", "no number: \"0,5\""},
        {"0.5;0.5\n0,5;0,5\n", "t.csv, line 2", "no number: \"0,5\""},
        {"a,b\nc,d\n", "t.csv, line 2", "no number: \"c\""},
        {"", "t.csv", "no row of numbers"},
        {"# nothing\n", "t.csv", "no row of numbers"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ss_array array = {0};
        ss_error error = {0};
        assert_int_equal(parse_csv(cases[i].text, &array, &error), SS_E_FORMAT);
        assert_string_equal(error.where, cases[i].where);
        if (!strstr(error.message, cases[i].message)) fail_msg("got \"%s\"", error.message);
        assert_null(array.data);
    }
}

static void raw_floats_become_rows(void **state) {
    (void)state;
    static const float values[] = {1, 2, 3, 4, 5, 6};
    temp_path folder = temp_folder_make(), path = temp_file_write(&folder, "raw", values, sizeof values);
    ss_array array = {0};
    ss_error error;
    FILE *stream = fopen(path.text, "rb");
    assert_int_equal(ss_raw_read(stream, "stdin", 3, NULL, &array, NULL), SS_OK);
    assert_true(array.dims == 2 && array.shape[0] == 2 && array.shape[1] == 3);
    assert_memory_equal(array.data, values, sizeof values);
    ss_array_free(&array);
    rewind(stream);
    assert_int_equal(ss_raw_read(stream, "stdin", 4, NULL, &array, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "24 bytes are no whole number of rows of 4 float32");
    assert_int_equal(ss_raw_read(stream, "stdin", 0, NULL, &array, &error), SS_E_USAGE);
    assert_int_equal(ss_raw_read(stream, "stdin", SIZE_MAX / 2, NULL, &array, &error), SS_E_FORMAT);
    fclose(stream);
    temp_folder_remove(&folder);
}

static void csv_and_raw_report_every_failing_allocation(void **state) {
    (void)state;
    static float values[50000];
    temp_path folder = temp_folder_make(), path = temp_file_write(&folder, "raw", values, sizeof values);
    FILE *stream = fopen(path.text, "rb");
    ss_status status = SS_E_MEMORY;
    for (size_t n = 1; status; n++) {
        failing_allocator memory;
        ss_array csv = {0}, raw = {0};
        failing_allocator_init(&memory, n);
        rewind(stream);
        status = ss_csv_parse("t", "1,2,3,4,5\n1,2,3,4,5\n", 20, &memory.allocator, &csv, NULL);
        if (!status) status = ss_raw_read(stream, "r", 5, &memory.allocator, &raw, NULL);
        assert_true(status == SS_OK || status == SS_E_MEMORY);
        ss_array_free(&csv);
        ss_array_free(&raw);
        assert_int_equal(memory.state.live, 0);
        assert_true(n < 100);
    }
    fclose(stream);
    temp_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fortran_order_becomes_c_order),
        cmocka_unit_test(three_dimensions_of_fortran_order_are_transposed),
        cmocka_unit_test(big_endian_items_are_swapped),
        cmocka_unit_test(every_number_type_is_read),
        cmocka_unit_test(all_versions_and_long_headers_are_read),
        cmocka_unit_test(an_empty_shape_is_one_number),
        cmocka_unit_test(arrays_without_elements_are_read),
        cmocka_unit_test(native_files_are_not_copied),
        cmocka_unit_test(raw_pairs_of_bytes_ask_whether_they_are_bfloat16),
        cmocka_unit_test(items_that_are_no_numbers_are_refused_with_a_reason),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(dictionaries_as_old_writers_wrote_them_are_read),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(saved_arrays_are_read_back),
        cmocka_unit_test(arrays_of_an_archive_are_read_by_name),
        cmocka_unit_test(incredible_member_sizes_are_refused_unread),
        cmocka_unit_test(members_that_lie_about_size_or_sum_are_refused),
        cmocka_unit_test(files_that_are_no_archive_are_refused),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
        cmocka_unit_test(rows_of_text_are_read_under_any_separator),
        cmocka_unit_test(numbers_read_the_same_under_every_locale),
        cmocka_unit_test(bad_rows_of_text_are_refused_with_their_line),
        cmocka_unit_test(raw_floats_become_rows),
        cmocka_unit_test(csv_and_raw_report_every_failing_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
