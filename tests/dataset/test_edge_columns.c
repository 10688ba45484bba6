/* Which columns of an edge list are the nodes and the weight: by options, by names, by position, and doubts. */
#include "support.h"

#include "raw.h"

#include <stdio.h>
#include <string.h>

typedef struct given {
    const char *text, *source, *target, *weight;
    sfu_header header;
} given;

static sfu_status read_edges(sfu__raw *raw, const given *g) {
    sfu_import_options options;
    sfu_import_options_init(&options);
    options.edges = test_text_file("edges.csv", g->text);
    options.source_column = g->source;
    options.target_column = g->target;
    options.weight_column = g->weight;
    options.header = g->header;
    options.threads = 2;
    return sfu__read_csv(raw, &options);
}

/* "x-y:0.5,y-z:2": the edges by the names of their nodes. */
static const char *show(const sfu__raw *raw) {
    static char out[1024];
    size_t used = 0;
    out[0] = '\0';
    for (size_t b = 0; b < raw->pairs.block_count; b++) {
        const sfu__pair_block *block = &raw->pairs.blocks[b];
        for (int64_t i = 0; i < 2 * block->count; i++) {
            size_t size = 0;
            char digits[16];
            const char *name = digits;
            if (raw->node_names.count > 0) {
                name = sfu__strings_get(&raw->node_names, block->ends[i], &size);
            } else {
                size = (size_t)snprintf(digits, sizeof digits, "%u", block->ends[i]);
            }
            used += (size_t)snprintf(out + used, sizeof out - used, "%s%.*s",
                                     i % 2 != 0 ? "-"
                                     : used > 0 ? ","
                                                : "",
                                     (int)size, name);
            if (i % 2 != 0 && block->weights != NULL) {
                used += (size_t)snprintf(out + used, sizeof out - used, ":%g", (double)block->weights[i / 2]);
            }
        }
    }
    return out;
}

static void expect(given g, const char *wanted) {
    sfu__raw raw = {0};
    assert_ok(read_edges(&raw, &g));
    assert_string_equal(show(&raw), wanted);
    sfu__raw_clear(&raw);
}

static sfu_status try_read(given g) {
    sfu__raw raw = {0};
    const sfu_status status = read_edges(&raw, &g);
    sfu__raw_clear(&raw);
    return status;
}

static void by_name(void **state) {
    (void)state;
    expect((given){.text = "weight,from,to\n0.5,ann,bob\n2,bob,cid\n"}, "ann-bob:0.5,bob-cid:2");
    expect((given){.text = "Weight,From,TO\n3,7,8\n"}, "7-8:3");
    expect((given){.text = "to,from\n1,0\n2,0\n"}, "0-1,0-2");
    expect((given){.text = "target;count;source\nb;3;a\n"}, "a-b:3");
    expect((given){.text = "u,v\n0,18\n0,1\n"}, "0-18,0-1");
    expect((given){.text = "u,v,w\n0,1,7\n"}, "0-1:7");
    expect((given){.text = "kind,src,dst,value\nx,a,b,0.5\n"}, "a-b:0.5");
    expect((given){.text = "id_1,id_2\n5,6\n"}, "5-6");
    expect((given){.text = "node1,node2\nann,bob\n"}, "ann-bob");
    expect((given){.text = "w,person,friend\n3,1,2\n"}, "1-2:3");
    expect((given){.text = ",source,target\n0,7,8\n1,8,9\n"}, "7-8,8-9");
    expect((given){.text = "source,target,kind\n7,8,friend\n"}, "7-8");
    expect((given){.text = "FromNodeId\tToNodeId\nx\ty\n"}, "x-y");
}

/* Words that may be nodes are a header only if the second row has other names. */
static void words_that_are_nodes(void **state) {
    (void)state;
    expect((given){.text = "u,v\nw,x\n"}, "u-v,w-x");
    expect((given){.text = "node1,node2\nnode2,node12\n"}, "node1-node2,node2-node12");
    expect((given){.text = "u,v\n"}, "u-v");
    expect((given){.text = "u,v\nann,bob\n"}, "ann-bob");
    expect((given){.text = "from,to\nann,bob\n", .header = SFU_HEADER_NO}, "from-to,ann-bob");
}

static void by_position(void **state) {
    (void)state;
    expect((given){.text = "0,1,2\n1,0,5\n"}, "0-1:2,1-0:5");
    expect((given){.text = "a,b,c\n1,2,0.5\n"}, "1-2:0.5");
    expect((given){.text = "a,b,c\nann,bob,3\n"}, "ann-bob:3");
    expect((given){.text = "a,b\n1,2\n"}, "1-2");
    expect((given){.text = "ann,bob,3\n"}, "ann-bob:3");
    expect((given){.text = "a,b,c\n", .header = SFU_HEADER_YES}, "");
}

/* A file of plain numbers is parsed by the fast path, one with a quote by the general one: the same edges. */
static void fast_and_general(void **state) {
    (void)state;
    static const char *const rows[] = {"weight,from,to\n0.5,%s7%s,8\n-0,8,9\n1e2,7,9\n\n3,9,7\n",
                                       "weight\tfrom\tto\r\n0.5\t%s7%s\t8\r\n 0 \t8 \t 9\r\n1e2\t7\t9\n3\t9\t7",
                                       "weight from to\n0.5 %s7%s 8\n0  8\t9 \n 1e2 7 9\n3 9 7\n"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int quoted = 0; quoted < 2; quoted++) {
            char text[256];
            const char *quote = quoted ? "\"" : "";
            snprintf(text, sizeof text, rows[i], quote, quote);
            expect((given){.text = text}, "7-8:0.5,8-9:0,7-9:100,9-7:3");
        }
    }
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\n-1,7,8\n"}), "edges.csv:2", "is negative");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\n1,7\n"}), "expected 3 columns");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\n1,7,8,9\n"}), "expected 3 columns");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\n,7,8\n"}), "edges.csv:2");
}

static void by_option(void **state) {
    (void)state;
    expect((given){.text = "a,b,c,d\n1,2,3,4\n", .source = "b", .target = "D"}, "2-4");
    expect((given){.text = "a,b,c,d\n1,2,3,4\n", .source = "b", .target = "d", .weight = "a"}, "2-4:1");
    expect((given){.text = "5,2,3,4\n", .source = "2", .target = "4", .weight = "1"}, "2-4:5");
    expect((given){.text = "x,y\nann,bob\n", .source = "y", .target = "x"}, "bob-ann");
    expect((given){.text = "source,target,since\n1,2,1999\n", .weight = "since"}, "1-2:1999");
    expect((given){.text = "source,target,since\n1,2,1999\n", .weight = "none"}, "1-2");
    expect((given){.text = "1,2,3\n", .weight = "none"}, "1-2");
    expect((given){.text = "0.5,1,2\n", .weight = "1"}, "1-2:0.5");
    expect((given){.text = "from,to,weight\n1,2,3\n", .source = "to", .target = "from"}, "2-1:3");
}

static void doubts(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "a,b,c\n1,2,3\n"}),
                 "edges.csv:1: ", "\"a\" -> \"b\" with weight \"c\", or \"b\" -> \"c\" with weight \"a\"",
                 "--source, --target");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "0.5,1,2\n"}),
                 "column 1 -> column 2 with weight column 3, or column 2 -> column 3 with weight column 1");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "source,target,since\n1,2,1999\n"}),
                 "with weight \"since\", or \"source\" -> \"target\" without weights", "--weight none");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "n,a,b\n1,ann,bob\n"}),
                 "\"a\" -> \"b\" with weight \"n\", or \"a\" -> \"b\" without weights");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "ann,likes,bob\n"}), "column 1 -> column 2 without weights",
                 "column 1 -> column 3");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "from,to,weight,count\n1,2,3,4\n"}),
                 "the weight can be \"weight\" or \"count\"");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "from,to,u,v\n1,2,3,4\n"}), "\"from\" -> \"to\"",
                 "or \"u\" -> \"v\"");
}

static void mistakes(void **state) {
    (void)state;
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "a\n"}), "edges.csv:1: expected 2 or 3 columns", "found 1");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "a,b,c,d\n1,2,3,4\n"}),
                 "found 4: \"a\", \"b\", \"c\", \"d\"");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "a,b\n1,2\n", .source = "z", .target = "b"}),
                 "no column \"z\" for --source; there are \"a\", \"b\"");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "1,2\n", .source = "3", .target = "1"}), "no column \"3\"");
    assert_fails(SFU_ERR_ARGUMENT, try_read((given){.text = "a,b\n1,2\n", .source = "a"}),
                 "both --source and --target");
    assert_fails(SFU_ERR_ARGUMENT, try_read((given){.text = "a,b\n1,2\n", .source = "a", .target = "a"}), "different");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\nx,1,2\n"}), "column \"weight\": \"x\"");
    assert_fails(SFU_ERR_FORMAT, try_read((given){.text = "weight,from,to\n1,,2\n"}), "field 2, a node, is empty");
}

static sfu_status read_once(void *context) { return try_read(*(const given *)context); }

static void out_of_memory(void **state) {
    (void)state;
    given cases[] = {{.text = "kind,weight,from,to\nx,0.5,ann,bob\n"},
                     {.text = "a,b,c\nann,bob,3\n", .source = "b", .target = "a", .weight = "none"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        test_fail_each_allocation(read_once, &cases[i], 1000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_name),     cmocka_unit_test(words_that_are_nodes),
                                       cmocka_unit_test(by_position), cmocka_unit_test(by_option),
                                       cmocka_unit_test(doubts),      cmocka_unit_test(fast_and_general),
                                       cmocka_unit_test(mistakes),    cmocka_unit_test(out_of_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
