/* rank_output.h - the output of several processes that run one command together (MPI): rank 0 prints. */
#ifndef SFU_RANK_OUTPUT_H
#define SFU_RANK_OUTPUT_H

#include <stdbool.h>

/* Joins the processes of the launcher; the output of the others is discarded. Returns an exit status. */
int rank_join(void);

/* At the end of the command, with its exit status. A rank that fails alone prints its error and ends the others. */
int rank_leave(int status);

/* Whether this rank keeps a message to itself; an error is remembered. */
bool rank_holds(bool error, const char *line);

#endif
