/* The published results against the tables of the paper, and what is derived from them. */
#include "published.h"
#include "support.h"

#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the tables -------------------------------------------------------------------------------------------------- */

/* Splits a line at its commas. */
static int cut(char *cells[16], char *line) {
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *cell = line; cell != NULL && count < 16; count++) {
        char *comma = strchr(cell, ',');
        cells[count] = cell;
        if (comma != NULL) {
            *comma++ = '\0';
        }
        cell = comma;
    }
    return count;
}

static FILE *open_table(const char *name) {
    char path[4096];
    const char *source = getenv("SOURCE");
    snprintf(path, sizeof path, "%s/src/compare/paper/%s", source != NULL ? source : "..", name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    return file;
}

static sfu__task task_of(const char *net, const char *dataset, const char *size) {
    sfu__task task = {.alpha = NAN, .beta = NAN};
    snprintf(task.net, sizeof task.net, "%s", net);
    snprintf(task.dataset, sizeof task.dataset, "%s", dataset);
    snprintf(task.size, sizeof task.size, "%s", size);
    return task;
}

static void assert_number(double ours, double theirs) {
    if (isnan(theirs) || fabs(ours - theirs) > 1e-12 || isnan(ours)) {
        assert_true(isnan(theirs) && isnan(ours));
    }
}

static void tables_are_those_of_the_file(void **state) {
    (void)state;
    FILE *file = open_table("published_tables.csv");
    char line[256], *cells[16];
    int figures = 0, ranks = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(cut(cells, line), 5);
        const sfu__task task = task_of(cells[1], cells[2], strncmp(cells[0], "set", 3) == 0 ? cells[0] + 3 : cells[0]);
        if (strcmp(cells[2], "average_rank") == 0) {
            assert_number(sfu__published_rank(cells[0], cells[1]), atof(cells[3]));
            ranks++;
            continue;
        }
        const double std = *cells[4] != '\0' ? atof(cells[4]) / 100 : NAN;
        const sfu__published found = sfu__published_cell(cells[0], &task, "test");
        const sfu__published in_all = sfu__published_cell("all", &task, "test");
        assert_number(found.mean, atof(cells[3]) / 100);
        assert_number(found.std, std);
        assert_number(in_all.mean, found.mean);
        assert_true(isnan(sfu__published_cell(cells[0], &task, "val").mean));
        figures++;
    }
    fclose(file);
    assert_int_equal(figures, 5 * 8 * 5 + 8 * 3);
    assert_int_equal(ranks, 6 * 8);
}

static void sweeps_are_those_of_the_file(void **state) {
    (void)state;
    FILE *file = open_table("published_sweeps.csv");
    char line[256], *cells[16];
    int figures = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        assert_int_equal(cut(cells, line), 8);
        sfu__task task = task_of(cells[2], cells[1], "standard");
        const bool layers = strcmp(cells[0], "layers") == 0;
        const char *table = layers                                    ? "layers"
                            : strcmp(cells[0], "self_neighbour") == 0 ? "self-neighbour"
                                                                      : "degree-exponents";
        task.k = layers ? atoi(cells[3]) : 0;
        task.alpha = layers ? NAN : atof(cells[4]);
        task.beta = layers ? NAN : atof(cells[5]);
        task.exponents = strcmp(table, "degree-exponents") == 0;
        const sfu__published found = sfu__published_cell(table, &task, cells[6]);
        assert_number(found.mean, atof(cells[7]) / 100);
        assert_true(isnan(found.std));
        assert_number(sfu__published_cell("all", &task, cells[6]).mean, found.mean);
        figures++;
    }
    fclose(file);
    assert_int_equal(figures, 112);
}

static void names_are_found_in_any_case(void **state) {
    (void)state;
    const char *const names[] = {"cora", "CORA", "data/cora.safetensors", "/x.y/Cora.safetensors"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const sfu__task task = task_of("fp+mlp", names[i], "1");
        assert_number(sfu__published_cell("set1", &task, "test").mean, 0.824);
    }
    const sfu__task loops = task_of("Gcn", "acm+loops", "5");
    assert_string_equal(sfu__paper_dataset_of("acm+loops"), "ACM");
    assert_true(!isnan(sfu__published_cell("set5", &loops, "test").mean));
    const char *const others[] = {"coral", "cor", "", "cora+", "cora.npz", "cora+loop", "mycora", "cora/x"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_null(sfu__paper_dataset_of(others[i]));
    }
    const sfu__task nobody = task_of("mlp", "cora", "1");
    assert_true(isnan(sfu__published_cell("set1", &nobody, "test").mean));
    const sfu__task count = task_of("gcn", "cora", "200");
    assert_true(isnan(sfu__published_cell("all", &count, "test").mean));
    assert_true(isnan(sfu__published_rank("layers", "gcn")));
    assert_true(isnan(sfu__published_rank("set1", "mlp")));
    assert_number(sfu__published_rank("set1", "gcn+lp"), 2.4);
}

/* A mean is printed as in the paper: the nearest number, without errors of a division. */
static void figures_are_the_nearest_numbers(void **state) {
    (void)state;
    const sfu__task task = task_of("gcn", "cora", "1");
    const sfu__published found = sfu__published_cell("set1", &task, "test");
    assert_true(found.mean == 0.822 && found.std == 0.011);
}

/* ---- verdicts ---------------------------------------------------------------------------------------------------- */

/* Ours 82.2 (1.1) over 10 against the paper's 82.2 (1.1): no difference. With s equal and n = 10 on both sides the
 * interval is d -+ 2.1009 s sqrt(2/10), t of 18 degrees: half a width of 1.0335 points at s = 1.1. */
static void verdicts_are_those_of_the_interval(void **state) {
    (void)state;
    const sfu__published paper = {0.822, 0.011};
    assert_string_equal(sfu__verdict(0.822, 0.011, 10, &paper), "agrees");
    assert_string_equal(sfu__verdict(0.8323, 0.011, 10, &paper), "agrees");
    assert_string_equal(sfu__verdict(0.8324, 0.011, 10, &paper), "higher");
    assert_string_equal(sfu__verdict(0.8117, 0.011, 10, &paper), "agrees");
    assert_string_equal(sfu__verdict(0.8116, 0.011, 10, &paper), "lower");
    /* Two splits with a spread of 3: 1.96 degrees of freedom or so, a wide interval. */
    assert_string_equal(sfu__verdict(0.79, 0.03, 2, &paper), "agrees");
    const sfu__published none = {NAN, NAN}, single = {0.835, NAN};
    assert_string_equal(sfu__verdict(0.8, 0.01, 10, &none), "");
    assert_string_equal(sfu__verdict(0.8, 0.01, 10, &single), "");
    assert_string_equal(sfu__verdict(0.8, NAN, 1, &paper), "");
}

/* ---- the same by algebra ----------------------------------------------------------------------------------------- */

static const double pairs[][2] = {{0, 1},       {0.1, 0.9},   {0.25, 0.75}, {0.33, 0.67}, {0.5, 0.5},
                                  {0.67, 0.33}, {0.75, 0.25}, {0.9, 0.1},   {1, 0},       {1, 1}};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static sfu__task sweep(int i, bool exponents) {
    sfu__task task = task_of("mlp+lp", "cora", "standard");
    task.alpha = pairs[i][0];
    task.beta = pairs[i][1];
    task.exponents = exponents;
    return task;
}

static void only_the_last_cell_is_another_one(void **state) {
    (void)state;
    char text[64];
    for (int i = 0; i < PAIRS; i++) {
        const sfu__task exponents = sweep(i, true), weights = sweep(i, false);
        const char *one = sfu__same_network(text, "degree-exponents", &exponents);
        assert_true(i < PAIRS - 1 ? one == NULL : strcmp(one, "alpha=0, beta=1") == 0);
        const char *other = sfu__same_network(text, "self-neighbour", &weights);
        assert_true(i < PAIRS - 1 ? other == NULL : strcmp(other, "alpha=0.5, beta=0.5") == 0);
        assert_null(sfu__same_network(text, "set1", &weights));
    }
    sfu__task layers = task_of("gcn", "cora", "standard");
    layers.k = 1;
    assert_string_equal(sfu__same_network(text, "layers", &layers), "sgcn, k=1");
    assert_string_equal(sfu__same_network(text, "all", &layers), "sgcn, k=1");
    layers.k = 2;
    assert_null(sfu__same_network(text, "layers", &layers));
    const sfu__task set = task_of("gcn", "cora", "1");
    assert_null(sfu__same_network(text, "set1", &set));
}

/* The largest difference of two matrices with the same pattern; 1 if the patterns differ. */
static double difference(const sfu_matrix *one, const sfu_matrix *other) {
    const sfu_csr a = sfu_matrix_csr(one), b = sfu_matrix_csr(other);
    double largest = a.indptr[a.rows] == b.indptr[b.rows] ? 0 : 1;
    for (int64_t i = 0; i < a.indptr[a.rows] && largest < 1; i++) {
        const double here = a.indices[i] != b.indices[i] ? 1 : fabs((double)a.values[i] - (double)b.values[i]);
        largest = here > largest ? here : largest;
    }
    return largest;
}

static sfu_matrix *smoothing(const sfu_dataset *dataset, int i, bool exponents) {
    sfu_smoothing_options options;
    sfu_matrix *matrix = NULL;
    sfu_smoothing_options_init(&options);
    options.probabilities = true;
    options.norm = SFU_NORM_SYM_ROW;
    options.exponents = exponents;
    *(exponents ? &options.left : &options.self) = pairs[i][0];
    *(exponents ? &options.right : &options.neighbour) = pairs[i][1];
    assert_ok(sfu_smoothing_new(&matrix, dataset, &options));
    return matrix;
}

/* Cells that are declared equal have the same matrix on a real graph, and others have not. */
static void the_same_networks_have_the_same_matrices(void **state) {
    (void)state;
    sfu_dataset *dataset = NULL;
    assert_ok(sfu_dataset_open(&dataset, "citation"));
    for (int kind = 0; kind < 2; kind++) {
        sfu_matrix *matrices[PAIRS];
        for (int i = 0; i < PAIRS; i++) {
            matrices[i] = smoothing(dataset, i, kind == 1);
        }
        for (int i = 0; i < PAIRS; i++) {
            for (int j = 0; j < i; j++) {
                const bool said = i == PAIRS - 1 && j == (kind == 1 ? 0 : 4);
                const double found = difference(matrices[i], matrices[j]);
                assert_true(said ? found < 1e-6 : found > 1e-3);
            }
        }
        for (int i = 0; i < PAIRS; i++) {
            sfu_matrix_free(matrices[i]);
        }
    }
    sfu_dataset_free(dataset);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_those_of_the_file),
        cmocka_unit_test(sweeps_are_those_of_the_file),
        cmocka_unit_test(names_are_found_in_any_case),
        cmocka_unit_test(figures_are_the_nearest_numbers),
        cmocka_unit_test(verdicts_are_those_of_the_interval),
        cmocka_unit_test(only_the_last_cell_is_another_one),
        cmocka_unit_test(the_same_networks_have_the_same_matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
