/* tune_facts.h - what a study is recognised by, as the attributes that its database keeps: everything that the outcome
 * of a trial depends on. A study goes on only where all of it is the same.
 */
#ifndef SFU_TUNE_FACTS_H
#define SFU_TUNE_FACTS_H

#include "store.h"

enum { SFU__FACTS = 24 };
#define SFU__WINNER_KEY "sfumato:winner"

typedef struct sfu__facts_of {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu__space *space;
    const sfu_tune_options *options;
    const sfu_train_options *train; /* with the loss that counts */
} sfu__facts_of;

/* Starts as {0}; sfu__facts_clear also after a failure. */
typedef struct sfu__facts {
    sfu__store_fact items[SFU__FACTS];
    char *json[SFU__FACTS]; /* what the items have */
    int count;
    char *name; /* of the study: the user's, or after dataset, network and split */
} sfu__facts;

SFU_CHECKED sfu_status sfu__facts_make(sfu__facts *facts, const sfu__facts_of *of);
void sfu__facts_clear(sfu__facts *facts);

/* The winner and its scores: {"number": 12, "val_accuracy": 0.8, ...}. */
SFU_CHECKED sfu_status sfu__winner_json(sfu__text *json, const sfu__trial *best, const sfu_scores *scores);

#endif
