#include "program.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- what it wrote -------------------------------------------------------------------------------------------- */

/* The end of the output, as much as fits. */
typedef struct tail {
    char bytes[4096];
    size_t size;
} tail;

static void tail_add(tail *self, const char *bytes, size_t size) {
    const size_t keep = sizeof self->bytes - size;
    if (self->size > keep) {
        memmove(self->bytes, self->bytes + (self->size - keep), keep);
        self->size = keep;
    }
    memcpy(self->bytes + self->size, bytes, size);
    self->size += size;
}

/* The line of the output that tells most: programs end with a summary, or with blank lines and advice after it. */
static void tail_tell(const tail *self, char *said, size_t said_size) {
    static const char mark[] = "ERROR";
    const char *best = "";
    size_t best_size = 0;
    bool best_marked = false;
    for (size_t begin = 0, i = 0; i <= self->size; i++) {
        if (i < self->size && self->bytes[i] != '\n') {
            continue;
        }
        const char *line = self->bytes + begin;
        const size_t size = i - begin;
        const bool marked = size >= sizeof mark - 1 && memcmp(line, mark, sizeof mark - 1) == 0;
        if (size > 0 && (marked || !best_marked)) {
            best = line;
            best_size = size;
            best_marked = marked;
        }
        begin = i + 1;
    }
    char quoted[SFU__QUOTE_MAX];
    snprintf(said, said_size, "%s", sfu__quote(quoted, best, best_size));
}

/* ---- running -------------------------------------------------------------------------------------------------- */

/* 0 or the error. The new process leads a group of its own, so that it can be ended with all that it starts. */
static int start(pid_t *process, const char *const *argv, int output) {
    enum { ARGUMENTS = 64 };
    char *copy[ARGUMENTS];
    size_t count = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    while (count < ARGUMENTS - 1 && argv[count] != NULL) {
        count++;
    }
    memcpy(copy, argv, count * sizeof copy[0]);
    copy[count] = NULL;
    int error = posix_spawn_file_actions_init(&actions);
    if (error != 0) {
        return error;
    }
    error = posix_spawnattr_init(&attributes);
    if (error == 0) {
        const int steps[] = {
            posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP),
            posix_spawnattr_setpgroup(&attributes, 0),
            posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0),
            posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO),
            posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO),
        };
        for (size_t i = 0; i < sizeof steps / sizeof steps[0] && error == 0; i++) {
            error = steps[i];
        }
        if (error == 0) {
            error = posix_spawnp(process, copy[0], &actions, &attributes, copy, environ);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads until the program and all that it started have closed their output, or the caller wants no more. */
static sfu_status listen_to(tail *heard, int output, sfu__ticker *ticker) {
    enum { WAIT_MS = 100 };
    sfu_status status = SFU_OK;
    char bytes[1024];
    while (status == SFU_OK) {
        struct pollfd watched = {.fd = output, .events = POLLIN};
        if (poll(&watched, 1, WAIT_MS) > 0) {
            const ssize_t got = read(output, bytes, sizeof bytes);
            if (got == 0 || (got < 0 && errno != EINTR)) {
                break;
            }
            if (got > 0) {
                tail_add(heard, bytes, (size_t)got);
            }
        }
        status = sfu__tick(ticker, 0);
    }
    return status;
}

static int wait_for(pid_t process) {
    int how = 0;
    while (waitpid(process, &how, 0) < 0) {
        if (errno != EINTR) {
            return 127;
        }
    }
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

sfu_status sfu__program_run(sfu__program *program, const char *const *argv, sfu__ticker *ticker) {
    int ends[2];
    pid_t process = 0;
    tail heard = {.size = 0};
    *program = (sfu__program){.exit_code = 127};
    if (pipe(ends) != 0) {
        return sfu__fail_system(argv[0], "cannot be run", errno);
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int error = start(&process, argv, ends[1]);
    close(ends[1]);
    sfu_status status = SFU_OK;
    if (error == 0) {
        program->found = true;
        status = listen_to(&heard, ends[0], ticker);
        if (status != SFU_OK) {
            kill(-process, SIGTERM);
        }
        program->exit_code = wait_for(process);
    } else if (error != ENOENT && error != EACCES) {
        status = sfu__fail_system(argv[0], "cannot be run", error);
    }
    close(ends[0]);
    tail_tell(&heard, program->said, sizeof program->said);
    return status;
}
