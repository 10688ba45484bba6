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

static int64_t reserved_bytes(void) {
    char line[256];
    FILE *file = fopen("/proc/self/statm", "re");
    if (file == NULL) {
        return 0;
    }
    const char *at = fgets(line, sizeof line, file) != NULL ? line : "";
    fclose(file);
    for (int i = 0; i < 5; i++) { /* size, resident, shared, text, lib, then data */
        at += strspn(at, "0123456789");
        at += strspn(at, " ");
    }
    return (int64_t)strtoll(at, NULL, 10) * sysconf(_SC_PAGESIZE);
}

static atomic_bool started;
static atomic_int_least64_t before; /* reserved before the first allocation, in whole MiB */

void sfu__process_memory_start(void) {
    enum { MIB = 1 << 20 };
    if (!atomic_load_explicit(&started, memory_order_relaxed) && !atomic_exchange(&started, true)) {
        atomic_store(&before, (reserved_bytes() / MIB + 1) * MIB);
    }
}

bool sfu__process_memory_own = SFU__SANITIZED;

int64_t sfu__process_memory(void) {
    enum { STEP = 64 << 20 };
    const int64_t used = (int64_t)sfu__memory_used();
    if (sfu__process_memory_own) {
        return used;
    }
    const int64_t unused = (int64_t)mallinfo2().fordblks; /* holes in the heap, which the next allocations fill */
    const int64_t others = reserved_bytes() - used - unused - atomic_load(&before);
    return used + atomic_load(&before) + (others > 0 ? others / STEP * STEP : 0);
}
