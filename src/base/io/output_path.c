#include "output_path.h"

#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* as many as Linux follows */

/* ---- one link after the other ----------------------------------------------------------------------------------- */

/* N of /dev/fd/N, and of the names that the standard descriptors have; -1 for any other path. */
static int descriptor_of(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "/dev/stdout") == 0) {
        return STDOUT_FILENO;
    }
    if (strcmp(path, "/dev/stderr") == 0) {
        return STDERR_FILENO;
    }
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const size_t size = strlen(folders[i]), digits = strlen(path) > size ? strspn(path + size, "0123456789") : 0;
        if (strncmp(path, folders[i], size) == 0 && digits > 0 && digits < 7 && path[size + digits] == '\0') {
            return (int)strtol(path + size, NULL, 10);
        }
    }
    return -1;
}

/* Replaces the path of a link by what it points to. A relative one starts from the folder of the link. */
static bool follow_link(char path[PATH_MAX]) {
    char to[PATH_MAX];
    const ssize_t size = readlink(path, to, sizeof to - 1);
    if (size < 0) {
        return false;
    }
    to[size] = '\0';
    const size_t folder = to[0] == '/' ? 0 : (size_t)(sfu__path_base(path) - path);
    if (folder + (size_t)size >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(path + folder, to, (size_t)size + 1);
    return true;
}

static bool is_stream(const struct stat *facts) {
    return S_ISCHR(facts->st_mode) || S_ISBLK(facts->st_mode) || S_ISFIFO(facts->st_mode) || S_ISSOCK(facts->st_mode);
}

/* ---- what is at the end ----------------------------------------------------------------------------------------- */

static sfu_status take_descriptor(sfu__output_path *target, const char *path) {
    const int flags = fcntl(target->descriptor, F_GETFL);
    if (flags < 0 || fstat(target->descriptor, &target->facts) != 0) {
        return sfu__fail_system(path, "cannot write", errno);
    }
    if ((flags & O_ACCMODE) == O_RDONLY) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: descriptor %d is not open for writing", path,
                         target->descriptor);
    }
    target->kind = SFU__OUTPUT_DESCRIPTOR;
    return SFU_OK;
}

static sfu_status take_facts(sfu__output_path *target, const char *path) {
    if (S_ISDIR(target->facts.st_mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: it is a folder", path);
    }
    if (S_ISSOCK(target->facts.st_mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: it is a socket; a file, FIFO or device is expected", path);
    }
    target->kind = is_stream(&target->facts) ? SFU__OUTPUT_STREAM : SFU__OUTPUT_FILE;
    return SFU_OK;
}

/* Nothing is there. Where the given path leads to something all the same, a link of /proc is on the way, whose text is
 * no path: to a pipe, or to a file that was deleted. */
static sfu_status take_new(sfu__output_path *target, const char *path) {
    if (stat(path, &target->facts) == 0 && is_stream(&target->facts)) {
        memcpy(target->path, path, strlen(path) + 1);
        return take_facts(target, path);
    }
    if (stat(path, &target->facts) == 0 || *sfu__path_base(target->path) == '\0') {
        return sfu__fail_system(path, "cannot write", ENOENT);
    }
    target->kind = SFU__OUTPUT_NEW;
    return SFU_OK;
}

sfu_status sfu__output_path_find(sfu__output_path *target, const char *path) {
    const size_t size = strlen(path);
    if (size >= PATH_MAX) {
        return sfu__fail_system(path, "cannot write", ENAMETOOLONG);
    }
    target->facts = (struct stat){0};
    memcpy(target->path, path, size + 1);
    for (int i = 0; i < MOST_LINKS; i++) {
        target->descriptor = descriptor_of(target->path);
        if (target->descriptor >= 0) {
            return take_descriptor(target, path);
        }
        if (lstat(target->path, &target->facts) != 0) {
            return errno == ENOENT ? take_new(target, path) : sfu__fail_system(path, "cannot write", errno);
        }
        if (!S_ISLNK(target->facts.st_mode)) {
            return take_facts(target, path);
        }
        if (!follow_link(target->path)) {
            return sfu__fail_system(path, "cannot write", errno);
        }
    }
    return sfu__fail_system(path, "cannot write", ELOOP);
}

/* ---- for callers that ask before they compute -------------------------------------------------------------------- */

/* The folder of a path: "." where it names none. */
static const char *folder_of(char folder[PATH_MAX], const char *path) {
    const size_t size = (size_t)(sfu__path_base(path) - path);
    memcpy(folder, size > 0 ? path : "./", size > 0 ? size : 2);
    folder[size > 0 ? size : 2] = '\0';
    return folder;
}

sfu_status sfu_output_check(const char *path) {
    sfu__output_path target;
    char folder[PATH_MAX];
    const sfu_status status = sfu__output_path_find(&target, path);
    if (status != SFU_OK || target.kind == SFU__OUTPUT_DESCRIPTOR) {
        return status;
    }
    const bool stream = target.kind == SFU__OUTPUT_STREAM;
    const char *asked = stream ? target.path : folder_of(folder, target.path);
    return faccessat(AT_FDCWD, asked, stream ? W_OK : W_OK | X_OK, AT_EACCESS) == 0
               ? SFU_OK
               : sfu__fail_system(path, "cannot write", errno);
}

/* Both in one folder, under one name. */
static bool is_same_name(const sfu__output_path *a, const sfu__output_path *b) {
    char folder[PATH_MAX];
    struct stat of_a, of_b;
    return strcmp(sfu__path_base(a->path), sfu__path_base(b->path)) == 0 &&
           stat(folder_of(folder, a->path), &of_a) == 0 && stat(folder_of(folder, b->path), &of_b) == 0 &&
           of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

bool sfu_same_file(const char *path, const char *other) {
    sfu__output_path a, b;
    if (sfu__output_path_find(&a, path) != SFU_OK || sfu__output_path_find(&b, other) != SFU_OK) {
        return false;
    }
    if (a.kind == SFU__OUTPUT_NEW || b.kind == SFU__OUTPUT_NEW) {
        return a.kind == b.kind && is_same_name(&a, &b);
    }
    const bool shared = a.kind == SFU__OUTPUT_DESCRIPTOR && b.kind == SFU__OUTPUT_DESCRIPTOR;
    return !shared && S_ISREG(a.facts.st_mode) && a.facts.st_dev == b.facts.st_dev && a.facts.st_ino == b.facts.st_ino;
}
