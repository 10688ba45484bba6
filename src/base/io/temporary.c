/* temporary.c - creates, locks and cleans up temporary files and folders. */
#define _GNU_SOURCE /* mkostemp */
#include "temporary.h"

#include "file.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names ------------------------------------------------------------------------------------------------------ */

static const char mark[] = ".sfumato-", random_part[] = "XXXXXX";
enum { RANDOM = sizeof random_part - 1, NAME_KEPT = 100 };

/* Writes FOLDER/.NAME.sfumato- and `end`. A long name is truncated between two characters, to stay within the limits of
 * file systems. */
static sfu_status put_name(sfu__text *path, const char *target, const char *end) {
    const char *base = sfu__path_base(target);
    size_t size = strlen(base);
    if (size > NAME_KEPT) {
        size = NAME_KEPT;
        while (size > 0 && ((unsigned char)base[size] & 0xc0) == 0x80) {
            size--;
        }
    }
    path->size = 0;
    return sfu__text_format(path, "%.*s.%.*s%s%s", (int)(base - target), target, (int)size, base, mark, end);
}

/* Whether `name` is `stem` followed by the random part. */
static bool is_temporary_name(const char *name, const char *stem) {
    const size_t size = strlen(stem);
    bool is = strncmp(name, stem, size) == 0 && strlen(name) == size + RANDOM;
    for (size_t i = size; is && name[i] != '\0'; i++) {
        is = isalnum((unsigned char)name[i]) != 0;
    }
    return is;
}

/* Calls visit for each entry of the target's folder that is named like a temporary file for it. */
static sfu_status each_temporary(const char *target, void (*visit)(void *user, int folder, const char *name),
                                 void *user) {
    sfu_status status = SFU_OK;
    sfu__text stem = {0}, folder = {0};
    DIR *entries = NULL;
    SFU_TRY(put_name(&stem, target, ""));
    SFU_TRY(sfu__text_format(&folder, "%.*s.", (int)(sfu__path_base(target) - target), target));
    entries = opendir(folder.bytes);
    if (entries == NULL) {
        goto done; /* if the folder cannot be listed, nothing is removed */
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        if (is_temporary_name(entry->d_name, sfu__path_base(stem.bytes))) {
            visit(user, dirfd(entries), entry->d_name);
        }
    }
done:
    if (entries != NULL) {
        closedir(entries);
    }
    sfu__text_clear(&stem);
    sfu__text_clear(&folder);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------------------ */

static bool is_at(int file, int folder, const char *name) {
    struct stat ours, current;
    return fstat(file, &ours) == 0 && fstatat(folder, name, &current, AT_SYMLINK_NOFOLLOW) == 0 &&
           ours.st_dev == current.st_dev && ours.st_ino == current.st_ino;
}

static void remove_abandoned(void *user, int folder, const char *name) {
    struct stat file_status;
    (void)user;
    const int file = openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0) {
        return;
    }
    if (fstat(file, &file_status) == 0 && S_ISREG(file_status.st_mode) && file_status.st_uid == geteuid() &&
        flock(file, LOCK_EX | LOCK_NB) == 0 && is_at(file, folder, name)) {
        unlinkat(folder, name, 0);
    }
    close(file);
}

/* Between creating a file and locking it, another process may consider it abandoned: then its lock is taken or its name
 * removed. */
static bool claim(int file, const char *path) {
    return flock(file, LOCK_EX | LOCK_NB) == 0 ? is_at(file, AT_FDCWD, path) : errno != EWOULDBLOCK;
}

sfu_status sfu__temporary_make(int *file, sfu__text *path, const char *target) {
    enum { ATTEMPTS = 100 };
    sfu_status status = SFU_OK;
    *file = -1;
    SFU_TRY(each_temporary(target, remove_abandoned, NULL));
    for (int i = 0; i < ATTEMPTS; i++) {
        SFU_TRY(put_name(path, target, random_part));
        *file = mkostemp(path->bytes, O_CLOEXEC);
        if (*file < 0 || claim(*file, path->bytes)) {
            break;
        }
        unlink(path->bytes);
        close(*file);
        *file = -1;
        errno = EAGAIN;
    }
done:
    return status;
}

/* ---- folders ---------------------------------------------------------------------------------------------------- */

static void remove_tree(int parent, const char *name) {
    const int file = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *entries = file >= 0 ? fdopendir(file) : NULL;
    if (entries == NULL) {
        if (file >= 0) {
            close(file);
        }
        return;
    }
    for (const struct dirent *entry; (entry = readdir(entries)) != NULL;) {
        const bool itself = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
        if (!itself && unlinkat(file, entry->d_name, 0) != 0) {
            remove_tree(file, entry->d_name);
        }
    }
    closedir(entries);
    unlinkat(parent, name, AT_REMOVEDIR);
}

void sfu__remove_tree(const char *path) { remove_tree(AT_FDCWD, path); }

/* Reuses the first folder left by an earlier run; removes others. */
static void reuse_first(void *user, int folder, const char *name) {
    struct stat file_status;
    char *reused = user; /* its name, or "" */
    if (fstatat(folder, name, &file_status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISDIR(file_status.st_mode) ||
        file_status.st_uid != geteuid() || (file_status.st_mode & 077) != 0) {
        return;
    }
    if (reused[0] == '\0') {
        memcpy(reused, name, strlen(name) + 1);
    } else {
        remove_tree(folder, name);
    }
}

sfu_status sfu__temporary_folder(sfu__text *path, const char *target) {
    sfu_status status = SFU_OK;
    char reused[NAME_MAX + 1] = "";
    SFU_TRY(each_temporary(target, reuse_first, reused));
    SFU_TRY(put_name(path, target, random_part));
    if (reused[0] != '\0') {
        memcpy(path->bytes + path->size - strlen(reused), reused, strlen(reused));
    } else if (mkdtemp(path->bytes) == NULL) {
        path->size = 0; /* not created */
        status = sfu__fail_system(target, "cannot write", errno);
    }
done:
    return status;
}

sfu_status sfu__temporary_lock(sfu__text *path, const char *target) { return put_name(path, target, "locked"); }
