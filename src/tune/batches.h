/* batches.h - batched suggestions: which results the sampler knows when a trial is asked. This depends on the number of
 * the trial alone, so the same seed gives the same trials for any number of threads and workers.
 *
 * The first ten trials are random and wait for nothing. After them, trials are asked in batches. When b trials have
 * been asked, at most w = b / 4 may be in flight, with 2 <= w <= W (the option `wave`). The next batch has G = ceil(w /
 * 2) trials; it knows the results of the trials before b - (w - G), and only the parameter values of later ones. So one
 * batch trains while the next is asked already, and batches are small while results are few. With W = 1 every trial
 * knows the results of all earlier ones. docs/internals/tpe.md has the cost and the gain.
 */
#ifndef SFU_BATCHES_H
#define SFU_BATCHES_H

#include <stdint.h>

enum { SFU__BATCH_MAX = 1024, SFU__BATCH_RANDOM = 10 };

/* The batch of trial n: trials begin to end - 1, which know the results of the trials before `seen`. */
typedef struct sfu__batch {
    int32_t begin, end, seen;
} sfu__batch;

/* `most` is W, the option `wave`. And the next batch. */
sfu__batch sfu__batch_of(int32_t n, int32_t most);
sfu__batch sfu__batch_after(const sfu__batch *batch, int32_t most);

/* Upper bound of the number of trials in flight when a trial is asked. */
int32_t sfu__batches_in_flight(int32_t most);

#endif
