/* rank_group.c - joins the processes of an MPI launcher: finds the module and loads it. */
#include "rank_group.h"

#include "digest.h"
#include "lazy.h"
#include "memory.h"
#include "sfumato.h"
#include "text.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sfu__rank_group here;     /* count 0: alone */
static sfu__rank_group together; /* as they were before they were separated; count 0: they are not */

const sfu__rank_group *sfu__ranks_here(void) { return here.count > 1 ? &here : NULL; }

const sfu__rank_group *sfu__processes_here(void) { return here.count > 0 ? &here : NULL; }

bool sfu__ranks_follows(void) { return here.process > 0; }

bool sfu__ranks_obeys(void) { return here.rank > 0; }

bool sfu__ranks_any(bool flag) { return here.count > 1 ? here.mpi->any(flag) : flag; }

bool sfu__processes_any(bool flag) { return here.count > 0 ? here.mpi->any_process(flag) : flag; }

void sfu__ranks_separate(bool wanted) {
    if (here.open && here.count > 1) {
        here.mpi->broadcast_from(0, &wanted, sizeof wanted);
        together = wanted ? here : together;
        here = wanted ? (sfu__rank_group){0, 1, here.mpi, here.process, here.count, true} : here;
    }
}

void sfu__ranks_unite(void) {
    here = together.count > 0 ? together : here;
    together = (sfu__rank_group){0};
}

/* Among the ranks of the group, or among all processes. */
static sfu_status agree(bool all, const char *what, const void *bytes, size_t size) {
    sfu_status status = SFU_OK;
    char mine[SFU__DIGEST_TEXT], first[SFU__DIGEST_TEXT];
    const int count = all ? here.count * here.groups : here.count, number = all ? here.process : here.rank;
    SFU_TRY(sfu__digest_of(mine, bytes, size));
    memcpy(first, mine, sizeof first);
    if (all) {
        here.mpi->broadcast_from(0, first, sizeof first);
    } else {
        here.mpi->broadcast(0, first, sizeof first);
    }
    bool (*const any)(bool) = all ? here.mpi->any_process : here.mpi->any;
    const bool differs = memcmp(first, mine, sizeof first) != 0;
    if (!any(differs)) {
        goto done;
    }
    int other = 1; /* the first that differs */
    while (other < count - 1 && !any(differs && number == other)) {
        other++;
    }
    status = sfu__fail(SFU_ERR_ARGUMENT,
                       "rank %d of %d has %s than rank 0; expected the same arguments and copies of the same files",
                       other, count, what);
done:
    return status;
}

sfu_status sfu_ranks_agree(const char *what, const void *bytes, size_t size) {
    return here.count > 1 ? agree(false, what, bytes, size) : SFU_OK;
}

sfu_status sfu__processes_agree(const char *what, const void *bytes, size_t size) {
    return here.count > 0 ? agree(true, what, bytes, size) : SFU_OK;
}

/* The variables by which launchers tell a process how many there are, and its number: Open MPI, MPICH and Intel MPI,
 * and Slurm, whose variables count only if it is Slurm that starts MPI. */
typedef struct launcher {
    const char *count, *number;
} launcher;

static int number_in(const char *variable) {
    const char *value = variable != NULL ? getenv(variable) : NULL;
    return value != NULL ? (int)strtol(value, NULL, 10) : 0;
}

static launcher find_launcher(void) {
    static const launcher known[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                                     {"PMI_SIZE", "PMI_RANK"},
                                     {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"}};
    const size_t count = sizeof known / sizeof known[0] - (getenv("PMIX_RANK") == NULL);
    for (size_t i = 0; i < count; i++) {
        if (getenv(known[i].count) != NULL) {
            return known[i];
        }
    }
    return (launcher){NULL, NULL};
}

int sfu_ranks_launched(void) { return number_in(find_launcher().count); }

int sfu_ranks_number(void) { return number_in(find_launcher().number); }

/* ---- the module -------------------------------------------------------------------------------------------------- */

/* Where the folder of a build, or an installation, has the module: beside the program, or in its library folder. */
static sfu_status find_module(sfu__text *path) {
    static const char *const places[] = {"sfumato_mpi.so", "../sfumato_mpi.so",
                                         "../" SFU_LIBRARY_FOLDER "/sfumato/sfumato_mpi.so"};
    sfu_status status = SFU_OK;
    char program[4096];
    const ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = '\0';
    const char *slash = strrchr(program, '/');
    for (size_t i = 0; i < sizeof places / sizeof places[0] && slash != NULL; i++) {
        path->size = 0;
        SFU_TRY(sfu__text_format(path, "%.*s/%s", (int)(slash - program), program, places[i]));
        if (access(path->bytes, R_OK) == 0) {
            goto done;
        }
    }
    status = sfu__fail(SFU_ERR_UNSUPPORTED, "started by an MPI launcher, but this build has no sfumato_mpi.so: build "
                                            "it with MPI (Debian: libopenmpi-dev), or start one process");
done:
    return status;
}

static sfu_status load(const sfu__mpi **mpi) {
    sfu_status status = SFU_OK;
    sfu__text path = {0};
    const sfu__symbol symbols[] = {{SFU__MPI_TABLE, (void *)(uintptr_t)mpi}, {NULL, NULL}};
    SFU_TRY(find_module(&path));
    SFU_TRY(sfu__lazy_load(path.bytes, "a training over several processes", symbols));
    if ((*mpi)->version != SFU__MPI_VERSION) {
        status = sfu__fail(SFU_ERR_UNSUPPORTED, "%s is of another version of sfumato", path.bytes);
    }
done:
    sfu__text_clear(&path);
    return status;
}

/* ---- joining and leaving ----------------------------------------------------------------------------------------- */

sfu_status sfu_ranks_join(int group, int *process) {
    sfu_status status = SFU_OK;
    const sfu__mpi *mpi = NULL;
    const int launched = sfu_ranks_launched();
    int rank, count;
    *process = sfu_ranks_number();
    if (launched < 2) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "no MPI launcher started this process: mpirun -n %d ...",
                           group > 1 ? group : 2);
        goto done;
    }
    const bool divisible = group == 0 || (group > 0 && launched % group == 0);
    if (here.count > 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "this process has joined its ranks already");
        goto done;
    }
    SFU_TRY(load(&mpi));
    const char *reason = mpi->join(divisible ? group : 0, process, &rank, &count);
    if (reason != NULL) {
        status = sfu__fail(SFU_ERR_UNSUPPORTED, "MPI cannot be used: %s", reason);
        goto done;
    }
    here = (sfu__rank_group){rank, count, mpi, *process, launched / count, group == 0};
    if (!divisible) { /* all have joined, so that one of them can tell */
        status = sfu__fail(SFU_ERR_ARGUMENT, "%d processes were started, which cannot be divided into groups of %d",
                           launched, group);
    }
done:
    return status;
}

bool sfu_ranks_leave(int *code, double seconds) {
    if (here.count > 0 && !here.mpi->all_left(code, seconds)) {
        return false;
    }
    if (here.count > 0) {
        here.mpi->leave();
    }
    here = (sfu__rank_group){0};
    return true;
}

void sfu_ranks_abort(int code) {
    if (here.count > 0) {
        here.mpi->end_all(code);
    }
}
