/* output_path.c - resolves output paths: links, descriptors, devices and new files. */
#include "output_path.h"

#include "file.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* the limit of Linux */

/* ---- following links -------------------------------------------------------------------------------------------- */

/* N of /dev/fd/N, or the descriptor of /dev/stdout and the like; -1 for any other path. */
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

/* Replaces the path of a link by its target. A relative target is resolved in the folder of the link. */
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

static bool is_stream(const struct stat *file_status) {
    return S_ISCHR(file_status->st_mode) || S_ISBLK(file_status->st_mode) || S_ISFIFO(file_status->st_mode) ||
           S_ISSOCK(file_status->st_mode);
}

/* ---- the resolved path ------------------------------------------------------------------------------------------ */

static sfu_status set_descriptor(sfu__output_path *target, const char *path) {
    const int flags = fcntl(target->descriptor, F_GETFL);
    if (flags < 0 || fstat(target->descriptor, &target->file_status) != 0) {
        return sfu__fail_system(path, "cannot write", errno);
    }
    if ((flags & O_ACCMODE) == O_RDONLY) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: descriptor %d is not open for writing", path,
                         target->descriptor);
    }
    target->kind = SFU__OUTPUT_DESCRIPTOR;
    return SFU_OK;
}

static sfu_status set_existing(sfu__output_path *target, const char *path) {
    if (S_ISDIR(target->file_status.st_mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: it is a folder", path);
    }
    if (S_ISSOCK(target->file_status.st_mode)) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot write: it is a socket; expected a file, FIFO or device", path);
    }
    target->kind = is_stream(&target->file_status) ? SFU__OUTPUT_STREAM : SFU__OUTPUT_FILE;
    return SFU_OK;
}

/* The resolved path does not exist. If the given path exists nevertheless, it contains a link of /proc whose text is
 * not a path: to a pipe, or to a deleted file. */
static sfu_status set_new(sfu__output_path *target, const char *path) {
    if (stat(path, &target->file_status) == 0 && is_stream(&target->file_status)) {
        memcpy(target->path, path, strlen(path) + 1);
        return set_existing(target, path);
    }
    if (stat(path, &target->file_status) == 0 || *sfu__path_base(target->path) == '\0') {
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
    target->file_status = (struct stat){0};
    memcpy(target->path, path, size + 1);
    for (int i = 0; i < MOST_LINKS; i++) {
        target->descriptor = descriptor_of(target->path);
        if (target->descriptor >= 0) {
            return set_descriptor(target, path);
        }
        if (lstat(target->path, &target->file_status) != 0) {
            return errno == ENOENT ? set_new(target, path) : sfu__fail_system(path, "cannot write", errno);
        }
        if (!S_ISLNK(target->file_status.st_mode)) {
            return set_existing(target, path);
        }
        if (!follow_link(target->path)) {
            return sfu__fail_system(path, "cannot write", errno);
        }
    }
    return sfu__fail_system(path, "cannot write", ELOOP);
}

/* ---- checks before a computation -------------------------------------------------------------------------------- */

/* The folder of a path, or "." if it has none. */
static const char *folder_of(char folder[PATH_MAX], const char *path) {
    const size_t size = (size_t)(sfu__path_base(path) - path);
    memcpy(folder, size > 0 ? path : "./", size > 0 ? size : 2);
    folder[size > 0 ? size : 2] = '\0';
    return folder;
}

/* Creates a file beside the target, as writing it will, and removes it: some folders (/proc) are writable by their mode
 * alone. */
static sfu_status try_to_create(const char *path, const char *target) {
    sfu_status status = SFU_OK;
    sfu__text made = {0};
    int file = -1;
    SFU_TRY(sfu__temporary_make(&file, &made, target));
    if (file < 0) {
        status = sfu__fail_system(path, "cannot write", errno);
        goto done;
    }
    unlink(made.bytes);
    close(file);
done:
    sfu__text_clear(&made);
    return status;
}

sfu_status sfu_output_check(const char *path) {
    sfu__output_path target;
    const sfu_status status = sfu__output_path_find(&target, path);
    if (status != SFU_OK || target.kind == SFU__OUTPUT_DESCRIPTOR) {
        return status;
    }
    if (target.kind != SFU__OUTPUT_STREAM) {
        return try_to_create(path, target.path);
    }
    return faccessat(AT_FDCWD, target.path, W_OK, AT_EACCESS) == 0 ? SFU_OK
                                                                   : sfu__fail_system(path, "cannot write", errno);
}

/* Whether both have the same folder and name. */
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
    return !shared && S_ISREG(a.file_status.st_mode) && a.file_status.st_dev == b.file_status.st_dev &&
           a.file_status.st_ino == b.file_status.st_ino;
}
