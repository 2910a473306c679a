/* GGUF: metadata and tensors of small files built here, and hostile files refused before use. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "formats/gguf.h"
#include "support/bytes.h"
#include "support/failing_allocator.h"
#include "support/temp_folder.h"

enum { U8, I8, U16, I16, U32, I32, F32, BOOL, STRING, ARRAY, U64, I64, F64 }; /* metadata types */
enum { TENSOR_F32 = 0, TENSOR_Q4_1 = 3, TENSOR_Q6_K = 14 };

static void put_header(bytes *file, uint32_t version, uint64_t tensors, uint64_t keys) {
    file->size = 0;
    put_text(file, "GGUF");
    put_u32(file, version);
    put_u64(file, tensors);
    put_u64(file, keys);
}

static void put_string(bytes *file, const char *text) {
    put_u64(file, strlen(text));
    put_text(file, text);
}

static void put_key(bytes *file, const char *key, uint32_t type) {
    put_string(file, key);
    put_u32(file, type);
}

static void put_array(bytes *file, uint32_t type, uint64_t count) {
    put_u32(file, type);
    put_u64(file, count);
}

static void put_tensor(bytes *file, const char *name, uint32_t dims, const uint64_t *extents, uint32_t type,
                       uint64_t offset) {
    put_string(file, name);
    put_u32(file, dims);
    for (uint32_t i = 0; i < dims; i++) put_u64(file, extents[i]);
    put_u32(file, type);
    put_u64(file, offset);
}

static void align(bytes *file, size_t alignment) {
    while (file->size % alignment) put_u8(file, 0);
}

static ss_status parse(const bytes *file, ss_gguf **gguf, ss_error *error) {
    unsigned char *exact = malloc(file->size ? file->size : 1); /* the sanitizer sees a read past the end */
    memcpy(exact, file->data, file->size);
    ss_status status = ss_gguf_parse("t.gguf", exact, file->size, NULL, gguf, error);
    if (status) free(exact); /* else the caller reads views into it: kept until the test ends */
    return status;
}

/* ne = [3, 2] with data 1..6, plus one Q4_1 and one Q6_K tensor */
static void put_good_file(bytes *file, uint32_t version) {
    put_header(file, version, 3, 12);
    put_key(file, "u", U32), put_u32(file, 30);
    put_key(file, "f", F32), put_f32(file, 0.5f);
    put_key(file, "b", BOOL), put_u8(file, 1);
    put_key(file, "s", STRING), put_string(file, "llama");
    put_key(file, "i", I32), put_u32(file, (uint32_t)-7);
    put_key(file, "q", U64), put_u64(file, UINT64_MAX);
    put_key(file, "strings", ARRAY), put_array(file, STRING, 3);
    put_string(file, "a"), put_string(file, ""), put_string(file, "bc");
    put_key(file, "numbers", ARRAY), put_array(file, I32, 2);
    put_u32(file, (uint32_t)-1), put_u32(file, 5);
    put_key(file, "flags", ARRAY), put_array(file, BOOL, 2);
    put_u8(file, 0), put_u8(file, 1);
    put_key(file, "none", ARRAY), put_array(file, F32, 0);
    put_key(file, "nested", ARRAY), put_array(file, ARRAY, 1), put_array(file, U8, 1);
    put_u8(file, 9);
    put_key(file, "general.alignment", U32), put_u32(file, 16);
    put_tensor(file, "m", 2, (uint64_t[]){3, 2}, TENSOR_F32, 0);
    put_tensor(file, "q", 2, (uint64_t[]){32, 2}, TENSOR_Q4_1, 32);
    put_tensor(file, "k", 1, (uint64_t[]){256}, TENSOR_Q6_K, 80);
    align(file, 16);
    for (int i = 1; i <= 6; i++) put_f32(file, (float)i);
    align(file, 16);
    put_zeros(file, 40);
    align(file, 16);
    put_zeros(file, 210);
}

static bytes file;

static ss_gguf *open_good(uint32_t version) {
    ss_gguf *gguf = NULL;
    ss_error error = {0};
    put_good_file(&file, version);
    if (ss_gguf_parse("t.gguf", file.data, file.size, NULL, &gguf, &error)) fail_msg("%s", error.message);
    return gguf;
}

static void the_fastest_dimension_comes_last_in_views(void **state) {
    (void)state;
    for (uint32_t version = 2; version <= 3; version++) {
        ss_gguf *gguf = open_good(version);
        const ss_tensor_view *m;
        float values[6];
        assert_int_equal(ss_tensors_get(ss_gguf_tensors(gguf), "m", &m, NULL), SS_OK);
        assert_true(m->dims == 2 && m->shape[0] == 2 && m->shape[1] == 3 && m->bytes == 24);
        ss_to_f32(m->type, m->data, 6, values);
        for (int i = 0; i < 6; i++) assert_true(values[i] == (float)(i + 1)); /* rows [1,2,3], [4,5,6] */
        ss_gguf_free(gguf);
    }
}

static void quantised_and_unread_types_are_listed(void **state) {
    (void)state;
    ss_gguf *gguf = open_good(3);
    const ss_tensors *tensors = ss_gguf_tensors(gguf);
    const ss_tensor_view *view = NULL;
    ss_error error;
    assert_int_equal(ss_tensors_count(tensors), 3);
    assert_int_equal(ss_tensors_find(tensors, "q")->type, SS_TYPE_Q4_1);
    assert_int_equal(ss_tensors_find(tensors, "q")->bytes, 40);
    assert_int_equal(ss_tensors_find(tensors, "k")->bytes, 210);
    assert_int_equal(ss_tensors_get(tensors, "k", &view, &error), SS_E_UNSUPPORTED);
    assert_string_equal(error.where, "k");
    assert_non_null(strstr(error.message, "Q6_K"));
    ss_gguf_free(gguf);
}

static void metadata_is_read_by_type(void **state) {
    (void)state;
    ss_gguf *gguf = open_good(3);
    uint64_t u = 0, q = 0, absent = 12;
    double f = 0, i = 0;
    bool b = false;
    ss_string_view s = {0};
    assert_int_equal(ss_gguf_u64(gguf, "u", SS_REQUIRED, &u, NULL), SS_OK);
    assert_int_equal(ss_gguf_u64(gguf, "q", SS_REQUIRED, &q, NULL), SS_OK);
    assert_int_equal(ss_gguf_u64(gguf, "absent", SS_OPTIONAL, &absent, NULL), SS_OK);
    assert_int_equal(ss_gguf_f64(gguf, "f", SS_REQUIRED, &f, NULL), SS_OK);
    assert_int_equal(ss_gguf_f64(gguf, "i", SS_REQUIRED, &i, NULL), SS_OK);
    assert_int_equal(ss_gguf_bool(gguf, "b", SS_REQUIRED, &b, NULL), SS_OK);
    assert_int_equal(ss_gguf_string(gguf, "s", SS_REQUIRED, &s, NULL), SS_OK);
    assert_true(u == 30 && q == UINT64_MAX && absent == 12 && f == 0.5 && i == -7 && b);
    assert_true(s.length == 5 && memcmp(s.bytes, "llama", 5) == 0);
    assert_int_equal(ss_gguf_key_count(gguf), 12);
    assert_string_equal(ss_gguf_key(gguf, 1), "f");
    assert_true(ss_gguf_has(gguf, "nested") && !ss_gguf_has(gguf, "absent"));
    ss_gguf_free(gguf);
}

static void arrays_are_read_by_type(void **state) {
    (void)state;
    ss_gguf *gguf = open_good(3);
    ss_string_view *strings;
    double *numbers, *flags, *none;
    size_t string_count, number_count, flag_count, none_count;
    assert_int_equal(ss_gguf_strings(gguf, "strings", SS_REQUIRED, NULL, &strings, &string_count, NULL),
                     SS_OK);
    assert_int_equal(ss_gguf_numbers(gguf, "numbers", SS_REQUIRED, NULL, &numbers, &number_count, NULL),
                     SS_OK);
    assert_int_equal(ss_gguf_numbers(gguf, "flags", SS_REQUIRED, NULL, &flags, &flag_count, NULL), SS_OK);
    assert_int_equal(ss_gguf_numbers(gguf, "none", SS_REQUIRED, NULL, &none, &none_count, NULL), SS_OK);
    assert_true(string_count == 3 && number_count == 2 && flag_count == 2 && none_count == 0);
    assert_true(strings[1].length == 0 && strings[2].length == 2 && memcmp(strings[2].bytes, "bc", 2) == 0);
    assert_true(numbers[0] == -1 && numbers[1] == 5 && flags[0] == 0 && flags[1] == 1);
    ss_free(NULL, strings), ss_free(NULL, numbers), ss_free(NULL, flags), ss_free(NULL, none);
    ss_gguf_free(gguf);
}

static void wrong_types_and_missing_keys_are_named(void **state) {
    (void)state;
    ss_gguf *gguf = open_good(3);
    uint64_t u = 1;
    double *numbers = NULL;
    ss_string_view s, *strings = NULL;
    size_t count;
    ss_error error;
    assert_int_equal(ss_gguf_u64(gguf, "x.y", SS_REQUIRED, &u, &error), SS_E_FORMAT);
    assert_string_equal(error.where, "t.gguf");
    assert_string_equal(error.message, "the metadata key \"x.y\" is missing");
    assert_int_equal(ss_gguf_u64(gguf, "f", SS_OPTIONAL, &u, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "the metadata key \"f\" must be an integer, but is f32");
    assert_int_equal(ss_gguf_u64(gguf, "i", SS_OPTIONAL, &u, &error), SS_E_FORMAT);
    assert_string_equal(error.message, "the metadata key \"i\" is negative");
    assert_int_equal(ss_gguf_string(gguf, "strings", SS_OPTIONAL, &s, &error), SS_E_FORMAT);
    assert_string_equal(error.message,
                        "the metadata key \"strings\" must be a string, but is an array of string");
    assert_int_equal(ss_gguf_numbers(gguf, "strings", SS_REQUIRED, NULL, &numbers, &count, &error),
                     SS_E_FORMAT);
    assert_int_equal(ss_gguf_numbers(gguf, "nested", SS_REQUIRED, NULL, &numbers, &count, &error),
                     SS_E_FORMAT);
    assert_int_equal(ss_gguf_strings(gguf, "numbers", SS_REQUIRED, NULL, &strings, &count, &error),
                     SS_E_FORMAT);
    assert_true(u == 1 && !numbers && !strings);
    ss_gguf_free(gguf);
}

/* ---- hostile files: each maker builds one ------------------------------------------------------ */

static void make_dims_that_overflow(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 2, (uint64_t[]){(uint64_t)1 << 32, (uint64_t)1 << 32}, TENSOR_F32, 0);
}
static void make_bytes_that_overflow(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){(uint64_t)1 << 62}, TENSOR_F32, 0);
}
static void make_nine_dims(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 9, (uint64_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1}, TENSOR_F32, 0);
    put_zeros(&file, 64);
}
static void make_huge_string(void) {
    put_header(&file, 3, 0, 1);
    put_key(&file, "s", STRING), put_u64(&file, (uint64_t)1 << 63);
    put_zeros(&file, 64);
}
static void make_huge_key(void) {
    put_header(&file, 3, 0, 1);
    put_u64(&file, UINT64_MAX);
    put_zeros(&file, 64);
}
static void make_deep_arrays(void) {
    put_header(&file, 3, 0, 1);
    put_key(&file, "a", ARRAY);
    for (int i = 0; i < 100; i++) put_array(&file, ARRAY, 1);
    put_array(&file, U8, 0);
}
static void make_huge_array(void) {
    put_header(&file, 3, 0, 1);
    put_key(&file, "a", ARRAY), put_array(&file, STRING, (uint64_t)1 << 60);
    put_zeros(&file, 64);
}
static void make_huge_key_count(void) {
    put_header(&file, 3, 0, (uint64_t)1 << 60);
    put_zeros(&file, 64);
}
static void make_huge_tensor_count(void) {
    put_header(&file, 3, (uint64_t)1 << 60, 0);
    put_zeros(&file, 64);
}
static void make_alignment(uint32_t alignment) {
    put_header(&file, 3, 1, 1);
    put_key(&file, "general.alignment", U32), put_u32(&file, alignment);
    put_tensor(&file, "t", 1, (uint64_t[]){1}, TENSOR_F32, 0);
    put_zeros(&file, 64);
}
static void make_alignment_0(void) {
    make_alignment(0);
}
static void make_alignment_3(void) {
    make_alignment(3);
}
static void make_alignment_2_31(void) {
    make_alignment((uint32_t)1 << 31);
}
static void make_big_endian(void) {
    put_header(&file, 0x03000000, 0, 0);
}
static void make_version_1(void) {
    put_header(&file, 1, 0, 0);
}
static void make_other_file(void) {
    file.size = 0;
    put_text(&file, "PK\x03\x04 this is a zip archive");
}
static void make_unknown_kind(void) {
    put_header(&file, 3, 0, 1);
    put_key(&file, "k", 13), put_zeros(&file, 64);
}
static void make_two_keys_alike(void) {
    put_header(&file, 3, 0, 2);
    put_key(&file, "k", U8), put_u8(&file, 1);
    put_key(&file, "k", U8), put_u8(&file, 2);
}
static void make_two_tensors_alike(void) {
    put_header(&file, 3, 2, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){1}, TENSOR_F32, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){1}, TENSOR_F32, 32);
    put_zeros(&file, 128);
}
static void make_overlap(void) {
    put_header(&file, 3, 2, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){9}, TENSOR_F32, 0);
    put_tensor(&file, "u", 1, (uint64_t[]){1}, TENSOR_F32, 32);
    put_zeros(&file, 128);
}
static void make_offset_unaligned(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){1}, TENSOR_F32, 8);
    put_zeros(&file, 128);
}
static void make_offset_outside(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 1, (uint64_t[]){1}, TENSOR_F32, UINT64_MAX - 31);
    put_zeros(&file, 128);
}
static void make_partial_block(void) {
    put_header(&file, 3, 1, 0);
    put_tensor(&file, "t", 2, (uint64_t[]){16, 2}, TENSOR_Q4_1, 0);
    put_zeros(&file, 128);
}
static void make_zero_byte_in_name(void) {
    put_header(&file, 3, 0, 1);
    put_u64(&file, 3), put(&file, "a\0b", 3);
    put_u32(&file, U8), put_u8(&file, 1);
}

static void hostile_files_are_refused_in_little_memory(void **state) {
    (void)state;
    static const struct {
        void (*make)(void);
        const char *message;
    } cases[] = {
        {make_dims_that_overflow, "product of its shape overflows"},
        {make_bytes_that_overflow, "size overflows"},
        {make_nine_dims, "9 dimensions"},
        {make_huge_string, "a string needs 9223372036854775808 bytes"},
        {make_huge_key, "a metadata key needs"},
        {make_deep_arrays, "nested deeper"},
        {make_huge_array, "do not fit"},
        {make_huge_key_count, "1152921504606846976 metadata keys do not fit"},
        {make_huge_tensor_count, "1152921504606846976 tensors do not fit"},
        {make_alignment_0, "general.alignment is 0"},
        {make_alignment_3, "general.alignment is 3"},
        {make_alignment_2_31, "general.alignment is 2147483648"},
        {make_big_endian, "big-endian"},
        {make_version_1, "GGUF version 1"},
        {make_other_file, "no GGUF file"},
        {make_unknown_kind, "unknown metadata type 13"},
        {make_two_keys_alike, "\"k\" occurs twice"},
        {make_two_tensors_alike, "two tensors are named \"t\""},
        {make_overlap, "overlap"},
        {make_offset_unaligned, "no multiple of the alignment"},
        {make_offset_outside, "not within"},
        {make_partial_block, "no whole number of Q4_1 blocks"},
        {make_zero_byte_in_name, "zero byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        failing_allocator memory;
        ss_gguf *gguf = NULL;
        ss_error error = {0};
        failing_allocator_init(&memory, 0);
        cases[i].make();
        ss_status status = ss_gguf_parse("h.gguf", file.data, file.size, &memory.allocator, &gguf, &error);
        if (status == SS_OK || !strstr(error.message, cases[i].message))
            fail_msg("wanted \"%s\", got \"%s\"", cases[i].message, error.message);
        assert_non_null(strstr(error.where, "h.gguf"));
        assert_null(gguf);
        assert_true(memory.state.live == 0 && memory.state.peak < 16384);
    }
}

static void every_truncation_is_refused(void **state) {
    (void)state;
    put_good_file(&file, 3);
    for (size_t whole = file.size; file.size-- > 0;) {
        ss_gguf *gguf = NULL;
        assert_true(file.size < whole);
        assert_int_not_equal(parse(&file, &gguf, NULL), SS_OK);
    }
}

static void a_vocabulary_without_tensors_is_read(void **state) {
    (void)state;
    ss_gguf *gguf = NULL;
    put_header(&file, 3, 0, 1);
    put_key(&file, "k", U8), put_u8(&file, 1);
    assert_int_equal(ss_gguf_parse("v", file.data, file.size, NULL, &gguf, NULL), SS_OK);
    assert_int_equal(ss_tensors_count(ss_gguf_tensors(gguf)), 0);
    assert_null(ss_tensors_find(ss_gguf_tensors(gguf), "x"));
    ss_gguf_free(gguf);
}

static void every_failing_allocation_is_reported_and_leaks_nothing(void **state) {
    (void)state;
    temp_path folder = temp_folder_make();
    put_good_file(&file, 3);
    temp_path path = temp_file_write(&folder, "t.gguf", file.data, file.size);
    ss_status status = SS_E_MEMORY;
    for (size_t n = 1; status; n++) {
        failing_allocator memory;
        ss_gguf *gguf = NULL;
        ss_string_view *strings = NULL;
        double *numbers = NULL;
        size_t count;
        failing_allocator_init(&memory, n);
        const ss_allocator *allocator = &memory.allocator;
        status = ss_gguf_open(path.text, allocator, &gguf, NULL);
        if (!status)
            status = ss_gguf_strings(gguf, "strings", SS_REQUIRED, allocator, &strings, &count, NULL);
        if (!status)
            status = ss_gguf_numbers(gguf, "numbers", SS_REQUIRED, allocator, &numbers, &count, NULL);
        assert_true(status == SS_OK || status == SS_E_MEMORY);
        ss_free(allocator, strings);
        ss_free(allocator, numbers);
        ss_gguf_free(gguf);
        assert_int_equal(memory.state.live, 0);
        assert_true(n < 100);
    }
    temp_folder_remove(&folder);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_fastest_dimension_comes_last_in_views),
        cmocka_unit_test(quantised_and_unread_types_are_listed),
        cmocka_unit_test(metadata_is_read_by_type),
        cmocka_unit_test(arrays_are_read_by_type),
        cmocka_unit_test(wrong_types_and_missing_keys_are_named),
        cmocka_unit_test(hostile_files_are_refused_in_little_memory),
        cmocka_unit_test(every_truncation_is_refused),
        cmocka_unit_test(a_vocabulary_without_tensors_is_read),
        cmocka_unit_test(every_failing_allocation_is_reported_and_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
