/* machine.c - identifies this machine: its caches and processor model, and times short jobs. */
#include "machine.h"
#include "clock.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- caches ----------------------------------------------------------------------------------------------------- */

/* The first word of a small system file, "" if it does not exist. */
static void first_word(char word[32], const char *format, int number) {
    char path[96];
    word[0] = '\0';
    snprintf(path, sizeof path, format, number);
    FILE *file = fopen(path, "r");
    if (file != NULL) {
        if (fscanf(file, "%31s", word) != 1) {
            word[0] = '\0';
        }
        (void)fclose(file);
    }
}

/* "1024K" as bytes. */
static double size_of_word(const char *word) {
    char *end;
    const double number = strtod(word, &end);
    return *end == 'K' ? 1024 * number : *end == 'M' ? 1048576 * number : number;
}

/* Linux describes each cache of a core in its own sysfs folder. */
static void caches_from_files(double cache_bytes[3]) {
    enum { CACHES = 8 };
    for (int i = 0; i < CACHES; i++) {
        char level[32], type[32], size[32];
        first_word(level, "/sys/devices/system/cpu/cpu0/cache/index%d/level", i);
        first_word(type, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        first_word(size, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        if (level[0] >= '1' && level[0] <= '3' && strcmp(type, "Instruction") != 0) {
            cache_bytes[level[0] - '1'] = size_of_word(size);
        }
    }
}

static void caches_from_sysconf(double cache_bytes[3]) {
    static const int names[3] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
    for (int i = 0; i < 3; i++) {
        const long bytes = cache_bytes[i] > 0.0 ? 0 : sysconf(names[i]);
        cache_bytes[i] = bytes > 0 ? (double)bytes : cache_bytes[i];
    }
}

/* ---- model ------------------------------------------------------------------------------------------------------ */

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

void sfu__machine_detect(sfu__machine *machine) {
    static const double usual[3] = {32768, 1048576, 33554432};
    *machine = (sfu__machine){0};
    model_from_cpuinfo(machine->model, sizeof machine->model);
    if (machine->model[0] == '\0') {
        snprintf(machine->model, sizeof machine->model, "unknown");
    }
    double *cache = machine->cache_bytes;
    caches_from_files(cache);
    caches_from_sysconf(cache);
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

/* ---- timing ----------------------------------------------------------------------------------------------------- */

static double seconds_of(void (*job)(void *context), void *context, int64_t times) {
    const double begin = sfu__now();
    for (int64_t i = 0; i < times; i++) {
        job(context);
    }
    return sfu__now() - begin;
}

double sfu__best_seconds(void (*job)(void *context), void *context) {
    enum { ROUNDS = 9, ROUNDS_LEAST = 3 };
    const double long_enough = 5e-4, all = 0.05; /* seconds of one round, and of all but the first three */
    int64_t times = 1;
    double took = seconds_of(job, context, times);
    while (took < long_enough && times < 1 << 24) {
        times *= 2;
        took = seconds_of(job, context, times);
    }
    const double begin = sfu__now();
    for (int round = 0; round < ROUNDS_LEAST || (round < ROUNDS && sfu__now() - begin < all); round++) {
        const double again = seconds_of(job, context, times);
        took = again < took ? again : took;
    }
    return took / (double)times;
}
