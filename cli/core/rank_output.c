#include "rank_output.h"

#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const double patience_s = 5; /* until ranks that do not come to their end are taken to wait for this one */
enum { JOIN_S = 60 };               /* until processes that do not join are taken to have no error */

static int process; /* number of this one, if it is a rank; 0 prints */
static bool joined, refused, apart;
static int exit_code;   /* of this process, when it leaves */
static char held[4200]; /* the line of an error that another process should have printed */

int rank_count(void) {
    const int count = sfu_ranks_launched();
    return count > 1 ? count : 0;
}

bool rank_is_first(void) { return rank_count() == 0 || sfu_ranks_number() == 0; }

void rank_start(void) {
    if (sfu_ranks_launched() > 0) {
        (void)setenv("NO_COLOR", "1", 0);
    }
}

static void be_silent(void) {
    const int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
        common.quiet = true;
    }
}

int rank_join(int group) {
    const sfu_status status = sfu_ranks_join(group, &process);
    joined = true;
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (process > 0) {
        be_silent();
    }
    return DONE;
}

void rank_work(void) {
    if (!rank_is_first()) {
        be_silent();
    }
}

/* The folder of a job is its launcher's, which removes it. Without one each worker says it. */
bool rank_tells_interrupt(void) {
    char path[4096];
    const char *folder = getenv("PMIX_SERVER_TMPDIR");
    if (joined || rank_count() == 0 || folder == NULL) {
        return true;
    }
    snprintf(path, sizeof path, "%s/sfumato-interrupted", folder);
    const int mark = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (mark >= 0) {
        close(mark);
    }
    return mark >= 0 || errno != EEXIST;
}

static void print_held(void) {
    const ssize_t written = write(STDERR_FILENO, held, strlen(held));
    (void)written; /* there is nowhere else to print it */
}

/* ---- errors that all have ---------------------------------------------------------------------------------------- */

void rank_apart(void) { apart = true; }

/* Until then all processes have the error that this one is about to print. */
static void refuse(void) {
    if (!apart && !joined && rank_count() > 0) {
        process = sfu_ranks_number();
        refused = true;
    }
}

bool rank_holds(bool error, const char *line) {
    if (error) {
        refuse();
    }
    if (error && process > 0) {
        snprintf(held, sizeof held, "sfumato: rank %d: %s\n", process, line);
    }
    return process > 0;
}

int rank_check_shared(const cli_command *command, bool shared, const char *remedy) {
    return shared || rank_count() == 0
               ? DONE
               : usage_error(command,
                             "%d processes were started, each of which would do all of the work: %s, or start one "
                             "process",
                             rank_count(), remedy);
}

/* The others have no error, and do not join; a launcher may end this process when they are done. */
static void end_alone(int signal_number) {
    (void)signal_number;
    print_held();
    _exit(exit_code);
}

/* Meets the others, to find out whether they have the same error. Without MPI they are supposed to. */
static void meet(void) {
    signal(SIGALRM, end_alone);
    signal(SIGTERM, end_alone);
    alarm(JOIN_S);
    joined = sfu_ranks_join(0, &process) == SFU_OK;
    alarm(0);
    signal(SIGTERM, SIG_DFL);
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

int rank_leave(int status) {
    exit_code = status;
    if (refused && !joined) {
        meet();
    }
    if (joined && !sfu_ranks_leave(&status, status == DONE ? 1e9 : patience_s)) {
        print_held();
        sfu_ranks_abort(status);
    }
    return status;
}
