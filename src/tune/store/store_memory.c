/* store_memory.c - a study in the memory of this process. */
#include "store_int.h"

#include <string.h>

typedef struct memory_attribute {
    char *key, *json;
} memory_attribute;

typedef struct memory_store {
    sfu__store base;
    sfu__trials trials;
    memory_attribute *attributes;
    size_t attribute_count, attribute_capacity;
} memory_store;

static void memory_close(sfu__store *store) {
    memory_store *self = (memory_store *)store;
    sfu__trials_clear(&self->trials);
    for (size_t i = 0; i < self->attribute_count; i++) {
        sfu__free(self->attributes[i].key);
        sfu__free(self->attributes[i].json);
    }
    sfu__free(self->attributes);
    sfu__free(self);
}

static sfu_status memory_read(sfu__store *store, sfu__trials *trials) {
    return sfu__trials_follow(trials, &((const memory_store *)store)->trials);
}

static void finish(memory_store *self, sfu__finished *finished) {
    sfu__trial *trial = &self->trials.items[finished->number];
    finished->refused = trial->state != SFU__TRIAL_RUNNING;
    if (!finished->refused) {
        trial->state = finished->outcome.failed ? SFU__TRIAL_FAIL : SFU__TRIAL_COMPLETE;
        trial->outcome = finished->outcome;
    }
}

static void claim(memory_store *self, sfu__transaction *transaction) {
    transaction->claimed_count = 0;
    for (int32_t i = 0; i < self->trials.count && transaction->claimed_count < transaction->want; i++) {
        sfu__trial *trial = &self->trials.items[i];
        if (trial->state == SFU__TRIAL_WAITING) {
            trial->state = SFU__TRIAL_RUNNING;
            transaction->claimed[transaction->claimed_count++] = i;
        }
    }
}

static sfu_status memory_transaction(sfu__store *store, sfu__transaction *transaction) {
    memory_store *self = (memory_store *)store;
    sfu_status status = SFU_OK;
    transaction->asked_before = transaction->asked_count > 0 && transaction->asked[0].number != self->trials.count;
    for (int i = 0; i < transaction->asked_count && !transaction->asked_before; i++) {
        SFU_TRY(sfu__trials_put(&self->trials, &transaction->asked[i]));
    }
    for (int i = 0; i < transaction->finished_count; i++) {
        finish(self, &transaction->finished[i]);
    }
    claim(self, transaction);
done:
    return status;
}

static sfu_status memory_beat(sfu__store *store) { return (void)store, SFU_OK; }

static memory_attribute *find(const memory_store *self, const char *key) {
    for (size_t i = 0; i < self->attribute_count; i++) {
        if (strcmp(self->attributes[i].key, key) == 0) {
            return &self->attributes[i];
        }
    }
    return NULL;
}

static sfu_status add_attribute(memory_store *self, const char *key) {
    memory_attribute *grown =
        sfu__grow(self->attributes, &self->attribute_capacity, self->attribute_count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->attributes = grown;
    grown[self->attribute_count] = (memory_attribute){sfu__copy_string(key), NULL};
    if (grown[self->attribute_count].key == NULL) {
        return SFU_ERR_MEMORY;
    }
    self->attribute_count++;
    return SFU_OK;
}

static sfu_status memory_set(sfu__store *store, const char *key, const char *json) {
    memory_store *self = (memory_store *)store;
    sfu_status status = SFU_OK;
    char *copy = sfu__copy_string(json);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    if (find(self, key) == NULL) {
        SFU_TRY(add_attribute(self, key));
    }
    memory_attribute *attribute = find(self, key);
    sfu__free(attribute->json);
    attribute->json = copy;
    copy = NULL;
done:
    sfu__free(copy);
    return status;
}

static sfu_status memory_get(sfu__store *store, const char *key, char **json) {
    const memory_attribute *attribute = find((const memory_store *)store, key);
    if (attribute == NULL || attribute->json == NULL) {
        return SFU_OK;
    }
    *json = sfu__copy_string(attribute->json);
    return *json != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

/* No other program can reach the memory of this one. */
static const char *memory_why_skipped(const sfu__store *store, int32_t number) {
    return (void)store, (void)number, NULL;
}

static const sfu__store_kind memory_kind = {memory_close, memory_read, memory_transaction, memory_beat,
                                            memory_set,   memory_get,  memory_why_skipped};

sfu_status sfu__store_open_memory(sfu__store **store, const sfu__store_options *options) {
    sfu_status status = SFU_OK;
    memory_store *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->base.kind = &memory_kind;
    self->trials.parameters = options->space->count;
    for (int i = 0; i < options->fingerprint_count; i++) {
        SFU_TRY(memory_set(&self->base, options->fingerprint[i].key, options->fingerprint[i].json));
    }
    *store = &self->base;
    self = NULL;
done:
    if (self != NULL) {
        memory_close(&self->base);
    }
    return status;
}
