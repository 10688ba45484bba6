#include "support.h"

#include <jansson.h>

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- paths ------------------------------------------------------------------------------------------------------- */

bool test_is_slow(void) {
    const char *kind = getenv("BUILD_KIND");
    return kind != NULL && strcmp(kind, "plain") != 0;
}

const char *test_data(const char *relative) {
    static char path[4096];
    const char *folder = getenv("TEST_DATA");
    snprintf(path, sizeof path, "%s/%s", folder != NULL ? folder : "../shared/data", relative);
    if (access(path, R_OK) != 0) {
        /* Planetoid's source is a prefix of files, not a file. */
        char probe[4200];
        snprintf(probe, sizeof probe, "%s.graph", path);
        if (access(probe, R_OK) != 0) {
            print_message("skipped: %s is not there\n", path);
            skip();
        }
    }
    return path;
}

static char work_folder[64];

static void remove_work_folder(void) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", work_folder);
    if (system(command) != 0) {
        fprintf(stderr, "could not remove %s\n", work_folder);
    }
}

const char *test_path(const char *name) {
    static char paths[8][512];
    static int next;
    if (work_folder[0] == '\0') {
        strcpy(work_folder, "/tmp/sfumato-test-XXXXXX");
        if (mkdtemp(work_folder) == NULL) {
            abort();
        }
        atexit(remove_work_folder);
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", work_folder, name);
    return path;
}

const char *test_file(const char *name, const void *bytes, size_t size) {
    const char *path = test_path(name);
    (void)unlink(path); /* overwriting a file makes some file systems wait for the disk */
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *test_text_file(const char *name, const char *text) { return test_file(name, text, strlen(text)); }

pid_t test_fork(void) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS};
    const pid_t child = fork();
    assert_true(child >= 0);
    for (size_t i = 0; child == 0 && i < sizeof signals / sizeof *signals; i++) {
        (void)signal(signals[i], SIG_DFL); /* cmocka has handlers for them */
    }
    return child;
}

/* ---- statuses ------------------------------------------------------------------------------------------------- */

void test_assert_ok(sfu_status status, const char *call, const char *file, int line) {
    if (status != SFU_OK) {
        print_error("%s\n  %s: %s\n", call, sfu_status_text(status), sfu_message());
        _fail(file, line);
    }
}

void test_assert_fails(sfu_status wanted, sfu_status status, const char *call, const char *file, int line,
                       const char *const *parts) {
    if (status != wanted) {
        print_error("%s\n  gave \"%s\" instead of \"%s\"; message: %s\n", call, sfu_status_text(status),
                    sfu_status_text(wanted), sfu_message());
        _fail(file, line);
    }
    for (int i = 0; parts[i] != NULL; i++) {
        if (strstr(sfu_message(), parts[i]) == NULL) {
            print_error("%s\n  \"%s\" is not in the message: %s\n", call, parts[i], sfu_message());
            _fail(file, line);
        }
    }
    if (strchr(sfu_message(), '\n') != NULL) {
        print_error("%s\n  the message has more than one line: %s\n", call, sfu_message());
        _fail(file, line);
    }
}

/* ---- allocations that fail ------------------------------------------------------------------------------------ */

static atomic_llong allocations, fail_at, live_blocks;

static void *failing_resize(void *user, void *pointer, size_t bytes) {
    (void)user;
    const long long number = atomic_fetch_add(&allocations, 1);
    if (number == atomic_load(&fail_at)) {
        return NULL;
    }
    void *block = realloc(pointer, bytes);
    if (block != NULL && pointer == NULL) {
        atomic_fetch_add(&live_blocks, 1);
    }
    return block;
}

static void failing_release(void *user, void *pointer) {
    (void)user;
    if (pointer != NULL) {
        atomic_fetch_sub(&live_blocks, 1);
    }
    free(pointer);
}

/* jansson's allocations fail, too. Memory from it must be freed through it. */
static void *failing_json_malloc(size_t bytes) { return failing_resize(NULL, NULL, bytes); }

static void failing_json_free(void *pointer) { failing_release(NULL, pointer); }

void test_fail_each_allocation(sfu_status (*body)(void *context), void *context, int64_t most) {
    const sfu_allocator allocator = {failing_resize, failing_release, NULL};
    sfu_set_allocator(&allocator);
    json_set_alloc_funcs(failing_json_malloc, failing_json_free);
    atomic_store(&fail_at, -1);
    atomic_store(&allocations, 0);
    atomic_store(&live_blocks, 0);
    const sfu_status undisturbed = body(context);
    const long long total = atomic_load(&allocations);
    const long long left = atomic_load(&live_blocks);
    long long wrong = -1;
    sfu_status wrong_status = SFU_OK;
    for (long long n = 0; n < total && wrong < 0; n += n < most ? 1 : 1 + (total - n) / most) {
        atomic_store(&fail_at, n);
        atomic_store(&allocations, 0);
        atomic_store(&live_blocks, 0);
        const sfu_status status = body(context);
        /* With threads, a run may need fewer allocations than the one before. */
        const sfu_status due = atomic_load(&allocations) > n ? SFU_ERR_MEMORY : SFU_OK;
        if (status != due || atomic_load(&live_blocks) != 0) {
            wrong = n;
            wrong_status = status;
        }
    }
    const long long wrong_left = atomic_load(&live_blocks);
    sfu_set_allocator(NULL);
    json_set_alloc_funcs(malloc, free);
    assert_int_equal(undisturbed, SFU_OK);
    assert_int_equal(left, 0);
    if (wrong >= 0) {
        print_error("allocation %lld of %lld failing: status \"%s\", %lld blocks left, message: %s\n", wrong, total,
                    sfu_status_text(wrong_status), wrong_left, sfu_message());
        fail();
    }
}
