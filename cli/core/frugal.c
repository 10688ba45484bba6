#define _GNU_SOURCE /* pthread_setattr_default_np */
#include "frugal.h"

#include <malloc.h>
#include <pthread.h>

void frugal_start(void) {
    /* glibc otherwise raises the size from which blocks are mapped, up to 32 MiB, whenever one is freed. */
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
    mallopt(M_ARENA_MAX, 1);
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) == 0) {
        if (pthread_attr_setstacksize(&attributes, 1 << 20) == 0) {
            (void)pthread_setattr_default_np(&attributes);
        }
        pthread_attr_destroy(&attributes);
    }
}
