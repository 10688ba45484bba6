/* Several standard splits: the container, the protocol standard:NUMBER, the CSV file with one column per split. */
#include "support.h"

#include "dataset.h"
#include "raw.h"

#include <stdio.h>
#include <string.h>

enum { NODES = 6, SPLITS = 3 };

static const char edges[] = "from,to\n0,1\n1,2\n2,3\n3,4\n4,5\n";
static const char labels[] = "node,label\n0,a\n1,b\n2,a\n3,b\n4,a\n5,b\n";
static const char parts[] = "node,0,1,2\n0,train,test,train\n1,train,val,test\n2,val,train,val\n3,val,train,\n"
                            "4,test,val,test\n5,test,,train\n";

static sfu_status import(sfu_dataset **dataset, const char *split) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = test_text_file("edges.csv", edges);
    options.labels = test_text_file("labels.csv", labels);
    options.split = split != NULL ? test_text_file("split.csv", split) : NULL;
    options.name = "six";
    return sfu_dataset_import(dataset, &options);
}

static void assert_part(const sfu_dataset *dataset, int32_t split, sfu_part part, const char *wanted) {
    int32_t count;
    char found[64] = "";
    const int32_t *nodes = sfu_dataset_standard_split(dataset, split, part, &count);
    for (int32_t i = 0; i < count; i++) {
        const size_t used = strlen(found);
        snprintf(found + used, sizeof found - used, "%s%d", i > 0 ? "," : "", nodes[i]);
    }
    assert_string_equal(found, wanted);
}

static void assert_splits(const sfu_dataset *dataset) {
    assert_int_equal(sfu_dataset_standard_splits(dataset), SPLITS);
    assert_part(dataset, 0, SFU_TRAIN, "0,1");
    assert_part(dataset, 1, SFU_TRAIN, "2,3");
    assert_part(dataset, 1, SFU_VAL, "1,4");
    assert_part(dataset, 1, SFU_TEST, "0");
    assert_part(dataset, 2, SFU_TRAIN, "0,5");
    assert_part(dataset, 2, SFU_VAL, "2");
    int32_t count = -1;
    assert_null(sfu_dataset_standard_split(dataset, SPLITS, SFU_TRAIN, &count));
    assert_int_equal(count, 0);
    assert_null(sfu_dataset_standard_split(dataset, -1, SFU_TRAIN, &count));
}

static void come_back_from_a_file(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL, *again = NULL;
    char one[65], other[65];
    assert_ok(import(&dataset, parts));
    assert_splits(dataset);
    const char *path = test_path("six.safetensors");
    assert_ok(sfu_dataset_save(dataset, path));
    assert_ok(sfu_dataset_open(&again, path));
    assert_ok(sfu_dataset_check(again));
    assert_splits(again);
    assert_ok(sfu_dataset_digest(one, dataset));
    assert_ok(sfu_dataset_digest(other, again));
    assert_string_equal(one, other);
    const sfu_info *info = NULL;
    assert_ok(sfu_dataset_info(&info, again));
    assert_int_equal(info->standard_splits, SPLITS);
    assert_int_equal(info->standard[SFU_TRAIN], 2);
    sfu_dataset_free(dataset);
    sfu_dataset_free(again);
}

static void are_asked_for_by_number(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    assert_ok(import(&dataset, parts));
    static const char *const asked[] = {"standard", "standard:0", "standard:1", "standard:2"};
    static const char *const texts[] = {"standard", "standard", "standard:1", "standard:2"};
    for (int i = 0; i < 4; i++) {
        int32_t count = 0;
        assert_ok(sfu_split_new(&split, dataset, asked[i], NULL));
        assert_string_equal(sfu_split_text(split), texts[i]);
        const int32_t *train = sfu_split_part(split, SFU_TRAIN, &count);
        assert_int_equal(count, 2);
        assert_int_equal(train[0], i == 2 ? 2 : 0);
        sfu_split_free(split);
    }
    assert_fails(SFU_ERR_NOT_FOUND, sfu_split_new(&split, dataset, "standard:3", NULL), "\"six\" has 3 standard splits",
                 "\"standard:0\" to \"standard:2\"");
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "standard:", NULL), "standard:NUMBER");
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "standard:1:2", NULL), "standard:NUMBER");
    assert_fails(SFU_ERR_ARGUMENT, sfu_split_new(&split, dataset, "standard:-1", NULL), "whole number");
    sfu_dataset_free(dataset);
}

/* A dataset with one split, or none, is as it was: the same tensors. */
static void one_is_as_before(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    assert_ok(import(&dataset, "node,part\n0,train\n1,train\n2,val\n3,test\n"));
    assert_int_equal(sfu_dataset_standard_splits(dataset), 1);
    for (int64_t i = 0; i < dataset->tensor_count; i++) {
        assert_null(strstr(dataset->tensors[i].name, "split.1"));
    }
    assert_ok(sfu_split_new(&split, dataset, "standard:0", NULL));
    sfu_split_free(split);
    assert_fails(SFU_ERR_NOT_FOUND, sfu_split_new(&split, dataset, "standard:1", NULL),
                 "\"six\" has one standard split, \"standard\"");
    sfu_dataset_free(dataset);
    assert_ok(import(&dataset, NULL));
    assert_int_equal(sfu_dataset_standard_splits(dataset), 0);
    assert_fails(SFU_ERR_NOT_FOUND, sfu_split_new(&split, dataset, "standard:0", NULL), "has no standard split");
    sfu_dataset_free(dataset);
}

static void files_that_are_wrong(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    assert_fails(SFU_ERR_FORMAT, import(&dataset, "node\n0\n"), "split.csv", "expected 2 columns (node,part)",
                 "found 1");
    assert_fails(SFU_ERR_FORMAT, import(&dataset, "node,0,1\n0,train,dev\n"), "split.csv:2: column \"1\": \"dev\"");
    assert_fails(SFU_ERR_FORMAT, import(&dataset, "node,part\n0,\n"), "split.csv:2");
    assert_fails(SFU_ERR_FORMAT, import(&dataset, "node,0,1\n0,val,val\n0,val,val\n"), "line 2 already");
    assert_fails(SFU_ERR_FORMAT, import(&dataset, "node,0,1\n9,val,val\n"), "\"9\" is a node that no other file names");
}

/* The check covers every split. */
static void a_node_in_two_parts(void **state) {
    (void)state;
    sfu__raw raw = {.nodes = 2};
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    for (int split = 0; split < 2; split++) {
        int32_t *nodes[SFU_PARTS] = {NULL};
        const int64_t count[SFU_PARTS] = {1, 1, 0};
        for (int part = 0; part < 2; part++) {
            nodes[part] = sfu__alloc_zero(1, sizeof *nodes[part]);
            assert_non_null(nodes[part]);
            nodes[part][0] = split == 0 ? part : 1;
        }
        assert_ok(sfu__raw_add_split(&raw, nodes, count));
        assert_null(nodes[0]);
    }
    assert_fails(SFU_ERR_FORMAT, sfu__build(&dataset, &raw, &options, NULL),
                 "node 1 is in split.1.train and in split.1.val");
    sfu__raw_clear(&raw);
}

static void the_largest_component_keeps_them(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = test_text_file("edges.csv", "from,to\n0,1\n2,3\n3,4\n4,5\n");
    options.labels = test_text_file("labels.csv", labels);
    options.split = test_text_file("split.csv", parts);
    options.largest = true;
    assert_ok(sfu_dataset_import(&dataset, &options));
    assert_int_equal(sfu_dataset_nodes(dataset), 4);
    assert_part(dataset, 0, SFU_TRAIN, "");
    assert_part(dataset, 1, SFU_TRAIN, "0,1");
    assert_part(dataset, 2, SFU_TRAIN, "3");
    sfu_dataset_free(dataset);
}

static sfu_status import_once(void *context) {
    sfu_dataset *dataset = NULL;
    sfu_split *split = NULL;
    sfu_status status = sfu_dataset_import(&dataset, context);
    status = status == SFU_OK ? sfu_split_new(&split, dataset, "standard:2", NULL) : status;
    sfu_split_free(split);
    sfu_dataset_free(dataset);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = test_text_file("edges.csv", edges);
    options.labels = test_text_file("labels.csv", labels);
    options.split = test_text_file("split.csv", parts);
    options.threads = 1;
    test_fail_each_allocation(import_once, &options, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(come_back_from_a_file), cmocka_unit_test(are_asked_for_by_number),
        cmocka_unit_test(one_is_as_before),      cmocka_unit_test(files_that_are_wrong),
        cmocka_unit_test(a_node_in_two_parts),   cmocka_unit_test(the_largest_component_keeps_them),
        cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
