/* shared_matrices.c - the cache: a linked list of reference-counted entries under one lock. */
#include "shared_matrices.h"
#include "progress.h"

#include <pthread.h>
#include <string.h>

/* One lock for the list and for making an entry, so that two plans that need the same entry never make it twice. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sfu__shared *entries;

static void free_entry(sfu__shared *entry) {
    if (entry != NULL) {
        sfu__matrix_clear(&entry->matrix);
        sfu__free(entry->dense);
        if (entry->prepared != NULL) {
            entry->backend->prepared_free(entry->prepared);
        }
        sfu__smoothing_stream_free(entry->stream);
        sfu__free(entry->key);
        sfu__free(entry);
    }
}

static sfu__shared *find(const char *key) {
    sfu__shared *entry = entries;
    while (entry != NULL && strcmp(entry->key, key) != 0) {
        entry = entry->next;
    }
    return entry;
}

static sfu_status make_entry(sfu__shared **made, const char *key, sfu__shared_fn make, void *context) {
    sfu_status status = SFU_OK;
    sfu__shared *entry = NULL;
    SFU_ALLOC_ZERO(entry, 1);
    entry->key = sfu__copy_string(key);
    if (entry->key == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(make(context, entry));
    entry->next = entries;
    entries = entry;
    *made = entry;
    entry = NULL;
done:
    free_entry(entry);
    return status;
}

/* Waits while polling for cancellation: another plan may take long to make the entry. */
static sfu_status take_lock(void) {
    sfu_status status = SFU_OK;
    while (pthread_mutex_trylock(&lock) != 0) {
        const struct timespec a_moment = {.tv_nsec = 1000000};
        SFU_TRY(sfu__poll());
        nanosleep(&a_moment, NULL);
    }
done:
    return status;
}

sfu_status sfu__shared_get(sfu__shared **entry, const char *key, sfu__shared_fn make, void *context) {
    sfu_status status = SFU_OK;
    *entry = NULL;
    SFU_TRY(take_lock());
    sfu__shared *found = find(key);
    if (found == NULL) {
        status = make_entry(&found, key, make, context);
    }
    if (status == SFU_OK) {
        found->holders++;
        *entry = found;
    }
    pthread_mutex_unlock(&lock);
done:
    return status;
}

void sfu__shared_release(sfu__shared *entry) {
    if (entry == NULL) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (--entry->holders == 0) {
        sfu__shared **at = &entries;
        while (*at != entry) {
            at = &(*at)->next;
        }
        *at = entry->next;
        free_entry(entry);
    }
    pthread_mutex_unlock(&lock);
}
