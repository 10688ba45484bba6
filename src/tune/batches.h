/* batches.h - whose results a trial sees: a function of its number alone, so that the same seed gives the same trials
 * whatever the number of cores and workers.
 *
 * The first ten are drawn at random and wait for nothing. From then on trials are asked in batches: with b trials asked
 * for, the wave is w = b / 4, at least 2 and at most W, and the next batch, of G = ceil(w / 2), sees the results of the
 * trials before b - (w - G), and of the later ones only where they look. So at most w trials are out, one batch is
 * trained while the next is asked already, and a study looks at its results often while they are few and precious.
 * With W = 1 every trial sees all before it. docs/internals/tpe.md has what that costs and gains.
 */
#ifndef SFU_BATCHES_H
#define SFU_BATCHES_H

#include <stdint.h>

enum { SFU__BATCH_MOST = 1024, SFU__BATCH_RANDOM = 10 };

/* The batch that trial n belongs to: trials begin to end - 1, which see the results of those before `seen`. */
typedef struct sfu__batch {
    int32_t begin, end, seen;
} sfu__batch;

/* `most` is W. */
sfu__batch sfu__batch_of(int32_t n, int32_t most);

/* The most points that may be out when a trial is asked. */
int32_t sfu__batches_in_flight(int32_t most);

#endif
