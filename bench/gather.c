/* gather.c - how fast one core gathers rows of 256 bytes in random order from a table of a given size: the ceiling of
 * smoothing at width 64. Huge pages, rows asked for 16 ahead, the sum of every row kept.
 *   usage: gather ROWS      prints GB/s, the best of five
 */
#define _GNU_SOURCE /* madvise */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { FLOATS = 64, AHEAD = 16, DRAWS = 1 << 22, TRIES = 5 };

typedef float four __attribute__((vector_size(16)));

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static float sum_rows(const float *table, const int32_t *order) {
    four sum[FLOATS / 4] = {{0}};
    for (int64_t i = 0; i < DRAWS; i++) {
        const float *later = table + (int64_t)order[i + AHEAD] * FLOATS;
        const four *row = (const four *)(const void *)(table + (int64_t)order[i] * FLOATS);
        for (int j = 0; j < FLOATS; j += 16) {
            __builtin_prefetch(later + j);
        }
#pragma GCC unroll 16
        for (int v = 0; v < FLOATS / 4; v++) {
            sum[v] += row[v];
        }
    }
    float all = 0;
    for (int v = 0; v < FLOATS / 4; v++) {
        all += sum[v][0] + sum[v][1] + sum[v][2] + sum[v][3];
    }
    return all;
}

int main(int argc, char **argv) {
    const int64_t rows = argc > 1 ? strtoll(argv[1], NULL, 10) : 0;
    if (rows < 1 || rows > INT32_MAX) {
        fprintf(stderr, "usage: gather ROWS\n");
        return 2;
    }
    const size_t bytes = (size_t)rows * FLOATS * sizeof(float);
    float *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int32_t *order = malloc((DRAWS + AHEAD) * sizeof *order);
    if (table == MAP_FAILED || order == NULL) {
        fprintf(stderr, "gather: out of memory\n");
        free(order);
        return 1;
    }
    madvise(table, bytes, MADV_HUGEPAGE);
    memset(table, 0, bytes);
    uint64_t state = 1;
    for (int64_t i = 0; i < DRAWS + AHEAD; i++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        order[i] = (int32_t)((state >> 33) % (uint64_t)rows);
    }
    double best = 1e300;
    float sink = 0;
    for (int i = 0; i < TRIES; i++) {
        const double start = now();
        sink += sum_rows(table, order);
        const double took = now() - start;
        best = took < best ? took : best;
    }
    printf("%.2f\n", 1e-9 * (double)DRAWS * FLOATS * sizeof(float) / best);
    return sink == 1.0F; /* never: the table holds zeros */
}
