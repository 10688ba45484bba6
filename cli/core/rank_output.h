/* rank_output.h - the output of several processes that an MPI launcher started: one of them prints. */
#ifndef SFU_RANK_OUTPUT_H
#define SFU_RANK_OUTPUT_H

#include "command.h"

/* At the start of the program. Launchers may give a process a terminal though its output goes to a file: no colours. */
void rank_start(void);

/* The number of processes that a launcher started, if these are several; else 0. */
int rank_count(void);

/* Whether this process prints what all of them would print; true without a launcher. */
bool rank_is_first(void);

/* Joins the processes of the launcher, in groups of this size (0: one group). The output of all but one is discarded.
 * Returns an exit status. */
int rank_join(int group);

/* Of processes that work on their own and have the same results in the end: the first prints them. */
void rank_work(void);

/* Whether this process says that it was interrupted. A launcher ends all workers if one of them ends: the first of
 * those on a machine that asks says it. */
bool rank_tells_interrupt(void);

/* From now on an error is one of this process alone. Until then all processes find it before they work, and one prints
 * it: a usage error, a missing dataset, a study that cannot be opened. */
void rank_apart(void);

/* A usage error if several processes were started that do not share the work: each would do all of it. `remedy` is what
 * lets them share it. */
int rank_check_shared(const cli_command *command, bool shared, const char *remedy);

/* At the end of the program, with its exit status; returns the largest of all processes, so that one that was
 * interrupted decides. A process that fails alone prints its error and ends the others. */
int rank_leave(int status);

/* Whether this process keeps a message to itself; an error is remembered. */
bool rank_holds(bool error, const char *line);

#endif
