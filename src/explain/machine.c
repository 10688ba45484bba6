/* machine.c - identifies this machine: its caches and processor model. */
#include "machine.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Appends the value of a "KEY   : value" line of /proc/cpuinfo. */
static void add_value(char *model, size_t size, const char *line, const char *key) {
    const size_t key_size = strlen(key);
    const char *value = strchr(line, ':');
    if (strncmp(line, key, key_size) != 0 || value == NULL || strstr(model, value + 2) != NULL) {
        return;
    }
    const size_t used = strlen(model);
    snprintf(model + used, size - used, "%s%.*s", used > 0 ? " " : "", (int)strcspn(value + 2, "\n"), value + 2);
}

/* x86 reports a model name, arm64 numbers. */
static void model_from_cpuinfo(char *model, size_t size) {
    static const char *const keys[] = {"model name", "CPU implementer", "CPU variant", "CPU part"};
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[1024];
    while (file != NULL && fgets(line, sizeof line, file) != NULL && line[0] != '\n') {
        for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
            add_value(model, size, line, keys[i]);
        }
    }
    if (file != NULL) {
        (void)fclose(file);
    }
}

/* Where the C library does not know the caches, usual sizes are assumed: they only decide which arrays are read. */
void sfu__machine_detect(sfu__machine *machine) {
    static const double usual[3] = {32768, 1048576, 33554432};
    static const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    *machine = (sfu__machine){0};
    model_from_cpuinfo(machine->model, sizeof machine->model);
    if (machine->model[0] == '\0') {
        snprintf(machine->model, sizeof machine->model, "unknown");
    }
    double *cache = machine->cache_bytes;
    for (int i = 0; i < 3; i++) {
        cache[i] = (double)sysconf(names[i]);
    }
    const bool known = cache[SFU__L1] >= 4096 && cache[SFU__L2] > cache[SFU__L1];
    if (!known) {
        memcpy(cache, usual, sizeof usual);
    } else if (cache[SFU__L3] <= cache[SFU__L2]) {
        cache[SFU__L3] = 2 * cache[SFU__L2];
    }
}

int sfu__machine_level(const sfu__machine *machine, double bytes) {
    int level = 0;
    while (level < SFU__RAM && bytes > machine->cache_bytes[level]) {
        level++;
    }
    return level;
}
