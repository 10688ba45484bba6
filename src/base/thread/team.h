/* team.h - threads that stay: one parallel region after another, with barriers inside.
 *
 * sfu__parallel (parallel.h) makes threads for one long job; an epoch of a training takes a fraction of a millisecond,
 * so its threads wait for the next one instead. A team has its own threads, or is open to those of others who have
 * nothing to do.
 */
#ifndef SFU_TEAM_H
#define SFU_TEAM_H

#include "status.h"

typedef struct sfu__team sfu__team;

/* `threads` threads, the calling one among them. Fewer where they cannot be made (sfu__team_size tells). */
SFU_CHECKED sfu_status sfu__team_new(sfu__team **team, int threads);
void sfu__team_free(sfu__team *team);
int sfu__team_size(const sfu__team *team); /* NULL: 1 */

/* An open team is its owner alone, whom other threads of the program may help, up to `most` together: what runs on it
 * must give the same for any number of threads. It starts uninvited. */
SFU_CHECKED sfu_status sfu__team_open(sfu__team **team, int most);
int sfu__team_most(const sfu__team *team); /* threads that there can ever be; NULL: 1 */

/* The owner's, between regions: from now on others may come. */
void sfu__team_invite(sfu__team *team);
/* The owner's, before a region: takes in those who came. Returns how many threads the region will have. */
int sfu__team_gather(sfu__team *team);
/* The owner's, between regions: sends all others away, waits until they are gone, and invites nobody. */
void sfu__team_dismiss(sfu__team *team);
/* Another thread's: works for the team until it is sent away. False at once where nobody is invited or all places are
 * taken. */
bool sfu__team_help(sfu__team *team);

/* Runs job(context, thread) on every thread of the team, thread 0 being the calling one, and waits for all. A NULL team
 * is the calling thread alone. */
typedef void (*sfu__team_fn)(void *context, int thread);
void sfu__team_run(sfu__team *team, sfu__team_fn job, void *context);

/* Inside a job: nobody goes on before all have come here. Nothing for a NULL team. */
void sfu__team_barrier(sfu__team *team);

#endif
