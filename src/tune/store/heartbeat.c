/* heartbeat.c - worker identity (host, boot, process) and detection of processes that have ended. */
#include "heartbeat.h"

#include "text.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { HOST = 48, BOOT = 40, NUMBER = 12, MACHINE = HOST + BOOT + 2 * NUMBER + 3, LINE = 1024 };

/* ---- information of the system ----------------------------------------------------------------------------------- */

/* Copies the characters that are allowed in an id, so that '/' only separates its parts. */
static void copy_allowed(char *to, size_t size, const char *from) {
    size_t n = 0;
    for (; from[n] != '\0' && from[n] != '\n' && n + 1 < size; n++) {
        const unsigned char c = (unsigned char)from[n];
        to[n] = (char)(c < 128 && (isalnum(c) || strchr("-._", c) != NULL) ? c : '_');
    }
    to[n] = '\0';
}

/* The first line of a small file; "" if it cannot be read. */
static void read_line(char line[LINE], const char *path) {
    ssize_t size = 0;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
        size = read(file, line, LINE - 1);
        close(file);
    }
    line[size > 0 ? size : 0] = '\0';
}

/* The number of a namespace of this process, "4026531836"; "" if the system does not tell. */
static void read_namespace(char number[NUMBER], const char *path) {
    char line[LINE];
    const ssize_t size = readlink(path, line, sizeof line - 1); /* pid:[4026531836] */
    line[size > 0 ? size : 0] = '\0';
    const size_t digits = strcspn(line, "0123456789");
    line[digits + strspn(line + digits, "0123456789")] = '\0';
    copy_allowed(number, NUMBER, line + digits);
}

/* "HOST/BOOT/NAMESPACES": within one of these, a process is identified by its pid and start time, which depends on the
 * time namespace. False if the system does not provide all of it; an older one has no time namespaces. */
static bool read_machine(char machine[MACHINE]) {
    char line[LINE] = "", host[HOST], boot[BOOT], space[NUMBER], time[NUMBER];
    if (gethostname(line, sizeof line) != 0) {
        line[0] = '\0';
    }
    line[sizeof line - 1] = '\0';
    copy_allowed(host, sizeof host, line);
    read_line(line, "/proc/sys/kernel/random/boot_id");
    copy_allowed(boot, sizeof boot, line);
    read_namespace(space, "/proc/self/ns/pid");
    read_namespace(time, "/proc/self/ns/time");
    snprintf(machine, MACHINE, "%s/%s/%s%s%s", host, boot, space, time[0] != '\0' ? "-" : "", time);
    return host[0] != '\0' && boot[0] != '\0' && space[0] != '\0';
}

typedef struct process {
    bool ended;    /* a zombie: its parent has not waited for it yet */
    int64_t start; /* in clock ticks since boot; -1: unknown */
} process;

/* Parses the stat file of a process's first thread: "PID (NAME) STATE ...", where NAME may contain anything and the
 * fields after it are numbers. Its start time is that of the process. An emulator (qemu-user) answers for
 * /proc/PID/stat itself if a process asks about itself, with another start time than others see; it does not for a
 * thread. */
static process read_process(int64_t pid) {
    enum { STATE = 3, THREADS = 20, START = 22 };
    char path[64], line[LINE];
    process self = {.start = -1};
    snprintf(path, sizeof path, "/proc/%lld/task/%lld/stat", (long long)pid, (long long)pid);
    read_line(line, path);
    char *rest = strrchr(line, ')');
    char *save = NULL, *word = rest != NULL ? strtok_r(rest + 1, " \n", &save) : NULL;
    bool zombie = false, single = false;
    for (int field = STATE; word != NULL && field <= START; field++) {
        if (field == STATE) {
            zombie = strchr("ZX", word[0]) != NULL;
        } else if (field == THREADS) {
            single = strcmp(word, "0") == 0 || strcmp(word, "1") == 0; /* other threads may outlive the first */
        } else if (field == START && !sfu__parse_int64(&self.start, word, word + strlen(word))) {
            self.start = -1;
        }
        word = strtok_r(NULL, " \n", &save);
    }
    self.ended = zombie && single;
    return self;
}

/* ---- worker ids -------------------------------------------------------------------------------------------------- */

void sfu__worker_here(char id[SFU__WORKER_ID]) {
    static atomic_uint calls;
    char machine[MACHINE];
    struct timespec now = {0};
    const int64_t pid = getpid();
    (void)read_machine(machine);
    clock_gettime(CLOCK_REALTIME, &now);
    const int64_t start = read_process(pid).start;
    snprintf(id, SFU__WORKER_ID, "%s/%lld/%lld/%llx%08lx.%x", machine, (long long)pid, (long long)start,
             (unsigned long long)now.tv_sec, (unsigned long)now.tv_nsec, atomic_fetch_add(&calls, 1));
}

/* Parses the number up to the next '/', which must exist, and skips it. */
static bool take_number(int64_t *number, const char **at) {
    const char *end = strchr(*at, '/');
    if (end == NULL || !sfu__parse_int64(number, *at, end)) {
        return false;
    }
    *at = end + 1;
    return true;
}

bool sfu__worker_is_gone(const char *id) {
    char machine[MACHINE];
    int64_t pid = 0, start = 0;
    if (!read_machine(machine) || strncmp(id, machine, strlen(machine)) != 0 || id[strlen(machine)] != '/') {
        return false;
    }
    const char *at = id + strlen(machine) + 1;
    if (!take_number(&pid, &at) || !take_number(&start, &at) || pid < 1 || pid > INT_MAX) {
        return false;
    }
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) {
        return true;
    }
    const process there = read_process(pid);
    return there.ended || (start >= 0 && there.start >= 0 && there.start != start);
}
