/* Tables of nodes with typed columns: detection, fitted numbers, missing cells, and the transformation as JSON. */
#include "support.h"

#include "raw.h"
#include "transform.h"
#include "transform_int.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading, and the result as text ----------------------------------------------------------------------------- */

static sfu_import_options options_for(const char *nodes) {
    static char path[512];
    sfu_import_options options;
    sfu_import_options_init(&options);
    snprintf(path, sizeof path, "%s", test_text_file("nodes.csv", nodes));
    options.nodes = path;
    options.threads = 2;
    return options;
}

#define PRINT(...) snprintf(out + strlen(out), sizeof out - strlen(out), __VA_ARGS__)

static float feature_at(const sfu__raw *raw, int64_t node, int64_t feature) {
    if (raw->dense != NULL) {
        return raw->dense[node * raw->features + feature];
    }
    for (int64_t i = raw->sparse.indptr[node]; i < raw->sparse.indptr[node + 1]; i++) {
        if (raw->sparse.indices[i] == feature) {
            return raw->sparse.values[i];
        }
    }
    return 0;
}

/* "f,g: 1,2; 3,4" and, if there are any, " / classes: x,y / 0,1,-1". */
static const char *show(const sfu__raw *raw) {
    static char out[1 << 16];
    out[0] = '\0';
    for (int64_t i = 0; i < raw->feature_names.count; i++) {
        size_t size;
        const char *name = sfu__strings_get(&raw->feature_names, i, &size);
        PRINT("%s%.*s", i > 0 ? "," : "", (int)size, name);
    }
    for (int64_t node = 0; raw->has_features && node < raw->nodes; node++) {
        for (int64_t i = 0; i < raw->features; i++) {
            PRINT("%s%.4g", i > 0 ? "," : node > 0 ? "; " : ": ", (double)feature_at(raw, node, i));
        }
    }
    for (int64_t i = 0; i < raw->class_names.count; i++) {
        size_t size;
        const char *name = sfu__strings_get(&raw->class_names, i, &size);
        PRINT("%s%.*s", i > 0 ? "," : " / ", (int)size, name);
    }
    for (int64_t node = 0; raw->labels != NULL && node < raw->nodes; node++) {
        PRINT("%s%d", node > 0 ? "," : " / ", raw->labels[node]);
    }
    return out;
}

static void expect(const sfu_import_options *options, const char *wanted) {
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, options));
    assert_string_equal(show(&raw), wanted);
    sfu__raw_clear(&raw);
}

static void expect_table(const char *nodes, const char *wanted) {
    const sfu_import_options options = options_for(nodes);
    expect(&options, wanted);
}

static sfu_status read_options(const sfu_import_options *options) {
    sfu__raw raw = {0};
    const sfu_status status = sfu__read_csv(&raw, options);
    sfu__raw_clear(&raw);
    return status;
}

static sfu_status read_table(const char *nodes) {
    const sfu_import_options options = options_for(nodes);
    return read_options(&options);
}

/* ---- columns ------------------------------------------------------------------------------------------------------
 */

static void numbers(void **state) {
    (void)state;
    expect_table("id,f\na,1\nb,2\nc,6\n", "f: -0.9258; -0.4629; 1.389");
    expect_table("id,f\na,5\nb,5\nc,5\n", "f: 0; 0; 0");
    expect_table("id,f\na,1\nb,NA\nc,3\nd,?\ne,9\n",
                 "f,f (missing): -1.032,0; -0.2949,1; -0.2949,0; -0.2949,1; 1.917,0");
    expect_table("id,f,g\na,1,\nb,2,NA\n", "f: -1; 1"); /* an empty column is left out */
    sfu_import_options options = options_for("id,f\na,1\nb,2\nc,2\nd,2\ne,10\n");
    options.scale = SFU_SCALE_QUANTILE;
    expect(&options, "f: 0; 0.5; 0.5; 0.5; 1");
    options.scale = SFU_SCALE_NONE;
    expect(&options, "f: 1; 2; 2; 2; 10");
    options = options_for("id;f\na;1,5\nb;-\nc;2,5\n");
    options.decimal = ',';
    options.missing = "-";
    options.scale = SFU_SCALE_NONE;
    expect(&options, "f,f (missing): 1.5,0; 2,1; 2.5,0");
}

static void words(void **state) {
    (void)state;
    expect_table("id,b\na,True\nb,false\nc,\n", "b,b (missing): 1,0; 0,0; 0.5,1");
    expect_table("id,b\na,0\nb,1\n", "b: 0; 1");
    expect_table("id,c\na,red\nb,blue\nc,red\nd,\n", "c=blue,c=red,c (missing): 0,1,0; 1,0,0; 0,1,0; 0,0,1");
    expect_table("id,d\na,2020-01-01\nb,2020-01-02T12:00:00Z\n", "d: -1; 1");
    expect_table("id,d\na,31/01/2020\nb,02/02/2020\n", "d: -1; 1");
    sfu_import_options options = options_for("id,z\na,07\nb,7\n");
    options.categorical = "z";
    expect(&options, "z=07,z=7: 1,0; 0,1");
    options = options_for("id,z,x\na,Good day\nb,good GOOD\n");
    options.header = SFU_HEADER_YES;
    options.nodes = test_text_file("text.csv", "id,z,x\na,Good day!,1\nb,good GOOD,2\n");
    options.text = "z";
    options.ignore = "x";
    expect(&options, "z:day,z:good: 0.7071,0.7071; 0,1");
}

static void dates(void **state) {
    (void)state;
    static const struct {
        const char *text;
        sfu__date_order order;
        double days; /* negative: not a date */
    } all[] = {
        {"1970-01-02", SFU__DAY_FIRST, 1},
        {"1970/1/2", SFU__DAY_FIRST, 1},
        {"02.01.1970", SFU__DAY_FIRST, 1},
        {"01/02/1970", SFU__MONTH_FIRST, 1},
        {"2 January 1970", SFU__DAY_FIRST, 1},
        {"Jan 2, 1970", SFU__DAY_FIRST, 1},
        {"2-Jan-1970", SFU__DAY_FIRST, 1},
        {"1970-02", SFU__DAY_FIRST, 31},
        {"2000-03-01", SFU__DAY_FIRST, 11017},
        {"1970-01-02 06:00", SFU__DAY_FIRST, 1.25},
        {"1970-01-02T06:00:00.0+06:00", SFU__DAY_FIRST, 1},
        {"1970-01-02T06:00-0600", SFU__DAY_FIRST, 1.5},
        {"1970-02-30", SFU__DAY_FIRST, -1},
        {"1970-13-01", SFU__DAY_FIRST, -1},
        {"1900-02-29", SFU__DAY_FIRST, -1},
        {"31/12/1970", SFU__MONTH_FIRST, -1},
        {"1970-01-02x", SFU__DAY_FIRST, -1},
        {"1970-01-02T25:00", SFU__DAY_FIRST, -1},
        {"12345678", SFU__DAY_FIRST, -1},
        {"2 Janus 1970", SFU__DAY_FIRST, -1},
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        double days = -1;
        const bool is_date = sfu__cell_date(&days, all[i].text, strlen(all[i].text), all[i].order);
        assert_int_equal(is_date, all[i].days >= 0);
        assert_true(!is_date || days == all[i].days);
    }
}

static void lists(void **state) {
    (void)state;
    sfu_import_options options = options_for("id\tf\na\t0,1,1\nb\t1,0,0\n");
    options.scale = SFU_SCALE_NONE;
    expect(&options, "f:0,f:1,f:2: 0,1,1; 1,0,0");
    options = options_for("id,f\na,0;2;4\nb,3\n");
    expect(&options, "f:0,f:1,f:2,f:3,f:4: 0.5774,0,0.5774,0,0.5774; 0,0,0,1,0");
    assert_fails(SFU_ERR_FORMAT, read_table("id,f\na,1.5;2;4\nb,3;4\n"), "column \"f\": expected lists of one length");
}

static void identifiers(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_ok(sfu__text_format(&text, "user,code,name,row,f,new_id\n"));
    for (int i = 0; i < 30; i++) {
        assert_ok(sfu__text_format(&text, "%d,%d,n%d,%d,%d,u%d\n", 900 + i * i, i * i, i, i, i % 7, i));
    }
    sfu_import_options options = options_for(text.bytes);
    options.id = "new_id";
    options.numeric = "code";
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, &options));
    assert_int_equal(raw.features, 3); /* user, code, f; name and row are left out */
    assert_memory_equal(show(&raw), "user,code,f: ", 13);
    assert_non_null(strstr(raw.transform, "\"name\":\"name\",\"type\":\"identifier\""));
    assert_non_null(strstr(raw.transform, "\"name\":\"row\",\"type\":\"identifier\""));
    sfu__raw_clear(&raw);
    sfu__text_clear(&text);
}

/* Bags of words keep their values, for unit rows. */
static void bags_of_words(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_ok(sfu__text_format(&text, "id"));
    for (int i = 0; i < 20; i++) {
        assert_ok(sfu__text_format(&text, ",w%d", i));
    }
    for (int node = 0; node < 20; node++) {
        assert_ok(sfu__text_format(&text, "\nn%d", node));
        for (int i = 0; i < 20; i++) {
            assert_ok(sfu__text_format(&text, ",%d", i == node ? 3 : 0));
        }
    }
    const sfu_import_options options = options_for(text.bytes);
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, &options));
    assert_int_equal(raw.row_scale, SFU_SCALE_UNIT);
    assert_int_equal(raw.value_scale, SFU__VALUES_RAW);
    assert_true(feature_at(&raw, 2, 2) == 3);
    sfu__raw_clear(&raw);
    sfu__text_clear(&text);
}

static void wrong_tables(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, read_table("id,d\na,2020-01-01\nb,2020-01-02\nc,2020-01-03\nd,soon\n"),
                 "nodes.csv:5: column \"d\": \"soon\" is not a date");
    assert_fails(SFU_ERR_FORMAT, read_table("id,c\na,x\xff\nb,y\n"), "column \"c\": \"x\\xff\" is not UTF-8");
    sfu_import_options options = options_for("id,f,g\na,1,x\nb,2,y\n");
    options.numeric = "f,h";
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "no column \"h\" for --numeric; there are \"f\", \"g\"");
    options.numeric = "g";
    assert_fails(SFU_ERR_FORMAT, read_options(&options), "nodes.csv:2: column \"g\": \"x\" is not a number",
                 "declared numeric");
    options.categorical = "g";
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "column \"g\" is in both --numeric and --categorical");
    options.numeric = options.categorical = NULL;
    options.id = "user";
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "no column \"user\" for --id");
    options.id = options.label = "f";
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "cannot be both the node and the label");
    options = options_for("id,f\n1.0,2\n2.0,3\n");
    options.edges = test_text_file("edges.csv", "1,2\n");
    assert_fails(SFU_ERR_FORMAT, read_options(&options), "a node is called \"1.0\" in one place and \"1\" in another");
}

/* ---- labels -------------------------------------------------------------------------------------------------------
 */

static void labels(void **state) {
    (void)state;
    sfu_import_options options = options_for("id,t\na,x\nb,NA\nc,?\nd,y\n");
    options.label = "t";
    expect(&options, " / x,y / 0,-1,-1,1");
    options.class_names = (const char *const[]){"x", "y", "NA"};
    options.class_name_count = 3;
    expect(&options, " / NA,x,y / 1,0,-1,2");
    options = options_for("id,t\na,0\nb,-1\nc,2\nd,\n");
    options.label = "t";
    expect(&options, " / 0,2 / 0,-1,1,-1");
    options.label_type = SFU_LABEL_CLASS;
    expect(&options, " / -1,0,2 / 1,0,2,-1");
    options = options_for("id,t\na,1\nb,-1\n");
    options.label = "t";
    expect(&options, " / -1,1 / 1,0");
}

static void prices(void **state) {
    (void)state;
    sfu__text text = {0};
    assert_ok(sfu__text_format(&text, "id,price\n"));
    for (int i = 0; i < 60; i++) {
        assert_ok(sfu__text_format(&text, "n%d,%d.5\n", i, 100 + 7 * i));
    }
    sfu_import_options options = options_for(text.bytes);
    options.label = "price";
    assert_fails(SFU_ERR_FORMAT, read_options(&options), "60 different values for 60 nodes",
                 "regression is not offered");
    options.label_type = SFU_LABEL_CLASS;
    assert_ok(read_options(&options));
    sfu__text_clear(&text);
}

/* ---- the same by both paths, and later ----------------------------------------------------------------------------
 */

static const char mixed[] = "id,n,b,c,d,t,u\n"
                            "a,1.5,yes,x,2020-01-01,the cat sat on it,3 1 2\n"
                            "b,,no,y,2020-02-01,the dog sat on me,1 0 1\n"
                            "c,-3,yes,,2021-01-01,a dog and a cat,0 0 0\n"
                            "d,4e2,NA,x,NULL,,1 2 3\n";

/* One row per line, so that the rows of many blocks are read in parallel. */
static void many_rows(sfu__text *text, bool quoted) {
    assert_ok(sfu__text_format(text, "id,n,c,i\n"));
    for (int i = 0; i < 120000; i++) {
        const char *quote = quoted && i == 7 ? "\"" : "";
        assert_ok(sfu__text_format(text, "node%d,%s%d.%03d%s,level %d,%d%s", i, quote, i % 977, i % 1000, quote,
                                   i % 300, i * 7919 % 100003, i % 5 == 0 ? "\r\n" : "\n"));
    }
}

static void both_paths(void **state) {
    (void)state;
    char *results[2] = {NULL};
    sfu__raw raws[2] = {{0}};
    for (int quoted = 0; quoted < 2; quoted++) {
        sfu__text text = {0};
        many_rows(&text, quoted);
        sfu_import_options options = options_for(text.bytes);
        options.threads = 1 + 2 * quoted;
        assert_ok(sfu__read_csv(&raws[quoted], &options));
        results[quoted] = raws[quoted].transform;
        sfu__text_clear(&text);
    }
    assert_string_equal(results[0], results[1]);
    assert_int_equal(raws[0].features, 258); /* n, 255 of 300 levels and other, i */
    assert_int_equal(raws[0].nodes, raws[1].nodes);
    const int64_t entries = raws[0].sparse.indptr[raws[0].nodes];
    assert_int_equal(entries, raws[1].sparse.indptr[raws[0].nodes]);
    assert_memory_equal(raws[0].sparse.indices, raws[1].sparse.indices, (size_t)entries * sizeof(int32_t));
    assert_memory_equal(raws[0].sparse.values, raws[1].sparse.values, (size_t)entries * sizeof(float));
    sfu__raw_clear(&raws[0]);
    sfu__raw_clear(&raws[1]);
}

static sfu_dataset *import(const sfu_import_options *options, const char *path) {
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_import(&dataset, options));
    assert_ok(sfu_dataset_save(dataset, path));
    return dataset;
}

static void applied_again(void **state) {
    (void)state;
    char path[512], digests[2][65], note[256];
    snprintf(path, sizeof path, "%s", test_path("old.safetensors"));
    sfu_import_options options = options_for(mixed);
    sfu_dataset *old = import(&options, path);
    assert_ok(sfu_dataset_digest(digests[0], old));
    assert_ok(sfu_dataset_import_note(note, sizeof note, old, 0));
    assert_string_equal(note, "1 numeric column standardised: n; 1 missing cell set to the median, with an indicator");
    options.like = path;
    sfu_dataset *again = import(&options, test_path("again.safetensors"));
    assert_ok(sfu_dataset_digest(digests[1], again));
    assert_string_equal(digests[0], digests[1]);
    sfu_dataset_free(again);
    /* Other columns in another order, an unknown level, an unknown word. */
    options.nodes = test_text_file("new.csv", "u,t,d,c,more,id,b,n\n1 0 0,purple cat,2020-01-01,z,9,q,0,1.5\n");
    sfu__raw raw = {0};
    assert_ok(sfu__read_csv(&raw, &options));
    assert_int_equal(raw.features, sfu_dataset_features(old));
    assert_true(feature_at(&raw, 0, 0) != 0 && feature_at(&raw, 0, 1) == 0); /* n */
    for (int i = 4; i < 7; i++) {
        assert_true(feature_at(&raw, 0, i) == 0); /* c=x, c=y, missing */
    }
    sfu__raw_clear(&raw);
    options.nodes = test_text_file("fewer.csv", "id,n,b,c,d,u\na,1,1,x,2020-01-01,1 2 3\n");
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "fewer.csv: no column \"t\" for ");
    options.nodes = test_text_file("wrong.csv", "id,n,b,c,d,t,u\na,1,1,x,2020-01-01,q,1 2 3\nb,one,1,x,,q,\n");
    assert_fails(SFU_ERR_FORMAT, read_options(&options), "wrong.csv:3: column \"n\": \"one\" is not a number");
    options.scale = SFU_SCALE_UNIT;
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "--scale cannot be given");
    options.scale = SFU_SCALE_AUTO;
    options.like = "citation";
    assert_fails(SFU_ERR_ARGUMENT, read_options(&options), "citation: it has no column transformation");
    sfu_dataset_free(old);
}

/* The classes of the old dataset, also if the new one has only some of them. */
static void classes_again(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("classes.safetensors"));
    sfu_import_options options = options_for("id,f,t\na,1,x\nb,2,y\nc,3,z\n");
    options.label = "t";
    sfu_dataset_free(import(&options, path));
    options.like = path;
    options.nodes = test_text_file("some.csv", "id,f,t\nd,1,z\ne,2,NA\nf,3,x\n");
    expect(&options, "f: -1.225; 0; 1.225 / x,y,z / 2,-1,0");
    options.nodes = test_text_file("others.csv", "id,f,t\nd,1,z\ne,2,w\n");
    expect(&options, "f: -1.225; 0 / w,z / 1,0");
}

/* Without numbers, and without a label that names a column, the name of the node column shows that there is a header.
 */
static void header_again(void **state) {
    (void)state;
    char path[512];
    sfu__raw raw = {0};
    snprintf(path, sizeof path, "%s", test_path("header.safetensors"));
    sfu_import_options options = options_for("person,city,t\na,Oslo,x\nb,Rome,y\nc,Rome,y\n");
    options.label = "t";
    options.categorical = "city";
    sfu_dataset_free(import(&options, path));
    options.label = options.categorical = NULL;
    options.like = path;
    options.nodes = test_text_file("more.csv", "person,city\nd,Rome\ne,Oslo\n");
    assert_ok(sfu__read_csv(&raw, &options));
    assert_int_equal(raw.nodes, 2);
    sfu__raw_clear(&raw);
}

static void json_that_is_wrong(void **state) {
    (void)state;
    static const char *const all[] = {
        "",
        "{}",
        "[1]",
        "{\"version\":2,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\"}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[1]}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[{\"name\":\"a\"}]}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[{\"name\":\"a\","
        "\"type\":\"category\",\"levels\":[\"b\",\"a\"]}]}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[{\"name\":\"a\","
        "\"type\":\"list\",\"width\":-5}]}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[{\"name\":\"a\","
        "\"type\":\"number\",\"quantiles\":[2,1]}]}",
        "{\"version\":1,\"values\":\"raw\",\"rows\":\"none\",\"decimal\":\".\",\"columns\":[{\"name\":\"a\","
        "\"type\":\"number\",\"mean\":\"x\"}]}",
    };
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sfu__transform transform = {0};
        assert_fails(SFU_ERR_FORMAT, sfu__transform_read(&transform, all[i], "place"), "place: ");
        assert_null(transform.columns);
    }
}

/* ---- order statistics ---------------------------------------------------------------------------------------------
 */

static int compare(const void *a, const void *b) {
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

static void medians_and_sorting(void **state) {
    (void)state;
    double numbers_[3][101];
    unsigned seed = 1;
    for (int count = 1; count <= 101; count++) {
        for (int i = 0; i < count; i++) {
            seed = seed * 1103515245U + 12345U;
            numbers_[0][i] = ((int)(seed >> 16 & 63) - 32) * (count % 2 == 0 ? 1.0 : 1e9);
        }
        memcpy(numbers_[1], numbers_[0], sizeof numbers_[0]);
        memcpy(numbers_[2], numbers_[0], sizeof numbers_[0]);
        qsort(numbers_[0], (size_t)count, sizeof(double), compare);
        assert_ok(sfu__sort_numbers(numbers_[1], count));
        for (int i = 0; i < count; i++) {
            assert_true(numbers_[0][i] == numbers_[1][i]);
        }
        const double median = (numbers_[0][(count - 1) / 2] + numbers_[0][count / 2]) / 2;
        double found = 0;
        assert_ok(sfu__median(&found, numbers_[2], count, numbers_[0][0], numbers_[0][count - 1]));
        assert_true(found == median);
    }
    double none = 1;
    assert_ok(sfu__median(&none, NULL, 0, HUGE_VAL, -HUGE_VAL));
    assert_true(none == 0);
}

static sfu_status read_context(void *context) { return read_options(context); }

static void every_allocation(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_path("old.safetensors"));
    sfu_import_options options = options_for(mixed);
    sfu_dataset_free(import(&options, path));
    test_fail_each_allocation(read_context, &options, 300);
    options.scale = SFU_SCALE_QUANTILE;
    options.missing = "-";
    options.label = "b";
    test_fail_each_allocation(read_context, &options, 300);
    options.scale = SFU_SCALE_AUTO;
    options.like = path;
    options.label = NULL;
    test_fail_each_allocation(read_context, &options, 300);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers),
        cmocka_unit_test(words),
        cmocka_unit_test(dates),
        cmocka_unit_test(lists),
        cmocka_unit_test(identifiers),
        cmocka_unit_test(bags_of_words),
        cmocka_unit_test(wrong_tables),
        cmocka_unit_test(labels),
        cmocka_unit_test(prices),
        cmocka_unit_test(both_paths),
        cmocka_unit_test(applied_again),
        cmocka_unit_test(classes_again),
        cmocka_unit_test(header_again),
        cmocka_unit_test(json_that_is_wrong),
        cmocka_unit_test(medians_and_sorting),
        cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
