/* sfumato_mpi.c - the module that uses MPI: src/base/ranks/rank_group.h specifies its functions.
 *
 * It is a shared library of its own, because MPI implementations are not binary compatible with one another, and
 * because a process that no launcher started need not load MPI. Errors of MPI end the program (MPI's default).
 */
#include "rank_group.h"

#include <limits.h>
#include <mpi.h>
#include <stdlib.h>
#include <time.h>

static MPI_Comm world = MPI_COMM_NULL; /* of the group */
static int ranks, me;

/* ---- joining and leaving ----------------------------------------------------------------------------------------- */

static const char *join(int group, int *process, int *rank, int *count) {
    int provided, all;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) {
        return "MPI_Init_thread fails";
    }
    if (provided < MPI_THREAD_SERIALIZED) {
        return "it has no support for threads";
    }
    MPI_Comm_rank(MPI_COMM_WORLD, process);
    MPI_Comm_size(MPI_COMM_WORLD, &all);
    MPI_Comm_split(MPI_COMM_WORLD, *process / (group > 0 ? group : all), *process, &world);
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &ranks);
    *rank = me;
    *count = ranks;
    return NULL;
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): it is tested until it has ended, or the program ends */
static bool all_left(int *code, double seconds) {
    static int own, largest; /* a request that has not ended may still use them */
    MPI_Request request;
    int done = 0;
    const double end = now() + seconds;
    own = *code;
    MPI_Iallreduce(&own, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (!done && now() > end) {
            return false;
        }
        if (!done) {
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        }
    }
    *code = largest;
    return true;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static void leave(void) {
    MPI_Comm_free(&world);
    MPI_Finalize();
}

static void end_all(int code) { MPI_Abort(MPI_COMM_WORLD, code); }

/* ---- small collectives ------------------------------------------------------------------------------------------- */

static bool any_of(MPI_Comm processes, bool flag) {
    int value = flag;
    MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_LOR, processes);
    return value != 0;
}

enum { AT_ONCE = 1 << 30 }; /* bytes of a message: MPI counts in int */

static void broadcast_in(MPI_Comm processes, int from, void *bytes, int64_t size) {
    for (int64_t begin = 0; begin < size; begin += AT_ONCE) {
        const int64_t count = size - begin < AT_ONCE ? size - begin : AT_ONCE;
        MPI_Bcast((char *)bytes + begin, (int)count, MPI_BYTE, from, processes);
    }
}

static bool any(bool flag) { return any_of(world, flag); }
static bool any_process(bool flag) { return any_of(MPI_COMM_WORLD, flag); }

static void broadcast(int rank, void *bytes, int64_t size) { broadcast_in(world, rank, bytes, size); }
static void broadcast_from(int process, void *bytes, int64_t size) {
    broadcast_in(MPI_COMM_WORLD, process, bytes, size);
}

/* A few bytes. The other ranks would wait for one that returns an error from here. */
static int *allocate_ints(size_t count) {
    int *ints = malloc(count * sizeof *ints);
    if (ints == NULL) {
        end_all(1);
        abort();
    }
    return ints;
}

/* MPI counts in int: an item of many floats is one item of a larger type, so that counts are rows. */
static MPI_Datatype row_type(int32_t floats) {
    MPI_Datatype type;
    MPI_Type_contiguous(floats, MPI_FLOAT, &type);
    MPI_Type_commit(&type);
    return type;
}

static void gather(float *items, int32_t floats, const int64_t *bounds) {
    int *counts = allocate_ints(2 * (size_t)ranks);
    int *starts = counts + ranks;
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)(bounds[r + 1] - bounds[r]);
        starts[r] = (int)bounds[r];
    }
    MPI_Datatype type = row_type(floats);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, items, counts, starts, type, world);
    MPI_Type_free(&type);
    free(counts);
}

/* ---- from rank to rank ------------------------------------------------------------------------------------------- */

enum { ON_THEIR_WAY = 256 };
static MPI_Request sending[ON_THEIR_WAY];
static int sending_count;

/* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): `sent` waits for those that `send_to` has started */
static void send_poll(void) {
    int done;
    MPI_Testall(sending_count, sending, &done, MPI_STATUSES_IGNORE);
}

static void sent(void) {
    MPI_Waitall(sending_count, sending, MPI_STATUSES_IGNORE);
    sending_count = 0;
}

static void send_to(int rank, const void *bytes, int64_t size) {
    for (int64_t begin = 0; begin < size; begin += AT_ONCE) {
        const int64_t count = size - begin < AT_ONCE ? size - begin : AT_ONCE;
        if (sending_count == ON_THEIR_WAY) {
            sent();
        }
        MPI_Isend((const char *)bytes + begin, (int)count, MPI_BYTE, rank, 0, world, &sending[sending_count++]);
    }
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

static void receive_from(int rank, void *bytes, int64_t size) {
    for (int64_t begin = 0; begin < size; begin += AT_ONCE) {
        const int64_t count = size - begin < AT_ONCE ? size - begin : AT_ONCE;
        MPI_Recv((char *)bytes + begin, (int)count, MPI_BYTE, rank, 0, world, MPI_STATUS_IGNORE);
    }
}

/* ---- exchanges --------------------------------------------------------------------------------------------------- */

static void fill_counts(int *counts, int *at, const int64_t *starts) {
    for (int r = 0; r < ranks; r++) {
        counts[r] = (int)(starts[r + 1] - starts[r]);
        at[r] = (int)starts[r];
    }
}

static bool ask(int32_t **asked, int64_t *asked_starts, const int32_t *wanted, const int64_t *starts) {
    int *counts = allocate_ints(4 * (size_t)ranks);
    *asked = NULL;
    asked_starts[0] = 0;
    int *at = counts + ranks, *asked_counts = at + ranks, *asked_at = asked_counts + ranks;
    fill_counts(counts, at, starts);
    MPI_Alltoall(counts, 1, MPI_INT, asked_counts, 1, MPI_INT, world);
    for (int r = 0; r < ranks; r++) {
        asked_starts[r + 1] = asked_starts[r] + asked_counts[r];
        asked_at[r] = (int)asked_starts[r];
    }
    if (asked_starts[ranks] <= INT_MAX) {
        *asked = malloc(((size_t)asked_starts[ranks] + 1) * sizeof **asked);
    }
    if (any(*asked == NULL)) {
        free(*asked);
        free(counts);
        *asked = NULL;
        return false;
    }
    MPI_Alltoallv(wanted, counts, at, MPI_INT32_T, *asked, asked_counts, asked_at, MPI_INT32_T, world);
    free(counts);
    return true;
}

/* Its communicator knows which ranks this one sends to and receives from; the others take no part. */
struct sfu__exchange {
    MPI_Comm neighbours;
    MPI_Datatype row;
    MPI_Request request;
    int *send_counts, *send_at, *receive_counts, *receive_at; /* per neighbour */
    int numbers[];                                            /* holds these four */
};

/* The ranks with rows, and the numbers and the places of their rows. */
static int list_neighbours(int *list, int *counts, int *at, const int64_t *starts) {
    int count = 0;
    for (int r = 0; r < ranks; r++) {
        if (starts[r + 1] > starts[r]) {
            list[count] = r;
            counts[count] = (int)(starts[r + 1] - starts[r]);
            at[count++] = (int)starts[r];
        }
    }
    return count;
}

static sfu__exchange *exchange_new(const int64_t *send_starts, const int64_t *receive_starts, int32_t floats) {
    const size_t count = (size_t)ranks;
    sfu__exchange *self = malloc(sizeof *self + 6 * count * sizeof self->numbers[0]);
    if (any(self == NULL) || self == NULL) {
        free(self);
        return NULL;
    }
    int *to = self->numbers + 4 * count, *from = self->numbers + 5 * count;
    self->send_counts = self->numbers;
    self->send_at = self->numbers + count;
    self->receive_counts = self->numbers + 2 * count;
    self->receive_at = self->numbers + 3 * count;
    self->row = row_type(floats);
    self->request = MPI_REQUEST_NULL;
    const int targets = list_neighbours(to, self->send_counts, self->send_at, send_starts);
    const int sources = list_neighbours(from, self->receive_counts, self->receive_at, receive_starts);
    MPI_Dist_graph_create_adjacent(world, sources, from, self->receive_counts, targets, to, self->send_counts,
                                   MPI_INFO_NULL, 0, &self->neighbours);
    return self;
}

static void exchange_start(sfu__exchange *exchange, const float *send, float *receive) {
    MPI_Ineighbor_alltoallv(send, exchange->send_counts, exchange->send_at, exchange->row, receive,
                            exchange->receive_counts, exchange->receive_at, exchange->row, exchange->neighbours,
                            &exchange->request);
}

static void exchange_poll(sfu__exchange *exchange) {
    int done;
    MPI_Test(&exchange->request, &done, MPI_STATUS_IGNORE);
}

static void exchange_wait(sfu__exchange *exchange) {
    /* NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): exchange_start has started it */
    MPI_Wait(&exchange->request, MPI_STATUS_IGNORE);
}

static void exchange_free(sfu__exchange *exchange) {
    if (exchange != NULL) {
        MPI_Comm_free(&exchange->neighbours);
        MPI_Type_free(&exchange->row);
        free(exchange);
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

__attribute__((visibility("default"))) const sfu__mpi sfumato_mpi = {.version = SFU__MPI_VERSION,
                                                                     .join = join,
                                                                     .all_left = all_left,
                                                                     .leave = leave,
                                                                     .end_all = end_all,
                                                                     .any_process = any_process,
                                                                     .broadcast_from = broadcast_from,
                                                                     .any = any,
                                                                     .broadcast = broadcast,
                                                                     .send = send_to,
                                                                     .send_poll = send_poll,
                                                                     .sent = sent,
                                                                     .receive = receive_from,
                                                                     .gather = gather,
                                                                     .ask = ask,
                                                                     .exchange_new = exchange_new,
                                                                     .exchange_start = exchange_start,
                                                                     .exchange_poll = exchange_poll,
                                                                     .exchange_wait = exchange_wait,
                                                                     .exchange_free = exchange_free};
