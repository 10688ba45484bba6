/* open_container - microseconds to open a container (median of 101), which must not depend on its size.
 *
 *   usage: open_container FILE...
 */
#include "sfumato.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double microseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

int main(int argc, char **argv) {
    enum { ROUNDS = 101 };
    for (int i = 1; i < argc; i++) {
        double taken[ROUNDS];
        for (int round = 0; round < ROUNDS; round++) {
            sfu_dataset *dataset = NULL;
            const double begin = microseconds();
            if (sfu_dataset_open(&dataset, argv[i]) != SFU_OK) {
                fprintf(stderr, "open_container: %s\n", sfu_message());
                return 1;
            }
            taken[round] = microseconds() - begin;
            sfu_dataset_free(dataset);
        }
        qsort(taken, ROUNDS, sizeof taken[0], compare);
        printf("%8.1f us  %s\n", taken[ROUNDS / 2], argv[i]);
    }
    return 0;
}
