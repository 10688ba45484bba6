/* scratch_file.c - an unlinked temporary file: regions, positional reads and writes, mappings. */
#define _GNU_SOURCE /* realpath, fallocate */
#include "scratch_file.h"
#include "file.h"
#include "temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 1 << 16, MAPS_MAX = 8 }; /* the largest page size of any machine */

struct sfu__scratch {
    int file;
    char *folder; /* for messages, as the next */
    const char *remedy;
    atomic_int_least64_t end, written;
    struct {
        void *data;
        size_t size;
    } maps[MAPS_MAX];
    int map_count;
};

static sfu_status fail(const sfu__scratch *scratch, const char *what) {
    const int error = errno;
    char *full = realpath(scratch->folder, NULL); /* "." would say nothing */
    sfu_status status = sfu__fail_system(full != NULL ? full : scratch->folder, what, error);
    if (status == SFU_ERR_IO) {
        status =
            sfu__fail(status, "%s; it holds what does not fit the memory limit: %s", sfu_message(), scratch->remedy);
    }
    free(full);
    return status;
}

static sfu_status new_in(sfu__scratch **scratch, const char *folder, const char *remedy) {
    sfu_status status = SFU_OK;
    sfu__scratch *self = NULL;
    sfu__text path = {0};
    char *target = NULL;
    *scratch = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->file = -1;
    self->remedy = remedy;
    self->folder = sfu__copy_string(folder);
    target = sfu__path_join(folder, "scratch");
    if (self->folder == NULL || target == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__temporary_make(&self->file, &path, target));
    if (self->file < 0) {
        status = fail(self, "cannot create a temporary file");
        goto done;
    }
    unlink(path.bytes);
    *scratch = self;
    self = NULL;
done:
    sfu__scratch_free(self);
    sfu__free(target);
    sfu__text_clear(&path);
    return status;
}

sfu_status sfu__scratch_new(sfu__scratch **scratch, const char *folder) {
    return new_in(scratch, folder,
                  strcmp(folder, ".") == 0 ? "run the command, or give its output (-o), elsewhere"
                                           : "give an output (-o) in another folder");
}

sfu_status sfu__scratch_new_somewhere(sfu__scratch **scratch) {
    const char *folder = getenv("TMPDIR");
    const sfu_status status = new_in(scratch, ".", "run the command in another folder");
    if (status != SFU_ERR_IO) {
        return status;
    }
    return new_in(scratch, folder != NULL && folder[0] != '\0' ? folder : "/tmp",
                  "run the command in another folder, or set TMPDIR");
}

void sfu__scratch_free(sfu__scratch *scratch) {
    if (scratch == NULL) {
        return;
    }
    for (int i = 0; i < scratch->map_count; i++) {
        munmap(scratch->maps[i].data, scratch->maps[i].size);
    }
    if (scratch->file >= 0) {
        close(scratch->file);
    }
    sfu__free(scratch->folder);
    sfu__free(scratch);
}

int64_t sfu__scratch_reserve(sfu__scratch *scratch, int64_t bytes) {
    return atomic_fetch_add(&scratch->end, (bytes + PAGE - 1) / PAGE * PAGE);
}

sfu_status sfu__scratch_write(sfu__scratch *scratch, int64_t offset, const void *bytes, int64_t size) {
    const char *from = bytes;
    for (int64_t done = 0; done < size;) {
        const ssize_t n = pwrite(scratch->file, from + done, (size_t)(size - done), offset + done);
        if (n < 0 && errno != EINTR) {
            return fail(scratch, "cannot write a temporary file");
        }
        done += n > 0 ? n : 0;
    }
    atomic_fetch_add(&scratch->written, size);
    return SFU_OK;
}

sfu_status sfu__scratch_read(sfu__scratch *scratch, int64_t offset, void *bytes, int64_t size) {
    char *to = bytes;
    for (int64_t done = 0; done < size;) {
        const ssize_t n = pread(scratch->file, to + done, (size_t)(size - done), offset + done);
        if (n == 0) {
            errno = EIO; /* written before, so it cannot be missing */
        }
        if (n == 0 || (n < 0 && errno != EINTR)) {
            return fail(scratch, "cannot read a temporary file");
        }
        done += n > 0 ? n : 0;
    }
    return SFU_OK;
}

static sfu_status map(void **data, sfu__scratch *scratch, int64_t offset, int64_t bytes, int protection) {
    if (scratch->map_count == MAPS_MAX) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: more than %d mapped arrays", scratch->folder, MAPS_MAX);
    }
    void *mapped = mmap(NULL, (size_t)bytes, protection, MAP_SHARED, scratch->file, offset);
    if (mapped == MAP_FAILED) {
        return fail(scratch, "cannot map a temporary file");
    }
    scratch->maps[scratch->map_count].data = mapped;
    scratch->maps[scratch->map_count++].size = (size_t)bytes;
    *data = mapped;
    return SFU_OK;
}

sfu_status sfu__scratch_map(const void **data, sfu__scratch *scratch, int64_t offset, int64_t bytes) {
    static const int64_t nothing = 0;
    void *mapped = NULL;
    const sfu_status status = bytes > 0 ? map(&mapped, scratch, offset, bytes, PROT_READ) : SFU_OK;
    *data = mapped != NULL ? mapped : &nothing;
    return status;
}

/* Takes a region with disk space, so that writing to it never lacks any. */
static sfu_status take(int64_t *offset, sfu__scratch *scratch, int64_t bytes) {
    *offset = sfu__scratch_reserve(scratch, bytes);
    errno = posix_fallocate(scratch->file, *offset, bytes);
    return errno != 0 ? fail(scratch, "cannot write a temporary file") : SFU_OK;
}

sfu_status sfu__scratch_map_zeros(void **data, sfu__scratch *scratch, int64_t bytes) {
    sfu_status status = SFU_OK;
    int64_t offset = 0;
    SFU_TRY(take(&offset, scratch, bytes));
    SFU_TRY(map(data, scratch, offset, bytes, PROT_READ | PROT_WRITE));
done:
    return status;
}

sfu_status sfu__scratch_block_map(void **data, int64_t *offset, sfu__scratch *scratch, int64_t bytes) {
    sfu_status status = SFU_OK;
    SFU_TRY(take(offset, scratch, bytes));
    void *mapped = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, scratch->file, *offset);
    if (mapped == MAP_FAILED) {
        status = fail(scratch, "cannot map a temporary file");
        goto done;
    }
    *data = mapped;
done:
    return status;
}

void sfu__scratch_block_unmap(sfu__scratch *scratch, void *data, int64_t offset, int64_t bytes) {
    munmap(data, (size_t)bytes);
    /* A file system without holes keeps the space until the file is freed. */
    (void)fallocate(scratch->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset, bytes);
}

int64_t sfu__scratch_written(const sfu__scratch *scratch) { return atomic_load(&scratch->written); }
