/* team.h - persistent thread teams: one parallel region after another, with barriers inside.
 *
 * sfu__parallel (parallel.h) creates threads for one long job. An epoch of training takes a fraction of a millisecond,
 * so its threads wait for the next one instead. A team has its own threads, or is open to idle threads of other owners.
 */
#ifndef SFU_TEAM_H
#define SFU_TEAM_H

#include "status.h"

typedef struct sfu__team sfu__team;

/* `threads` threads, including the calling one. Fewer if they cannot be created (see sfu__team_size). */
SFU_CHECKED sfu_status sfu__team_new(sfu__team **team, int threads);
void sfu__team_free(sfu__team *team);
int sfu__team_size(const sfu__team *team); /* NULL: 1 */

/* An open team consists of its owner, whom other threads may help, up to `most` in total: jobs on it must give the same
 * results for any number of threads. Initially nobody is invited. */
SFU_CHECKED sfu_status sfu__team_open(sfu__team **team, int most);
int sfu__team_most(const sfu__team *team); /* maximum number of threads; NULL: 1 */

/* Called by the owner between regions: allows others to join. */
void sfu__team_invite(sfu__team *team);
/* Called by the owner before a region: admits those who joined. Returns the number of threads of the region. */
int sfu__team_gather(sfu__team *team);
/* Called by the owner between regions: releases all others, waits until they have left, and stops inviting. */
void sfu__team_dismiss(sfu__team *team);
/* Called by another thread: works for the team until released. Returns false at once if nobody is invited or the team
 * is full. */
bool sfu__team_help(sfu__team *team);

/* Runs job(context, thread) on every thread of the team, thread 0 being the calling one, and waits for all. A NULL team
 * is the calling thread alone. */
typedef void (*sfu__team_fn)(void *context, int thread);
void sfu__team_run(sfu__team *team, sfu__team_fn job, void *context);

/* Inside a job: a barrier for all threads. No effect for a NULL team. */
void sfu__team_barrier(sfu__team *team);

#endif
