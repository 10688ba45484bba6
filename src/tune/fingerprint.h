/* fingerprint.h - the fingerprint of a study: everything that the outcome of a trial depends on, stored as attributes
 * of the study. A study is continued only if its fingerprint is the same. */
#ifndef SFU_FINGERPRINT_H
#define SFU_FINGERPRINT_H

#include "store.h"

enum { SFU__FINGERPRINT_ITEMS = 24 };
#define SFU__WINNER_KEY "sfumato:winner"
#define SFU__SPACE_KEY "sfumato:space"

typedef struct sfu__fingerprint_input {
    const sfu_dataset *dataset;
    const sfu_split *split;
    const sfu__space *space;
    const sfu_tune_options *options;
    const sfu_train_options *train; /* with the effective loss */
} sfu__fingerprint_input;

/* Starts as {0}; call sfu__fingerprint_clear also after a failure. */
typedef struct sfu__fingerprint {
    sfu__store_attribute items[SFU__FINGERPRINT_ITEMS];
    char *json[SFU__FINGERPRINT_ITEMS]; /* storage of the items' values */
    int count;
    char *name;      /* name of the study: the user's, or made from dataset, network and split */
    char metric[32]; /* "val_accuracy": what is maximised */
} sfu__fingerprint;

SFU_CHECKED sfu_status sfu__fingerprint_make(sfu__fingerprint *fingerprint, const sfu__fingerprint_input *of);
/* The name of a study, to be freed: that of the options, or "cora gcn random:0 size 1". `net`: sfu__space_net_text. */
SFU_CHECKED sfu_status sfu__study_name_make(char **name, const sfu_tune_options *options, const sfu_dataset *dataset,
                                            const char *net, const sfu_split *split);
void sfu__fingerprint_clear(sfu__fingerprint *fingerprint);

/* The winner and its scores: {"number": 12, "val_accuracy": 0.8, ...}. */
SFU_CHECKED sfu_status sfu__winner_json(sfu__text *json, const sfu__trial *best, const sfu_scores *scores);

#endif
