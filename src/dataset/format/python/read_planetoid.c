/* read_planetoid.c - reads Planetoid's files, folder/ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}: pickles, except
 * the last, which is text.
 *
 *   allx, ally    features (CSR) and one-hot labels of nodes 0, 1, ...: all except the test nodes
 *   tx, ty        the same for the test nodes; row k belongs to the node in line k of test.index
 *   x, y          the first rows of allx and ally: the training nodes
 *   graph         a dictionary from each node to the list of its neighbours
 *
 * The standard split: the first nodes, as many as y has rows, for training, the 500 after them for validation,
 * test.index for testing. Citeseer's test nodes have gaps: nodes that occur only in the graph, without features or
 * label.
 */
#include "pickle.h"
#include "progress.h"
#include "file.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { X, Y, TX, TY, ALLX, ALLY, GRAPH, TEST_INDEX, FILES, VALIDATION = 500 };

static const char *const suffixes[FILES] = {".x", ".y", ".tx", ".ty", ".allx", ".ally", ".graph", ".test.index"};

typedef struct planetoid {
    char *prefix;
    char *paths[FILES];
    sfu__bytes bytes[FILES];
    sfu__pickle *pickles[TEST_INDEX];
    sfu__table tables[GRAPH];
    int32_t *test; /* the nodes of test.index in file order */
    int64_t test_count;
    int64_t largest; /* the largest node number in any file */
} planetoid;

static void planetoid_clear(planetoid *set) {
    for (int i = 0; i < GRAPH; i++) {
        sfu__table_clear(&set->tables[i]);
    }
    for (int i = 0; i < TEST_INDEX; i++) {
        sfu__pickle_free(set->pickles[i]);
    }
    for (int i = 0; i < FILES; i++) {
        sfu__bytes_close(&set->bytes[i]);
        sfu__free(set->paths[i]);
    }
    sfu__free(set->prefix);
    sfu__free(set->test);
}

/* ---- finding the files ---------------------------------------------------------------------------------------- */

static bool ends_with(const char *text, const char *suffix) {
    const size_t size = strlen(text);
    const size_t want = strlen(suffix);
    return size > want && strcmp(text + size - want, suffix) == 0;
}

/* The only ind.NAME.graph of a folder, without its suffix. */
static sfu_status find_in_folder(char **prefix, const char *folder) {
    sfu_status status = SFU_OK;
    char *first = NULL;
    DIR *entries = opendir(folder);
    if (entries == NULL) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot read this folder", folder);
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (strncmp(entry->d_name, "ind.", 4) != 0 || !ends_with(entry->d_name, suffixes[GRAPH])) {
            continue;
        }
        if (first != NULL) {
            status = sfu__fail(
                SFU_ERR_ARGUMENT,
                "%s: there are several of Planetoid's datasets in this folder, name one: folder/ind.NAME", folder);
            goto done;
        }
        first = sfu__copy_bytes(entry->d_name, strlen(entry->d_name) - strlen(suffixes[GRAPH]));
        if (first == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
    }
    if (first == NULL) {
        status = sfu__fail(SFU_ERR_NOT_FOUND,
                           "%s: expected the files of a known layout in this folder: Planetoid (ind.NAME.graph), "
                           "GraphLand, OGB, Geom-GCN or MUSAE; name CSV files with --edges and --nodes",
                           folder);
        goto done;
    }
    *prefix = sfu__path_join(folder, first);
    status = *prefix != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    closedir(entries);
    sfu__free(first);
    return status;
}

/* Accepts a folder, a prefix, or any one of the eight files. */
static sfu_status find_prefix(char **prefix, const char *source) {
    if (sfu__path_is_folder(source)) {
        return find_in_folder(prefix, source);
    }
    size_t size = strlen(source);
    for (int i = 0; i < FILES; i++) {
        /* "ind.x" could also be the prefix of a dataset named x, but then it is not a file. */
        if (ends_with(source, suffixes[i]) && sfu__path_is_file(source)) {
            size -= strlen(suffixes[i]);
            break;
        }
    }
    *prefix = sfu__copy_bytes(source, size);
    return *prefix != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

static sfu_status open_file(planetoid *set, sfu__raw *raw, int i) {
    sfu_status status = SFU_OK;
    sfu__text path = {0};
    SFU_TRY(sfu__text_format(&path, "%s%s", set->prefix, suffixes[i]));
    set->paths[i] = path.bytes;
    path = (sfu__text){0};
    SFU_TRY(sfu__raw_add_file(raw, set->paths[i]));
    SFU_TRY(sfu__bytes_open(&set->bytes[i], set->paths[i]));
done:
    sfu__text_clear(&path);
    return status;
}

static sfu_status open_pickle(planetoid *set, sfu__raw *raw, int i) {
    sfu_status status = SFU_OK;
    SFU_TRY(open_file(set, raw, i));
    SFU_TRY(sfu__pickle_read(&set->pickles[i], set->bytes[i].data, set->bytes[i].size, set->paths[i]));
    if (i < GRAPH) {
        SFU_TRY(sfu__pickle_table(&set->tables[i], set->pickles[i], sfu__pickle_root(set->pickles[i])));
    }
done:
    return status;
}

/* ---- the test nodes ------------------------------------------------------------------------------------------- */

/* One node per line. */
static sfu_status read_test_index(planetoid *set) {
    sfu_status status = SFU_OK;
    const sfu__bytes *file = &set->bytes[TEST_INDEX];
    const char *at = (const char *)file->data;
    const char *end = file->size > 0 ? at + file->size : at;
    size_t capacity = 0;
    for (int64_t line = 1; at < end; line++) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline != NULL ? newline : end;
        const char *trimmed = stop > at && stop[-1] == '\r' ? stop - 1 : stop;
        int64_t node;
        if (!sfu__parse_int64(&node, at, trimmed) || node < 0 || node >= INT32_MAX) {
            char quoted[SFU__QUOTE_MAX];
            status = sfu__fail(SFU_ERR_FORMAT, "%s:%lld: expected a node number, found %s", set->paths[TEST_INDEX],
                               (long long)line, sfu__quote(quoted, at, (size_t)(trimmed - at)));
            goto done;
        }
        int32_t *grown = sfu__grow(set->test, &capacity, (size_t)set->test_count + 1, sizeof *grown);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        set->test = grown;
        set->test[set->test_count++] = (int32_t)node;
        set->largest = node > set->largest ? node : set->largest;
        at = newline != NULL ? newline + 1 : end;
    }
done:
    return status;
}

/* ---- the graph ------------------------------------------------------------------------------------------------ */

static sfu_status read_node(int64_t *node, const sfu__pickle *pickle, const sfu__object *value) {
    const sfu_status status = sfu__pickle_need(pickle, value, SFU__OBJECT_INT);
    *node = status == SFU_OK ? value->as.integer : 0;
    return status == SFU_OK && (*node < 0 || *node >= INT32_MAX)
               ? sfu__pickle_fail(pickle, value, "a node's number is negative or too large")
               : status;
}

/* Finds the number of edges and the largest node. A list can be referenced any number of times, so a small file could
 * define endless edges; a real one takes at least a byte per edge. */
static sfu_status survey_graph(planetoid *set, int64_t *edges) {
    sfu_status status = SFU_OK;
    const sfu__pickle *pickle = set->pickles[GRAPH];
    const sfu__object *root = sfu__pickle_root(pickle);
    const sfu__object *key;
    *edges = 0;
    SFU_TRY(sfu__pickle_need(pickle, root, SFU__OBJECT_DICT));
    for (uint32_t cell = root->as.items.first; (key = sfu__pickle_next(pickle, &cell)) != NULL;) {
        const sfu__object *list = sfu__pickle_next(pickle, &cell);
        int64_t node;
        SFU_TRY(read_node(&node, pickle, key));
        SFU_TRY(sfu__pickle_need(pickle, list, SFU__OBJECT_LIST));
        set->largest = node > set->largest ? node : set->largest;
        *edges += list->as.items.count;
        if (*edges > (int64_t)sfu__pickle_size(pickle)) {
            status = sfu__pickle_fail(pickle, list, "more edges than the file has bytes");
            goto done;
        }
    }
done:
    return status;
}

/* Each node must occur once, and each neighbour must be a node. */
static sfu_status fill_pairs(uint32_t *ends, const planetoid *set, int64_t nodes, unsigned char *seen) {
    sfu_status status = SFU_OK;
    const sfu__pickle *pickle = set->pickles[GRAPH];
    const sfu__object *key;
    size_t used = 0;
    for (uint32_t cell = sfu__pickle_root(pickle)->as.items.first; (key = sfu__pickle_next(pickle, &cell)) != NULL;) {
        const int64_t node = key->as.integer;
        const sfu__object *list = sfu__pickle_next(pickle, &cell);
        const sfu__object *neighbour;
        SFU_TRY(sfu__poll_at(node));
        if (seen[node]++ != 0) {
            return sfu__pickle_fail(pickle, key, "duplicate node");
        }
        for (uint32_t next = list->as.items.first; (neighbour = sfu__pickle_next(pickle, &next)) != NULL;) {
            int64_t to;
            SFU_TRY(read_node(&to, pickle, neighbour));
            if (to >= nodes) {
                return sfu__fail(SFU_ERR_FORMAT,
                                 "%s: byte %zu: node %lld is a neighbour, but there are only %lld nodes",
                                 sfu__pickle_path(pickle), neighbour->byte, (long long)to, (long long)nodes);
            }
            ends[used++] = (uint32_t)node;
            ends[used++] = (uint32_t)to;
        }
    }
done:
    return status;
}

static sfu_status take_graph(planetoid *set, sfu__raw *raw, int64_t edges) {
    sfu_status status = SFU_OK;
    uint32_t *ends = NULL;
    unsigned char *seen = NULL;
    SFU_ALLOC(ends, 2 * edges);
    SFU_ALLOC_ZERO(seen, raw->nodes);
    SFU_TRY(fill_pairs(ends, set, raw->nodes, seen));
    SFU_TRY(sfu__pairs_take(&raw->pairs, &ends, NULL, edges));
    raw->has_graph = true;
done:
    sfu__free(ends);
    sfu__free(seen);
    return status;
}

/* ---- number of nodes ------------------------------------------------------------------------------------------ */

static int64_t rows_of(const planetoid *set, int i) {
    const sfu__table *table = &set->tables[i];
    return table->is_sparse ? table->sparse.rows : table->dense.dims == 2 ? table->dense.shape[0] : -1;
}

static int64_t cols_of(const planetoid *set, int i) {
    const sfu__table *table = &set->tables[i];
    return table->is_sparse ? table->sparse.cols : table->dense.dims == 2 ? table->dense.shape[1] : -1;
}

static sfu_status check_same(const planetoid *set, int a, int b, bool rows) {
    const int64_t first = rows ? rows_of(set, a) : cols_of(set, a);
    const int64_t second = rows ? rows_of(set, b) : cols_of(set, b);
    if (first >= 1 && first == second) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %lld %s, but %s has %lld", set->paths[a], (long long)first,
                     rows ? "rows" : "columns", sfu__path_base(set->paths[b]), (long long)second);
}

static sfu_status check_shapes(const planetoid *set) {
    static const struct {
        int a, b;
        bool rows;
    } same[] = {{X, Y, true},      {TX, TY, true},   {ALLX, ALLY, true}, {X, ALLX, false},
                {TX, ALLX, false}, {Y, ALLY, false}, {TY, ALLY, false}};
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++) {
        SFU_TRY(check_same(set, same[i].a, same[i].b, same[i].rows));
    }
    if (rows_of(set, TX) != set->test_count) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld lines, but %s has %lld rows", set->paths[TEST_INDEX],
                           (long long)set->test_count, sfu__path_base(set->paths[TX]), (long long)rows_of(set, TX));
    } else if (rows_of(set, X) > rows_of(set, ALLX)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %lld rows, more than the %lld of %s", set->paths[X],
                           (long long)rows_of(set, X), (long long)rows_of(set, ALLX), sfu__path_base(set->paths[ALLX]));
    }
done:
    return status;
}

/* One more than the largest node number; rejects a number too large for the nodes in the files. */
static sfu_status count_nodes(const planetoid *set, sfu__raw *raw) {
    const int64_t given = rows_of(set, ALLX) + rows_of(set, TX);
    const int64_t keys = sfu__pickle_root(set->pickles[GRAPH])->as.items.count / 2;
    const int64_t nodes = set->largest + 1 > given ? set->largest + 1 : given;
    if (nodes > given + keys) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: node %lld is named, but there are features of %lld nodes and %lld are in %s", set->prefix,
                         (long long)set->largest, (long long)given, (long long)keys, sfu__path_base(set->paths[GRAPH]));
    }
    return sfu__raw_set_nodes(raw, nodes, set->prefix);
}

/* A test node must not be in allx and must occur once. */
static sfu_status check_test_nodes(const planetoid *set, int64_t nodes) {
    sfu_status status = SFU_OK;
    unsigned char *seen = NULL;
    SFU_ALLOC_ZERO(seen, nodes);
    for (int64_t i = 0; i < set->test_count; i++) {
        if (set->test[i] < rows_of(set, ALLX) || seen[set->test[i]]++ != 0) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s:%lld: node %d %s", set->paths[TEST_INDEX], (long long)i + 1,
                               set->test[i], set->test[i] < rows_of(set, ALLX) ? "is already in allx" : "occurs twice");
            goto done;
        }
    }
done:
    sfu__free(seen);
    return status;
}

/* ---- features, labels, split ---------------------------------------------------------------------------------- */

static sfu_status make_sparse(sfu__table *table) {
    if (table->is_sparse) {
        return SFU_OK;
    }
    const sfu_status status = sfu__triplets_dense(&table->sparse, &table->dense);
    table->is_sparse = status == SFU_OK;
    return status;
}

static sfu_status take_features(planetoid *set, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    sfu__triplets all = {.rows = raw->nodes, .cols = cols_of(set, ALLX)};
    SFU_TRY(make_sparse(&set->tables[ALLX]));
    SFU_TRY(make_sparse(&set->tables[TX]));
    SFU_TRY(sfu__triplets_add(&all, &set->tables[ALLX].sparse, NULL));
    SFU_TRY(sfu__triplets_add(&all, &set->tables[TX].sparse, set->test));
    SFU_TRY(sfu__raw_set_sparse_features(raw, &all, set->paths[ALLX]));
done:
    sfu__triplets_clear(&all);
    return status;
}

static sfu_status take_labels(planetoid *set, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    int32_t *test_labels = NULL;
    const int64_t rows = rows_of(set, ALLX);
    SFU_ALLOC(raw->labels, raw->nodes);
    SFU_ALLOC(test_labels, set->test_count);
    SFU_TRY(sfu__one_hot(raw->labels, &set->tables[ALLY]));
    SFU_TRY(sfu__one_hot(test_labels, &set->tables[TY]));
    for (int64_t i = rows; i < raw->nodes; i++) {
        raw->labels[i] = SFU_NO_LABEL;
    }
    for (int64_t i = 0; i < set->test_count; i++) {
        raw->labels[set->test[i]] = test_labels[i];
    }
    raw->classes = cols_of(set, ALLY);
done:
    sfu__free(test_labels);
    return status;
}

/* Makes the nodes from `begin` to `end` a part of the split. */
static sfu_status take_range(sfu__raw *raw, sfu_part part, int64_t begin, int64_t end) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(raw->standard[part], end - begin);
    for (int64_t node = begin; node < end; node++) {
        raw->standard[part][node - begin] = (int32_t)node;
    }
    raw->standard_count[part] = end - begin;
done:
    return status;
}

static sfu_status take_split(planetoid *set, sfu__raw *raw) {
    sfu_status status = SFU_OK;
    const int64_t train = rows_of(set, Y);
    const int64_t all = rows_of(set, ALLX);
    SFU_TRY(take_range(raw, SFU_TRAIN, 0, train));
    SFU_TRY(take_range(raw, SFU_VAL, train, all - train > VALIDATION ? train + VALIDATION : all));
    raw->standard[SFU_TEST] = set->test;
    raw->standard_count[SFU_TEST] = set->test_count;
    set->test = NULL;
    raw->has_standard = true;
done:
    return status;
}

sfu_status sfu__read_planetoid(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    planetoid set = {0};
    int64_t edges;
    raw->format = "planetoid";
    SFU_TRY(find_prefix(&set.prefix, options->source));
    for (int i = 0; i < TEST_INDEX; i++) {
        SFU_TRY(open_pickle(&set, raw, i));
    }
    SFU_TRY(open_file(&set, raw, TEST_INDEX));
    SFU_TRY(read_test_index(&set));
    SFU_TRY(check_shapes(&set));
    SFU_TRY(survey_graph(&set, &edges));
    SFU_TRY(count_nodes(&set, raw));
    SFU_TRY(check_test_nodes(&set, raw->nodes));
    SFU_TRY(take_graph(&set, raw, edges));
    SFU_TRY(take_features(&set, raw));
    SFU_TRY(take_labels(&set, raw));
    SFU_TRY(take_split(&set, raw));
done:
    planetoid_clear(&set);
    return status;
}
