/* writer.c - buffered output to temporary files that are renamed on commit, to streams, and to callbacks. */
#include "writer.h"

#include "file.h"
#include "output_path.h"
#include "rank_group.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { WRITER_BUFFER = 1 << 16 };

struct sfu__writer {
    char *path;          /* as given, for messages */
    char *target;        /* the file to replace, links followed; NULL: a stream or sink */
    sfu__text temporary; /* path of the temporary file */
    int file;
    bool exists; /* whether the temporary file exists */
    mode_t mode; /* of the finished file, with its owner and group */
    uid_t owner;
    gid_t group;
    sfu_write_fn sink; /* instead of a file, or NULL */
    void *sink_user;
    bool spreadsheet;    /* for csv_write.h */
    sfu__digest *digest; /* borrowed, or NULL */
    sfu__ticker *ticker; /* borrowed, or NULL */
    double *done;        /* bytes, for the ticker */
    size_t used;
    char buffer[WRITER_BUFFER];
};

/* ---- opening ---------------------------------------------------------------------------------------------------- */

/* Creates a writer with nothing open. The buffer stays uninitialized. */
static sfu_status make_writer(sfu__writer **writer, const char *path) {
    sfu_status status = SFU_OK;
    sfu__writer *self = NULL;
    SFU_ALLOC(self, 1);
    memset(self, 0, offsetof(sfu__writer, buffer));
    self->file = -1;
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    *writer = self;
    self = NULL;
done:
    sfu__free(self);
    return status;
}

sfu_status sfu__writer_open_sink(sfu__writer **writer, sfu_write_fn write, void *user) {
    *writer = NULL;
    const sfu_status status = make_writer(writer, "output");
    if (status == SFU_OK) {
        (*writer)->sink = write;
        (*writer)->sink_user = user;
    }
    return status;
}

/* Opening a FIFO blocks until it has a reader. */
static sfu_status open_stream(sfu__writer *self, const sfu__output_path *target) {
    do {
        self->file = target->kind == SFU__OUTPUT_DESCRIPTOR
                         ? fcntl(target->descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
                         : open(target->path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    } while (self->file < 0 && errno == EINTR);
    return self->file >= 0 ? SFU_OK : sfu__fail_system(self->path, "cannot write", errno);
}

/* A new file gets the default mode reduced by umask, an existing one keeps its mode. */
static void choose_mode(sfu__writer *self, const sfu__output_path *target) {
    const mode_t mask = umask(0);
    umask(mask);
    const bool old = target->kind == SFU__OUTPUT_FILE;
    self->mode = old ? target->file_status.st_mode & 0777 : 0666 & ~mask;
    self->owner = old ? target->file_status.st_uid : (uid_t)-1; /* -1: unchanged */
    self->group = old ? target->file_status.st_gid : (gid_t)-1;
}

static sfu_status open_temporary(sfu__writer *self, const sfu__output_path *target) {
    sfu_status status = SFU_OK;
    choose_mode(self, target);
    self->target = sfu__copy_string(target->path);
    if (self->target == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__temporary_make(&self->file, &self->temporary, self->target));
    self->exists = self->file >= 0;
    status = self->exists ? SFU_OK : sfu__fail_system(self->path, "cannot write", errno);
done:
    return status;
}

sfu_status sfu__writer_open(sfu__writer **writer, const char *path) {
    *writer = NULL;
    sfu_status status = SFU_OK;
    sfu__output_path target;
    sfu__writer *self = NULL;
    SFU_TRY(make_writer(&self, path));
    SFU_TRY(sfu__output_path_find(&target, sfu__ranks_follows() ? "/dev/null" : path));
    const bool stream = target.kind == SFU__OUTPUT_STREAM || target.kind == SFU__OUTPUT_DESCRIPTOR;
    SFU_TRY(stream ? open_stream(self, &target) : open_temporary(self, &target));
    *writer = self;
    self = NULL;
done:
    sfu__writer_close(self);
    return status;
}

void sfu__writer_watch(sfu__writer *writer, sfu__digest *digest, sfu__ticker *ticker, double *done) {
    writer->digest = digest;
    writer->ticker = ticker;
    writer->done = done;
}

void sfu__writer_set_spreadsheet(sfu__writer *writer, bool on) { writer->spreadsheet = on; }

bool sfu__writer_is_spreadsheet(const sfu__writer *writer) { return writer->spreadsheet; }

const char *sfu__writer_temporary(const sfu__writer *writer) { return writer->temporary.bytes; }

/* ---- writing ---------------------------------------------------------------------------------------------------- */

static sfu_status update_watchers(const sfu__writer *writer, const char *bytes, size_t size) {
    sfu_status status = SFU_OK;
    if (writer->digest != NULL) {
        SFU_TRY(sfu__digest_add(writer->digest, bytes, size));
    }
    if (writer->ticker != NULL) {
        *writer->done += (double)size;
        SFU_TRY(sfu__tick(writer->ticker, *writer->done));
    }
done:
    return status;
}

static sfu_status write_fully(const sfu__writer *writer, const char *bytes, size_t size) {
    const sfu_status status = update_watchers(writer, bytes, size);
    if (status != SFU_OK) {
        return status;
    }
    if (writer->sink != NULL) {
        return size == 0 || writer->sink(writer->sink_user, bytes, size)
                   ? SFU_OK
                   : sfu__fail(SFU_ERR_IO, "the output could not be written");
    }
    while (size > 0) {
        const ssize_t wrote = write(writer->file, bytes, size);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote < 0) {
            return sfu__fail_system(writer->path, "cannot write", errno);
        }
        bytes += wrote;
        size -= (size_t)wrote;
    }
    return SFU_OK;
}

static sfu_status flush(sfu__writer *writer) {
    const size_t used = writer->used;
    writer->used = 0;
    return write_fully(writer, writer->buffer, used);
}

sfu_status sfu__writer_add(sfu__writer *writer, const void *bytes, size_t size) {
    if (size > WRITER_BUFFER - writer->used) {
        const sfu_status status = flush(writer);
        if (status != SFU_OK) {
            return status;
        }
        if (size >= WRITER_BUFFER) {
            return write_fully(writer, bytes, size);
        }
    }
    if (size > 0) {
        memcpy(writer->buffer + writer->used, bytes, size);
        writer->used += size;
    }
    return SFU_OK;
}

sfu_status sfu__writer_format(sfu__writer *writer, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    const int size = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (size < 0 || (size_t)size >= sizeof line) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: a line of %d bytes is too long", writer->path, size);
    }
    return sfu__writer_add(writer, line, (size_t)size);
}

/* ---- ending ----------------------------------------------------------------------------------------------------- */

/* The rename is durable only after the folder is synced. */
static sfu_status sync_folder(const char *path) {
    const size_t size = (size_t)(sfu__path_base(path) - path);
    char *folder = size > 0 ? sfu__copy_bytes(path, size) : sfu__copy_string(".");
    if (folder == NULL) {
        return SFU_ERR_MEMORY;
    }
    const int file = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file >= 0) {
        (void)fsync(file); /* some file systems do not support it for folders; the rename is done nevertheless */
        close(file);
    }
    sfu__free(folder);
    return SFU_OK;
}

sfu_status sfu__writer_finish(sfu__writer *writer) {
    const sfu_status status = flush(writer);
    if (status != SFU_OK || writer->target == NULL) {
        return status;
    }
    if (fchown(writer->file, writer->owner, writer->group) != 0 || fchmod(writer->file, writer->mode) != 0) {
        (void)fchmod(writer->file, writer->mode); /* only root may change the owner; set the mode in any case */
    }
    return fsync(writer->file) == 0 || errno == EINVAL ? SFU_OK : sfu__fail_system(writer->path, "cannot write", errno);
}

/* A stream is not renamed, only closed. */
static sfu_status end_stream(sfu__writer *writer) {
    const int closed = writer->file >= 0 ? close(writer->file) : 0;
    writer->file = -1;
    return closed == 0 ? SFU_OK : sfu__fail_system(writer->path, "cannot write", errno);
}

sfu_status sfu__writer_commit(sfu__writer *writer) {
    const sfu_status status = sfu__writer_finish(writer);
    if (status != SFU_OK) {
        return status;
    }
    if (writer->target == NULL) {
        return end_stream(writer);
    }
    /* The file stays open, and so locked, until it is renamed. */
    if (rename(writer->temporary.bytes, writer->target) != 0) {
        return sfu__fail_system(writer->path, "cannot write", errno);
    }
    writer->exists = false;
    return sync_folder(writer->target);
}

void sfu__writer_remove_old(sfu__writer *writer) {
    struct stat file_status;
    if (writer->target != NULL && lstat(writer->target, &file_status) == 0 && S_ISREG(file_status.st_mode)) {
        unlink(writer->target);
    }
}

void sfu__writer_close(sfu__writer *writer) {
    if (writer == NULL) {
        return;
    }
    if (writer->exists) {
        unlink(writer->temporary.bytes);
    }
    if (writer->file >= 0) {
        close(writer->file);
    }
    sfu__free(writer->path);
    sfu__free(writer->target);
    sfu__text_clear(&writer->temporary);
    sfu__free(writer);
}

sfu_status sfu__write_file(const char *path, const void *bytes, size_t size) {
    sfu_status status = SFU_OK;
    sfu__writer *writer = NULL;
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(sfu__writer_add(writer, bytes, size));
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    return status;
}
