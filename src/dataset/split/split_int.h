/* split_int.h - what the files of the splits share: a draft, which a protocol fills in and split.c makes a split of. */
#ifndef SFU_SPLIT_INT_H
#define SFU_SPLIT_INT_H

#include "csv.h"
#include "dataset.h"
#include "raw.h"
#include "text.h"

enum { SFU__NO_PART = SFU_PARTS };

typedef struct sfu__draft {
    const sfu_dataset *dataset;  /* checked, with at least one label */
    char quoted[SFU__QUOTE_MAX]; /* the protocol as the user wrote it, for messages */
    const char *size;            /* the size as the user wrote it, or NULL */
    uint8_t *part_of;            /* [nodes]: an sfu_part or SFU__NO_PART, which it starts as */
    sfu__text text;              /* protocol and size as they are used */
} sfu__draft;

/* A draft of a dataset that was checked; refuses one without a label. sfu__draft_clear also after a failure. */
SFU_CHECKED sfu_status sfu__draft_start(sfu__draft *draft, const sfu_dataset *dataset, const char *protocol,
                                        const char *size);
void sfu__draft_clear(sfu__draft *draft);

/* The split that a draft has come to, a part without any node among them; takes over its text. */
SFU_CHECKED sfu_status sfu__split_finish(sfu_split **split, sfu__draft *draft);

/* 500 to validate, 1000 to test, the rest is T; or 50/25/25 % by class. Then the training size. */
SFU_CHECKED sfu_status sfu__split_random(sfu__draft *draft, uint64_t seed);

/* One fold to test, the next to validate, the rest is T. */
SFU_CHECKED sfu_status sfu__split_cv(sfu__draft *draft, int64_t folds, int64_t fold, uint64_t seed);

/* What a file of node,part says. */
SFU_CHECKED sfu_status sfu__split_read(sfu__draft *draft, const char *path);

/* The part of a split that a column names: train, val or test. */
SFU_CHECKED sfu_status sfu__csv_part(const sfu__csv *csv, size_t column, sfu_part *part);

#endif
