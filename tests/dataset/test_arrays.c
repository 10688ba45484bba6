/* numpy arrays, and their conversion to edges, features, labels and names. */
#include "tiny.h"

#include "npy.h"

#include <math.h>

/* A .npy file with this header text and data, version 1 unless said otherwise. */
static sfu_status view(sfu__array *array, const char *header, const void *data, size_t size) {
    static unsigned char bytes[4096];
    const size_t length = strlen(header);
    memcpy(bytes, "\x93NUMPY\x01\x00", 8);
    bytes[8] = (unsigned char)length;
    bytes[9] = 0;
    memcpy(bytes + 10, header, length);
    if (size > 0) {
        memcpy(bytes + 10 + length, data, size);
    }
    return sfu__npy_view(array, bytes, 10 + length + size, "a.npy");
}

static void assert_number(const char *type, const void *data, size_t size, double want) {
    sfu__array array;
    char header[128];
    snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n", type);
    assert_ok(view(&array, header, data, size));
    const double got = sfu__array_number(&array, 0);
    assert_true(got == want || (isnan(want) && isnan(got)));
}

static void every_type(void **state) {
    (void)state;
    assert_number("|b1", "\x01", 1, 1);
    assert_number("|i1", "\xff", 1, -1);
    assert_number("|u1", "\xff", 1, 255);
    assert_number("<i2", "\xfe\xff", 2, -2);
    assert_number(">i2", "\xff\xfe", 2, -2);
    assert_number("<u2", "\x01\x02", 2, 513);
    assert_number(">u4", "\x01\x02\x03\x04", 4, 16909060);
    assert_number("<i4", "\x00\x00\x00\x80", 4, -2147483648.0);
    assert_number("<i8", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, -1);
    assert_number("<u8", "\xff\xff\xff\xff\xff\xff\xff\xff", 8, 0x1p64);
    assert_number("<f4", "\x00\x00\xc0\x3f", 4, 1.5);
    assert_number(">f4", "\x3f\xc0\x00\x00", 4, 1.5);
    assert_number("<f8", "\x00\x00\x00\x00\x00\x00\x04\xc0", 8, -2.5);
    assert_number("<f2", "\x00\x3c", 2, 1);
    assert_number("<f2", "\x01\x80", 2, -0x1p-24);
    assert_number("<f2", "\xff\x7b", 2, 65504);
    assert_number("<f2", "\x00\x7c", 2, INFINITY);
    assert_number("<f2", "\x01\x7c", 2, NAN);
}

static void headers(void **state) {
    (void)state;
    sfu__array array;
    const char zeros[16] = {0};
    assert_ok(view(&array, "{'shape': (2L, 3L), \"fortran_order\": True, 'descr': '|u1'}", zeros, 6));
    assert_int_equal(array.shape[0], 2);
    assert_int_equal(array.shape[1], 3);
    assert_true(array.by_column);
    assert_int_equal(sfu__array_at(&array, 1, 2), 5);
    assert_ok(view(&array, "{'descr':'|u1','fortran_order':False,'shape':()}", zeros, 1));
    assert_int_equal(array.count, 1);
    static const struct {
        const char *header, *part;
        size_t size;
    } wrong[] = {
        {"", "a dictionary", 0},
        {"{'descr': '|u1', 'fortran_order': False, }", "needs descr, fortran_order and shape", 0},
        {"{'descr': '|u1', 'descr': '|u1', 'shape': (), }", "each once", 0},
        {"{'colour': 'red'}", "\"'colour'", 0},
        {"{'descr': [('a', '<i4')], 'fortran_order': False, 'shape': (1,)}", "a string", 0},
        {"{'descr': '<c16', 'fortran_order': False, 'shape': (1,)}", "\"<c16\"", 16},
        {"{'descr': '<i3', 'fortran_order': False, 'shape': (1,)}", "\"<i3\"", 3},
        {"{'descr': 'i', 'fortran_order': False, 'shape': (1,)}", "\"i\"", 3},
        {"{'descr': '', 'fortran_order': False, 'shape': (1,)}", "\"\"", 3},
        {"{'descr': '|u1', 'fortran_order': Maybe, 'shape': (1,)}", "True or False", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (-1,)}", "a dimension of the shape", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': 3}", "a tuple", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1)}", "at most four", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,)}", "a dimension of the shape", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (4294967296, 4294967296)}", "is not possible", 1},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (6,)}", "cut short", 5},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (5,)}", "6 bytes of data", 6},
        {"{'descr': '|u1', 'fortran_order': False, 'shape': (5,)} import os", "the end of the header", 5},
        {"{'descr': '|u1", "a string that ends", 0},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(SFU_ERR_FORMAT, view(&array, wrong[i].header, zeros, wrong[i].size), "a.npy: ", wrong[i].part);
    }
    assert_fails(SFU_ERR_FORMAT, sfu__npy_view(&array, "\x93NUMPY\x04\x00\x00\x00", 10, "a.npy"), "version 4");
    assert_fails(SFU_ERR_FORMAT, sfu__npy_view(&array, "NUMPY", 5, "a.npy"), "byte 0");
    assert_fails(SFU_ERR_FORMAT, sfu__npy_view(&array, "\x93NUMPY\x02\x00\xff\xff\xff\xff", 12, "a.npy"), "byte 8",
                 "cut short");
}

/* A seed of the folder npy as the labels of a dataset. */
static sfu_status label_from(sfu__raw *raw, const sfu__bytes *bytes, const sfu__strings *names) {
    sfu__array array;
    sfu__table table = {0};
    assert_ok(sfu__npy_view(&array, bytes->data, bytes->size, "seed"));
    sfu__table_set_dense(&table, &array);
    return sfu__raw_set_labels(raw, &table, names);
}

static sfu_status label(sfu__raw *raw, sfu__bytes *bytes, const char *seed, const sfu__strings *names) {
    *bytes = tiny_seed("npy", seed);
    return label_from(raw, bytes, names);
}

static void assert_labels(const char *seed, int64_t count, const int32_t *want, int64_t classes,
                          const char *const *names) {
    sfu__raw raw = {0};
    sfu__bytes bytes;
    assert_ok(label(&raw, &bytes, seed, NULL));
    assert_int_equal(raw.nodes, count);
    assert_int_equal(raw.classes, classes);
    assert_memory_equal(raw.labels, want, (size_t)count * sizeof *want);
    assert_int_equal(raw.class_names.count, names != NULL ? classes : 0);
    for (int64_t i = 0; names != NULL && i < classes; i++) {
        assert_name(&raw.class_names, i, names[i]);
    }
    sfu__bytes_close(&bytes);
    sfu__raw_clear(&raw);
}

static void labels(void **state) {
    (void)state;
    assert_labels("labels", 10, tiny_labels, 3, NULL);
    assert_labels("text", 5, (const int32_t[]){1, 0, -1, 2, 0}, 3, (const char *[]){"a", "b", "\xc3\xa9t\xc3\xa9"});
    assert_labels("bytes", 4, (const int32_t[]){1, 0, -1, 2}, 3, (const char *[]){"a", "b", "c"});
    assert_labels("objects", 3, (const int32_t[]){1, 0, 1}, 2, (const char *[]){"a", "b"});
    assert_labels("one-hot", 3, (const int32_t[]){2, 0, 1}, 3, NULL);
    assert_labels("boolean", 3, (const int32_t[]){0, 1, 2}, 3, NULL);
}

/* Numbers that are not 0, 1, 2, ... name the classes. */
static void labels_that_count_from_one(void **state) {
    (void)state;
    sfu__array array;
    sfu__table table = {0};
    sfu__raw raw = {0};
    assert_ok(
        view(&array, "{'descr': '<i2', 'fortran_order': False, 'shape': (4,)}", "\x0a\x00\x02\x00\xff\xff\x01\x00", 8));
    sfu__table_set_dense(&table, &array);
    assert_ok(sfu__raw_set_labels(&raw, &table, NULL));
    assert_memory_equal(raw.labels, ((const int32_t[]){2, 1, -1, 0}), 16);
    assert_name(&raw.class_names, 0, "1");
    assert_name(&raw.class_names, 2, "10");
    sfu__raw_clear(&raw);
}

static sfu_status label_with(const char *header, const void *data, size_t size) {
    sfu__array array;
    sfu__table table = {0};
    sfu__raw raw = {0};
    assert_ok(view(&array, header, data, size));
    sfu__table_set_dense(&table, &array);
    const sfu_status status = sfu__raw_set_labels(&raw, &table, NULL);
    sfu__raw_clear(&raw);
    return status;
}

static void wrong_labels(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, label_with("{'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", "\x00\xf0", 2),
                 "a.npy: entry 1 is -16");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", "\x00\x00\xc0\x3f", 4),
                 "a.npy: entry 0 is 1.5");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}", "\x00\x01\x01\x01", 4),
                 "a.npy: row 1", "columns 0 and 1");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|u1', 'fortran_order': False, 'shape': (2, 2)}", "\x00\x01\x02\x00", 4),
                 "a.npy: row 1, column 0 is 2");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 2)}", "\x00\x01\x02\x00", 4),
                 "a.npy: it has 3 dimensions");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '<U1', 'fortran_order': False, 'shape': (1,)}", "\x00\xd8\x00\x00", 4),
                 "a.npy: entry 0", "Unicode");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|S3', 'fortran_order': False, 'shape': (1,)}",
                            "a\x00"
                            "b",
                            3),
                 "a.npy: entry 0", "0 byte");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "cos\nsystem\n.", 12),
                 "a.npy: byte 0", "system");
}

/* Shapes that claim far more elements than there are bytes. */
static void shapes_that_lie(void **state) {
    (void)state;
    sfu__array array;
    assert_fails(SFU_ERR_FORMAT,
                 view(&array, "{'descr': '|O', 'fortran_order': False, 'shape': (1687204932,)}", "N.", 2),
                 "a.npy: 2 bytes of data", "1687204932 objects");
    assert_fails(SFU_ERR_FORMAT,
                 label_with("{'descr': '|u1', 'fortran_order': False, 'shape': (2000000000, 0)}", "", 0),
                 "a.npy: a matrix of 2000000000 x 0 is empty");
}

/* Names from text, objects and a dictionary. */
static void names(void **state) {
    (void)state;
    static const char *const seeds[] = {"text", "objects", "dictionary"};
    static const char *const first[] = {"b", "b", "a"};
    static const char *const second[] = {"a", "a", "b"};
    for (int i = 0; i < 3; i++) {
        sfu__strings found = {0};
        sfu__array array;
        sfu__bytes bytes = tiny_seed("npy", seeds[i]);
        assert_ok(sfu__npy_view(&array, bytes.data, bytes.size, "a.npy"));
        assert_ok(sfu__array_strings(&found, &array));
        assert_name(&found, 0, first[i]);
        assert_name(&found, 1, second[i]);
        sfu__strings_clear(&found);
        sfu__bytes_close(&bytes);
    }
}

static void features(void **state) {
    (void)state;
    static const char *const seeds[] = {"features-columns-first", "big-endian", "half"};
    for (int i = 0; i < 3; i++) {
        sfu__raw raw = {0};
        sfu__array array;
        sfu__table table = {0};
        sfu__bytes bytes = tiny_seed("npy", seeds[i]);
        assert_ok(sfu__npy_view(&array, bytes.data, bytes.size, "a.npy"));
        sfu__table_set_dense(&table, &array);
        assert_ok(sfu__raw_set_features(&raw, &table));
        assert_tiny_features(&raw);
        sfu__raw_clear(&raw);
        sfu__bytes_close(&bytes);
    }
}

/* ---- sparse matrices ------------------------------------------------------------------------------------------ */

static sfu__array vector_of(const int64_t *numbers, int64_t count) {
    sfu__array array = {0};
    snprintf(array.location, sizeof array.location, "vector");
    assert_ok(sfu__array_set_type(&array, "=i8", 3));
    assert_ok(sfu__array_set_shape(&array, 1, &count));
    assert_ok(sfu__array_set_data(&array, numbers, (size_t)count * sizeof *numbers));
    return array;
}

static sfu_status read_compressed(const int64_t *offsets, int64_t offset_count, const int64_t *indices, int64_t count,
                                  int64_t rows, int64_t cols) {
    static const int64_t ones[] = {1, 1, 1, 1, 1, 1, 1, 1};
    sfu__triplets triplets = {0};
    const sfu__array a = vector_of(offsets, offset_count);
    const sfu__array b = vector_of(indices, count);
    const sfu__array c = vector_of(ones, count);
    const sfu_status status = sfu__triplets_compressed(&triplets, "matrix", rows, cols, &a, &b, &c, false);
    sfu__triplets_clear(&triplets);
    return status;
}
#define NUMBERS(...) (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / sizeof(int64_t)

static void wrong_sparse_matrices(void **state) {
    (void)state;
    assert_ok(read_compressed(NUMBERS(0, 1, 2), NUMBERS(2, 0), 2, 3));
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1), NUMBERS(2, 0), 2, 3), "2 entries", "needs 3");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(1, 1, 2), NUMBERS(2, 0), 2, 3), "entry 0 is 1");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 3, 2), NUMBERS(2, 0), 2, 3), "entry 1 is 3");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 2, 1), NUMBERS(2, 0), 2, 3), "entry 2 is 1", "less than");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1, 1), NUMBERS(2, 0), 2, 3), "it ends at 1");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1, 2), NUMBERS(3, 0), 2, 3), "entry 0 is 3", "below 3");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1, 2), NUMBERS(0, -1), 2, 3), "entry 1 is -1");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1, 2), NUMBERS(0, 1), 2, 2000000000), "matrix",
                 "is implausible");
    assert_fails(SFU_ERR_FORMAT, read_compressed(NUMBERS(0, 1, 2), NUMBERS(0, 1), 2, -1), "matrix", "is implausible");
}

static sfu_status label_once(void *seed) {
    sfu__raw raw = {0};
    const sfu_status status = label_from(&raw, seed, NULL);
    sfu__raw_clear(&raw);
    return status;
}

static void memory_may_fail(void **state) {
    (void)state;
    char seeds[][16] = {"labels", "text", "objects", "one-hot"};
    for (int i = 0; i < 4; i++) {
        sfu__bytes bytes = tiny_seed("npy", seeds[i]);
        test_fail_each_allocation(label_once, &bytes, 100);
        sfu__bytes_close(&bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_type),
                                       cmocka_unit_test(headers),
                                       cmocka_unit_test(labels),
                                       cmocka_unit_test(labels_that_count_from_one),
                                       cmocka_unit_test(wrong_labels),
                                       cmocka_unit_test(shapes_that_lie),
                                       cmocka_unit_test(names),
                                       cmocka_unit_test(features),
                                       cmocka_unit_test(wrong_sparse_matrices),
                                       cmocka_unit_test(memory_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
