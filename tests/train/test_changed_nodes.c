/* The nodes whose prediction changes between two versions of a dataset, compared with predictions of all nodes. */
#include "support.h"

#include "model.h"
#include "node_match.h"
#include "random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NODES = 400, MORE = 20, FEATURES = 9, CLASSES = 3, EDGES = 420, ROUNDS = 12 };

/* A version of a dataset: node i is called names[i]. */
typedef struct version {
    int32_t nodes, edges;
    int32_t from[EDGES + MORE], to[EDGES + MORE];
    float features[NODES + MORE][FEATURES];
    float column[NODES + MORE];
    char names[NODES + MORE][16];
} version;

static void draw(version *v, uint64_t seed) {
    sfu__random random = sfu__random_start(seed, 1);
    *v = (version){.nodes = NODES, .edges = EDGES};
    for (int i = 0; i < EDGES; i++) {
        v->from[i] = (int32_t)sfu__random_below(&random, NODES);
        v->to[i] = (int32_t)sfu__random_below(&random, NODES);
    }
    for (int i = 0; i < NODES + MORE; i++) {
        snprintf(v->names[i], sizeof v->names[i], "node%d", i);
        v->column[i] = (float)sfu__random_unit(&random);
        for (int j = 0; j < FEATURES; j++) {
            v->features[i][j] = (float)sfu__random_unit(&random);
        }
    }
}

static sfu_status make(sfu_dataset **dataset, const version *v, bool directed, bool named) {
    static const char *const column_names[] = {"trust"};
    static const char *names[NODES + MORE];
    static int32_t labels[NODES + MORE];
    const float *columns[] = {v->column};
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.directed = directed;
    options.threads = 1;
    options.scale = SFU_SCALE_NONE;
    for (int i = 0; i < v->nodes; i++) {
        names[i] = v->names[i];
        labels[i] = i % CLASSES;
    }
    const sfu_arrays arrays = {.size = sizeof(sfu_arrays),
                               .nodes = v->nodes,
                               .edges = v->edges,
                               .edge_from = v->from,
                               .edge_to = v->to,
                               .features = FEATURES,
                               .dense = v->features[0],
                               .labels = labels,
                               .classes = CLASSES,
                               .node_names = named ? names : NULL,
                               .column_count = 1,
                               .column_names = column_names,
                               .columns = columns};
    return sfu_dataset_from_arrays(dataset, &arrays, &options);
}

/* ---- changes ----------------------------------------------------------------------------------------------------- */

static void add_node(version *v, sfu__random *random) {
    v->from[v->edges] = v->nodes++;
    v->to[v->edges++] = (int32_t)sfu__random_below(random, NODES);
}

static void remove_edge(version *v, sfu__random *random) {
    const int32_t at = (int32_t)sfu__random_below(random, (uint32_t)v->edges);
    v->edges--;
    v->from[at] = v->from[v->edges];
    v->to[at] = v->to[v->edges];
}

static void change_features(version *v, sfu__random *random) {
    v->features[sfu__random_below(random, NODES)][2] += 0.5F;
}

static void change_column(version *v, sfu__random *random) { v->column[sfu__random_below(random, NODES)] += 1; }

/* Removes the last node and its edges. */
static void remove_node(version *v, sfu__random *random) {
    (void)random;
    v->nodes--;
    for (int32_t i = v->edges; i-- > 0;) {
        if (v->from[i] == v->nodes || v->to[i] == v->nodes) {
            v->edges--;
            v->from[i] = v->from[v->edges];
            v->to[i] = v->to[v->edges];
        }
    }
}

/* Exchanges two nodes: their names, features and edges. */
static void exchange(version *v, sfu__random *random) {
    const int32_t one = (int32_t)sfu__random_below(random, NODES), other = NODES - 1 - one;
    version *before = malloc(sizeof *before);
    assert_non_null(before);
    *before = *v;
    memcpy(v->names[one], before->names[other], sizeof v->names[one]);
    memcpy(v->names[other], before->names[one], sizeof v->names[one]);
    memcpy(v->features[one], before->features[other], sizeof v->features[one]);
    memcpy(v->features[other], before->features[one], sizeof v->features[one]);
    v->column[one] = before->column[other];
    v->column[other] = before->column[one];
    for (int32_t i = 0; i < v->edges; i++) {
        int32_t *ends[2] = {&v->from[i], &v->to[i]};
        for (int end = 0; end < 2; end++) {
            *ends[end] = *ends[end] == one ? other : *ends[end] == other ? one : *ends[end];
        }
    }
    free(before);
}

static void nothing(version *v, sfu__random *random) { (void)v, (void)random; }

static void (*const all_changes[])(version *v, sfu__random *random) = {
    nothing, add_node, remove_edge, change_features, change_column, remove_node, exchange};
enum { CHANGES = sizeof all_changes / sizeof all_changes[0] };

/* ---- comparison -------------------------------------------------------------------------------------------------- */

static const char *const nets[] = {
    "gcn",
    "softmax",
    "smooth^2 | softmax",
    "smooth(self=trust) | dense 5 tanh | softmax | smooth(norm=row)",
    "dense 7 relu | dense classes | smooth^2(teleport=0.2, norm=col) | softmax(linear=no)",
    "smooth(act=relu) | dense 20 relu | smooth(left=0.2, right=0.7) | softmax"};
enum { NETS = sizeof nets / sizeof nets[0] };

static sfu_model *model_of(const char *text, const sfu_dataset *dataset) {
    sfu_model *model = NULL;
    sfu_net *net = NULL;
    assert_ok(sfu_net_parse(&net, text, NULL));
    assert_ok(sfu_model_from_net(&model, dataset, net, 3));
    sfu_net_free(net);
    return model;
}

/* Returns how many nodes changed. */
static int32_t compare(const sfu_dataset *here, const sfu_dataset *before, const sfu_model *model) {
    static float now[NODES + MORE][CLASSES], then[NODES + MORE][CLASSES], some[NODES + MORE][CLASSES];
    static int32_t nodes[NODES + MORE], old_of[NODES + MORE];
    int32_t count = -1, at = 0;
    sfu_predict_options options;
    sfu_predict_options_init(&options);
    assert_ok(sfu_predict(now[0], NULL, here, model, 1));
    assert_ok(sfu_predict(then[0], NULL, before, model, 1));
    assert_ok(sfu_changed_nodes(nodes, &count, here, before, model));
    assert_ok(sfu__match_nodes(old_of, here, before));
    options.nodes = nodes;
    options.node_count = count;
    assert_ok(sfu_predict_with(some[0], NULL, here, model, &options));
    for (int32_t node = 0; node < sfu_dataset_nodes(here); node++) {
        if (at < count && nodes[at] == node) {
            assert_memory_equal(some[at++], now[node], sizeof now[node]);
        } else {
            assert_true(old_of[node] >= 0);
            assert_memory_equal(then[old_of[node]], now[node], sizeof now[node]);
        }
    }
    assert_int_equal(at, count);
    return count;
}

static void compare_all(bool directed, bool named) {
    static version first, second;
    for (int round = 0; round < (test_is_slow() ? 4 : ROUNDS); round++) {
        sfu__random random = sfu__random_start((uint64_t)round, 2);
        draw(&first, (uint64_t)round);
        for (int change = 0; change < CHANGES; change++) {
            sfu_dataset *before = NULL, *here = NULL;
            second = first;
            all_changes[change](&second, &random);
            if (!named && all_changes[change] == exchange) {
                continue; /* numbers are the names */
            }
            assert_ok(make(&before, &first, directed, named));
            assert_ok(make(&here, &second, directed, named));
            for (int net = 0; net < NETS; net++) {
                sfu_model *model = model_of(nets[net], before);
                const int32_t count = compare(here, before, model);
                assert_true(count < NODES / 2 || strstr(nets[net], "^9") != NULL);
                assert_true(all_changes[change] != nothing || count == 0);
                sfu_model_free(model);
            }
            sfu_dataset_free(before);
            sfu_dataset_free(here);
        }
    }
}

static void undirected_graphs(void **state) {
    (void)state;
    compare_all(false, true);
}

static void directed_graphs(void **state) {
    (void)state;
    compare_all(true, true);
}

static void numbered_nodes(void **state) {
    (void)state;
    compare_all(false, false);
}

/* Any order of names is matched. */
static void names_in_any_order(void **state) {
    (void)state;
    static version first, second;
    static int32_t old_of[NODES];
    sfu_dataset *before = NULL, *here = NULL;
    draw(&first, 1);
    second = first;
    second.edges = 0;
    for (int i = 0; i < NODES; i++) {
        const int from = (i * 149 + 7) % NODES;
        memcpy(second.names[i], first.names[from], sizeof second.names[i]);
    }
    memcpy(second.names[5], "stranger", sizeof "stranger");
    assert_ok(make(&before, &first, false, true));
    assert_ok(make(&here, &second, false, true));
    assert_ok(sfu__match_nodes(old_of, here, before));
    for (int i = 0; i < NODES; i++) {
        assert_int_equal(old_of[i], i == 5 ? -1 : (i * 149 + 7) % NODES);
    }
    sfu_dataset_free(before);
    sfu_dataset_free(here);
}

/* A directed graph and an undirected one have nothing in common. */
static void another_kind_of_graph(void **state) {
    (void)state;
    static version first;
    static int32_t nodes[NODES];
    int32_t count = 0;
    sfu_dataset *before = NULL, *here = NULL;
    draw(&first, 1);
    assert_ok(make(&before, &first, false, true));
    assert_ok(make(&here, &first, true, true));
    sfu_model *model = model_of("gcn", before);
    assert_ok(sfu_changed_nodes(nodes, &count, here, before, model));
    assert_int_equal(count, NODES);
    sfu_model_free(model);
    sfu_dataset_free(before);
    sfu_dataset_free(here);
}

typedef struct pair {
    sfu_dataset *before, *here;
    sfu_model *model;
} pair;

static sfu_status find_changes(void *context) {
    static int32_t nodes[NODES + MORE];
    const pair *two = context;
    int32_t count = 0;
    return sfu_changed_nodes(nodes, &count, two->here, two->before, two->model);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    static version first, second;
    sfu__random random = sfu__random_start(1, 2);
    pair two = {0};
    draw(&first, 1);
    second = first;
    exchange(&second, &random);
    add_node(&second, &random);
    assert_ok(make(&two.before, &first, true, true));
    assert_ok(make(&two.here, &second, true, true));
    two.model = model_of("gcn", two.before);
    test_fail_each_allocation(find_changes, &two, 100);
    sfu_model_free(two.model);
    sfu_dataset_free(two.before);
    sfu_dataset_free(two.here);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(undirected_graphs),     cmocka_unit_test(directed_graphs),
        cmocka_unit_test(numbered_nodes),        cmocka_unit_test(names_in_any_order),
        cmocka_unit_test(another_kind_of_graph), cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
