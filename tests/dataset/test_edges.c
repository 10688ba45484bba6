/* The fast reader of edge lists against the general one, on random files, in blocks of every size. */
#include "support.h"

#include "csv.h"
#include "edges_fast.h"
#include "parallel.h"
#include "random.h"
#include "raw.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* ---- a slow and obviously correct reader ------------------------------------------------------------------------- */

typedef struct edge {
    uint32_t from, to;
    float weight;
} edge;

typedef struct edges {
    edge *items;
    size_t count, capacity;
} edges;

static void add_edge(edges *all, uint32_t from, uint32_t to, float weight) {
    all->items = sfu__grow(all->items, &all->capacity, all->count + 1, sizeof *all->items);
    assert_non_null(all->items);
    all->items[all->count++] = (edge){from, to, weight};
}

/* Format of the lines of a random file. */
typedef struct style {
    char separator;
    bool weighted, crlf, blanks, empty_lines, final_newline;
    uint32_t nodes;
} style;

static void random_blanks(sfu__text *text, sfu__random *random, const style *s, int least) {
    const int count = least + (s->blanks ? (int)sfu__random_below(random, 3) : 0);
    for (int i = 0; i < count; i++) {
        assert_ok(sfu__text_add(text, s->separator == '\t' || sfu__random_below(random, 2) == 0 ? " " : "\t", 1));
    }
}

static void random_separator(sfu__text *text, sfu__random *random, const style *s) {
    if (s->separator == ' ') {
        random_blanks(text, random, s, s->blanks ? 1 : 0);
        assert_ok(sfu__text_add(text, " ", s->blanks ? 0 : 1));
        return;
    }
    random_blanks(text, random, s, 0);
    assert_ok(sfu__text_add(text, &s->separator, 1));
    random_blanks(text, random, s, 0);
}

static void random_file(sfu__text *text, edges *all, const style *s, int lines, uint64_t seed) {
    sfu__random random = sfu__random_start(seed, 7);
    const char *end = s->crlf ? "\r\n" : "\n";
    for (int i = 0; i < lines; i++) {
        /* Numbers of all lengths. */
        const uint32_t from = (uint32_t)(sfu__random_below(&random, s->nodes) >> sfu__random_below(&random, 31));
        const uint32_t to = (uint32_t)sfu__random_below(&random, s->nodes);
        const double weight = (double)sfu__random_below(&random, 100000) / 64;
        random_blanks(text, &random, s, 0);
        assert_ok(sfu__text_format(text, "%u", from));
        random_separator(text, &random, s);
        assert_ok(sfu__text_format(text, "%u", to));
        if (s->weighted) {
            random_separator(text, &random, s);
            assert_ok(sfu__text_format(text, "%.10g", weight));
        }
        random_blanks(text, &random, s, 0);
        add_edge(all, from, to, s->weighted ? (float)weight : 1.0f);
        if (i + 1 < lines || s->final_newline) {
            assert_ok(sfu__text_add(text, end, strlen(end)));
        }
        while (s->empty_lines && i + 1 < lines && sfu__random_below(&random, 3) == 0) {
            random_blanks(text, &random, s, 0);
            assert_ok(sfu__text_add(text, end, strlen(end)));
        }
    }
}

static void check_pairs(const sfu__pairs *pairs, const edges *all, bool weighted) {
    size_t at = 0;
    assert_int_equal(pairs->count, all->count);
    if (all->items == NULL) {
        fail();
        return;
    }
    for (size_t b = 0; b < pairs->block_count; b++) {
        const sfu__pair_block *block = &pairs->blocks[b];
        assert_int_equal(block->weights != NULL, weighted);
        for (int64_t i = 0; i < block->count; i++, at++) {
            if (block->ends[2 * i] != all->items[at].from || block->ends[2 * i + 1] != all->items[at].to ||
                (weighted && block->weights[i] != all->items[at].weight)) {
                print_error("edge %zu is %u-%u instead of %u-%u\n", at, block->ends[2 * i], block->ends[2 * i + 1],
                            all->items[at].from, all->items[at].to);
                fail();
            }
        }
    }
    assert_int_equal(at, all->count);
}

static void check_file(const char *path, const edges *all, const style *s, size_t block, int threads) {
    sfu__pairs pairs = {0};
    sfu__edge_file file = {.path = path,
                           .style = {.separator = s->separator, .weighted = s->weighted},
                           .threads = threads,
                           .block = block};
    uint32_t largest = 0;
    for (size_t i = 0; i < all->count; i++) {
        largest = all->items[i].from > largest ? all->items[i].from : largest;
        largest = all->items[i].to > largest ? all->items[i].to : largest;
    }
    assert_ok(sfu__edges_fast(&pairs, &file));
    if (!file.fits) {
        print_error("%s with separator '%c', weights %d, blocks of %zu bytes does not fit\n", path, s->separator,
                    s->weighted, block);
        fail();
    }
    assert_int_equal(file.largest, largest);
    check_pairs(&pairs, all, s->weighted);
    sfu__pairs_clear(&pairs);
}

static const char *gzipped(const char *name, const sfu__text *text) {
    const char *path = test_path(name);
    gzFile gzip = gzopen(path, "wb1");
    assert_int_equal(gzwrite(gzip, text->bytes, (unsigned)text->size), text->size);
    assert_int_equal(gzclose(gzip), Z_OK);
    return path;
}

/* ---- tests ------------------------------------------------------------------------------------------------------ */

static void all_styles_and_blocks(void **state) {
    (void)state;
    static const char separators[] = ",\t; ";
    for (unsigned bits = 0; bits < 128; bits++) {
        const style s = {.separator = separators[bits & 3],
                         .weighted = (bits & 4) != 0,
                         .crlf = (bits & 8) != 0,
                         .blanks = (bits & 16) != 0,
                         .empty_lines = (bits & 32) != 0,
                         .final_newline = (bits & 64) != 0,
                         .nodes = INT32_MAX};
        sfu__text text = {0};
        edges all = {0};
        random_file(&text, &all, &s, 12, bits);
        char path[512];
        snprintf(path, sizeof path, "%s", test_file("e.txt", text.bytes, text.size));
        for (size_t block = 1; block <= text.size + 2; block++) {
            check_file(path, &all, &s, block, 1 + (int)(block % 2));
        }
        check_file(path, &all, &s, 0, 2);
        const char *packed = gzipped("e.txt.gz", &text);
        for (size_t block = 1; block < 40; block += 3) {
            check_file(packed, &all, &s, block, 1);
        }
        sfu__text_clear(&text);
        sfu__free(all.items);
    }
}

static void many_blocks(void **state) {
    (void)state;
    const style s = {.separator = ',', .final_newline = true, .nodes = 5000000};
    sfu__text text = {0};
    edges all = {0};
    random_file(&text, &all, &s, 200000, 99);
    char path[512];
    snprintf(path, sizeof path, "%s", test_file("m.csv", text.bytes, text.size));
    check_file(path, &all, &s, 0, 2);
    check_file(path, &all, &s, 1000, 4);
    check_file(path, &all, &s, 65537, 3);
    check_file(gzipped("m.csv.gz", &text), &all, &s, 0, 2);
    sfu__text_clear(&text);
    sfu__free(all.items);
}

static void what_does_not_fit(void **state) {
    (void)state;
    static const char *const texts[] = {
        "1,2\nx,3\n",    "1,2\n\"3\",4\n",       "1,2\n03,4\n", "1,2\n2147483648,4\n", "1,2\n12345678901,4\n",
        "1,2\n3\n",      "1,2\n3,4,5\n",         "1,2\n3,\n",   "1,2\n-3,4\n",         "1,2\n3.0,4\n",
        "1,2\n3,4\r5\n", "1,2\n99999999999,4\n", "1,2\n+3,4\n", "1,2\n3;4\n",          "1,2\n3,4 5\n",
        "1,2\n00,4\n",   "1,2\n012345678,4\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        for (size_t block = 1; block < 20; block++) {
            sfu__pairs pairs = {0};
            sfu__edge_file file = {
                .path = test_text_file("x.csv", texts[i]), .style = {.separator = ','}, .threads = 2, .block = block};
            assert_ok(sfu__edges_fast(&pairs, &file));
            if (file.fits) {
                print_error("%s", texts[i]);
            }
            assert_false(file.fits);
            assert_int_equal(pairs.count, 0);
            assert_int_equal(pairs.block_count, 0);
            sfu__pairs_clear(&pairs);
        }
    }
    /* A very long line. */
    sfu__text text = {0};
    for (int i = 0; i < 6000; i++) {
        assert_ok(sfu__text_add(&text, " ", 1));
    }
    assert_ok(sfu__text_format(&text, "1,2\n3,4\n"));
    sfu__pairs pairs = {0};
    sfu__edge_file file = {
        .path = test_text_file("l.csv", text.bytes), .style = {.separator = ','}, .threads = 1, .block = 100};
    assert_ok(sfu__edges_fast(&pairs, &file));
    assert_false(file.fits);
    sfu__text_clear(&text);
    sfu__pairs_clear(&pairs);
}

/* Whole imports: a quoted number anywhere makes the general reader read the same edges. */
static void both_ways_give_the_same(void **state) {
    (void)state;
    static const uint32_t nodes[] = {10, 300, 100000, INT32_MAX};
    for (unsigned bits = 0; bits < 64; bits++) {
        const style s = {
            .separator = ',', .weighted = (bits & 1) != 0, .final_newline = true, .nodes = nodes[bits >> 1 & 3]};
        sfu__text quick = {0};
        sfu__text general = {0};
        edges all = {0};
        random_file(&quick, &all, &s, 300, bits);
        const size_t first = strcspn(quick.bytes, ",");
        assert_ok(sfu__text_format(&general, "\"%.*s\"%s", (int)first, quick.bytes, quick.bytes + first));
        sfu_import_options options[2];
        sfu__raw quick_raw = {0};
        sfu__raw general_raw = {0};
        sfu__raw *raw[2] = {&quick_raw, &general_raw};
        char paths[3][512];
        snprintf(paths[0], sizeof paths[0], "%s", test_text_file("quick.csv", quick.bytes));
        snprintf(paths[1], sizeof paths[1], "%s", test_text_file("general.csv", general.bytes));
        snprintf(paths[2], sizeof paths[2], "%s",
                 test_text_file("labels.csv", bits & 16 ? "0,a\n1,b\n2,c\n" : "7,a\n3,b\n100,c\nx,d\n"));
        for (int i = 0; i < 2; i++) {
            sfu_import_options_init(&options[i]);
            options[i].edges = paths[i];
            options[i].labels = bits & 8 ? paths[2] : NULL;
            options[i].threads = 2;
            assert_ok(sfu__read_csv(raw[i], &options[i]));
        }
        assert_int_equal(raw[0]->nodes, raw[1]->nodes);
        assert_int_equal(raw[0]->nodes_only_in_edges, raw[1]->nodes_only_in_edges);
        assert_int_equal(raw[0]->node_names.count, raw[1]->node_names.count);
        for (int64_t i = 0; i < raw[0]->node_names.count; i++) {
            size_t sizes[2];
            const char *a = sfu__strings_get(&raw[0]->node_names, i, &sizes[0]);
            const char *b = sfu__strings_get(&raw[1]->node_names, i, &sizes[1]);
            assert_int_equal(sizes[0], sizes[1]);
            assert_memory_equal(a, b, sizes[0]);
        }
        edges seen = {0};
        for (size_t b = 0; b < raw[1]->pairs.block_count; b++) {
            const sfu__pair_block *block = &raw[1]->pairs.blocks[b];
            for (int64_t i = 0; i < block->count; i++) {
                add_edge(&seen, block->ends[2 * i], block->ends[2 * i + 1], s.weighted ? block->weights[i] : 1.0f);
            }
        }
        check_pairs(&raw[0]->pairs, &seen, s.weighted);
        for (size_t i = 0; i < all.count && all.items != NULL && seen.items != NULL; i++) {
            /* And the names refer to the file. */
            size_t size;
            char digits[16];
            snprintf(digits, sizeof digits, "%u", all.items[i].from);
            if (raw[0]->node_names.count > 0) {
                const char *name = sfu__strings_get(&raw[0]->node_names, seen.items[i].from, &size);
                assert_int_equal(size, strlen(digits));
                assert_memory_equal(name, digits, size);
            } else {
                assert_int_equal(seen.items[i].from, all.items[i].from);
            }
        }
        sfu__raw_clear(raw[0]);
        sfu__raw_clear(raw[1]);
        sfu__text_clear(&quick);
        sfu__text_clear(&general);
        sfu__free(all.items);
        sfu__free(seen.items);
    }
}

/* A cut or broken gzip file is an error, not a shorter graph. */
static void broken_gzip(void **state) {
    (void)state;
    const style s = {.separator = ',', .final_newline = true, .nodes = 1000};
    sfu__text text = {0};
    edges all = {0};
    random_file(&text, &all, &s, 2000, 5);
    char path[512];
    snprintf(path, sizeof path, "%s", gzipped("cut.csv.gz", &text));
    static char bytes[1 << 20];
    FILE *in = fopen(path, "rb");
    assert_non_null(in);
    const size_t size = fread(bytes, 1, sizeof bytes, in);
    fclose(in);
    for (size_t cut = 12; cut < size; cut += 97) {
        sfu_import_options options;
        sfu_import_options_init(&options);
        options.edges = test_file("cut.csv.gz", bytes, cut);
        sfu__raw raw = {0};
        assert_fails(SFU_ERR_FORMAT, sfu__read_csv(&raw, &options), "cut.csv.gz: byte", "corrupt gzip file");
        sfu__raw_clear(&raw);
    }
    sfu__text_clear(&text);
    sfu__free(all.items);
}

static sfu_status read_quickly(void *context) {
    sfu__pairs pairs = {0};
    sfu__edge_file file = {.path = context, .style = {.separator = ','}, .threads = 1, .block = 8};
    const sfu_status status = sfu__edges_fast(&pairs, &file);
    sfu__pairs_clear(&pairs);
    return status;
}

static void every_allocation(void **state) {
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", test_text_file("a.csv", "1,2\n3,4\n5,6\n7,8\n9,10\n"));
    test_fail_each_allocation(read_quickly, path, 1000);
    sfu__text text = {0};
    assert_ok(sfu__text_format(&text, "1,2\n3,4\n5,6\n7,8\n9,10\n"));
    snprintf(path, sizeof path, "%s", gzipped("a.csv.gz", &text));
    sfu__text_clear(&text);
    test_fail_each_allocation(read_quickly, path, 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_styles_and_blocks),   cmocka_unit_test(many_blocks), cmocka_unit_test(what_does_not_fit),
        cmocka_unit_test(both_ways_give_the_same), cmocka_unit_test(broken_gzip), cmocka_unit_test(every_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
