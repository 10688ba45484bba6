#include "results.h"

sfu_status sfu__tasks_add(sfu__tasks *tasks, const sfu__task *task) {
    (void)tasks;
    (void)task;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}

void sfu__tasks_clear(sfu__tasks *tasks) { (void)tasks; }

sfu_status sfu__entries_add(sfu__entries *entries, const sfu__entry *entry) {
    (void)entries;
    (void)entry;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}

void sfu__entries_clear(sfu__entries *entries) { (void)entries; }

bool sfu__task_same(const sfu__task *one, const sfu__task *other) { return one == other; }

sfu__entry *sfu__entries_find(const sfu__entries *entries, const sfu__task *task) { return (void)task, entries->items; }

sfu_status sfu__entries_read(sfu__entries *entries, const char *folder) {
    (void)entries;
    (void)folder;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}

sfu_status sfu__entries_write(const sfu__entries *entries, const char *folder) {
    (void)entries;
    (void)folder;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "not written yet");
}
