/* runners.h - what the trials of a study run on: plans that all threads share, and memory that a thread keeps from one
 * trial to the next. Trials of one network differ in their rates alone, and cost a plan once.
 */
#ifndef SFU_RUNNERS_H
#define SFU_RUNNERS_H

#include "runner.h"

typedef struct sfu__runners sfu__runners;

/* Dataset and split must outlive it. */
SFU_CHECKED sfu_status sfu__runners_new(sfu__runners **runners, const sfu_dataset *dataset, const sfu_split *split,
                                        int threads);
void sfu__runners_free(sfu__runners *runners);

/* What a thread's trainings run on: the thread, and those that help it. */
sfu__team *sfu__runners_team(const sfu__runners *runners, int thread);

/* The runner of a network for a thread, the thread's until it asks for the next. */
SFU_CHECKED sfu_status sfu__runners_get(const sfu__runner **runner, sfu__runners *runners, int thread,
                                        const sfu_net *net, double dropout);

#endif
