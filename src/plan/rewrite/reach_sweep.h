/* reach_sweep.h - the nodes that a sample of rows reaches through smoothing ops, from the last op to the first.
 *
 * Row i of the product of ops [first, last) has an entry for each node that i reaches through them. Up to 512 sampled
 * rows are propagated at once, with one bit per row at each node, so the counts are exact for the sampled rows, and one
 * step costs at most eight words per non-zero of S.
 *
 * Within a memory limit the sampled rows are divided into parts of as many words as fit. Only one part is in memory, so
 * a step repeats the earlier steps of the other parts. The counts are those of all rows at once.
 */
#ifndef SFU_REACH_SWEEP_H
#define SFU_REACH_SWEEP_H

#include "plan_int.h"

enum { SFU__SAMPLE_MOST = 512, SFU__SAMPLE_WORDS = SFU__SAMPLE_MOST / 64 };

/* The part of the sampled rows that is in memory. */
typedef struct sfu__reach_part {
    int number, words;        /* words per node */
    uint64_t *current, *next; /* [count][words]: the rows that reach each node of `nodes`, and of `others` */
    int32_t *nodes, *others;  /* nodes that some row reaches; `others`: those of the next step */
    size_t nodes_capacity, others_capacity; /* in nodes, of the masks too */
    int32_t count;
    int32_t *position; /* [nodes of the graph]: its number in `others`, from 1; 0: not reached */
    int64_t reached;   /* set bits */
} sfu__reach_part;

typedef struct sfu__reach {
    const sfu__plan *plan;
    int32_t rows, sampled;
    int32_t *start;        /* [sampled]: the nodes of the sampled rows */
    int words, part_count; /* words per node of all parts */
    sfu__reach_part part;
    int *steps; /* smoothings since the start, which a part repeats; one part alone lists none */
    size_t step_count, step_capacity;
    uint8_t *visited;     /* [nodes of the graph]: a part has visited it in this step; NULL with one part */
    int64_t reached;      /* set bits */
    double walked;        /* multiply-adds of the sampled rows */
    double last_step;     /* those of the last step */
    double words_visited; /* what the sweep took, as if there was one part */
    bool settled;         /* another step with the same smoothing changes nothing */
    int settled_under;    /* that smoothing */
} sfu__reach;

/* Starts from all rows of a row set, or from an evenly spaced sample, whatever their order. `self` is zero or is
 * started again; words_visited stays. */
SFU_CHECKED sfu_status sfu__reach_start(sfu__reach *self, const sfu__plan *plan, const sfu__row_set *row_set);
void sfu__reach_clear(sfu__reach *self);

/* Propagates through smoothing op i. */
SFU_CHECKED sfu_status sfu__reach_step(sfu__reach *self, int i);

/* Number of (row, column of X) pairs that the sampled rows reach. `seen` has space for
 * [features][SFU__SAMPLE_WORDS]. */
SFU_CHECKED sfu_status sfu__reach_features(double *count, sfu__reach *self, uint64_t *seen);

/* The most words of a part: SFU__SAMPLE_WORDS; tests set fewer. */
extern int sfu__reach_widest;

/* The most bytes per node of a sweep in the smallest parts. */
enum { SFU__REACH_BYTES = 29 };

#endif
