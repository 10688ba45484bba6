/* Datasets from arrays, through the container and back; inconsistent containers; and what the builder changes. */
#include "support.h"

#include "dataset.h"
#include "digest.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Five nodes: a triangle with a doubled edge and a loop, an edge apart from it; node 4 has neither label nor features.
 */
static const int32_t edge_from[] = {0, 1, 0, 2, 2, 3};
static const int32_t edge_to[] = {1, 0, 1, 0, 2, 4};
static const float edge_weight[] = {1, 2, 3, 4, 5, 6};
static const float dense[] = {3, 4, 0, 0, 0, 2, 1, 1, 0, 0};
static const int32_t labels[] = {0, 1, 0, 1, -1};
static const char *const class_names[] = {"cats", "dogs"};
static const char *const node_names[] = {"a", "b", "c", "d", "e \"f\""};
static const int32_t train[] = {2, 0}, val[] = {1}, test[] = {3};
static const float trust[] = {1, 0.5f, 0.25f, 0, 2};
static const char *const column_names[] = {"trust"};
static const float *const columns[] = {trust};

static sfu_arrays small(void) {
    return (sfu_arrays){.size = sizeof(sfu_arrays),
                        .nodes = 5,
                        .edges = 6,
                        .edge_from = edge_from,
                        .edge_to = edge_to,
                        .edge_weight = edge_weight,
                        .features = 2,
                        .dense = dense,
                        .labels = labels,
                        .classes = 2,
                        .class_names = class_names,
                        .node_names = node_names,
                        .standard = {train, val, test},
                        .standard_count = {2, 1, 1},
                        .column_count = 1,
                        .column_names = column_names,
                        .columns = columns};
}

static sfu_dataset *make(const sfu_arrays *arrays, const sfu_import_options *options) {
    sfu_import_options defaults;
    sfu_import_options_init(&defaults);
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_from_arrays(&dataset, arrays, options != NULL ? options : &defaults));
    return dataset;
}

static void assert_row(const sfu_csr *csr, int row, int count, const int32_t *indices, const float *values) {
    assert_int_equal(csr->indptr[row + 1] - csr->indptr[row], count);
    for (int i = 0; i < count; i++) {
        assert_int_equal(csr->indices[csr->indptr[row] + i], indices[i]);
        if (values != NULL) {
            assert_true(csr->values[csr->indptr[row] + i] == values[i]);
        }
    }
}

static void from_arrays(void **state) {
    (void)state;
    const sfu_arrays arrays = small();
    sfu_dataset *dataset = make(&arrays, NULL);
    assert_int_equal(sfu_dataset_nodes(dataset), 5);
    assert_int_equal(sfu_dataset_features(dataset), 2);
    assert_int_equal(sfu_dataset_classes(dataset), 2);
    const sfu_csr graph = sfu_dataset_graph(dataset);
    assert_row(&graph, 0, 2, (int32_t[]){1, 2}, (float[]){3, 4});
    assert_row(&graph, 1, 1, (int32_t[]){0}, (float[]){3});
    assert_row(&graph, 2, 1, (int32_t[]){0}, (float[]){4});
    assert_row(&graph, 3, 1, (int32_t[]){4}, (float[]){6});
    int64_t number = 0;
    assert_ok(sfu__dataset_source_number(&number, dataset, "duplicates_dropped"));
    assert_int_equal(number, 1);
    assert_ok(sfu__dataset_source_number(&number, dataset, "self_loops_dropped"));
    assert_int_equal(number, 1);
    const float *x = sfu_dataset_dense(dataset);
    assert_non_null(x);
    assert_true(x[0] == 0.6f && x[1] == 0.8f && x[2] == 0 && x[5] == 1 && x[6] == (float)(1 / sqrt(2.0)));
    assert_string_equal(sfu_dataset_class_name(dataset, 1), "dogs");
    assert_null(sfu_dataset_class_name(dataset, 2));
    size_t size;
    const char *name = sfu_dataset_node_name(dataset, 4, &size);
    assert_int_equal(size, 5);
    assert_memory_equal(name, "e \"f\"", 5);
    int32_t count;
    const int32_t *part = sfu_dataset_standard(dataset, SFU_TRAIN, &count);
    assert_int_equal(count, 2);
    assert_true(part[0] == 0 && part[1] == 2);
    assert_true(sfu_dataset_column(dataset, "trust")[2] == 0.25f);
    assert_null(sfu_dataset_column(dataset, "doubt"));
    assert_string_equal(sfu_dataset_column_name(dataset, 0), "trust");
    sfu_dataset_free(dataset);
}

/* The edges of node i are those from edge_indptr[i] on; the dataset is that of the same pairs. */
static void edges_as_csr(void **state) {
    (void)state;
    static const int32_t from[] = {0, 0, 2, 2, 3}, to[] = {1, 1, 0, 2, 4};
    static const int64_t indptr[] = {0, 2, 2, 4, 5, 5};
    static const char *const names[] = {"length", "weight"};
    sfu_arrays arrays = small();
    arrays.edges = 5;
    arrays.edge_from = from;
    arrays.edge_to = to;
    arrays.feature_names = names;
    sfu_dataset *pairs = make(&arrays, NULL);
    arrays.edge_from = NULL;
    arrays.edge_indptr = indptr;
    sfu_dataset *csr = make(&arrays, NULL);
    char one[65], other[65];
    assert_ok(sfu_dataset_digest(one, pairs));
    assert_ok(sfu_dataset_digest(other, csr));
    assert_string_equal(one, other);
    assert_string_equal(sfu_dataset_feature_name(csr, 1), "weight");
    sfu_dataset_free(pairs);
    sfu_dataset_free(csr);
}

static void refused_csr(void **state) {
    (void)state;
    static const int64_t late[] = {1, 2, 2, 4, 5, 6}, short_of[] = {0, 2, 2, 4, 5, 5}, falls[] = {0, 4, 2, 4, 5, 6};
    static const struct {
        const int64_t *indptr;
        const char *what;
    } wrong[] = {{late, "found 1 to 6"}, {short_of, "found 0 to 5"}, {falls, "falls from 4 to 2 at node 1"}};
    sfu_dataset *dataset = NULL;
    sfu_arrays arrays = small();
    arrays.edge_indptr = late;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_from_arrays(&dataset, &arrays, NULL), "not both");
    arrays.edge_from = NULL;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        arrays.edge_indptr = wrong[i].indptr;
        assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_from_arrays(&dataset, &arrays, NULL), wrong[i].what);
        assert_null(dataset);
    }
}

static void the_options(void **state) {
    (void)state;
    const sfu_arrays arrays = small();
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.directed = true;
    options.keep_loops = true;
    options.duplicates = SFU_DUPLICATES_SUM;
    options.scale = SFU_SCALE_SUM;
    sfu_dataset *dataset = make(&arrays, &options);
    sfu_csr graph = sfu_dataset_graph(dataset);
    assert_row(&graph, 0, 1, (int32_t[]){1}, (float[]){4});
    assert_row(&graph, 2, 2, (int32_t[]){0, 2}, (float[]){4, 5});
    assert_true(sfu_dataset_dense(dataset)[0] == (float)(3.0 / 7));
    assert_true(dataset->directed);
    sfu_dataset_free(dataset);

    sfu_import_options_init(&options);
    options.largest = true;
    options.scale = SFU_SCALE_NONE;
    dataset = make(&arrays, &options);
    assert_int_equal(sfu_dataset_nodes(dataset), 3);
    graph = sfu_dataset_graph(dataset);
    assert_row(&graph, 0, 2, (int32_t[]){1, 2}, (float[]){3, 4});
    int32_t count;
    (void)sfu_dataset_standard(dataset, SFU_TEST, &count);
    assert_int_equal(count, 0);
    (void)sfu_dataset_standard(dataset, SFU_TRAIN, &count);
    assert_int_equal(count, 2);
    int64_t left_out = 0;
    assert_ok(sfu__dataset_source_number(&left_out, dataset, "nodes_left_out"));
    assert_int_equal(left_out, 2);
    assert_false(dataset->directed);
    sfu_dataset_free(dataset);
}

/* Sparse features come unsorted and doubled; dense ones that are mostly zeros become sparse; none become one-hot. */
static void features(void **state) {
    (void)state;
    const int64_t indptr[] = {0, 3, 3, 5};
    const int32_t indices[] = {4, 1, 4, 0, 2};
    const float values[] = {1, 2, 3, 0, 5};
    sfu_arrays arrays = {
        .size = sizeof(sfu_arrays), .nodes = 3, .features = 5, .indptr = indptr, .indices = indices, .values = values};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.scale = SFU_SCALE_NONE;
    sfu_dataset *dataset = make(&arrays, &options);
    sfu_csr x = sfu_dataset_sparse(dataset);
    assert_null(sfu_dataset_dense(dataset));
    assert_row(&x, 0, 2, (int32_t[]){1, 4}, (float[]){2, 4});
    assert_row(&x, 1, 0, NULL, NULL);
    assert_row(&x, 2, 1, (int32_t[]){2}, (float[]){5});
    sfu_dataset_free(dataset);

    float wide[3 * 40] = {0};
    wide[7] = 2;
    wide[119] = -1;
    arrays = (sfu_arrays){.size = sizeof(sfu_arrays), .nodes = 3, .features = 40, .dense = wide};
    dataset = make(&arrays, &options);
    x = sfu_dataset_sparse(dataset);
    assert_row(&x, 0, 1, (int32_t[]){7}, (float[]){2});
    assert_row(&x, 2, 1, (int32_t[]){39}, (float[]){-1});
    sfu_dataset_free(dataset);

    arrays = (sfu_arrays){.size = sizeof(sfu_arrays), .nodes = 3};
    dataset = make(&arrays, &options);
    x = sfu_dataset_sparse(dataset);
    assert_int_equal(sfu_dataset_features(dataset), 3);
    assert_row(&x, 2, 1, (int32_t[]){2}, NULL);
    sfu_dataset_free(dataset);
}

static void refused_arrays(void **state) {
    (void)state;
    sfu_import_options options;
    sfu_import_options_init(&options);
    sfu_dataset *dataset = NULL;
    sfu_arrays arrays = small();
    const int32_t outside[] = {0, 1, 0, 2, 2, 5};
    arrays.edge_to = outside;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "edge 5", "5");
    arrays = small();
    const float bad_weight[] = {1, 2, 3, INFINITY, 5, 6};
    arrays.edge_weight = bad_weight;
    assert_fails(SFU_ERR_FORMAT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "edge 3", "inf");
    arrays = small();
    const int32_t bad_labels[] = {0, 1, 2, 1, -1};
    arrays.labels = bad_labels;
    assert_fails(SFU_ERR_FORMAT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "node 2", "label 2");
    arrays = small();
    const float bad_dense[] = {3, 4, 0, NAN, 0, 2, 1, 1, 0, 0};
    arrays.dense = bad_dense;
    assert_fails(SFU_ERR_FORMAT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "node 1", "nan");
    arrays = small();
    const int32_t doubled[] = {2, 3};
    arrays.standard[SFU_VAL] = doubled;
    arrays.standard_count[SFU_VAL] = 2;
    assert_fails(SFU_ERR_FORMAT, sfu_dataset_from_arrays(&dataset, &arrays, &options), "node 2", "split.train",
                 "split.val");
    assert_null(dataset);
}

/* ---- the container -------------------------------------------------------------------------------------------- */

static void there_and_back(void **state) {
    (void)state;
    const sfu_arrays arrays = small();
    sfu_dataset *dataset = make(&arrays, NULL);
    const char *path = test_path("pets.safetensors");
    assert_ok(sfu_dataset_save(dataset, path));
    sfu_dataset *again = NULL;
    assert_ok(sfu_dataset_open(&again, path));
    assert_ok(sfu_dataset_check(again));
    assert_string_equal(sfu_dataset_name(again), "pets");
    char one[65];
    char two[65];
    assert_ok(sfu_dataset_digest(one, dataset));
    assert_ok(sfu_dataset_digest(two, again));
    assert_string_equal(one, two);
    assert_string_equal(sfu_dataset_class_name(again, 0), "cats");
    int64_t dropped = 0;
    assert_ok(sfu__dataset_source_number(&dropped, again, "duplicates_dropped"));
    assert_int_equal(dropped, 1);
    const char *copy = test_path("copy.safetensors");
    assert_ok(sfu_dataset_save(again, copy)); /* loading changes nothing: the same bytes */
    char file_one[65];
    char file_two[65];
    assert_ok(sfu__digest_of_file(file_one, path));
    assert_ok(sfu__digest_of_file(file_two, copy));
    assert_string_equal(file_one, file_two);
    sfu_dataset_free(again);
    sfu_dataset_free(dataset);
}

/* A safetensors file from a header and data, for invalid files. */
static const char *write_container(const char *header, const void *data, size_t size) {
    static unsigned char bytes[4096];
    const size_t length = strlen(header);
    for (int i = 0; i < 8; i++) {
        bytes[i] = (unsigned char)((uint64_t)length >> (8 * i));
    }
    memcpy(bytes + 8, header, length);
    memcpy(bytes + 8 + length, data, size);
    return test_file("made.safetensors", bytes, 8 + length + size);
}

#define META "\"__metadata__\":{\"format\":\"sfumato.dataset.1\",\"features\":\"2\"}"
#define ADJ                                                                                                            \
    "\"adj.indptr\":{\"dtype\":\"I64\",\"shape\":[3],\"data_offsets\":[0,24]},"                                        \
    "\"adj.indices\":{\"dtype\":\"I32\",\"shape\":[2],\"data_offsets\":[24,32]}"
#define X "\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[32,48]}"

typedef struct body {
    int64_t indptr[3];
    int32_t indices[2];
    float x[4];
} body;
static const body good = {{0, 1, 2}, {1, 0}, {1, 0, 0, 1}};

static void foreign_containers(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_open(&dataset, write_container("{" META "," ADJ "," X "}", &good, sizeof good)));
    assert_ok(sfu_dataset_check(dataset));
    assert_int_equal(sfu_dataset_nodes(dataset), 2);
    sfu_dataset_free(dataset);
    /* Shifted by one byte: every tensor is misaligned and is copied. */
    assert_ok(sfu_dataset_open(&dataset, write_container("{" META "," ADJ "," X " }", &good, sizeof good)));
    assert_ok(sfu_dataset_check(dataset));
    assert_true(sfu_dataset_dense(dataset)[3] == 1);
    sfu_dataset_free(dataset);

    static const struct {
        const char *header, *says;
    } wrong[] = {
        {"[]", "not a JSON object"},
        {"{", "not a JSON object"},
        {"{" ADJ "," X "}", "format"},
        {"{\"__metadata__\":{\"format\":\"sfumato.model.1\"}," ADJ "," X "}", "sfumato.model.1"},
        {"{\"__metadata__\":{\"format\":3}," ADJ "," X "}", "format"},
        {"{" META ",\"z\":{\"dtype\":\"U8\",\"shape\":[32],\"data_offsets\":[0,32]}," X "}", "adj.indptr"},
        {"{" META "," ADJ ",\"z\":{\"dtype\":\"U8\",\"shape\":[16],\"data_offsets\":[32,48]}}", "x.indptr"},
        {"{" META "," X "}", "tensor \"x\": there is a gap before its bytes"},
        {"{" META "," ADJ "}", "16 bytes at the end of the file belong to no tensor"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[32,52]}}", "cut short"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[32,44]}}", "do not fit"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[28,44]}}", "overlap"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F99\",\"shape\":[2,2],\"data_offsets\":[32,48]}}", "F99"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[4],\"data_offsets\":[32,48]}}", "2 dimensions"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[9223372036854775807,4],\"data_offsets\":[32,48]}}",
         "shape"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[-2,-2],\"data_offsets\":[32,48]}}", "shape"},
        {"{" META "," ADJ ",\"x\":{\"dtype\":\"F32\",\"shape\":[2,2],\"data_offsets\":[-16,0]}}", "data_offsets"},
        {"{" META "," ADJ "," X ",\"y\":{\"dtype\":\"I32\",\"shape\":[3],\"data_offsets\":[32,44]}}", "overlap"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(SFU_ERR_FORMAT, sfu_dataset_open(&dataset, write_container(wrong[i].header, &good, sizeof good)),
                     "made.safetensors", wrong[i].says);
        assert_null(dataset);
    }
}

/* Peak of allocated bytes. */
static struct { int64_t now, most; } used;

static void *counting_resize(void *user, void *pointer, size_t bytes) {
    (void)user;
    size_t *block = realloc(pointer != NULL ? (size_t *)pointer - 2 : NULL, bytes + 2 * sizeof *block);
    if (block == NULL) {
        return NULL;
    }
    used.now += (int64_t)bytes - (pointer != NULL ? (int64_t)*block : 0);
    used.most = used.now > used.most ? used.now : used.most;
    *block = bytes;
    return block + 2;
}

static void counting_release(void *user, void *pointer) {
    (void)user;
    if (pointer != NULL) {
        size_t *block = (size_t *)pointer - 2;
        used.now -= (int64_t)*block;
        free(block);
    }
}

/* Overlapping misaligned tensors, each of which would be copied: none is. */
static void overlaps_take_no_memory(void **state) {
    (void)state;
    enum { TENSORS = 200, BYTES = 1 << 16 };
    sfu__text file = {0};
    assert_ok(sfu__text_format(&file, "12345678{" META));
    for (int i = 0; i < TENSORS; i++) {
        assert_ok(sfu__text_format(&file, ",\"t%d\":{\"dtype\":\"I64\",\"shape\":[%d],\"data_offsets\":[0,%d]}", i,
                                   BYTES / 8, BYTES));
    }
    assert_ok(sfu__text_format(&file, "}"));
    while (file.size % 8 != 1) {
        assert_ok(sfu__text_add(&file, " ", 1));
    }
    const uint64_t length = file.size - 8;
    for (int i = 0; i < 8; i++) {
        file.bytes[i] = (char)(length >> (8 * i));
    }
    static const char data[BYTES];
    assert_ok(sfu__text_add(&file, data, BYTES));
    const char *path = test_file("overlap.safetensors", file.bytes, file.size);
    const int64_t size = (int64_t)file.size;
    sfu__text_clear(&file);
    const sfu_allocator counting = {counting_resize, counting_release, NULL};
    used.now = used.most = 0;
    sfu_set_allocator(&counting);
    sfu_dataset *dataset = NULL;
    const sfu_status status = sfu_dataset_open(&dataset, path);
    sfu_set_allocator(NULL);
    assert_int_equal(used.now, 0);
    assert_true(used.most < 3 * size);
    assert_fails(SFU_ERR_FORMAT, status, "overlap another tensor");
}

static void lying_contents(void **state) {
    (void)state;
    static const struct {
        body body;
        const char *says;
    } wrong[] = {
        {{{1, 1, 2}, {1, 0}, {0}}, "adj.indptr"},  {{{0, 3, 2}, {1, 0}, {0}}, "adj.indptr"},
        {{{0, -1, 2}, {1, 0}, {0}}, "adj.indptr"}, {{{0, 1, 1}, {1, 0}, {0}}, "adj.indptr"},
        {{{0, 1, 2}, {2, 0}, {0}}, "adj.indices"}, {{{0, 1, 2}, {1, -1}, {0}}, "adj.indices"},
        {{{0, 0, 2}, {1, 1}, {0}}, "must ascend"}, {{{0, 1, 2}, {1, 0}, {0, 0, NAN, 0}}, "node 1, column 0"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu_dataset *dataset = NULL;
        assert_ok(
            sfu_dataset_open(&dataset, write_container("{" META "," ADJ "," X "}", &wrong[i].body, sizeof(body))));
        assert_fails(SFU_ERR_FORMAT, sfu_dataset_check(dataset), "made", wrong[i].says);
        assert_fails(SFU_ERR_FORMAT, sfu_dataset_check(dataset), wrong[i].says); /* and fails again */
        assert_fails(SFU_ERR_FORMAT, sfu_dataset_save(dataset, test_path("never.safetensors")), wrong[i].says);
        sfu_dataset_free(dataset);
    }
    assert_int_not_equal(access(test_path("never.safetensors"), F_OK), 0);
}

/* Truncated at every length, and with random bytes changed: opened and checked, or refused with one line; never a
 * crash. */
static void cut_and_changed(void **state) {
    (void)state;
    const sfu_arrays arrays = small();
    sfu_dataset *dataset = make(&arrays, NULL);
    const char *path = test_path("whole.safetensors");
    assert_ok(sfu_dataset_save(dataset, path));
    sfu_dataset_free(dataset);
    sfu__bytes whole;
    assert_ok(sfu__bytes_open(&whole, path));
    for (size_t size = 0; size < whole.size; size++) {
        unsigned char *cut = malloc(size + 1); /* of exact size, so that a sanitizer detects a read beyond the end */
        memcpy(cut, whole.data, size);
        sfu_dataset *broken = NULL;
        assert_fails(SFU_ERR_FORMAT, sfu__container_view(&broken, cut, size, "cut.safetensors"), "cut.safetensors");
        free(cut);
    }
    sfu__random random = sfu__random_start(11, 1);
    int survived = 0;
    for (int turn = 0; turn < 5000; turn++) {
        unsigned char *changed = malloc(whole.size);
        memcpy(changed, whole.data, whole.size);
        for (int i = 0; i <= turn % 3; i++) {
            const size_t place = sfu__random_below(&random, whole.size);
            changed[place] = (unsigned char)sfu__random_next(&random);
        }
        sfu_dataset *maybe = NULL;
        if (sfu__container_view(&maybe, changed, whole.size, "changed") == SFU_OK) {
            survived += sfu_dataset_check(maybe) == SFU_OK;
        }
        sfu_dataset_free(maybe);
        free(changed);
    }
    assert_in_range(survived, 1, 4999); /* otherwise the test checks nothing */
    sfu__bytes_close(&whole);
}

static void missing_files(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    assert_fails(SFU_ERR_NOT_FOUND, sfu_dataset_open(&dataset, "nowhere/x.safetensors"), "nowhere/x.safetensors");
    assert_fails(SFU_ERR_NOT_FOUND, sfu_dataset_open(&dataset, "atlantis"), "atlantis", "data list");
    const sfu_arrays arrays = small();
    dataset = make(&arrays, NULL);
    assert_fails(SFU_ERR_IO, sfu_dataset_save(dataset, test_path("no/such/folder/x.safetensors")), "no/such/folder");
    assert_fails(SFU_ERR_IO, sfu_dataset_save(dataset, test_path("")), "folder");
    sfu_dataset_free(dataset);
}

static void by_name(void **state) {
    (void)state;
    const sfu_arrays arrays = small();
    sfu_dataset *dataset = make(&arrays, NULL);
    assert_ok(sfu_dataset_save(dataset, test_path("zoo.safetensors")));
    sfu_dataset_free(dataset);
    char folders[600];
    snprintf(folders, sizeof folders, "/nonexistent::%s", test_path(""));
    setenv("SFUMATO_DATA", folders, 1);
    assert_ok(sfu_dataset_open(&dataset, "zoo"));
    assert_string_equal(sfu_dataset_name(dataset), "zoo");
    sfu_dataset_free(dataset);
    unsetenv("SFUMATO_DATA");
}

static sfu_status save_and_load(void *context) {
    const sfu_arrays arrays = small();
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.largest = true;
    sfu_dataset *dataset = NULL;
    sfu_dataset *again = NULL;
    char digest[65];
    const char *path = context;
    sfu_status status = sfu_dataset_from_arrays(&dataset, &arrays, &options);
    if (status == SFU_OK) {
        status = sfu_dataset_save(dataset, path);
    }
    if (status == SFU_OK) {
        status = sfu_dataset_open(&again, path);
    }
    if (status == SFU_OK) {
        status = sfu_dataset_check(again);
    }
    if (status == SFU_OK) {
        status = sfu_dataset_digest(digest, again);
    }
    char *command = NULL;
    if (status == SFU_OK) {
        char folder[600];
        snprintf(folder, sizeof folder, "%s.d", path);
        status = sfu_dataset_export(again, folder, NULL, &command);
    }
    sfu_text_free(command);
    sfu_dataset_free(again);
    sfu_dataset_free(dataset);
    return status;
}

static void no_memory(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("memory.safetensors"));
    test_fail_each_allocation(save_and_load, path, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_arrays),
        cmocka_unit_test(edges_as_csr),
        cmocka_unit_test(refused_csr),
        cmocka_unit_test(the_options),
        cmocka_unit_test(features),
        cmocka_unit_test(refused_arrays),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(foreign_containers),
        cmocka_unit_test(overlaps_take_no_memory),
        cmocka_unit_test(lying_contents),
        cmocka_unit_test(cut_and_changed),
        cmocka_unit_test(missing_files),
        cmocka_unit_test(by_name),
        cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
