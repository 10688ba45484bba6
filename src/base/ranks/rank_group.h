/* rank_group.h - processes that an MPI launcher started and that run one training together.
 *
 * Every rank runs the same program on the same data and makes the same decisions. It computes its part of each step of
 * a plan and gets the rows that it needs from the others (rank_steps.h). MPI is used by a module that is loaded when a
 * process joins: mpi/sfumato_mpi.c, compiled against the MPI of the machine.
 */
#ifndef SFU_RANK_GROUP_H
#define SFU_RANK_GROUP_H

#include "status.h"

/* Rows that are sent and received together; of the module. */
typedef struct sfu__exchange sfu__exchange;

/* The functions of the module. All ranks call them in the same order. MPI ends the program if one fails. */
typedef struct sfu__mpi {
    int version; /* SFU__MPI_VERSION */

    /* Starts MPI and divides all processes into groups of this size, in their order (0: one group). *process is the
     * number of this one among all, rank and count are those of its group. Returns NULL, or why it cannot. */
    const char *(*join)(int group, int *process, int *rank, int *count);
    /* Waits until all processes have called it, at most `seconds`. false: some have not. *code: the largest of all. */
    bool (*all_left)(int *code, double seconds);
    void (*leave)(void);
    void (*end_all)(int code); /* ends all processes */

    /* Among all processes. */

    bool (*any_process)(bool flag);                                 /* whether the flag is set on any of them */
    void (*broadcast_from)(int process, void *bytes, int64_t size); /* those of this one reach all */

    /* From here on: among the ranks of a group. */

    bool (*any)(bool flag); /* whether the flag is set on any rank */

    void (*broadcast)(int rank, void *bytes, int64_t size); /* those of this rank reach all */

    /* To and from one rank, in the order of the calls. The bytes of `send` stay as they are until `sent`. */
    void (*send)(int rank, const void *bytes, int64_t size);
    void (*send_poll)(void); /* lets MPI go on with it */
    void (*sent)(void);      /* waits until all have arrived or are copied */
    void (*receive)(int rank, void *bytes, int64_t size);

    /* The items [bounds[r], bounds[r + 1]), `floats` floats each, of rank r reach all ranks. */
    void (*gather)(float *items, int32_t floats, const int64_t *bounds);

    /* Rank r receives the ids wanted[starts[r] .. starts[r + 1]) of this rank. *asked (freed with free) are those that
     * the other ranks want from this one, and asked_starts[ranks + 1] theirs. false: out of memory. */
    bool (*ask)(int32_t **asked, int64_t *asked_starts, const int32_t *wanted, const int64_t *starts);

    /* An exchange of rows: send_starts[r + 1] - send_starts[r] of them to rank r, likewise received. NULL: out of
     * memory. */
    sfu__exchange *(*exchange_new)(const int64_t *send_starts, const int64_t *receive_starts, int32_t floats);
    void (*exchange_start)(sfu__exchange *exchange, const float *send, float *receive);
    void (*exchange_poll)(sfu__exchange *exchange); /* lets MPI go on with it */
    void (*exchange_wait)(sfu__exchange *exchange);
    void (*exchange_free)(sfu__exchange *exchange); /* NULL is fine */
} sfu__mpi;

enum { SFU__MPI_VERSION = 4 };
#define SFU__MPI_TABLE "sfumato_mpi" /* the name of the table in the module */

typedef struct sfu__rank_group {
    int rank, count;
    const sfu__mpi *mpi;
    int process; /* among all groups */
    int groups;  /* of `count` ranks each */
    bool open;   /* the caller left their size open */
} sfu__rank_group;

/* Those that this process has joined; NULL: it is alone. */
const sfu__rank_group *sfu__ranks_here(void);

/* All processes that have joined, also if each is a group of its own; NULL: none has. */
const sfu__rank_group *sfu__processes_here(void);

/* Makes each rank a group of its own until sfu__ranks_unite, if process 0 wants that and the caller left the size of
 * groups open. */
void sfu__ranks_separate(bool wanted);
void sfu__ranks_unite(void);

/* Whether files are written by another process. */
bool sfu__ranks_follows(void);

/* Whether rank 0 of this group decides what is computed. */
bool sfu__ranks_obeys(void);

/* Whether the flag is set on any rank. A process alone: the flag. */
bool sfu__ranks_any(bool flag);
bool sfu__processes_any(bool flag); /* on any process of all groups */

/* sfu_ranks_agree among the processes of all groups. */
SFU_CHECKED sfu_status sfu__processes_agree(const char *what, const void *bytes, size_t size);

#endif
