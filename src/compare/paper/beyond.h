/* beyond.h - what goes beyond the paper, in its protocol: the table "extras", other networks; and the table "noise",
 * graphs of which edges were removed or rewired. */
#ifndef SFU_BEYOND_H
#define SFU_BEYOND_H

#include "published.h"

/* The i-th network of "extras", NULL after the last: "appnp", "learned", "any". And whether a name is one of them. */
const char *sfu__extra_net(int i);
bool sfu__is_extra_net(const char *name);

/* The composition of such a network with $hidden for the width, NULL if the name is none of them; and the ranges that
 * its study adds to the space of the request, "" for none. */
const char *sfu__extra_net_text(const char *name);
const char *sfu__extra_net_ranges(const char *name);

/* The network with the highest mean in the paper's table of a size ("1" to "5") on a dataset, and that mean; NULL:
 * none. */
const sfu__published_row *sfu__paper_best(const char *dataset, const char *size);

/* A share of the edges that is removed or rewired. */
typedef struct sfu__noise_level {
    int percent; /* 0: the graph as it is */
    bool rewired;
} sfu__noise_level;

/* The i-th level of the table "noise": 0 %, 10 % to 50 % removed, 10 % to 50 % rewired. */
enum { SFU__NOISE_STEPS = 5, SFU__NOISE_LEVELS = 1 + 2 * SFU__NOISE_STEPS };
sfu__noise_level sfu__noise_level_at(int i);

/* The dataset of a task with noise: "cora:removed=10%", or "cora" for 0 %. Reading gives the level, and the length of
 * the name before it. */
void sfu__noise_print(char name[SFU__NAME_MAX], const char *dataset, sfu__noise_level level);
sfu__noise_level sfu__noise_read(size_t *size, const char *name);

/* Whether results are of these tables, and so not among the networks that are ranked and compared with each other. */
bool sfu__is_beyond(const sfu__request *request, const sfu__task *task);

/* The tasks of the two tables. */
SFU_CHECKED sfu_status sfu__extras_tasks(sfu__tasks *tasks, const sfu__request *request);
SFU_CHECKED sfu_status sfu__noise_tasks(sfu__tasks *tasks, const sfu__request *request);

#endif
