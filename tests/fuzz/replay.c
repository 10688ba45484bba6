/* replay.c - runs a fuzz target without a fuzzer: on every file of a folder, truncated at many positions, and with a
 * few bytes changed. The changes come from a counter, so failures are reproducible.
 *
 *   usage: fuzz_<format> FOLDER
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"
#include "fuzz.h"
#include "random.h"

enum { CUTS = 64, CHANGES = 400, CHANGED_BYTES = 4 };

/* In a block of exact size, so that a sanitizer detects a read beyond the end. */
static void feed(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size > 0 ? size : 1);
    if (copy == NULL) {
        exit(1);
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    (void)LLVMFuzzerTestOneInput(copy, size);
    free(copy);
}

static void feed_changed(const uint8_t *bytes, size_t size) {
    uint8_t *copy = malloc(size);
    if (copy == NULL) {
        exit(1);
    }
    sfu__random random = sfu__random_start(1, 0);
    for (int i = 0; i < CHANGES; i++) {
        memcpy(copy, bytes, size);
        const uint64_t count = 1 + sfu__random_below(&random, CHANGED_BYTES);
        for (uint64_t j = 0; j < count; j++) {
            copy[sfu__random_below(&random, size)] = (uint8_t)sfu__random_next(&random);
        }
        feed(copy, size);
    }
    free(copy);
}

static void feed_file(const char *path) {
    sfu__bytes file;
    if (sfu__bytes_open(&file, path) != SFU_OK) {
        fprintf(stderr, "%s\n", sfu_message());
        exit(1);
    }
    feed(file.data, file.size);
    for (size_t i = 0; i < CUTS; i++) {
        feed(file.data, file.size / CUTS * i);
    }
    if (file.size > 0) {
        feed(file.data, file.size - 1);
        feed_changed(file.data, file.size);
    }
    sfu__bytes_close(&file);
}

int main(int argc, char **argv) {
    struct dirent **names = NULL;
    const int count = argc == 2 ? scandir(argv[1], &names, NULL, alphasort) : -1;
    int files = 0;
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", argv[1], names[i]->d_name);
        if (names[i]->d_name[0] != '.') {
            feed_file(path);
            files++;
        }
        free(names[i]);
    }
    free(names);
    printf("%d files, each whole, cut %d times and changed %d times\n", files, CUTS + 1, CHANGES);
    return files > 0 ? 0 : 1;
}
