/* team.h - threads that stay: one parallel region after another, with barriers inside.
 *
 * sfu__parallel (parallel.h) makes threads for one long job; an epoch of a training takes a fraction of a millisecond,
 * so its threads wait for the next one instead.
 */
#ifndef SFU_TEAM_H
#define SFU_TEAM_H

#include "status.h"

typedef struct sfu__team sfu__team;

/* `threads` threads, the calling one among them. Fewer where they cannot be made (sfu__team_size tells). */
SFU_CHECKED sfu_status sfu__team_new(sfu__team **team, int threads);
void sfu__team_free(sfu__team *team);
int sfu__team_size(const sfu__team *team); /* NULL: 1 */

/* Runs job(context, thread) on every thread of the team, thread 0 being the calling one, and waits for all. A NULL team
 * is the calling thread alone. */
typedef void (*sfu__team_fn)(void *context, int thread);
void sfu__team_run(sfu__team *team, sfu__team_fn job, void *context);

/* Inside a job: nobody goes on before all have come here. Nothing for a NULL team. */
void sfu__team_barrier(sfu__team *team);

#endif
