/* rank_output.h - the output of several processes that run one command together (MPI): rank 0 prints. */
#ifndef SFU_RANK_OUTPUT_H
#define SFU_RANK_OUTPUT_H

#include <stdbool.h>

/* Joins the processes of the launcher, in groups of this size (0: one group). The output of all but one is discarded.
 * Returns an exit status. */
int rank_join(int group);

/* At the end of the command, with its exit status, which it returns. A process that fails alone prints its error and
 * ends the others. */
int rank_leave(int status);

/* Whether this rank keeps a message to itself; an error is remembered. */
bool rank_holds(bool error, const char *line);

#endif
