/* Output files: what a path may refer to, when a file appears, and clean-up of temporary files. */
#define _GNU_SOURCE /* memmem */
#include "support.h"

#include "file.h"
#include "output_path.h"
#include "temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static sfu_status write_text(const char *path, const char *text) {
    sfu__writer *writer = NULL;
    sfu_status status = sfu__writer_open(&writer, path);
    if (status == SFU_OK) {
        status = sfu__writer_add(writer, text, strlen(text));
    }
    if (status == SFU_OK) {
        status = sfu__writer_commit(writer);
    }
    sfu__writer_close(writer);
    return status;
}

static void assert_text(const char *path, const char *text) {
    sfu__bytes bytes = {0};
    assert_ok(sfu__bytes_open(&bytes, path));
    assert_int_equal(bytes.size, strlen(text));
    assert_memory_equal(bytes.data, text, bytes.size);
    sfu__bytes_close(&bytes);
}

/* The number of entries in a folder of the test whose name contains this text. */
static int count_entries(const char *folder, const char *text) {
    int count = 0;
    DIR *entries = opendir(test_path(folder));
    assert_non_null(entries);
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        count += strstr(entry->d_name, text) != NULL;
    }
    closedir(entries);
    return count;
}

static mode_t kind_of(const char *path) {
    struct stat facts;
    return lstat(path, &facts) == 0 ? facts.st_mode & S_IFMT : 0;
}

static void make_folder(const char *name) { assert_int_equal(mkdir(test_path(name), 0777), 0); }
static void make_link(const char *to, const char *name) { assert_int_equal(symlink(to, test_path(name)), 0); }

/* ---- regular files ----------------------------------------------------------------------------------------------- */

static void whole_or_not_at_all(void **state) {
    (void)state;
    sfu__writer *writer = NULL;
    make_folder("whole");
    assert_ok(write_text(test_path("whole/a"), "one"));
    assert_ok(sfu__writer_open(&writer, test_path("whole/a")));
    assert_ok(sfu__writer_add(writer, "two", 3));
    assert_ok(sfu__writer_finish(writer));
    assert_text(test_path("whole/a"), "one");
    assert_int_equal(count_entries("whole", ".a.sfumato-"), 1);
    sfu__writer_close(writer);
    assert_text(test_path("whole/a"), "one");
    assert_int_equal(count_entries("whole", "sfumato-"), 0);
    assert_ok(write_text(test_path("whole/a"), "two"));
    assert_text(test_path("whole/a"), "two");
    assert_int_equal(count_entries("whole", "sfumato-"), 0);
}

static void modes(void **state) {
    (void)state;
    struct stat facts;
    const mode_t mask = umask(027);
    make_folder("modes");
    assert_ok(write_text(test_path("modes/new"), "x"));
    assert_int_equal(stat(test_path("modes/new"), &facts), 0);
    assert_int_equal(facts.st_mode & 07777, 0640);
    for (mode_t mode = 0400; mode <= 0777; mode += 0377) {
        assert_int_equal(chmod(test_path("modes/new"), mode), 0);
        assert_ok(write_text(test_path("modes/new"), "y"));
        assert_int_equal(stat(test_path("modes/new"), &facts), 0);
        assert_int_equal(facts.st_mode & 07777, mode);
    }
    umask(mask);
    if (geteuid() == 0) { /* root also keeps the owner */
        assert_int_equal(chown(test_path("modes/new"), 1234, 4321), 0);
        assert_ok(write_text(test_path("modes/new"), "z"));
        assert_int_equal(stat(test_path("modes/new"), &facts), 0);
        assert_int_equal(facts.st_uid, 1234);
        assert_int_equal(facts.st_gid, 4321);
    }
}

/* Up to the longest name that a file system allows, with multi-byte characters where the temporary name is
 * truncated. */
static void names(void **state) {
    (void)state;
    char name[300] = "names/", wide[300] = "names/x";
    make_folder("names");
    memset(name + 6, 'n', 255);
    for (int i = 0; i < 120; i++) {
        strcat(wide, "\xc3\xa4");
    }
    const char *const odd[] = {name,
                               wide,
                               "names/-",
                               "names/--help",
                               "names/new\nline",
                               "names/ ",
                               "names/.hidden",
                               "names/%s%n",
                               "names/.a.sfumato-abcdef"};
    for (size_t i = 0; i < sizeof odd / sizeof odd[0]; i++) {
        assert_ok(write_text(test_path(odd[i]), "x"));
        assert_text(test_path(odd[i]), "x");
    }
    assert_int_equal(count_entries("names", "sfumato-"), 1);
    strcat(name, "n");
    assert_fails(SFU_ERR_IO, write_text(test_path(name), "x"), "cannot write: File name too long");
    assert_fails(SFU_ERR_IO, write_text("", "x"), "cannot write: No such file");
    assert_fails(SFU_ERR_IO, write_text(test_path("names/missing/"), "x"), "cannot write: No such file");
    assert_fails(SFU_ERR_IO, write_text(test_path("names"), "x"), "cannot write: it is a folder");
    assert_fails(SFU_ERR_IO, write_text(test_path("names/-/under"), "x"), "cannot write: Not a directory");
}

static void relative_paths(void **state) {
    (void)state;
    char before[4096];
    assert_non_null(getcwd(before, sizeof before));
    make_folder("relative");
    make_folder("relative/in");
    make_link("in", "relative/by_link");
    assert_int_equal(chdir(test_path("relative")), 0);
    assert_ok(write_text("a", "1"));
    assert_ok(write_text("./in/../b", "2"));
    assert_ok(write_text("by_link/c", "3"));
    assert_int_equal(chdir(before), 0);
    assert_text(test_path("relative/a"), "1");
    assert_text(test_path("relative/b"), "2");
    assert_text(test_path("relative/in/c"), "3");
}

/* An unwritable folder is an error; root can write everywhere except where there is no file system. */
static void folders_that_cannot_be_written(void **state) {
    (void)state;
    assert_fails(SFU_ERR_IO, write_text("/proc/self/x", "x"), "/proc/self/x: cannot write: ");
    if (geteuid() != 0) {
        make_folder("closed");
        assert_int_equal(chmod(test_path("closed"), 0555), 0);
        assert_fails(SFU_ERR_IO, write_text(test_path("closed/x"), "x"), "cannot write: Permission denied");
        assert_fails(SFU_ERR_IO, sfu_output_check(test_path("closed/x")), "cannot write: Permission denied");
        assert_int_equal(chmod(test_path("closed"), 0777), 0);
    }
}

/* ---- links ------------------------------------------------------------------------------------------------------- */

static void links(void **state) {
    (void)state;
    make_folder("links");
    make_folder("links/far");
    test_text_file("links/far/real", "old");
    make_link("far/real", "links/one");
    make_link("one", "links/two");
    make_link("far/fresh", "links/dangling");
    make_link("nowhere/fresh", "links/lost");
    make_link("round", "links/round");
    make_link("there", "links/here");
    make_link("here", "links/there");
    make_link("far", "links/folder");
    assert_ok(write_text(test_path("links/two"), "new"));
    assert_text(test_path("links/far/real"), "new");
    assert_int_equal(kind_of(test_path("links/two")), S_IFLNK);
    assert_int_equal(kind_of(test_path("links/one")), S_IFLNK);
    assert_ok(write_text(test_path("links/dangling"), "made"));
    assert_text(test_path("links/far/fresh"), "made");
    assert_int_equal(kind_of(test_path("links/dangling")), S_IFLNK);
    assert_fails(SFU_ERR_IO, write_text(test_path("links/lost"), "x"), "links/lost: cannot write: No such file");
    assert_fails(SFU_ERR_IO, write_text(test_path("links/round"), "x"), "cannot write: Too many levels of symbolic");
    assert_fails(SFU_ERR_IO, write_text(test_path("links/here"), "x"), "cannot write: Too many levels of symbolic");
    assert_fails(SFU_ERR_IO, write_text(test_path("links/folder"), "x"), "cannot write: it is a folder");
    assert_int_equal(count_entries("links", "sfumato-") + count_entries("links/far", "sfumato-"), 0);
}

/* ---- devices, FIFOs, sockets, descriptors ------------------------------------------------------------------------ */

static void *read_all(void *path) {
    static char got[64];
    const int file = open(path, O_RDONLY);
    size_t size = 0;
    for (ssize_t n = 1; n > 0 && size < sizeof got - 1; size += (size_t)n) {
        n = read(file, got + size, sizeof got - 1 - size);
    }
    got[size] = '\0';
    close(file);
    return got;
}

static void fifos(void **state) {
    (void)state;
    pthread_t reader;
    void *got = NULL;
    make_folder("fifos");
    char fifo[1000];
    snprintf(fifo, sizeof fifo, "%s", test_path("fifos/fifo"));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    make_link("fifo", "fifos/link");
    assert_int_equal(pthread_create(&reader, NULL, read_all, fifo), 0);
    assert_ok(write_text(test_path("fifos/link"), "through it"));
    assert_int_equal(pthread_join(reader, &got), 0);
    assert_string_equal(got, "through it");
    assert_int_equal(kind_of(fifo), S_IFIFO);
    assert_int_equal(kind_of(test_path("fifos/link")), S_IFLNK);
    assert_int_equal(count_entries("fifos", "sfumato-"), 0);
}

static void devices(void **state) {
    (void)state;
    struct stat before, after;
    make_folder("devices");
    assert_fails(SFU_ERR_IO, write_text("/dev/full", "x"), "/dev/full: cannot write: No space left on device");
    make_link("/dev/full", "devices/full");
    assert_fails(SFU_ERR_IO, write_text(test_path("devices/full"), "x"), "No space left on device");
    assert_int_equal(kind_of(test_path("devices/full")), S_IFLNK);
    if (mknod(test_path("devices/null"), S_IFCHR | 0666, (1 << 8) | 3) != 0) {
        return; /* for root only, and not in every container */
    }
    assert_int_equal(stat(test_path("devices/null"), &before), 0);
    const int opened = open(test_path("devices/null"), O_WRONLY);
    if (opened >= 0) { /* a file system may be mounted without devices */
        close(opened);
        assert_ok(write_text(test_path("devices/null"), "gone"));
    }
    assert_int_equal(stat(test_path("devices/null"), &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_true(S_ISCHR(after.st_mode));
}

static void sockets(void **state) {
    (void)state;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char before[4096];
    make_folder("sockets");
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(test_path("sockets")), 0); /* socket addresses are short */
    snprintf(address.sun_path, sizeof address.sun_path, "socket");
    const int file = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(file, (const struct sockaddr *)&address, sizeof address), 0);
    assert_fails(SFU_ERR_IO, write_text("socket", "x"), "socket: cannot write: it is a socket");
    assert_fails(SFU_ERR_IO, sfu_output_check("socket"), "socket: cannot write: it is a socket");
    assert_int_equal(kind_of("socket"), S_IFSOCK);
    close(file);
    assert_int_equal(chdir(before), 0);
}

/* Bytes are appended at the descriptor, and the file is not replaced. */
static void descriptors(void **state) {
    (void)state;
    char path[64], link[64];
    make_folder("descriptors");
    const int file = open(test_path("descriptors/log"), O_RDWR | O_CREAT | O_EXCL, 0666);
    assert_int_equal(write(file, "first ", 6), 6);
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    make_link(path, "descriptors/link");
    assert_ok(sfu_output_check(path));
    assert_ok(write_text(path, "second "));
    assert_ok(write_text(link, "third "));
    assert_ok(write_text(test_path("descriptors/link"), "fourth"));
    assert_text(test_path("descriptors/log"), "first second third fourth");
    assert_int_equal(kind_of(test_path("descriptors/link")), S_IFLNK);
    close(file);
    assert_fails(SFU_ERR_IO, write_text(path, "x"), path, "cannot write: Bad file descriptor");
    const int only_read = open(test_path("descriptors/log"), O_RDONLY);
    snprintf(path, sizeof path, "/dev/fd/%d", only_read);
    assert_fails(SFU_ERR_IO, write_text(path, "x"), "is not open for writing");
    close(only_read);
    assert_int_equal(count_entries("descriptors", "sfumato-"), 0);
}

/* A pipe of another process has a link in /proc whose target is not a path. */
static void pipes_of_other_processes(void **state) {
    (void)state;
    int ends[2];
    char path[64], got[8] = "";
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), ends[1]);
    assert_ok(write_text(path, "through"));
    assert_int_equal(read(ends[0], got, 7), 7);
    assert_string_equal(got, "through");
    close(ends[0]);
    close(ends[1]);
}

static void a_limit_of_size(void **state) {
    (void)state;
    struct rlimit before;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    make_folder("limit");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit small = {.rlim_cur = 4, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    const sfu_status status = write_text(test_path("limit/a"), "more than four bytes");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    signal(SIGXFSZ, handler);
    assert_fails(SFU_ERR_IO, status, "limit/a: cannot write: File too large");
    assert_int_equal(count_entries("limit", "a"), 0);
}

/* ---- the same file ----------------------------------------------------------------------------------------------- */

static void same_files(void **state) {
    (void)state;
    make_folder("same");
    make_folder("same/in");
    test_text_file("same/a", "x");
    assert_int_equal(link(test_path("same/a"), test_path("same/hard")), 0);
    make_link("a", "same/soft");
    make_link("in", "same/by_link");
    make_link("in/new", "same/dangling");
    const char *const pairs[][2] = {{"same/a", "same/./a"},          {"same/a", "same/in/../a"},
                                    {"same/a", "same/hard"},         {"same/soft", "same/hard"},
                                    {"same/new", "same//new"},       {"same/in/new", "same/by_link/new"},
                                    {"same/in/new", "same/dangling"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_true(sfu_same_file(test_path(pairs[i][0]), test_path(pairs[i][1])));
    }
    assert_false(sfu_same_file(test_path("same/a"), test_path("same/new")));
    assert_false(sfu_same_file(test_path("same/new"), test_path("same/in/new")));
    assert_false(sfu_same_file(test_path("same/new"), test_path("same/newer")));
    assert_false(sfu_same_file("/dev/null", "/dev/null"));
    assert_false(sfu_same_file("/dev/stdout", "/dev/stdout"));
    const int file = open(test_path("same/a"), O_WRONLY);
    char path[64];
    snprintf(path, sizeof path, "/dev/fd/%d", file);
    assert_true(sfu_same_file(path, test_path("same/hard")));
    assert_false(sfu_same_file(path, path)); /* shared by two writers in sequence */
    close(file);
}

/* ---- remains of killed processes --------------------------------------------------------------------------------- */

static void put_temporary(const char *name, bool locked, int *file) {
    *file = open(test_path(name), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(*file >= 0);
    assert_int_equal(write(*file, "half", 4), 4);
    assert_true(!locked || flock(*file, LOCK_EX) == 0);
}

static void abandoned_and_alive(void **state) {
    (void)state;
    int dead = -1, alive = -1, other = -1;
    make_folder("left");
    put_temporary("left/.a.sfumato-AbC123", false, &dead);
    put_temporary("left/.a.sfumato-aliveX", true, &alive);
    put_temporary("left/.b.sfumato-AbC123", false, &other);
    const char *const others[] = {"left/.a.sfumato-AbC12", "left/.a.sfumato-AbC1234", "left/.a.sfumato-AbC.23",
                                  "left/a.sfumato-AbC123", "left/.aa.sfumato-AbC123", "left/.a.sfumatoXAbC123",
                                  "left/.a.sfumato-"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        test_text_file(others[i], "theirs");
    }
    make_folder("left/.a.sfumato-folder");
    make_link("../left/.b.sfumato-AbC123", "left/.a.sfumato-linked");
    assert_int_equal(mkfifo(test_path("left/.a.sfumato-fifoXX"), 0600), 0);
    assert_ok(write_text(test_path("left/a"), "whole"));
    assert_int_equal(kind_of(test_path("left/.a.sfumato-AbC123")), 0);
    assert_int_equal(kind_of(test_path("left/.a.sfumato-aliveX")), S_IFREG);
    assert_int_equal(kind_of(test_path("left/.b.sfumato-AbC123")), S_IFREG);
    assert_int_equal(kind_of(test_path("left/.a.sfumato-folder")), S_IFDIR);
    assert_int_equal(kind_of(test_path("left/.a.sfumato-linked")), S_IFLNK);
    assert_int_equal(kind_of(test_path("left/.a.sfumato-fifoXX")), S_IFIFO);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        assert_text(test_path(others[i]), "theirs");
    }
    close(alive); /* its process has ended */
    assert_ok(write_text(test_path("left/a"), "whole"));
    assert_int_equal(kind_of(test_path("left/.a.sfumato-aliveX")), 0);
    close(dead);
    close(other);
}

/* Another process that is killed while it writes its file. */
static void a_killed_process(void **state) {
    (void)state;
    int ready[2];
    char byte;
    make_folder("killed");
    assert_int_equal(pipe(ready), 0);
    const pid_t child = test_fork();
    if (child == 0) {
        sfu__writer *writer = NULL;
        const bool fine = sfu__writer_open(&writer, test_path("killed/a")) == SFU_OK;
        (void)!write(ready[1], fine ? "y" : "n", 1);
        for (;;) {
            pause();
        }
    }
    assert_true(child > 0);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(count_entries("killed", ".a.sfumato-"), 1);
    assert_ok(write_text(test_path("killed/a"), "mine"));
    assert_int_equal(count_entries("killed", ".a.sfumato-"), 1);
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(count_entries("killed", ".a.sfumato-"), 1);
    assert_ok(write_text(test_path("killed/a"), "mine"));
    assert_int_equal(count_entries("killed", ".a.sfumato-"), 0);
    close(ready[0]);
    close(ready[1]);
}

/* Many concurrent writers of one file: each of them succeeds, and no temporary file remains. */
static void *write_often(void *path) {
    for (int i = 0; i < 50; i++) {
        if (write_text(path, "the same text from everybody") != SFU_OK) {
            return (void *)1;
        }
    }
    return NULL;
}

static void many_at_once(void **state) {
    (void)state;
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    char path[1000];
    make_folder("many");
    snprintf(path, sizeof path, "%s", test_path("many/a"));
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, write_often, path), 0);
    }
    for (int i = 0; i < THREADS; i++) {
        void *failed = NULL;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    assert_text(path, "the same text from everybody");
    assert_int_equal(count_entries("many", "sfumato-"), 0);
}

static sfu_status write_it(void *path) { return write_text(path, "x"); }

static void each_allocation_fails(void **state) {
    (void)state;
    char path[1000];
    make_folder("each");
    snprintf(path, sizeof path, "%s", test_path("each/a"));
    test_fail_each_allocation(write_it, path, 100);
    assert_int_equal(count_entries("each", "sfumato-"), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_or_not_at_all),
        cmocka_unit_test(modes),
        cmocka_unit_test(names),
        cmocka_unit_test(relative_paths),
        cmocka_unit_test(folders_that_cannot_be_written),
        cmocka_unit_test(links),
        cmocka_unit_test(fifos),
        cmocka_unit_test(devices),
        cmocka_unit_test(sockets),
        cmocka_unit_test(descriptors),
        cmocka_unit_test(pipes_of_other_processes),
        cmocka_unit_test(a_limit_of_size),
        cmocka_unit_test(same_files),
        cmocka_unit_test(abandoned_and_alive),
        cmocka_unit_test(a_killed_process),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(each_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
