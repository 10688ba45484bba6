/* choose.c - selects the kernels of the process: the widest instruction set of the machine, or the one that
 * $SFUMATO_ISA names. */
#include "kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const sfu__backend sfu__backend_plain = SFU__KERNEL_TABLE(plain, "cpu: plain");

static bool always(void) { return true; }

#if defined(__x86_64__)
static bool has_v3(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2");
}
static bool has_v4(void) {
    return has_v3() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

/* The kernel sets of this build, from slowest to fastest. */
static const struct {
    const char *name;
    const sfu__backend *backend;
    bool (*runs_here)(void);
} sets[] = {
    {"plain", &sfu__backend_plain, always},
#if defined(__aarch64__)
    {"neon", &sfu__backend_neon, always},
#elif defined(__x86_64__)
    {"x86-64-v3", &sfu__backend_x86_64_v3, has_v3},
    {"x86-64-v4", &sfu__backend_x86_64_v4, has_v4},
#endif
};
enum { SETS = sizeof sets / sizeof sets[0] };

const sfu__backend *sfu__backend_cpu_set(int i) {
    for (int set = 0; set < SETS; set++) {
        if (sets[set].runs_here() && i-- == 0) {
            return sets[set].backend;
        }
    }
    return NULL;
}

static const sfu__backend *best(void) {
    const sfu__backend *backend = &sfu__backend_plain;
    for (int i = 0; sfu__backend_cpu_set(i) != NULL; i++) {
        backend = sfu__backend_cpu_set(i);
    }
    return backend;
}

static sfu_status no_such_set(const char *wanted) {
    char quoted[SFU__QUOTE_MAX], runnable[128] = "";
    size_t size = 0;
    for (int set = 0; set < SETS; set++) {
        if (sets[set].runs_here() && size < sizeof runnable) {
            size +=
                (size_t)snprintf(runnable + size, sizeof runnable - size, "%s%s", size > 0 ? ", " : "", sets[set].name);
        }
    }
    return sfu__fail(SFU_ERR_UNSUPPORTED, "SFUMATO_ISA: this machine cannot run %s; it can run %s",
                     sfu__quote(quoted, wanted, strlen(wanted)), runnable);
}

sfu_status sfu__backend_cpu(const sfu__backend **backend) {
    const char *wanted = getenv("SFUMATO_ISA");
    if (wanted == NULL || wanted[0] == '\0') {
        *backend = best();
        return SFU_OK;
    }
    for (int set = 0; set < SETS; set++) {
        if (strcmp(wanted, sets[set].name) == 0 && sets[set].runs_here()) {
            *backend = sets[set].backend;
            return SFU_OK;
        }
    }
    return no_such_set(wanted);
}
