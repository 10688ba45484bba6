/* Datasets from CSV files: every rule of docs/reference/formats.md, and every message. */
#include "support.h"

#include "raw.h"

#include <stdio.h>
#include <string.h>

/* ---- reading, and the result as text ----------------------------------------------------------------------------- */

typedef struct files {
    const char *edges, *nodes, *features, *feature_names, *labels, *columns, *split;
    const char *label;
    bool strict;
    sfu_header header;
} files;

static char paths[7][512];

/* Writes the texts into files and sets the options to them. */
static sfu_import_options given(const files *f) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    const struct {
        const char *text, *name;
        const char **option;
    } all[] = {
        {f->edges, "edges.csv", &options.edges},          {f->nodes, "nodes.csv", &options.nodes},
        {f->features, "features.csv", &options.features}, {f->feature_names, "names.txt", &options.feature_names},
        {f->labels, "labels.csv", &options.labels},       {f->columns, "columns.csv", &options.columns},
        {f->split, "split.csv", &options.split},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (all[i].text != NULL) {
            snprintf(paths[i], sizeof paths[i], "%s", test_text_file(all[i].name, all[i].text));
            *all[i].option = paths[i];
        }
    }
    options.label = f->label;
    options.strict = f->strict;
    options.header = f->header;
    options.threads = 2;
    options.scale = SFU_SCALE_NONE;
    return options;
}

static void print_names(char *out, size_t room, const char *what, const sfu__strings *names) {
    for (int64_t i = 0; i < names->count; i++) {
        size_t size;
        const char *name = sfu__strings_get(names, i, &size);
        const size_t used = strlen(out);
        snprintf(out + used, room - used, "%s%.*s", i == 0 ? what : ",", (int)size, name);
    }
}

#define PRINT(...) snprintf(out + strlen(out), sizeof out - strlen(out), __VA_ARGS__)

/* Prints a raw dataset in one line. */
static const char *show(const sfu__raw *raw) {
    static char out[8192];
    static const char *const parts[] = {" train=", " val=", " test="};
    out[0] = '\0';
    PRINT("n=%d", (int)raw->nodes);
    print_names(out, sizeof out, " nodes=", &raw->node_names);
    for (size_t b = 0; b < raw->pairs.block_count; b++) {
        const sfu__pair_block *block = &raw->pairs.blocks[b];
        for (int64_t i = 0; i < block->count; i++) {
            PRINT("%s%u-%u", b + (size_t)i == 0 ? " edges=" : ",", block->ends[2 * i], block->ends[2 * i + 1]);
            if (block->weights != NULL) {
                PRINT(":%g", (double)block->weights[i]);
            }
        }
    }
    if (raw->has_features) {
        PRINT(" d=%d", (int)raw->features);
    }
    print_names(out, sizeof out, " features=", &raw->feature_names);
    for (int64_t i = 0; raw->dense != NULL && i < raw->nodes * raw->features; i++) {
        PRINT("%s%g", i == 0 ? " x=" : i % raw->features == 0 ? ";" : ",", (double)raw->dense[i]);
    }
    for (int64_t i = 0; raw->sparse.indptr != NULL && i < raw->nodes; i++) {
        PRINT("%s", i == 0 ? " sparse=" : ";");
        for (int64_t e = raw->sparse.indptr[i]; e < raw->sparse.indptr[i + 1]; e++) {
            PRINT("%s%d:%g", e == raw->sparse.indptr[i] ? "" : ",", raw->sparse.indices[e],
                  (double)raw->sparse.values[e]);
        }
    }
    if (raw->labels != NULL) {
        PRINT(" C=%d", (int)raw->classes);
    }
    print_names(out, sizeof out, " classes=", &raw->class_names);
    for (int64_t i = 0; raw->labels != NULL && i < raw->nodes; i++) {
        PRINT("%s%d", i == 0 ? " y=" : ",", raw->labels[i]);
    }
    for (size_t c = 0; c < raw->column_count; c++) {
        PRINT(" %s=", raw->columns[c].name);
        for (int64_t i = 0; i < raw->nodes; i++) {
            PRINT("%s%g", i == 0 ? "" : ",", (double)raw->columns[c].values[i]);
        }
    }
    for (int part = 0; part < SFU_PARTS; part++) {
        for (int64_t i = 0; i < raw->standard_count[part]; i++) {
            PRINT("%s%d", i == 0 ? parts[part] : ",", raw->standard[part][i]);
        }
    }
    if (raw->nodes_only_in_edges > 0) {
        PRINT(" added=%d", (int)raw->nodes_only_in_edges);
    }
    return out;
}

static void expect(files f, const char *wanted) {
    const sfu_import_options options = given(&f);
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, &options));
    assert_string_equal(show(&raw), wanted);
    sfu__raw_clear(&raw);
}

static sfu_status read_files(files f) {
    const sfu_import_options options = given(&f);
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_csv(&raw, &options);
    sfu__raw_clear(&raw);
    return status;
}

/* ---- edges ------------------------------------------------------------------------------------------------------ */

static void edges_alone(void **state) {
    (void)state;
    expect((files){.edges = "0,1\n1,2\n2,0\n"}, "n=3 edges=0-1,1-2,2-0");
    expect((files){.edges = "# c\n0 1\n1 2\n"}, "n=3 edges=0-1,1-2");
    expect((files){.edges = "source,target\n0,1\n"}, "n=2 edges=0-1");
    expect((files){.edges = "10\t7\n7\t300\n"}, "n=3 nodes=7,10,300 edges=1-0,0-2");
    expect((files){.edges = "10,7\n\"7\",300\n"}, "n=3 nodes=7,10,300 edges=1-0,0-2");
    expect((files){.edges = "2000000000,7\n7,8\n"}, "n=3 nodes=7,8,2000000000 edges=2-0,0-1");
    expect((files){.edges = "3000000000,7\n7,8\n"}, "n=3 nodes=7,8,3000000000 edges=2-0,0-1");
    expect((files){.edges = "b,a\na,c\nc,7\n"}, "n=4 nodes=b,a,c,7 edges=0-1,1-2,2-3");
    expect((files){.edges = "007,7\n7,1\n"}, "n=3 nodes=007,7,1 edges=0-1,1-2");
    expect((files){.edges = "a,b,0.5\nb,c,2\n"}, "n=3 nodes=a,b,c edges=0-1:0.5,1-2:2");
    expect((files){.edges = "0,1,0.5\n1,0,-0\n"}, "n=2 edges=0-1:0.5,1-0:0");
    expect((files){.edges = "0,1,5e-1\n1,0,1e2\n"}, "n=2 edges=0-1:0.5,1-0:100");
    expect((files){.edges = "from;to;w\nx;y;3\n"}, "n=2 nodes=x,y edges=0-1:3");
    expect((files){.edges = "New York\tBoston\n"}, "n=2 nodes=New York,Boston edges=0-1");
    expect((files){.edges = "0,0\n"}, "n=1 edges=0-0");
    expect((files){.edges = ""}, "n=0");
    expect((files){.edges = "source,target\n"}, "n=0");
    expect((files){.edges = "source,target\n", .header = SFU_HEADER_NO}, "n=2 nodes=source,target edges=0-1");
    expect((files){.edges = "1,2\n3,4\n", .header = SFU_HEADER_YES}, "n=2 nodes=3,4 edges=0-1");
    expect((files){.edges = "0,1\n1,0\n", .split = "node,part\n1,train\n0,test\n"}, "n=2 edges=0-1,1-0 train=1 test=0");
    expect((files){.edges = "5,7\n", .split = "7,val\n5,TRAIN\n"}, "n=2 nodes=5,7 edges=0-1 train=0 val=1");
}

static void edges_with_named_nodes(void **state) {
    (void)state;
    const char *nodes = "id,topic\n9,a\n4,b\n";
    expect((files){.edges = "4,9\n9,4\n", .nodes = nodes, .label = "topic"},
           "n=2 nodes=9,4 edges=1-0,0-1 C=2 classes=a,b y=0,1");
    expect((files){.edges = "4,5\n3,4\n", .nodes = nodes, .label = "topic"},
           "n=4 nodes=9,4,5,3 edges=1-2,3-1 C=2 classes=a,b y=0,1,-1,-1 added=2");
    expect((files){.edges = "4,x\n3,4\n", .nodes = nodes, .label = "topic"},
           "n=4 nodes=9,4,x,3 edges=1-2,3-1 C=2 classes=a,b y=0,1,-1,-1 added=2");
    expect((files){.edges = "4,2000000000\n3,4\n", .nodes = nodes, .label = "topic"},
           "n=4 nodes=9,4,2000000000,3 edges=1-2,3-1 C=2 classes=a,b y=0,1,-1,-1 added=2");
    expect((files){.edges = "1,2\n2,3\n", .labels = "0,0\n1,1\n"}, "n=4 edges=1-2,2-3 C=2 y=0,1,-1,-1 added=2");
    expect((files){.edges = "1,3\n3,2\n", .labels = "0,0\n1,1\n"},
           "n=4 nodes=0,1,3,2 edges=1-2,2-3 C=2 y=0,1,-1,-1 added=2");
    expect((files){.edges = "1,0\n", .labels = "0,0\n1,1\n", .strict = true}, "n=2 edges=1-0 C=2 y=0,1");
    static const char *const unknown[] = {"1,0\n0,2\n", "1,0\n0,2000000000\n"};
    for (int i = 0; i < 2; i++) {
        assert_fails(SFU_ERR_FORMAT, read_files((files){.edges = unknown[i], .labels = "0,0\n1,1\n", .strict = true}),
                     "edges.csv:2: column 2: \"2", "is a node that no other file names");
    }
    assert_fails(SFU_ERR_FORMAT,
                 read_files((files){.edges = "source,target\n1,x\n", .labels = "0,0\n1,1\n", .strict = true}),
                 "edges.csv:2: column \"target\": \"x\" is a node that no other file names");
    expect((files){.edges = "0,1\n", .strict = true}, "n=2 edges=0-1");
}

static void edges_that_are_wrong(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
    } wrong[] = {
        {"1,2,3,4\n", "edges.csv:1: expected 2 or 3 columns (two nodes and an optional weight), found 4"},
        {"abc\n", "edges.csv:1: expected 2 or 3 columns (two nodes and an optional weight), found 1"},
        {"1,2\n3,4\n5\n", "edges.csv:3: expected 2 columns as on line 1, found 1"},
        {"1,2\n3,4,5\n", "edges.csv:2: expected 2 columns as on line 1, found 3"},
        {"1,2,3\n3,4\n", "edges.csv:2: expected 3 columns as on line 1, found 2"},
        {"1,2\n\n3,\n", "edges.csv:3: field 2, a node, is empty"},
        {"1,2,3\n3,4,-5\n", "edges.csv:2: column 3: \"-5\" is negative"},
        {"a,b,w\n3,4,-5\n", "edges.csv:2: column \"w\": \"-5\" is negative"},
        {"1,2,3\n3,4,x\n", "edges.csv:2: column 3: \"x\" is not a number"},
        {"1,2,3\n3,4,nan\n", "edges.csv:2: column 3: \"nan\" is not a number"},
        {"1,2,3\n3,4,inf\n", "edges.csv:2: column 3: \"inf\" is not a number"},
        {"1,2,3\n3,4,1e40\n", "edges.csv:2: column 3: \"1e40\" is too large"},
        {"1,2,3\n3,4,\n", "edges.csv:2: column 3: \"\" is not a number"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_fails(SFU_ERR_FORMAT, read_files((files){.edges = wrong[i].text}), wrong[i].message);
    }
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.split = "1,train\n"}), "nothing to read");
}

/* ---- nodes, features, labels ------------------------------------------------------------------------------------ */

static void nodes_files(void **state) {
    (void)state;
    expect((files){.nodes = "id,f,g,topic\na,1,2,x\nb,0.5,-3,y\nc,0,0,\n", .label = "topic"},
           "n=3 nodes=a,b,c d=2 features=f,g x=1,2;0.5,-3;0,0 C=2 classes=x,y y=0,1,-1");
    expect((files){.nodes = "id,topic,f\n0,x,1\n1,w,2\n", .label = "topic"},
           "n=2 d=1 features=f x=1;2 C=2 classes=w,x y=1,0");
    expect((files){.nodes = "a,1,x\nb,2,y\n", .label = "3"}, "n=2 nodes=a,b d=1 x=1;2 C=2 classes=x,y y=0,1");
    expect((files){.nodes = "a,1,2\nb,2,3\n"}, "n=2 nodes=a,b d=2 x=1,2;2,3");
    expect((files){.nodes = "id\na\nb\n"}, "n=2 nodes=a,b");
    expect((files){.nodes = "id,0,1\na,5,6\n"}, "n=1 nodes=a d=2 x=5,6");
    expect((files){.nodes = "id,f\na,5\n", .edges = "a,b\n"}, "n=2 nodes=a,b edges=0-1 d=1 features=f x=5;0 added=1");
    expect((files){.nodes = "id,g,f\na,1,2\n", .feature_names = "f\ng\n"}, "n=1 nodes=a d=2 features=f,g x=2,1");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.nodes = "id,f,g\na,1,2\n", .label = "topic"}),
                 "nodes.csv: no column \"topic\" for the label; there are \"f\", \"g\"");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.nodes = "a,1,2\nb,1,2\n", .label = "topic"}),
                 "nodes.csv: no column \"topic\" for the label; there are 2, 3");
    expect((files){.nodes = "id,f,t\na,1,x\n", .label = "f"}, "n=1 nodes=a d=1 features=t=x x=1 C=1 classes=1 y=0");
    expect((files){.nodes = "id,f\na,3\nb,\n"}, "n=2 nodes=a,b d=2 features=f,f (missing) x=3,0;3,1");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f\na,1\nb,2\nc,3\nd,x\n"}),
                 "nodes.csv:5: column \"f\": \"x\" is not a number");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f\na,1\nb,2\nc,3\nd,1e99\n"}),
                 "nodes.csv:5: column \"f\": \"1e99\" is too large for a 32-bit float");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f\na,1\nb,2\n\na,3\n"}),
                 "nodes.csv:5: node \"a\" is on line 2 already");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f\n,1\n"}), "nodes.csv:2: field 1, the node");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f,f\na,1,2\n"}), "duplicate column name: \"f\"");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f\na,1\n", .feature_names = "f\ng\n"}),
                 "nodes.csv: found 1 features, but", "names.txt names 2");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,f,h\na,1,2\n", .feature_names = "f\ng\n"}),
                 "nodes.csv: column \"h\" is not a feature named in", "names.txt");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.nodes = "id,t\na,\xff\n", .label = "t"}),
                 "nodes.csv:2: the name of a class, \"\\xff\", is not UTF-8");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.edges = "1,2\n", .label = "t"}), "no nodes file");
}

static void features_files(void **state) {
    (void)state;
    expect((files){.features = "node,f,g\na,1,2\nb,3,4\n", .labels = "b,x\na,y\n"},
           "n=2 nodes=a,b d=2 features=f,g x=1,2;3,4 C=2 classes=x,y y=1,0");
    expect((files){.features = "node,f\na,1\n", .labels = "b,x\na,y\n"},
           "n=2 nodes=a,b d=1 features=f x=1;0 C=2 classes=x,y y=1,0");
    expect((files){.nodes = "id,t\nb,x\na,y\n", .label = "t", .features = "node,f\na,1\nb,2\n"},
           "n=2 nodes=b,a d=1 features=f x=2;1 C=2 classes=x,y y=0,1");
    expect((files){.features = "node,feature,value\na,3,1\nb,0,2\na,1,0.5\n"},
           "n=2 nodes=a,b d=4 sparse=3:1,1:0.5;0:2");
    expect((files){.features = "Node,Feature,VALUE\na,w,1\nb,v,2\na,3,0.5\n"},
           "n=2 nodes=a,b d=3 features=w,v,3 sparse=0:1,2:0.5;1:2");
    expect((files){.features = "a,w,1\nb,v,2\n"}, "n=2 nodes=a,b d=2 features=w,v sparse=0:1;1:2");
    expect((files){.features = "0,3,1\n1,0,2\n"}, "n=2 d=2 x=3,1;0,2");
    expect((files){.features = "node,feature,value\n0,1,1\n1,,\n2,0,5\n"}, "n=3 d=2 sparse=1:1;;0:5");
    expect((files){.features = "node,feature,value\na,w,1\nb,u,2\n", .feature_names = "u\nv\nw\n"},
           "n=2 nodes=a,b d=3 features=u,v,w sparse=2:1;0:2");
    expect((files){.features = "node,feature,value\na,1,1\n", .feature_names = "0\n1\n2\n"},
           "n=1 nodes=a d=3 sparse=1:1");
    expect((files){.features = "node,feature,value\n", .labels = "a,x\n"}, "n=1 nodes=a C=1 classes=x y=0");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "0,3,1\n1,0,2\n0,1,1\n"}),
                 "features.csv:3: node \"0\" is on line 1 already; for node,feature,value give it that header");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\nb,v,x\n"}),
                 "features.csv:2: column 3: \"x\" is not a number");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\nb,,2\n"}),
                 "features.csv:2: the name of a feature is empty");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\nb,v,2\n", .feature_names = "w\n"}),
                 "features.csv:2: \"v\" is not a feature named in", "names.txt");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\n", .feature_names = "w\nv\nw\n"}),
                 "names.txt:3: feature \"w\" is a duplicate of feature 0");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\n", .feature_names = "w\n\nv\n"}),
                 "names.txt:2: the name of a feature is empty");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a,w,1\n", .feature_names = ""}),
                 "names.txt: expected one feature name per line");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "a\nb\n"}),
                 "features.csv:1: expected at least 2 columns");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.features = "node,feature,value\na,3000000000,1\n"}),
                 "features.csv: feature number 3000000000");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.nodes = "id,f\na,1\n", .features = "a,w,1\n"}), "nodes.csv and ",
                 "features.csv both give features; leave one of them out, or name the label column");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.edges = "1,2\n", .feature_names = "f\n"}), "no file gives any");
}

/* Few rows of features and many other nodes: a dense array would be too large. */
static void features_of_few_nodes(void **state) {
    (void)state;
    enum { NODES = 60000, FEATURES = 100 };
    sfu__text features = {0};
    sfu__text edges = {0};
    assert_ok(sfu__text_format(&features, "a"));
    for (int i = 0; i < FEATURES; i++) {
        assert_ok(sfu__text_format(&features, ",%d", i));
    }
    for (int i = 0; i < NODES; i++) {
        assert_ok(sfu__text_format(&edges, "a,%d\n", i));
    }
    const files f = {.edges = edges.bytes, .features = features.bytes};
    const sfu_import_options options = given(&f);
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, &options));
    assert_null(raw.dense);
    assert_int_equal(raw.nodes, NODES + 1);
    assert_int_equal(raw.features, FEATURES);
    assert_int_equal(raw.sparse.indptr[1], FEATURES - 1);
    assert_int_equal(raw.sparse.indptr[raw.nodes], FEATURES - 1);
    for (int i = 0; i < FEATURES - 1; i++) {
        assert_int_equal(raw.sparse.indices[i], i + 1);
        assert_true(raw.sparse.values[i] == (float)(i + 1));
    }
    sfu__raw_clear(&raw);
    sfu__text_clear(&features);
    sfu__text_clear(&edges);
}

static void labels_files(void **state) {
    (void)state;
    expect((files){.labels = "a,z\nb,y\nc,z\nd,\n"}, "n=4 nodes=a,b,c,d C=2 classes=y,z y=1,0,1,-1");
    expect((files){.labels = "0,2\n1,0\n2,1\n"}, "n=3 C=3 y=2,0,1");
    expect((files){.labels = "0,10\n1,9\n2,1\n"}, "n=3 C=3 classes=1,9,10 y=2,1,0");
    expect((files){.labels = "node,label\n0,\n1,\n"}, "n=2");
    expect((files){.labels = "\"x,y\",\"a \"\"b\"\"\"\n"}, "n=1 nodes=x,y C=1 classes=a \"b\" y=0");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\nb,y\na,z\n"}),
                 "labels.csv:3: node \"a\" is on line 1 already; a node has one label");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x,1\n"}),
                 "labels.csv: expected 2 columns (node,label), found 3");
    assert_fails(SFU_ERR_ARGUMENT, read_files((files){.nodes = "id,t\na,x\n", .label = "t", .labels = "a,x\n"}),
                 "nodes.csv and ", "labels.csv both give labels");
}

static void columns_and_splits(void **state) {
    (void)state;
    expect((files){.labels = "a,x\nb,y\n", .columns = "node,trust,age\nb,0.5,3\na,1,4\n"},
           "n=2 nodes=a,b C=2 classes=x,y y=0,1 trust=1,0.5 age=4,3");
    expect((files){.labels = "a,x\nb,y\n", .split = "b,train\na,test\n"},
           "n=2 nodes=a,b C=2 classes=x,y y=0,1 train=1 test=0");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\nb,y\n", .columns = "node,trust\na,1\n"}),
                 "columns.csv: node \"b\" has no row");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .columns = "a,1\n"}),
                 "columns.csv: node columns need a header line");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .columns = "node,t,t\na,1,2\n"}),
                 "columns.csv: duplicate column name: \"t\"");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .columns = "node,t\na,1\na,2\n"}),
                 "columns.csv:3: node \"a\" is on line 2 already");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .split = "b,train\n"}),
                 "split.csv:1: column 1: \"b\" is a node that no other file names");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .split = "node,part\na,dev\n"}),
                 "split.csv:2: column \"part\": \"dev\" is not a part of a split; expected train, val or test");
    assert_fails(SFU_ERR_FORMAT, read_files((files){.labels = "a,x\n", .split = "a,train\na,test\n"}),
                 "split.csv:2: node \"a\" is on line 1 already; a node is in one part");
}

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static sfu_status read_all(void *context) {
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_csv(&raw, context);
    sfu__raw_clear(&raw);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    static const files all[] = {
        {.edges = "source,target,w\n4,x,1\n3,4,2\n",
         .nodes = "id,topic\n9,a\n4,b\n",
         .label = "topic",
         .features = "node,feature,value\n9,w,1\n4,v,2\n",
         .feature_names = "v\nw\n",
         .split = "9,train\n4,test\n"},
        {.edges = "4,5\n5,900\n",
         .features = "node,f\n4,1\n5,2\n",
         .labels = "4,x\n5,y\n",
         .columns = "node,c\n4,1\n5,2\n900,3\n"},
        {.edges = "4,5\n5,900\n"},
        {.edges = "4,\"5\"\n5,900\n"},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sfu_import_options options = given(&all[i]);
        test_fail_each_allocation(read_all, &options, 1000);
    }
}

static bool refuse(void *user, const sfu_progress *progress) {
    (void)progress;
    ++*(int *)user;
    return false;
}

static void cancelling(void **state) {
    (void)state;
    int calls = 0;
    sfu_import_options options = given(&(files){.edges = "1,2\n"});
    options.progress = refuse;
    options.progress_user = &calls;
    assert_fails(SFU_ERR_CANCELLED, read_all(&options), "cancelled while reading edges.csv");
    assert_int_equal(calls, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(edges_alone),          cmocka_unit_test(edges_with_named_nodes),
        cmocka_unit_test(edges_that_are_wrong), cmocka_unit_test(nodes_files),
        cmocka_unit_test(features_files),       cmocka_unit_test(features_of_few_nodes),
        cmocka_unit_test(labels_files),         cmocka_unit_test(columns_and_splits),
        cmocka_unit_test(every_allocation),     cmocka_unit_test(cancelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
