/* process_memory.c - reads the size of this process from the /proc file system. */
#include "process_memory.h"
#include "memory.h"
#include "sanitized.h"

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

/* A sanitizer reserves terabytes for itself: then only what this library has allocated counts. */
int64_t sfu__process_memory(void) { return SFU__SANITIZED ? (int64_t)sfu__memory_used() : reserved_bytes(); }
