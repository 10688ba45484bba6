/* Datasets imported and made within a memory limit: the bytes of those without one, and every failure. */
#include "support.h"

#include "memory.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LIMIT = 32 << 20 };

static char folder[512]; /* of the scratch files */

static int set_up(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_path("scratch"));
    return mkdir(folder, 0700);
}

/* A path that stays valid. */
static const char *path_of(const char *name) {
    static char paths[10][512];
    for (int i = 0; i < 10; i++) {
        const size_t size = strlen(paths[i]), end = strlen(name);
        if (size == 0) {
            snprintf(paths[i], sizeof paths[i], "%s", test_path(name));
        }
        if (size == 0 || (size > end && paths[i][size - end - 1] == '/' && strcmp(paths[i] + size - end, name) == 0)) {
            return paths[i];
        }
    }
    fail();
    return NULL;
}

/* Nothing is left where the scratch files were: the folder can be removed. */
static void assert_nothing_left(void) {
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(sfu__memory_limit(), 0);
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static FILE *create(const char *name) {
    FILE *file = fopen(path_of(name), "wb");
    assert_non_null(file);
    return file;
}

/* Edges with duplicates, reciprocal ones and self-loops. `style` 0: numbers and weights, 1: numbers that are far apart,
 * 2: names. */
static void write_edges(const char *name, int style, int nodes, int edges) {
    FILE *file = create(name);
    for (int i = 0; i < edges; i++) {
        const int from = (int)((long long)i * 7919 % nodes), to = (int)((from + (long long)i * i % 50) % nodes);
        if (style == 0) {
            fprintf(file, "%d,%d,%d.25\n", from, to, i % 13);
        } else if (style == 1) {
            fprintf(file, "9%d000\t9%d000\n", from, to);
        } else {
            fprintf(file, "n%d,\"n%d\"\n", from, to);
        }
    }
    assert_int_equal(fclose(file), 0);
}

static void write_npy(const char *name, int rows, int columns, bool wide) {
    char head[128] = "\x93NUMPY\x01";
    head[8] = 118;
    memset(head + 10, ' ', sizeof head - 10);
    head[10 + snprintf(head + 10, 100, "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }", wide ? 8 : 4,
                       rows, columns)] = ' ';
    head[127] = '\n';
    FILE *file = create(name);
    assert_int_equal(fwrite(head, 1, sizeof head, file), sizeof head);
    for (int i = 0; i < rows * columns; i++) {
        const double value = i % 11 - 3.25;
        const float narrow = (float)value;
        assert_int_equal(wide ? fwrite(&value, 8, 1, file) : fwrite(&narrow, 4, 1, file), 1);
    }
    assert_int_equal(fclose(file), 0);
}

/* ---- the same bytes --------------------------------------------------------------------------------------------- */

static void assert_same_files(const char *one, const char *other) {
    FILE *files[2] = {fopen(path_of(one), "rb"), fopen(path_of(other), "rb")};
    assert_true(files[0] != NULL && files[1] != NULL);
    for (int a = 0; a != EOF;) {
        a = getc(files[0]);
        assert_int_equal(a, getc(files[1]));
    }
    fclose(files[0]);
    fclose(files[1]);
}

static void import_both(sfu_import_options options) {
    sfu_dataset *dataset = NULL;
    options.name = "same";
    assert_ok(sfu_dataset_import(&dataset, &options));
    assert_ok(sfu_dataset_save(dataset, path_of("plain")));
    sfu_dataset_free(dataset);
    for (int threads = 1; threads <= 3; threads += 2) {
        options.memory = LIMIT;
        options.scratch = folder;
        options.threads = threads;
        assert_ok(sfu_dataset_import(&dataset, &options));
        assert_ok(sfu_dataset_save(dataset, path_of("limited")));
        sfu_dataset_free(dataset);
        assert_same_files("plain", "limited");
        assert_nothing_left();
    }
}

static void imports(void **state) {
    (void)state;
    enum { NODES = 3000, EDGES = 60000 };
    write_edges("w.csv", 0, NODES, EDGES);
    write_edges("far.tsv", 1, NODES, EDGES);
    write_edges("names.csv", 2, NODES, EDGES);
    write_npy("x.npy", NODES, 20, false);
    write_npy("wide.npy", NODES, 20, true);
    sfu_import_options options;
    for (int turn = 0; turn < 12; turn++) {
        sfu_import_options_init(&options);
        options.edges = path_of("w.csv");
        options.directed = turn % 2 == 1;
        options.keep_loops = turn / 2 % 2 == 1;
        options.duplicates = (sfu_duplicates)(turn % 3);
        options.features = turn % 4 == 0 ? path_of("x.npy") : turn % 4 == 3 ? path_of("wide.npy") : NULL;
        options.scale = turn < 6 ? SFU_SCALE_AUTO : turn < 9 ? SFU_SCALE_SUM : SFU_SCALE_NONE;
        import_both(options);
    }
    const char *const others[] = {"far.tsv", "names.csv"};
    for (int i = 0; i < 2; i++) {
        sfu_import_options_init(&options);
        options.edges = path_of(others[i]);
        import_both(options);
    }
}

/* Numbers and names of other files, and edges to nodes that none of them names. */
static void imports_with_tables(void **state) {
    (void)state;
    write_edges("w.csv", 0, 500, 5000);
    FILE *file = create("nodes.csv");
    fprintf(file, "id,age,team\n");
    for (int i = 0; i < 400; i++) {
        fprintf(file, "%d,%d,%s\n", 399 - i, i % 70, i % 3 == 0 ? "red" : i % 3 == 1 ? "blue" : "");
    }
    assert_int_equal(fclose(file), 0);
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = path_of("w.csv");
    options.nodes = path_of("nodes.csv");
    options.label = "team";
    import_both(options);
    file = create("labels.csv");
    for (int i = 0; i < 500; i++) {
        fprintf(file, "%d,%c\n", i, 'a' + i % 3);
    }
    assert_int_equal(fclose(file), 0);
    write_npy("x.npy", 500, 20, false);
    options.nodes = options.label = NULL;
    options.features = path_of("x.npy");
    options.labels = path_of("labels.csv");
    import_both(options);
}

static void makes(void **state) {
    (void)state;
    for (int turn = 0; turn < 4; turn++) {
        sfu_dataset *dataset = NULL; /* one at a time: the limit is that of the process */
        char digests[2][65];
        sfu_make_options options;
        sfu_make_options_init(&options);
        options.nodes = turn < 2 ? 50000 : 300;
        options.degree = 12;
        options.dense = turn % 2 == 0 ? 0 : 300;
        assert_ok(sfu_dataset_make(&dataset, &options));
        assert_ok(sfu_dataset_digest(digests[0], dataset));
        sfu_dataset_free(dataset);
        options.memory = LIMIT;
        options.scratch = folder;
        options.threads = 1 + turn;
        assert_ok(sfu_dataset_make(&dataset, &options));
        assert_ok(sfu_dataset_digest(digests[1], dataset));
        sfu_dataset_free(dataset);
        assert_string_equal(digests[0], digests[1]);
        assert_nothing_left();
    }
}

/* ---- failures --------------------------------------------------------------------------------------------------- */

static void refusals(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    sfu_import_options options;
    sfu_import_options_init(&options);
    write_edges("w.csv", 0, 1000, 1000);
    options.edges = path_of("w.csv");
    options.memory = 999;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_import(&dataset, &options),
                 "a memory limit of 999 is too small: expected at least 32M");
    options.memory = LIMIT;
    options.largest = true;
    assert_fails(SFU_ERR_ARGUMENT, sfu_dataset_import(&dataset, &options), "--largest-component needs the whole graph");
    options.largest = false;
    options.scratch = "no/such/folder";
    assert_fails(SFU_ERR_IO, sfu_dataset_import(&dataset, &options), "folder: cannot create a temporary file");
    sfu_make_options make;
    sfu_make_options_init(&make);
    make.nodes = 5000000;
    make.memory = LIMIT;
    make.scratch = folder;
    assert_fails(SFU_ERR_MEMORY, sfu_dataset_make(&dataset, &make), "making this dataset needs", "the limit");
    assert_nothing_left();
}

static sfu_status import_once(void *context) {
    sfu_dataset *dataset = NULL;
    const sfu_status status = sfu_dataset_import(&dataset, context);
    sfu_dataset_free(dataset);
    return status;
}

static sfu_status make_once(void *context) {
    sfu_dataset *dataset = NULL;
    const sfu_status status = sfu_dataset_make(&dataset, context);
    sfu_dataset_free(dataset);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    write_edges("w.csv", 0, 40, 100);
    write_npy("x.npy", 40, 3, false);
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = path_of("w.csv");
    options.features = path_of("x.npy");
    options.memory = LIMIT;
    options.scratch = folder;
    options.threads = 1;
    test_fail_each_allocation(import_once, &options, 300);
    sfu_make_options make;
    sfu_make_options_init(&make);
    make.nodes = 100;
    make.threads = 1;
    make.memory = LIMIT;
    make.scratch = folder;
    test_fail_each_allocation(make_once, &make, 200);
    make.dense = 5;
    test_fail_each_allocation(make_once, &make, 200);
    assert_nothing_left();
}

static bool refuse_after(void *user, const sfu_progress *progress) {
    (void)progress;
    return --*(int *)user >= 0;
}

/* Cancelled at any time. */
static void cancelled(void **state) {
    (void)state;
    write_edges("w.csv", 0, 1000, 100000);
    const int before = sfu__tick_ms;
    sfu_status status = SFU_ERR_CANCELLED;
    int turn = 0;
    sfu__tick_ms = 0;
    for (; status == SFU_ERR_CANCELLED && turn < 2000; turn++) {
        int left = turn;
        sfu_import_options options;
        sfu_import_options_init(&options);
        options.edges = path_of("w.csv");
        options.memory = LIMIT;
        options.scratch = folder;
        options.threads = 1;
        options.progress = refuse_after;
        options.progress_user = &left;
        status = import_once(&options);
        assert_nothing_left();
    }
    sfu__tick_ms = before;
    assert_ok(status);
    assert_in_range(turn, 5, 1999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(imports),  cmocka_unit_test(imports_with_tables), cmocka_unit_test(makes),
        cmocka_unit_test(refusals), cmocka_unit_test(cancelled),           cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
