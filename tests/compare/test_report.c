/* The report: contents of the page and the plots, escaping of names in markup and scripts, and reports without gnuplot.
 * With a folder as its argument this program only writes a report there, for test_report_browser.sh. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include "chart.h"
#include "file.h"
#include "hand_made_results.h"
#include "html_page.h"
#include "html_write.h"
#include "plots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- help -------------------------------------------------------------------------------------------------------- */

/* The bytes of a file, 0-terminated; free it. */
static char *read_text(const char *path) {
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, path));
    char *text = calloc(bytes.size + 1, 1);
    assert_non_null(text);
    memcpy(text, bytes.data, bytes.size);
    sfu__bytes_close(&bytes);
    return text;
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (const char *at = text; (at = strstr(at, part)) != NULL; at += strlen(part)) {
        count++;
    }
    return count;
}

static sfu_status write_report(const sfu_results *results) {
    sfu_status status = sfu__make_folders(results->folder);
    status = status == SFU_OK ? sfu__results_plots(results) : status;
    return status == SFU_OK ? sfu__results_html(results) : status;
}

/* report.html of hand-made results, in a folder of this name; free it. */
static char *report_in(const char *name, bool hostile) {
    char path[1000];
    sfu_results *results = hand_made_results(test_path(name), hostile);
    assert_non_null(results);
    assert_ok(write_report(results));
    snprintf(path, sizeof path, "%s/report.html", results->folder);
    sfu_results_free(results);
    return read_text(path);
}

/* The same, written once for all tests that only read it. */
static char *report_of(bool hostile) {
    static bool written[2];
    const char *name = hostile ? "hostile" : "tame";
    char path[1000];
    if (!written[hostile]) {
        written[hostile] = true;
        return report_in(name, hostile);
    }
    snprintf(path, sizeof path, "%s/report.html", test_path(name));
    return read_text(path);
}

static int logged;
static char last_line[1000];
static void keep(void *user, sfu_log_level level, const char *line) {
    (void)user;
    (void)level;
    logged++;
    snprintf(last_line, sizeof last_line, "%s", line);
}

/* Runs `body` with an empty PATH. */
static void without_programs(void (*body)(void)) {
    char *before = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", "/nonexistent", 1), 0);
    body();
    assert_int_equal(setenv("PATH", before, 1), 0);
    free(before);
}

static bool has_gnuplot(void) { return system("command -v gnuplot >/dev/null 2>&1") == 0; }

/* ---- markup ------------------------------------------------------------------------------------------------------ */

static void texts_are_escaped(void **state) {
    (void)state;
    sfu__text html = {0};
    assert_ok(sfu__html(&html, "<a title=\"%s\">%s</a> 5 %%", "\"'<>&", "a\x01\xff\u00e4\n%s"));
    assert_string_equal(html.bytes, "<a title=\"&quot;&#39;&lt;&gt;&amp;\">a\uFFFD\uFFFD\u00e4\n%s</a> 5 %");
    sfu__text_clear(&html);
}

static void prose_is(const char *markdown, bool tables, const char *wanted) {
    sfu__text html = {0};
    assert_ok(sfu__html_prose(&html, markdown, tables));
    assert_string_equal(html.bytes != NULL ? html.bytes : "", wanted);
    sfu__text_clear(&html);
}

static void markdown_becomes_markup(void **state) {
    (void)state;
    prose_is("", false, "");
    prose_is("one\ntwo\n\nthree `a<b` **bold** x*y ** and ` alone", false,
             "<p>one\ntwo</p>\n<p>three <code>a&lt;b</code> <strong>bold</strong> x*y ** and ` alone</p>\n");
    prose_is("- a\n  more\n- b\n", false, "<ul>\n<li>a\n  more</li>\n<li>b</li>\n</ul>\n");
    prose_is("```\n<b> `x`\n\n# no\n```\nend", false, "<pre><code>&lt;b&gt; `x`\n\n# no\n</code></pre>\n<p>end</p>\n");
    prose_is("```\ncut", false, "<pre><code>cut\n</code></pre>\n");
    /* A heading without contents is removed. */
    prose_is("# title\n## a\n| x |\n|---|\n| 1 |\n\n## b\ntext\n### c\nmore", false,
             "<h3>b</h3>\n<p>text</p>\n<h4>c</h4>\n<p>more</p>\n");
    /* So is a paragraph that leads to a table; what follows it stays. */
    prose_is("## a\nSee:\n\n| x |\n|---|\n\nmore\n\nand\n\n- item\n\n| y |\n", false,
             "<h3>a</h3>\n<p>more</p>\n<p>and</p>\n<ul>\n<li>item</li>\n</ul>\n");
    prose_is("- a \\* b \\`c\\` d\\e\n  - in\n", false, "<ul>\n<li>a * b `c` d\\e</li>\n<li>in</li>\n</ul>\n");
    prose_is("- do:\n\n      a < b\n      c\n\nend", false,
             "<ul>\n<li>do:</li>\n</ul>\n<pre><code>a &lt; b\nc\n</code></pre>\n<p>end</p>\n");
    prose_is("| x | y |\n|---|--:|\n| 1 | <2> |\n", true,
             "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n<thead>\n"
             "<tr><th scope=\"col\">x</th><th scope=\"col\">y</th></tr>\n</thead>\n<tbody>\n"
             "<tr><td>1</td><td>&lt;2&gt;</td></tr>\n</tbody>\n</table>\n</div>\n");
    prose_is("| x |", true,
             "<div class=\"scroll table\" tabindex=\"0\" role=\"region\" aria-label=\"table\">\n<table>\n<thead>\n"
             "<tr><th scope=\"col\">x</th></tr>\n</thead>\n<tbody>\n</tbody>\n</table>\n</div>\n");
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static void command_asks_for_the_same(void **state) {
    (void)state;
    sfu__text command = {0};
    sfu_results *results = hand_made_results("x", false);
    assert_non_null(results);
    sfu__free(results->request.datasets.items[1]);
    results->request.datasets.items[1] = sfu__copy_string("my data/it's");
    assert_ok(sfu__request_command(&command, &results->request));
    assert_string_equal(command.bytes,
                        "sfumato compare cora 'my data/it'\\''s' pubmed acm dblp --nets "
                        "gcn,sgcn,fp+mlp,sgcn+lp,gcn+lp,linear+lp,mlp+lp,lpnn --sizes 1,2,3,4,5 --splits 10 --trials "
                        "100 --lpnn-trials 30 --space paper --seed 0 --feature-norm sym --loss mean "
                        "-o FOLDER");
    sfu__text_clear(&command);
    sfu_results_free(results);
}

/* ---- the page ---------------------------------------------------------------------------------------------------- */

/* Every element is closed, correctly nested. */
static const char checker[] =
    "import sys\n"
    "from html.parser import HTMLParser\n"
    "files = ['results.csv', 'timings.csv', 'curves.csv', 'details.csv', 'tables.md', 'tables.tex', 'manifest.json', "
    "'plots/']\n"
    "class Check(HTMLParser):\n"
    "    def __init__(self):\n"
    "        super().__init__()\n"
    "        self.open, self.seen, self.ids = [], {}, set()\n"
    "    def handle_starttag(self, tag, attrs):\n"
    "        self.note(tag, attrs)\n"
    "        if tag not in ('meta', 'br'): self.open.append(tag)\n"
    "    def handle_startendtag(self, tag, attrs): self.note(tag, attrs)\n"
    "    def note(self, tag, attrs):\n"
    "        self.seen[tag] = self.seen.get(tag, 0) + 1\n"
    "        for name, value in attrs:\n"
    "            assert not name.startswith('on'), name\n"
    "            assert name not in ('src', 'action'), name\n"
    "            if name == 'id':\n"
    "                assert value not in self.ids, value\n"
    "                self.ids.add(value)\n"
    "            if name.endswith('href'): assert value.startswith('#') or value in files, value\n"
    "    def handle_endtag(self, tag):\n"
    "        assert self.open and self.open[-1] == tag, (tag, self.open[-3:], self.getpos())\n"
    "        self.open.pop()\n"
    "check = Check()\n"
    "check.feed(open(sys.argv[1], encoding='utf-8').read())\n"
    "check.close()\n"
    "assert not check.open, check.open\n"
    "assert check.seen['script'] == 1 and 'img' not in check.seen, check.seen\n"
    "assert check.seen['table'] >= 10, check.seen\n";

static void page_is_well_formed(void **state) {
    (void)state;
    if (system("python3 -c pass >/dev/null 2>&1") != 0) {
        print_message("no python3 here: the page is not parsed\n");
        skip();
    }
    char command[3000];
    for (int hostile = 0; hostile < 2; hostile++) {
        free(report_of(hostile));
        const char *program = test_text_file("check.py", checker);
        snprintf(command, sizeof command, "python3 '%s' '%s/report.html'", program,
                 test_path(hostile ? "hostile" : "tame"));
        assert_int_equal(system(command), 0);
    }
}

static void names_are_only_text(void **state) {
    (void)state;
    char *html = report_of(true);
    assert_null(strstr(html, "<script>alert"));
    assert_null(strstr(html, "<img"));
    assert_null(strstr(html, "\x01"));
    assert_true(sfu__utf8_valid(html, strlen(html)));
    assert_true(count_of(html, "&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt;&amp;&#39;%s%n\n\uFFFD\uFFFD") > 40);
    assert_int_equal(count_of(html, "<script>"), 1);
    free(html);
}

static void page_has_all_of_it(void **state) {
    (void)state;
    char *html = report_of(false);
    static const char *const parts[] = {
        "<title>Comparison of 8 networks on 5 datasets</title>",
        "prefers-color-scheme:dark",
        "name=\"viewport\"",
        "<main id=\"main\">\n<section id=\"advice\">",
        "<code>sfumato tune cora ",
        "<figure class=\"answer\">\n<figcaption>cora</figcaption>",
        "<g class=\"top\">",
        "<a href=\"plots/\">",
        "<dt>nodes</dt><dd>2,708</dd>",
        "Warning: few labels",
        "<code>lr=0.01</code> <code>k=2</code>",
        "data-v=\"0.75\">75.0</td>", /* recall of the first class: 30 of 40 */
        "features or labels",
        "linear or not",
        "alpha 0, beta 1",
        "sfumato compare cora citeseer pubmed acm dblp --nets",
        "class=\"name agrees\"",
        "class=\"name lower\"",
        "class=\"name higher\"",
        "aria-sort=\"none\"",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (strstr(html, parts[i]) == NULL) {
            fail_msg("report.html lacks %s", parts[i]);
        }
    }
    assert_null(strstr(html, "17 s"));
    /* Accuracies and differences of five sizes; all cells, layers, smoothing; two pairs; the advice; two confusion
     * matrices. */
    assert_int_equal(count_of(html, "<table class=\"sort"), 2 * 5 + 3 + 2 + 1 + 2);
    assert_int_equal(count_of(html, "<td class=\"command\">"), 5 * 5);
    /* One per dataset: networks by sizes, each with its mean and its ten splits. */
    assert_int_equal(count_of(html, "<figure class=\"answer\">"), 5);
    assert_int_equal(count_of(html, "<circle class=\"mean\""), 5 * 8 * 5);
    assert_int_equal(count_of(html, "<circle class=\"split\""), 10 * 5 * 8 * 5);
    /* Sizes, trade-offs and two kinds of curves of five datasets, ranks of five sizes, three sweeps of two datasets. */
    assert_int_equal(count_of(html, "<figure class=\"plot\">"), has_gnuplot() ? 5 + 5 + 10 + 5 + 6 : 0);
    assert_int_equal(count_of(html, "<h3>Learning curves</h3>"), has_gnuplot() ? 1 : 0);
    free(html);
}

static void same_results_give_same_bytes(void **state) {
    (void)state;
    char *one = report_of(true), *other = report_in("other", true), *again = report_in("other", true);
    assert_string_equal(one, other);
    assert_string_equal(one, again);
    free(one);
    free(other);
    free(again);
}

static void results_without_cells_show_their_text(void **state) {
    (void)state;
    char path[1000];
    sfu_results *results = hand_made_results(test_path("text"), false);
    assert_non_null(results);
    results->cell_count = results->rank_count = results->pair_count = results->entries.count = 0;
    assert_ok(write_report(results));
    snprintf(path, sizeof path, "%s/report.html", results->folder);
    char *html = read_text(path);
    assert_non_null(strstr(html, "<tr><td>gcn</td><td>81.0</td></tr>"));
    assert_null(strstr(html, "<figure"));
    assert_null(strstr(html, "<section id=\"details\">"));
    free(html);
    sfu_results_free(results);
}

/* A folder of an earlier version has no details: the section is left out. */
static void results_without_details_leave_them_out(void **state) {
    (void)state;
    sfu__text html = {0};
    sfu_results *results = hand_made_results(test_path("old"), false);
    assert_non_null(results);
    assert_ok(sfu__html_details(&html, results));
    assert_int_equal(count_of(html.bytes, "confusion matrix"), 2 * 2); /* the caption, and its label */
    html.size = 0;
    for (int i = 0; i < results->entries.count; i++) {
        results->entries.items[i].best_trial = 1; /* of another trial */
    }
    assert_ok(sfu__html_details(&html, results));
    assert_null(strstr(html.bytes, "confusion matrix"));
    assert_non_null(strstr(html.bytes, "<dt>nodes</dt>"));
    html.size = 0;
    sfu__details_clear(&results->details);
    assert_ok(sfu__html_details(&html, results));
    assert_int_equal(html.size, 0);
    sfu__text_clear(&html);
    sfu_results_free(results);
}

/* ---- plots ------------------------------------------------------------------------------------------------------- */

static const sfu__plot *find_plot(const sfu__plots *plots, const char *name) {
    for (int i = 0; i < plots->count; i++) {
        if (strcmp(sfu__path_base(plots->items[i].files.svg), name) == 0) {
            return &plots->items[i];
        }
    }
    fail_msg("there is no %s", name);
    return NULL;
}

static void plots_are_named_and_filled(void **state) {
    (void)state;
    sfu__plots plots = {0};
    sfu_results *results = hand_made_results("folder", false);
    assert_non_null(results);
    assert_ok(sfu__plots_make(&plots, results));
    const char *data = find_plot(&plots, "sizes-cora.svg")->data.bytes;
    assert_int_equal(count_of(data, "\n"), 1 + 8 * 5);
    assert_non_null(strstr(data, "series,x,percent,low_percent,high_percent,name\n0,1,"));
    data = find_plot(&plots, "tradeoff-dblp.svg")->data.bytes;
    assert_int_equal(count_of(data, "\n"), 1 + 8);
    assert_non_null(strstr(data, "\n1,0.001,")); /* the mean over splits of the values in add_row_group */
    data = find_plot(&plots, "layers-citeseer.svg")->data.bytes;
    assert_int_equal(count_of(data, "\n"), 1 + 4 * 4);
    data = find_plot(&plots, "self-neighbour-cora.svg")->data.bytes;
    assert_int_equal(count_of(data, "\n"), 1 + 6 * 2);
    assert_non_null(strstr(find_plot(&plots, "degree-exponents-cora.svg")->script.bytes, "'0.25 / 0.75' 2"));
    data = find_plot(&plots, "curves-acm.svg")->data.bytes;
    assert_int_equal(count_of(data, "\n"), 1 + 8 * 40 + 23 * (7 * 8 / 2));
    assert_non_null(strstr(data, "series,epoch,percent,name\n0,1,"));
    assert_non_null(strstr(data, "\n7,201,"));
    assert_null(strstr(data, "\n7,202,"));
    data = find_plot(&plots, "losses-acm.svg")->data.bytes;
    assert_non_null(strstr(data, "series,epoch,loss,name\n0,1,"));
    assert_non_null(strstr(find_plot(&plots, "losses-acm.svg")->script.bytes, "set logscale y"));
    data = find_plot(&plots, "ranks-3.svg")->data.bytes;
    assert_int_equal(count_of(data, ",-1,"), 4);
    assert_int_equal(count_of(data, ",1,"), 4);
    sfu__plots_clear(&plots);
    sfu_results_free(results);
}

/* An outdated curve is not shown; without any curve the page says so once. */
static void curves_are_of_the_winners(void **state) {
    (void)state;
    sfu__plots plots = {0};
    sfu_results *results = hand_made_results(test_path("curves"), false);
    assert_non_null(results);
    assert_false(sfu__curves_missing(results));
    results->curves.items[0].trial = 1; /* of gcn on cora */
    assert_ok(sfu__plots_make(&plots, results));
    assert_null(strstr(find_plot(&plots, "curves-cora.svg")->data.bytes, "\"gcn\""));
    assert_non_null(strstr(find_plot(&plots, "curves-cora.svg")->data.bytes, "\"sgcn\""));
    sfu__plots_clear(&plots);
    sfu__curves_clear(&results->curves);
    assert_true(sfu__curves_missing(results));
    assert_ok(sfu__plots_make(&plots, results));
    assert_int_equal(plots.count, 21);
    sfu__plots_clear(&plots);
    results->entries.count = results->cell_count = 0;
    logged = 0;
    sfu_set_log(keep, NULL);
    assert_false(sfu__curves_missing(results));
    assert_ok(sfu__results_plots(results));
    assert_int_equal(logged, 0);
    sfu_results_free(results);
    results = hand_made_results(test_path("curves"), false);
    sfu__curves_clear(&results->curves);
    results->cell_count = 0; /* nothing is drawn */
    results->entries.count = 1;
    assert_ok(write_report(results));
    sfu_set_log(NULL, NULL);
    assert_int_equal(logged, 1);
    assert_non_null(strstr(last_line, "no learning curves in it"));
    sfu_results_free(results);
}

/* Ranks 1, 2, 4 and 4.5 with a critical difference of 1.5: two groups. */
static void groups_join_what_cannot_be_told_apart(void **state) {
    (void)state;
    static const double ranks[] = {4.5, 1, 4, 2};
    sfu__plots plots = {0};
    sfu_results *results = hand_made_results("folder", false);
    assert_non_null(results);
    results->rank_count = 4;
    for (int i = 0; i < 4; i++) {
        results->ranks[i].rank = ranks[i];
        results->ranks[i].critical = 1.5;
    }
    assert_ok(sfu__plot_ranks(&plots, results));
    assert_int_equal(plots.count, 1);
    const char *script = plots.items[0].script.bytes;
    assert_int_equal(count_of(script, " nohead lw 5 "), 2);
    assert_non_null(strstr(script, "set arrow from 0.9700,-0.45 to 2.0300,-0.45 "));
    assert_non_null(strstr(script, "set arrow from 3.9700,-0.90 to 4.5300,-0.90 "));
    assert_non_null(strstr(script, "critical difference 1.50'"));
    assert_non_null(
        strstr(plots.items[0].data.bytes, "rank,depth,side,name\n1.0000,1.8000,-1,\"sgcn\"\n2.0000,2.8000,-1,"));
    sfu__plots_clear(&plots);
    sfu_results_free(results);
}

static void hostile_names_make_plain_files(void **state) {
    (void)state;
    sfu__plots plots = {0};
    sfu_results *results = hand_made_results("folder", true);
    assert_non_null(results);
    /* Two datasets whose names map to one file name. */
    for (int i = 0; i < results->cell_count; i++) {
        results->cells[i].dataset =
            strcmp(results->cells[i].dataset, "acm") == 0 ? "../Cora.?" : results->cells[i].dataset;
    }
    assert_ok(sfu__plots_make(&plots, results));
    for (int i = 0; i < plots.count; i++) {
        const char *base = plots.items[i].files.svg + strlen("folder/plots/");
        assert_int_equal(strspn(base, "abcdefghijklmnopqrstuvwxyz0123456789-."), strlen(base));
        for (int other = 0; other < i; other++) {
            assert_string_not_equal(plots.items[i].files.svg, plots.items[other].files.svg);
        }
    }
    assert_non_null(find_plot(&plots, "sizes-cora-.svg"));
    sfu__plots_clear(&plots);
    sfu_results_free(results);
}

static void without_gnuplot_body(void) {
    char *html = report_in("bare", false);
    assert_null(strstr(html, "<figure class=\"plot\""));
    assert_int_equal(count_of(html, "<figure class=\"answer\">"), 5);
    assert_non_null(strstr(html, "<table class=\"sort\">"));
    free(html);
    assert_int_equal(logged, 1);
    assert_non_null(strstr(last_line, "gnuplot is not installed: 31 plots were skipped"));
    assert_false(sfu__path_is_file(test_path("bare/plots/sizes-cora.svg")));
    assert_true(sfu__path_is_file(test_path("bare/plots/sizes-cora.gp")));
    assert_true(sfu__path_is_file(test_path("bare/plots/sizes-cora.csv")));
}

static void without_gnuplot_there_are_tables_and_figures(void **state) {
    (void)state;
    logged = 0;
    sfu_set_log(keep, NULL);
    without_programs(without_gnuplot_body);
    sfu_set_log(NULL, NULL);
}

/* ---- ownership of files ------------------------------------------------------------------------------------------ */

/* Everything that a report writes is recognized afterwards, and other files of the same name are not. */
static void what_was_written_is_recognised(void **state) {
    (void)state;
    static const char *const kinds[] = {"compare", "all", "set1", "layers"};
    sfu_results *results = hand_made_results(test_path("ours"), false);
    assert_non_null(results);
    assert_ok(sfu_results_check(results->folder)); /* there is nothing yet */
    assert_ok(sfu__make_folders(results->folder));
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        sfu__free(results->request.kind);
        results->request.kind = sfu__copy_string(kinds[i]);
        assert_ok(sfu_results_report(results));
        assert_ok(sfu_results_check(results->folder));
    }
    const char *file;
    for (int i = 0; (file = sfu_results_file(i)) != NULL; i++) {
        char path[200];
        snprintf(path, sizeof path, "ours/%s", file);
        if (strcmp(file, "manifest.json") != 0) {
            test_text_file(path, "somebody else's");
            assert_fails(SFU_ERR_IO, sfu_results_check(results->folder), path, "exists and was not written by compare");
            test_text_file(path, "");
        }
    }
    assert_ok(sfu_results_check(results->folder));
    test_text_file("ours/plots/mine.svg", "no name of ours");
    assert_ok(sfu_results_check(results->folder));
    test_text_file("ours/plots/ranks-mine.svg", "one that might be");
    assert_fails(SFU_ERR_IO, sfu_results_check(results->folder), "plots/ranks-mine.svg: exists and was not written");
    sfu_results_free(results);
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static sfu_status report_body(void *results) { return write_report(results); }

static void allocations_fail_body(void) {
    sfu_results *results = hand_made_results(test_path("failing"), true);
    assert_non_null(results);
    results->entries.count = results->entries.count > 60 ? 60 : results->entries.count;
    results->cell_count = results->cell_count > 20 ? 20 : results->cell_count;
    results->rank_count = results->rank_count > 8 ? 8 : results->rank_count;
    test_fail_each_allocation(report_body, results, test_is_slow() ? 40 : 100);
    sfu_results_free(results);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    without_programs(allocations_fail_body);
}

int main(int argc, char **argv) {
    if (argc > 1) {
        sfu_results *results = hand_made_results(argv[1], argc > 2 && strcmp(argv[2], "hostile") == 0);
        const sfu_status status = results != NULL ? write_report(results) : SFU_ERR_MEMORY;
        sfu_results_free(results);
        if (status != SFU_OK) {
            fprintf(stderr, "%s\n", sfu_message());
        }
        return status != SFU_OK;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_escaped),
        cmocka_unit_test(markdown_becomes_markup),
        cmocka_unit_test(command_asks_for_the_same),
        cmocka_unit_test(page_is_well_formed),
        cmocka_unit_test(names_are_only_text),
        cmocka_unit_test(page_has_all_of_it),
        cmocka_unit_test(same_results_give_same_bytes),
        cmocka_unit_test(results_without_cells_show_their_text),
        cmocka_unit_test(results_without_details_leave_them_out),
        cmocka_unit_test(plots_are_named_and_filled),
        cmocka_unit_test(curves_are_of_the_winners),
        cmocka_unit_test(groups_join_what_cannot_be_told_apart),
        cmocka_unit_test(hostile_names_make_plain_files),
        cmocka_unit_test(without_gnuplot_there_are_tables_and_figures),
        cmocka_unit_test(what_was_written_is_recognised),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
