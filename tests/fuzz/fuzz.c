#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ENDINGS = 8, PATH_SIZE = 1024 };

static char paths[ENDINGS][PATH_SIZE];

#define MARK "sfumato-fuzz-"

static void remove_files(void) {
    for (int i = 0; i < ENDINGS && paths[i][0] != '\0'; i++) {
        (void)unlink(paths[i]);
    }
    for (int i = 0; i < ENDINGS && paths[i][0] != '\0'; i++) { /* the folders of fuzz_folder */
        for (char *slash; (slash = strrchr(strstr(paths[i], MARK), '/')) != NULL;) {
            *slash = '\0';
            (void)rmdir(paths[i]);
        }
    }
}

/* The path of the file with this extension. */
static const char *path_of(const char *ending) {
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* a disk would slow it down tenfold */
    const char *folder = getenv("TMPDIR");
    char path[PATH_SIZE];
    snprintf(path, sizeof path, "%s/" MARK "%ld%s", folder != NULL ? folder : memory, (long)getpid(), ending);
    for (int i = 0; i < ENDINGS; i++) {
        if (paths[i][0] == '\0') {
            if (i == 0) {
                (void)atexit(remove_files);
            }
            memcpy(paths[i], path, sizeof path);
        }
        if (strcmp(paths[i], path) == 0) {
            return paths[i];
        }
    }
    abort();
}

const char *fuzz_file(const char *ending, const uint8_t *bytes, size_t size) {
    const char *path = path_of(ending);
    (void)unlink(path); /* some file systems flush a file that is truncated and rewritten */
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        abort();
    }
    return path;
}

void fuzz_files(const char **paths_out, const char *const *endings, int count, const uint8_t *bytes, size_t size) {
    enum { CUT = 0x1e };
    for (int i = 0; i < count; i++) {
        paths_out[i] = NULL;
        if (bytes != NULL) {
            const uint8_t *cut = size > 0 ? memchr(bytes, CUT, size) : NULL;
            const size_t section = cut != NULL ? (size_t)(cut - bytes) : size;
            paths_out[i] = fuzz_file(endings[i], bytes, section);
            size -= cut != NULL ? section + 1 : section;
            bytes = cut != NULL ? cut + 1 : NULL;
        }
    }
}

/* Makes the folders of a path below the temporary one. */
static void make_folders(const char *path) {
    char folder[PATH_SIZE];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = strstr(folder, MARK); (at = strchr(at, '/')) != NULL; at++) {
        *at = '\0';
        (void)mkdir(folder, 0700);
        *at = '/';
    }
}

const char *fuzz_folder(const char *const *names, int count, const uint8_t *bytes, size_t size) {
    static char folder[PATH_SIZE];
    for (int i = 0; i < count; i++) {
        char ending[PATH_SIZE];
        const char *section = NULL;
        snprintf(ending, sizeof ending, ".d/%s", names[i]);
        const char *path = path_of(ending);
        make_folders(path);
        (void)unlink(path);
        if (bytes != NULL) {
            const char *const endings[] = {ending};
            const uint8_t *cut = size > 0 ? memchr(bytes, 0x1e, size) : NULL;
            fuzz_files(&section, endings, 1, bytes, size);
            size -= cut != NULL ? (size_t)(cut - bytes) + 1 : size;
            bytes = cut != NULL ? cut + 1 : NULL;
        }
    }
    snprintf(folder, sizeof folder, "%s", paths[0]);
    *strstr(folder, ".d/") = '\0';
    memcpy(folder + strlen(folder), ".d", 3);
    return folder;
}
