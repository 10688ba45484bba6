/* process_memory.c - reads the size of this process from the /proc file system. */
#include "process_memory.h"
#include "memory.h"
#include "sanitized.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Private memory in bytes: what is reserved, and what is in use, that is, has been written. */
typedef struct memory {
    int64_t reserved, in_use;
} memory;

static memory read_memory(void) {
    enum { RESIDENT = 1, SHARED, TEXT, LIBRARIES, DATA, FIELDS };
    int64_t pages[FIELDS] = {0};
    char line[256];
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return (memory){0};
    }
    char *at = fgets(line, sizeof line, file) != NULL ? line : NULL;
    fclose(file);
    for (int i = 0; at != NULL && i < FIELDS; i++) {
        pages[i] = (int64_t)strtoll(at, &at, 10);
    }
    const int64_t size = sysconf(_SC_PAGESIZE);
    return (memory){pages[DATA] * size, (pages[RESIDENT] - pages[SHARED]) * size};
}

static atomic_bool started;
static atomic_int_least64_t reserved_before, used_before; /* before the first allocation, the former in whole MiB */

void sfu__process_memory_start(void) {
    enum { MIB = 1 << 20 };
    if (!atomic_load_explicit(&started, memory_order_relaxed) && !atomic_exchange(&started, true)) {
        const memory now = read_memory();
        atomic_store(&reserved_before, (now.reserved / MIB + 1) * MIB);
        atomic_store(&used_before, now.in_use);
    }
}

bool sfu__process_memory_own = SFU__SANITIZED;

int64_t sfu__process_memory(void) {
    enum { STEP = 64 << 20 };
    const int64_t used = (int64_t)sfu__memory_used();
    if (sfu__process_memory_own) {
        return used;
    }
    /* Holes in the heap, which the next allocations fill. What is reserved does not tell: an arena of malloc gives
     * pages back to the system, and keeps them reserved. */
    const int64_t unused = (int64_t)mallinfo2().fordblks;
    const int64_t others = read_memory().in_use - atomic_load(&used_before) - used - unused;
    return used + atomic_load(&reserved_before) + (others > 0 ? others / STEP * STEP : 0);
}
