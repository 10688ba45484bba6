/* split_int.h - internals of splits: a draft, which a protocol fills in and split.c converts to a split. */
#ifndef SFU_SPLIT_INT_H
#define SFU_SPLIT_INT_H

#include "csv.h"
#include "dataset.h"
#include "raw.h"
#include "text.h"

enum { SFU__NO_PART = SFU_PARTS };

typedef struct sfu__draft {
    const sfu_dataset *dataset;  /* checked, with at least one label */
    char quoted[SFU__QUOTE_MAX]; /* the protocol as given by the user, for messages */
    const char *size;            /* the size as given by the user, or NULL */
    uint8_t *part_of;            /* [nodes]: an sfu_part or SFU__NO_PART, its initial value */
    sfu__text text;              /* protocol and size in canonical form */
} sfu__draft;

/* Starts a draft for a checked dataset; fails if no node has a label. Call sfu__draft_clear also after a failure. */
SFU_CHECKED sfu_status sfu__draft_start(sfu__draft *draft, const sfu_dataset *dataset, const char *protocol,
                                        const char *size);
void sfu__draft_clear(sfu__draft *draft);

/* Creates the split of a draft; parts may be empty. Takes over the draft's text. */
SFU_CHECKED sfu_status sfu__split_finish(sfu_split **split, sfu__draft *draft);

/* 500 nodes for validation, 1000 for test, the rest is T; or 50/25/25 % per class. Then selects the training set. */
SFU_CHECKED sfu_status sfu__split_random(sfu__draft *draft, uint64_t seed);

/* Per class 80 % for T, 10 % for validation, 10 % for test. */
SFU_CHECKED sfu_status sfu__split_holdout(sfu__draft *draft, uint64_t seed);

/* One fold for test, the next for validation, the rest is T. */
SFU_CHECKED sfu_status sfu__split_cv(sfu__draft *draft, int64_t folds, int64_t fold, uint64_t seed);

/* Reads the split from a CSV file of node,part. */
SFU_CHECKED sfu_status sfu__split_read(sfu__draft *draft, const char *path);

/* Parses a field as a part of a split: train, val or test. */
SFU_CHECKED sfu_status sfu__csv_part(const sfu__csv *csv, size_t column, sfu_part *part);

#endif
