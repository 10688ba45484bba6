#include "rank_output.h"

#include "output.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const double patience_s = 5; /* until ranks that do not come to their end are taken to wait for this one */

static int process; /* number of this one; 0 prints */
static bool joined;
static char held[4096];

int rank_join(int group) {
    const sfu_status status = sfu_ranks_join(group, &process);
    joined = true;
    (void)setenv("NO_COLOR", "1", 0); /* launchers may give a process a terminal though its output goes to a file */
    if (status != SFU_OK) {
        return rank_leave(fail_status(status));
    }
    const int nowhere = process > 0 ? open("/dev/null", O_WRONLY) : -1;
    if (nowhere >= 0) {
        dup2(nowhere, STDOUT_FILENO);
        close(nowhere);
        common.quiet = true;
    }
    return DONE;
}

bool rank_holds(bool error, const char *line) {
    if (error && process > 0) {
        snprintf(held, sizeof held, "%s", line);
    }
    return process > 0;
}

int rank_leave(int status) {
    if (!joined || sfu_ranks_leave(status == DONE ? 1e9 : patience_s)) {
        return status;
    }
    if (held[0] != '\0') {
        fprintf(stderr, "sfumato: rank %d: %s\n", process, held);
    }
    sfu_ranks_abort(status);
    return status;
}
