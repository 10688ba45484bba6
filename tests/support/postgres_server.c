#include "postgres_server.h"

#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[256];

/* Runs a command of the shell; what it prints goes to `answer`, without the last newline. Returns its exit code. */
static int shell(char *answer, size_t size, const char *command) {
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    const size_t n = fread(answer, 1, size - 1, pipe);
    answer[n > 0 && answer[n - 1] == '\n' ? n - 1 : n] = '\0';
    const int code = pclose(pipe);
    return WIFEXITED(code) ? WEXITSTATUS(code) : 128;
}

static int server(char *answer, size_t size, const char *action, const char *argument) {
    char command[1024];
    const char *source = getenv("SOURCE");
    snprintf(command, sizeof command, "bash '%s/tests/support/postgres_server.sh' %s %s", source != NULL ? source : ".",
             action, argument);
    return shell(answer, size, command);
}

static void need_server(void) {
    static bool missing;
    const char *kind = getenv("BUILD_KIND");
    if (!missing && folder[0] == '\0') {
        char process[32];
        snprintf(process, sizeof process, "%ld", (long)getpid());
        const bool never = SFU_HAVE_POSTGRES == 0 || (kind != NULL && strcmp(kind, "cross") == 0);
        const int code = never ? 77 : server(folder, sizeof folder, "make", process);
        missing = code == 77;
        assert_true(missing || (code == 0 && folder[0] == '/'));
    }
    if (missing) {
        print_message("skipped: no PostgreSQL in this build, or no server that can be started here\n");
        skip();
    }
}

const char *test_postgres_ask(const char *database, const char *sql) {
    static char answer[65536];
    char command[4096];
    snprintf(command, sizeof command, "psql -X -q -A -t -h '%s' -U sfumato '%s' -c \"%s\"", folder, database, sql);
    assert_int_equal(shell(answer, sizeof answer, command), 0);
    return answer;
}

static const char *address(const char *user, const char *database, const char *more) {
    static char addresses[8][512];
    static int next;
    char *text = addresses[next++ % 8];
    snprintf(text, sizeof addresses[0], "postgresql://%s@/%s?host=%s%s", user, database, folder, more);
    return text;
}

const char *test_postgres(const char *database, const char *more) {
    char sql[256];
    need_server();
    snprintf(sql, sizeof sql, "CREATE DATABASE %s", database);
    (void)test_postgres_ask("postgres", sql);
    return address("sfumato", database, more);
}

const char *test_postgres_as(const char *user, const char *database) {
    need_server();
    return address(user, database, "");
}

void test_postgres_stop(void) {
    char answer[256];
    assert_int_equal(server(answer, sizeof answer, "stop", folder), 0);
}

void test_postgres_freeze(void) {
    char answer[256];
    assert_int_equal(server(answer, sizeof answer, "freeze", folder), 0);
}

void test_postgres_thaw(void) {
    char answer[256];
    assert_int_equal(server(answer, sizeof answer, "thaw", folder), 0);
}

void test_postgres_start(void) {
    char answer[256];
    assert_int_equal(server(answer, sizeof answer, "start", folder), 0);
}

void test_postgres_wait_for_log(const char *words) {
    char answer[256], command[1024];
    snprintf(command, sizeof command,
             "for _ in $(seq 3000); do grep -q '%s' '%s/log' && exit 0; sleep 0.1; done; exit 1", words, folder);
    assert_int_equal(shell(answer, sizeof answer, command), 0);
}
