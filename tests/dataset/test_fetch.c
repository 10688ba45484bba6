/* Downloading pinned files from a server that misbehaves in every way described in docs/reference/get.md. */
#include "server.h"

#include "digest.h"
#include "fetch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SIZE = 20000 };

static char contents[SIZE];
static sfu__pinned_file thing = {"thing", SIZE, NULL};
static int port, tls_port;
static int stall_seconds = 60; /* longer than anything takes on a busy machine */

/* ---- setup ------------------------------------------------------------------------------------------------------- */

static int make_server(void **state) {
    (void)state;
    static char digest[SFU__DIGEST_TEXT];
    for (int i = 0; i < SIZE; i++) {
        contents[i] = (char)(i * 7 + (i >> 8));
    }
    assert_ok(sfu__digest_of(digest, contents, SIZE));
    thing.digest = digest;
    assert_int_equal(mkdir(test_path("served"), 0777), 0);
    test_file("served/thing", contents, SIZE);
    port = test_server(test_path("served"), NULL, NULL);
    return 0;
}

/* An empty download folder, and no requests yet. */
static int make_folder(void **state) {
    (void)state;
    char command[600];
    snprintf(command, sizeof command, "rm -rf '%s' && mkdir '%s'", test_path("in"), test_path("in"));
    (void)test_server_requests();
    return system(command);
}

/* Downloads from mirrors that behave as their names say ("refused": no listener); NULL-terminated. */
static sfu_status fetch_with(const char *const *behaviours, sfu_progress_fn progress, void *user) {
    char urls[4][80];
    sfu__mirror mirrors[4];
    size_t count = 0;
    for (; behaviours[count] != NULL; count++) {
        const bool refused = strcmp(behaviours[count], "refused") == 0;
        snprintf(urls[count], sizeof urls[0], "http://127.0.0.1:%d/%s/", refused ? 1 : port, behaviours[count]);
        mirrors[count] = (sfu__mirror){.label = behaviours[count], .url = urls[count], .plain = true};
    }
    sfu__fetch fetch;
    sfu__fetch_init(&fetch, mirrors, count);
    fetch.connect_seconds = 60;
    fetch.stall_seconds = stall_seconds;
    fetch.ticker.callback = progress;
    fetch.ticker.user = user;
    fetch.ticker.total = SIZE;
    const sfu_status status = sfu__fetch_file(&fetch, test_path("in"), &thing);
    if (status == SFU_ERR_IO) {
        assert_int_equal(fetch.unreachable, strstr(sfu_message(), "no mirror could provide it") != NULL);
    }
    sfu__fetch_clear(&fetch);
    return status;
}

#define fetch_from(...) fetch_with((const char *[]){__VA_ARGS__, NULL}, NULL, NULL)

static long size_of(const char *path) {
    struct stat statistics;
    return stat(path, &statistics) == 0 ? (long)statistics.st_size : -1;
}

static void assert_fetched(void) {
    static char got[SIZE + 1];
    FILE *file = fopen(test_path("in/thing"), "rb");
    assert_non_null(file);
    assert_int_equal(fread(got, 1, sizeof got, file), SIZE);
    fclose(file);
    assert_memory_equal(got, contents, SIZE);
    assert_int_equal(size_of(test_path("in/thing.part")), -1);
}

/* Nothing was stored except, if `part` is not -1, this many bytes to resume from. */
static void assert_not_fetched(long part) {
    assert_int_equal(size_of(test_path("in/thing")), -1);
    assert_int_equal(size_of(test_path("in/thing.part")), part);
}

static void assert_requests(const char *wanted) { assert_string_equal(test_server_requests(), wanted); }

/* ---- successful downloads ---------------------------------------------------------------------------------------- */

static void right(void **state) {
    (void)state;
    assert_ok(fetch_from("right"));
    assert_fetched();
    assert_requests("/right/thing -\n");
    assert_ok(fetch_from("right")); /* it exists */
    assert_requests("");
    test_file("in/thing", "something else", 14); /* or another file does */
    assert_ok(fetch_from("right"));
    assert_fetched();
}

static void cut_off_and_resumed(void **state) {
    (void)state;
    assert_ok(fetch_from("cut"));
    assert_fetched();
    assert_requests("/cut/thing -\n/cut/thing bytes=10000-\n");
}

static void resumed_by_another_get(void **state) {
    (void)state;
    test_file("in/thing.part", contents, 1234);
    assert_ok(fetch_from("right"));
    assert_fetched();
    assert_requests("/right/thing bytes=1234-\n");
}

static void resumed_at_another_mirror(void **state) {
    (void)state;
    assert_ok(fetch_from("crumbs", "right"));
    assert_fetched();
    assert_non_null(strstr(test_server_requests(), "/right/thing bytes=400-\n"));
}

static void only_the_check_was_missing(void **state) {
    (void)state;
    test_file("in/thing.part", contents, SIZE);
    assert_ok(fetch_from("right"));
    assert_fetched();
    assert_requests("");
}

static void range_ignored(void **state) {
    (void)state;
    test_file("in/thing.part", contents, 1234);
    assert_ok(fetch_from("norange"));
    assert_fetched();
    assert_requests("/norange/thing bytes=1234-\n");
}

static void nothing_to_resume(void **state) {
    (void)state;
    test_file("in/thing.part", contents, 1234);
    assert_ok(fetch_from("norest"));
    assert_fetched();
    assert_requests("/norest/thing bytes=1234-\n/norest/thing -\n");
}

/* A partial file of an earlier call is wrong: start again at the same mirror. */
static void resumed_from_wrong_bytes(void **state) {
    (void)state;
    test_file("in/thing.part", "these are not the first bytes of it", 35);
    assert_ok(fetch_from("right"));
    assert_fetched();
    assert_requests("/right/thing bytes=35-\n/right/thing -\n");
    assert_int_equal(remove(test_path("in/thing")), 0);
    static char long_part[SIZE + 5];
    test_file("in/thing.part", long_part, sizeof long_part);
    assert_ok(fetch_from("right"));
    assert_fetched();
    assert_requests("/right/thing -\n");
}

static void redirected(void **state) {
    (void)state;
    assert_ok(fetch_from("redirect"));
    assert_fetched();
}

static void mirrors_in_turn(void **state) {
    (void)state;
    assert_ok(fetch_from("missing", "wrong", "refused", "right"));
    assert_fetched();
    assert_requests("/missing/thing -\n/wrong/thing -\n/right/thing -\n");
}

/* ---- failures ------------------------------------------------------------------------------------------------- */

static void each_refusal_is_named(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, fetch_from("missing", "broken", "refused"),
                 "thing: no mirror could provide it: ", "missing: HTTP 404; broken: HTTP 500; refused: ", "connect");
    assert_not_fetched(-1);
    assert_fails(SFU_ERR_IO, fetch_from("empty", "pointer"), "empty: sent 0 bytes, expected 20000",
                 "pointer: sent 21 bytes, expected 20000");
    assert_not_fetched(-1);
    assert_fails(SFU_ERR_IO, fetch_from("circle", "elsewhere"), "circle: Maximum (5) redirects followed",
                 "elsewhere: ", "ftp");
    assert_not_fetched(-1);
}

static void wrong_digest(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, fetch_from("wrong"), "thing: no mirror could provide it: wrong: wrong SHA-256");
    assert_not_fetched(-1);
}

static void endless(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, fetch_from("endless"), "endless: sent more than the 20000 bytes of the file");
    assert_not_fetched(-1);
}

static void other_range(void **state) {
    (void)state;
    test_file("in/thing.part", contents, 1234);
    assert_fails(SFU_ERR_IO, fetch_from("otherrange"), "otherrange: sent another range than asked for",
                 "1234 of 20000 bytes were received");
    assert_not_fetched(1234);
}

static void cut_off_for_good(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, fetch_from("crumbs"),
                 "crumbs: ", "; 400 of 20000 bytes were received, and the next get resumes there");
    assert_not_fetched(400);
}

static void stalls(void **state) {
    (void)state;
    stall_seconds = 1; /* the server would wait for an hour */
    assert_fails(SFU_ERR_IO, fetch_from("stall", "silent"), "stall: ", "silent: ", "10000 of 20000 bytes");
    stall_seconds = 60;
    assert_not_fetched(10000);
}

static bool cancel(void *user, const sfu_progress *progress) {
    int *calls = user;
    assert_string_equal(progress->unit, "bytes");
    assert_true(progress->done <= progress->total);
    return ++*calls < 3;
}

static void cancelled(void **state) {
    (void)state;
    int calls = 0;
    assert_fails(SFU_ERR_CANCELLED, fetch_with((const char *[]){"slow", "right", NULL}, cancel, &calls), "cancelled");
    assert_int_equal(calls, 3);
    assert_int_equal(size_of(test_path("in/thing")), -1);
    assert_requests("/slow/thing -\n");
    assert_ok(fetch_from("right"));
    assert_fetched();
}

/* The same two for a full disk: a device that is always full, and a limit on file sizes. */
static void full_disk(void **state) {
    (void)state;
    assert_int_equal(symlink("/dev/full", test_path("in/thing.part")), 0);
    assert_fails(SFU_ERR_IO, fetch_from("right", "right"), "in/thing.part: cannot write: No space left on device");
    assert_not_fetched(-1);
    assert_requests("/right/thing -\n"); /* another mirror would not help */
}

static void file_too_large(void **state) {
    (void)state;
    struct rlimit before;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 5000, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const sfu_status status = fetch_from("right");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_fails(SFU_ERR_IO, status, "in/thing.part: cannot write: File too large");
    assert_not_fetched(-1);
}

static void no_such_folder(void **state) {
    (void)state;
    assert_int_equal(rmdir(test_path("in")), 0);
    assert_fails(SFU_ERR_IO, fetch_from("right"), "in/thing.part: cannot write: No such file");
}

static sfu_status fetch_afresh(void *context) {
    (void)context;
    remove(test_path("in/thing"));
    return fetch_from("missing", "cut");
}

static void each_allocation_fails(void **state) {
    (void)state;
    test_fail_each_allocation(fetch_afresh, NULL, 1000);
    assert_ok(fetch_afresh(NULL));
    assert_fetched();
}

/* ---- https ---------------------------------------------------------------------------------------------------- */

static sfu_status fetch_over_tls(const char *behaviour) {
    char url[80];
    snprintf(url, sizeof url, "https://localhost:%d/%s/", tls_port, behaviour);
    const sfu__mirror mirror = {.label = behaviour, .url = url};
    sfu__fetch fetch;
    sfu__fetch_init(&fetch, &mirror, 1);
    const sfu_status status = sfu__fetch_file(&fetch, test_path("in"), &thing);
    sfu__fetch_clear(&fetch);
    return status;
}

static void https(void **state) {
    (void)state;
    char command[1200], certificate[256], key[256];
    snprintf(certificate, sizeof certificate, "%s", test_path("certificate.pem"));
    snprintf(key, sizeof key, "%s", test_path("key.pem"));
    snprintf(command, sizeof command,
             "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
             "subjectAltName=DNS:localhost -keyout '%s' -out '%s' 2> /dev/null",
             key, certificate);
    if (system(command) != 0) {
        print_message("skipped: there is no openssl command to make a certificate with\n");
        skip();
    }
    tls_port = test_server(test_path("served"), NULL, (const char *[]){certificate, key});
    unsetenv("SSL_CERT_FILE");
    assert_fails(SFU_ERR_IO, fetch_over_tls("right"), "right: ", "certificate");
    assert_not_fetched(-1);
    setenv("SSL_CERT_FILE", certificate, 1);
    assert_ok(fetch_over_tls("right"));
    assert_fetched();
    remove(test_path("in/thing"));
    assert_fails(SFU_ERR_IO, fetch_over_tls("downgrade"), "downgrade: ", "http");
    unsetenv("SSL_CERT_FILE");
    assert_not_fetched(-1);
}

/* http is only for the user's own mirror. */
static void plain_http_refused(void **state) {
    (void)state;
    char url[80];
    snprintf(url, sizeof url, "http://127.0.0.1:%d/right/", port);
    const sfu__mirror mirror = {.label = "plain", .url = url};
    sfu__fetch fetch;
    sfu__fetch_init(&fetch, &mirror, 1);
    assert_fails(SFU_ERR_IO, sfu__fetch_file(&fetch, test_path("in"), &thing), "plain: ", "http");
    sfu__fetch_clear(&fetch);
    assert_requests("");
}

static void name_not_resolved(void **state) {
    (void)state;
    const sfu__mirror mirror = {.label = "nowhere", .url = "https://nowhere.invalid/"};
    sfu__fetch fetch;
    sfu__fetch_init(&fetch, &mirror, 1);
    unsetenv("https_proxy");
    unsetenv("HTTPS_PROXY");
    unsetenv("all_proxy");
    unsetenv("ALL_PROXY");
    assert_fails(SFU_ERR_IO, sfu__fetch_file(&fetch, test_path("in"), &thing),
                 "thing: no mirror could provide it: nowhere: Could not resolve host: nowhere.invalid");
    sfu__fetch_clear(&fetch);
    assert_not_fetched(-1);
}

int main(void) {
    if (!SFU_HAVE_CURL) {
        print_message("skipped: built without libcurl\n");
        return TEST_SKIPPED;
    }
    if (!test_can_serve()) {
        return TEST_SKIPPED;
    }
    setenv("no_proxy", "*", 1);
#define WITH_FOLDER(test) cmocka_unit_test_setup(test, make_folder)
    const struct CMUnitTest tests[] = {
        WITH_FOLDER(right),
        WITH_FOLDER(cut_off_and_resumed),
        WITH_FOLDER(resumed_by_another_get),
        WITH_FOLDER(resumed_at_another_mirror),
        WITH_FOLDER(only_the_check_was_missing),
        WITH_FOLDER(range_ignored),
        WITH_FOLDER(nothing_to_resume),
        WITH_FOLDER(resumed_from_wrong_bytes),
        WITH_FOLDER(redirected),
        WITH_FOLDER(mirrors_in_turn),
        WITH_FOLDER(each_refusal_is_named),
        WITH_FOLDER(wrong_digest),
        WITH_FOLDER(endless),
        WITH_FOLDER(other_range),
        WITH_FOLDER(cut_off_for_good),
        WITH_FOLDER(stalls),
        WITH_FOLDER(cancelled),
        WITH_FOLDER(full_disk),
        WITH_FOLDER(file_too_large),
        WITH_FOLDER(no_such_folder),
        WITH_FOLDER(each_allocation_fails),
        WITH_FOLDER(https),
        WITH_FOLDER(plain_http_refused),
        WITH_FOLDER(name_not_resolved),
    };
    return cmocka_run_group_tests(tests, make_server, NULL);
}
