/* program.c - runs another program with a sanitized environment and collects the end of its output. */
#include "program.h"

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- output --------------------------------------------------------------------------------------------------- */

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

/* The most informative line: programs may end with a summary, or with blank lines and advice after it. */
static void tail_best_line(const tail *self, char *said, size_t said_size) {
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

/* ---- path and environment ------------------------------------------------------------------------------------- */

/* A program and its environment. The current folder may belong to somebody else and must not influence what runs. So
 * relative entries of PATH are removed, for the program and its children, and so are Python's variables, which could
 * make it load other modules. */
typedef struct launch {
    sfu__text path;   /* of the program */
    sfu__text search; /* "PATH=..." */
    char **environment;
} launch;

static void launch_clear(launch *self) {
    sfu__text_clear(&self->path);
    sfu__text_clear(&self->search);
    sfu__free(self->environment);
}

/* PATH without relative entries, and without empty ones, which mean the current folder. */
static sfu_status clean_search(sfu__text *search) {
    sfu_status status = SFU_OK;
    const char *all = getenv("PATH");
    SFU_TRY(sfu__text_format(search, "PATH="));
    const size_t begin = search->size;
    for (const char *at = all != NULL ? all : "/bin:/usr/bin"; at != NULL;) {
        const size_t size = strcspn(at, ":");
        if (*at == '/') {
            SFU_TRY(sfu__text_format(search, "%s%.*s", search->size > begin ? ":" : "", (int)size, at));
        }
        at = at[size] == ':' ? at + size + 1 : NULL;
    }
done:
    return status;
}

/* Finds the program in the folders of PATH; the path is empty if it is not found. */
static sfu_status find_program(launch *self, const char *name) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(&self->path, "", 0));
    for (const char *at = self->search.bytes + strlen("PATH="); *at != '\0';) {
        const size_t size = strcspn(at, ":");
        self->path.size = 0;
        SFU_TRY(sfu__text_format(&self->path, "%.*s/%s", (int)size, at, name));
        if (sfu__path_is_file(self->path.bytes) && access(self->path.bytes, X_OK) == 0) {
            return SFU_OK;
        }
        at += size + (at[size] == ':');
    }
    self->path.size = 0;
    SFU_TRY(sfu__text_add(&self->path, "", 0));
done:
    return status;
}

static sfu_status clean_environment(launch *self) {
    sfu_status status = SFU_OK;
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    SFU_ALLOC(self->environment, count + 2);
    size_t kept = 0;
    self->environment[kept++] = self->search.bytes;
    for (size_t i = 0; i < count; i++) {
        if (strncmp(environ[i], "PATH=", 5) != 0 && strncmp(environ[i], "PYTHON", 6) != 0) {
            self->environment[kept++] = environ[i];
        }
    }
    self->environment[kept] = NULL;
done:
    return status;
}

static sfu_status prepare(launch *self, const char *name) {
    sfu_status status = SFU_OK;
    SFU_TRY(clean_search(&self->search));
    SFU_TRY(find_program(self, name));
    SFU_TRY(clean_environment(self));
done:
    return status;
}

/* ---- running -------------------------------------------------------------------------------------------------- */

/* Returns 0 or an errno. The new process leads its own process group, so that it can be killed with its children. */
static int start(pid_t *process, const launch *how, const char *const *argv, int output) {
    enum { ARGUMENTS = 64 };
    char *copy[ARGUMENTS];
    size_t count = 0;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    if (how->path.size == 0) {
        return ENOENT;
    }
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
            error = posix_spawn(process, how->path.bytes, &actions, &attributes, copy, how->environment);
        }
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads until the program and its children have closed their output, or the caller cancels. */
static sfu_status read_output(tail *output_tail, int output, sfu__ticker *ticker) {
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
                tail_add(output_tail, bytes, (size_t)got);
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
    tail output_tail = {.size = 0};
    launch how = {0};
    *program = (sfu__program){.exit_code = 127};
    sfu_status status = prepare(&how, argv[0]);
    if (status == SFU_OK && pipe(ends) != 0) {
        status = sfu__fail_system(argv[0], "cannot be run", errno);
    }
    if (status != SFU_OK) {
        launch_clear(&how);
        return status;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    const int error = start(&process, &how, argv, ends[1]);
    close(ends[1]);
    launch_clear(&how);
    if (error == 0) {
        program->found = true;
        status = read_output(&output_tail, ends[0], ticker);
        if (status != SFU_OK) {
            kill(-process, SIGTERM);
        }
        program->exit_code = wait_for(process);
    } else if (error != ENOENT && error != EACCES) {
        status = sfu__fail_system(argv[0], "cannot be run", error);
    }
    close(ends[0]);
    tail_best_line(&output_tail, program->said, sizeof program->said);
    return status;
}
