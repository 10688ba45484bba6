/* uniform_edges - an edge list for measurements: COUNT lines "from,to", uniform over NODES ids, the same every time.
 *
 *   usage: uniform_edges NODES COUNT > edges.csv
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Any good mixer will do: these numbers stand in no result. */
static uint64_t next(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

static char *put_number(char *end, uint32_t number) {
    do {
        *--end = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    return end;
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: uniform_edges NODES COUNT\n");
        return 2;
    }
    const uint64_t nodes = strtoull(argv[1], NULL, 10);
    const uint64_t count = strtoull(argv[2], NULL, 10);
    uint64_t state = 1;
    char line[32];
    if (nodes < 1 || nodes > UINT32_MAX) {
        fprintf(stderr, "uniform_edges: NODES must lie between 1 and %" PRIu32 "\n", UINT32_MAX);
        return 2;
    }
    for (uint64_t i = 0; i < count; i++) {
        char *begin = line + sizeof line;
        *--begin = '\n';
        const uint64_t draw = next(&state);
        begin = put_number(begin, (uint32_t)((draw >> 32) * nodes >> 32));
        *--begin = ',';
        begin = put_number(begin, (uint32_t)((draw & UINT32_MAX) * nodes >> 32));
        fwrite(begin, 1, (size_t)(line + sizeof line - begin), stdout);
    }
    return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
