/* Published folders: GraphLand, the Open Graph Benchmark, Geom-GCN and MUSAE. Correct, wrong, truncated, out of
 * memory. */
#include "support.h"

#include "dataset.h"
#include "file.h"
#include "raw.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { FILES_MAX = 10 };

typedef struct sample_file {
    const char *name, *text;
} sample_file;

typedef struct sample {
    const char *format;
    sample_file files[FILES_MAX];
    int32_t nodes, features, classes, splits, edges;
} sample;

/* Four nodes, 0-1-2-3, classes 0 1 0 1, two features. */
static const sample samples[] = {
    {"ogb",
     {{"raw/num-node-list.csv", "4\n"},
      {"raw/edge.csv", "0,1\n1,2\n2,3\n"},
      {"raw/node-label.csv", "0\n1\n0\n1\n"},
      {"raw/node-feat.csv", "1,0\n0,1\n0.5,0.5\n-1,2e1\n"},
      {"split/time/train.csv", "0\n1\n"},
      {"split/time/valid.csv", "2\n"},
      {"split/time/test.csv", "3\n"}},
     4,
     2,
     2,
     1,
     3},
    {"geom-gcn",
     {{"out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1,0\t0\n1\t0,1\t1\n2\t1,1\t0\n3\t0,0\t1\n"},
      {"out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t2\n3\t2\n"}},
     4,
     2,
     2,
     0,
     3},
    {"geom-gcn", /* Film: numbers of features */
     {{"out1_node_feature_label.txt", "node_id\tfeature\tlabel\n0\t1,6\t0\n1\t0\t1\n2\t1,2,3\t0\n3\t5\t1\n"},
      {"out1_graph_edges.txt", "node_id\tnode_id\n0\t1\n1\t2\n3\t2\n"}},
     4,
     7,
     2,
     0,
     3},
    {"graphland",
     {{"features.csv", "node_id,a,b\n0,1,0\n1,0,1\n2,0.5,0.5\n3,2,2\n"},
      {"targets.csv", "node_id,fraud\n0,0\n1,1\n2,0\n3,\n"},
      {"edgelist.csv", "source,target\n0,1\n1,2\n2,3\n"},
      {"split_masks_TH.csv", "node_id,train,val,test\n0,False,True,False\n1,True,False,False\n2,False,False,True\n"},
      {"split_masks_RL.csv", "node_id,train,val,test\n0,True,False,False\n1,False,True,False\n2,False,False,True\n"},
      {"info.yaml", "name: x\ntask: 'binary_classification'\ncategorical_features_names:\n- b\n"}},
     4,
     5, /* a, and the levels of b */
     2,
     2,
     3},
    {"musae",
     {{"PT_edges.csv", "from,to\n10,11\n11,12\n12,13\n"},
      {"PT_target.csv", "id,days,mature,new_id\n7,1,True,10\n8,2,False,11\n9,3,True,12\n6,4,False,13\n"},
      {"PT.json", "{\"11\": [0, 5], \"10\": [], \"13\": [2]}"}},
     4,
     6,
     2,
     0,
     3},
};
enum { SAMPLES = sizeof samples / sizeof samples[0] };

static char folder[512];

static void write_text(const char *name, const char *text, size_t size) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    char *slash = strrchr(path, '/');
    *slash = '\0';
    assert_ok(sfu__make_folders(path));
    *slash = '/';
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* Writes a sample into a new folder, with file number `other` (-1: none) containing `text` (NULL: missing). */
static void write_sample(const sample *s, int other, const char *text) {
    static int number;
    snprintf(folder, sizeof folder, "%s", test_path("folder"));
    snprintf(folder + strlen(folder), sizeof folder - strlen(folder), "%d", number++);
    for (int i = 0; i < FILES_MAX && s->files[i].name != NULL; i++) {
        const char *content = i == other ? text : s->files[i].text;
        if (content != NULL) {
            write_text(s->files[i].name, content, strlen(content));
        }
    }
}

static sfu_status import(sfu_dataset **dataset) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.source = folder;
    options.threads = 1;
    return sfu_dataset_import(dataset, &options);
}

static void are_recognized(void **state) {
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        sfu_dataset *dataset = NULL;
        const sfu_info *info = NULL;
        write_sample(&samples[i], -1, NULL);
        assert_ok(import(&dataset));
        assert_ok(sfu_dataset_info(&info, dataset));
        assert_non_null(strstr(info->source, samples[i].format));
        assert_int_equal(info->nodes, samples[i].nodes);
        assert_int_equal(info->features, samples[i].features);
        assert_int_equal(info->classes, samples[i].classes);
        assert_int_equal(info->edges, samples[i].edges);
        assert_int_equal(info->standard_splits, samples[i].splits);
        sfu_dataset_free(dataset);
    }
}

/* The features of Film and MUSAE are 1 where the lists say so. */
static void lists_are_features(void **state) {
    (void)state;
    static const struct {
        int sample;
        int32_t node, feature;
    } ones[] = {{2, 0, 1}, {2, 0, 6}, {2, 1, 0}, {2, 2, 3}, {4, 1, 0}, {4, 1, 5}, {4, 3, 2}};
    for (size_t i = 0; i < sizeof ones / sizeof ones[0]; i++) {
        sfu_dataset *dataset = NULL;
        write_sample(&samples[ones[i].sample], -1, NULL);
        assert_ok(import(&dataset));
        const sfu_csr x = sfu_dataset_sparse(dataset);
        bool found = sfu_dataset_dense(dataset) != NULL &&
                     sfu_dataset_dense(dataset)[ones[i].node * sfu_dataset_features(dataset) + ones[i].feature] > 0;
        for (int64_t e = x.rows > 0 ? x.indptr[ones[i].node] : 0; x.rows > 0 && e < x.indptr[ones[i].node + 1]; e++) {
            found = found || x.indices[e] == ones[i].feature;
        }
        assert_true(found);
        sfu_dataset_free(dataset);
    }
}

/* GraphLand: RL is before TH. */
static void masks_are_in_order(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    int32_t count;
    write_sample(&samples[3], -1, NULL);
    assert_ok(import(&dataset));
    assert_int_equal(sfu_dataset_standard_split(dataset, 0, SFU_TRAIN, &count)[0], 0);
    assert_int_equal(sfu_dataset_standard_split(dataset, 1, SFU_TRAIN, &count)[0], 1);
    sfu_dataset_free(dataset);
}

static void what_is_wrong(void **state) {
    (void)state;
    static const struct {
        int sample, file;
        const char *text, *parts[2];
        sfu_status status;
    } wrong[] = {
        {0, 0, "x\n", {"num-node-list.csv:1", "is not a number of nodes"}, SFU_ERR_FORMAT},
        {0, 0, "4\n5\n", {"num-node-list.csv:2", "found several"}, SFU_ERR_FORMAT},
        {0, 0, "", {"num-node-list.csv", "expected one line"}, SFU_ERR_FORMAT},
        {0, 0, "5\n", {"node-label.csv", "expected 5 rows, one per node, found 4"}, SFU_ERR_FORMAT},
        {0, 0, "3\n", {"node-label.csv:4", "expected 3 rows"}, SFU_ERR_FORMAT},
        {0, 1, "0,9\n", {"edge.csv:1", "\"9\" is not a node; they are numbered from 0"}, SFU_ERR_FORMAT},
        {0, 2, "0,1\n1,0\n0,0\n1,1\n", {"node-label.csv:1", "found 2 columns"}, SFU_ERR_FORMAT},
        {0, 2, NULL, {"expected the file raw/node-label.csv", ".gz"}, SFU_ERR_NOT_FOUND},
        {0, 3, "1,0\n0,1\n0.5\n1,1\n", {"node-feat.csv:3", "expected 2 columns"}, SFU_ERR_FORMAT},
        {0, 5, "7\n", {"valid.csv:1", "\"7\" is not a node"}, SFU_ERR_FORMAT},
        {0, 5, "0\n", {"node 0 is in split.train and in split.val", ""}, SFU_ERR_FORMAT},
        {0, 6, NULL, {"expected the file test.csv", "split/time"}, SFU_ERR_NOT_FOUND},
        {1, 0, "node_id\tfeature\n0\t1\n", {"expected 3 columns", "found 2"}, SFU_ERR_FORMAT},
        {1, 0, "node_id\tfeature\tlabel\n0\t1,x\t0\n", {"label.txt:2", "not a list of numbers"}, SFU_ERR_FORMAT},
        {1, 0, "node_id\tfeature\tlabel\n0\t1,-1\t0\n1\t3\t1\n", {"different lengths", "-1"}, SFU_ERR_FORMAT},
        {1, 0, "node_id\tfeature\tlabel\n0\t1\t0\n0\t1\t1\n", {"label.txt:3", "line 2"}, SFU_ERR_FORMAT},
        {3, 3, "node_id,train,test\n0,True,False\n", {"split_masks_TH.csv", "found no val"}, SFU_ERR_FORMAT},
        {3, 3, "node_id,train,val,test\n0,yes,no,no\n", {"split_masks_TH.csv:2", "True or False"}, SFU_ERR_FORMAT},
        {3, 3, "node_id,train,val,test\n9,0,0,1\n", {"split_masks_TH.csv:2", "no other file"}, SFU_ERR_FORMAT},
        {3, 5, "task: regression\n", {"info.yaml", "regression"}, SFU_ERR_UNSUPPORTED},
        {3, 1, NULL, {"expected the file targets.csv", ""}, SFU_ERR_NOT_FOUND},
        {4, 1, "id,size\n10,3\n", {"PT_target.csv", "--label"}, SFU_ERR_FORMAT},
        {4, 1, "name,target\nx,3\n", {"PT_target.csv", "new_id or id"}, SFU_ERR_FORMAT},
        {4, 2, "[1]", {"PT.json", "expected an object"}, SFU_ERR_FORMAT},
        {4, 2, "{\"10\": [-1]}", {"PT.json: node \"10\"", "feature numbers"}, SFU_ERR_FORMAT},
        {4, 2, "{\"10\": 3}", {"PT.json: node \"10\"", "list"}, SFU_ERR_FORMAT},
        {4, 2, "{\"10\": [1], \"10\": [2]}", {"PT.json: node \"10\"", "twice"}, SFU_ERR_FORMAT},
        {4, 2, "{\"10\": [1", {"PT.json: byte", "JSON"}, SFU_ERR_FORMAT},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        sfu_dataset *dataset = NULL;
        write_sample(&samples[wrong[i].sample], wrong[i].file, wrong[i].text);
        assert_fails(wrong[i].status, import(&dataset), wrong[i].parts[0], wrong[i].parts[1]);
        assert_null(dataset);
    }
}

/* Every file cut at every position gives a dataset or a message. */
static void truncated(void **state) {
    (void)state;
    for (int s = 0; s < SAMPLES; s++) {
        write_sample(&samples[s], -1, NULL);
        for (int f = 0; f < FILES_MAX && samples[s].files[f].name != NULL; f++) {
            const char *text = samples[s].files[f].text;
            for (size_t size = 0; size <= strlen(text); size++) {
                sfu_dataset *dataset = NULL;
                write_text(samples[s].files[f].name, text, size);
                if (import(&dataset) != SFU_OK) {
                    assert_null(dataset);
                    assert_true(strlen(sfu_message()) > 0);
                }
                sfu_dataset_free(dataset);
            }
        }
    }
}

static sfu_status import_once(void *context) {
    (void)context;
    sfu_dataset *dataset = NULL;
    const sfu_status status = import(&dataset);
    sfu_dataset_free(dataset);
    return status;
}

static sfu_status read_once(void *context) {
    static const struct {
        const char *format;
        sfu_status (*read)(sfu__raw *raw, const sfu_import_options *options);
    } readers[] = {{"ogb", sfu__read_ogb},
                   {"geom-gcn", sfu__read_geom_gcn},
                   {"graphland", sfu__read_graphland},
                   {"musae", sfu__read_musae}};
    sfu_status status = SFU_OK;
    sfu__raw raw = {0};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.source = folder;
    options.threads = 1;
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++) {
        if (strcmp(readers[i].format, context) == 0) {
            status = readers[i].read(&raw, &options);
        }
    }
    sfu__raw_clear(&raw);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    for (int i = 0; i < SAMPLES; i++) {
        char format[32];
        snprintf(format, sizeof format, "%s", samples[i].format);
        write_sample(&samples[i], -1, NULL);
        assert_ok(import_once(NULL));
        test_fail_each_allocation(read_once, format, 2000);
    }
}

static sfu_status read_musae(const char *source, const char *label) {
    sfu__raw raw = {0};
    const sfu_import_options options = {.source = source, .label = label};
    const sfu_status status = sfu__read_musae(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

/* The label of MUSAE may be another column, and the source may be a file. */
static void musae_by_file(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    char path[600];
    write_sample(&samples[4], -1, NULL);
    snprintf(path, sizeof path, "%s/PT_edges.csv", folder);
    sfu_import_options_init(&options);
    options.source = path;
    options.label = "days";
    assert_ok(sfu_dataset_import(&dataset, &options));
    assert_int_equal(sfu_dataset_classes(dataset), 4);
    assert_string_equal(sfu_dataset_name(dataset), "PT");
    sfu_dataset_free(dataset);
    write_text("other_edges.csv", "from,to\n1,2\n", 12);
    assert_fails(SFU_ERR_FORMAT, read_musae(path, "x"), "no column x for the label");
    assert_fails(SFU_ERR_NOT_FOUND, read_musae(folder, NULL), "expected one pair of files");
}

/* A file that the layout has itself cannot be given as well. */
static void other_files_are_refused(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    for (int i = 0; i < SAMPLES; i++) {
        write_sample(&samples[i], -1, NULL);
        sfu_import_options_init(&options);
        options.source = folder;
        options.split = "split.csv";
        assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_import(&dataset, &options), samples[i].format, "leave out --split");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(are_recognized),     cmocka_unit_test(lists_are_features),
                                       cmocka_unit_test(masks_are_in_order), cmocka_unit_test(what_is_wrong),
                                       cmocka_unit_test(truncated),          cmocka_unit_test(out_of_memory),
                                       cmocka_unit_test(musae_by_file),      cmocka_unit_test(other_files_are_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
