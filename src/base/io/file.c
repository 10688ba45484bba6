/* file.c - reads whole files, streams with gzip decompression, and handles paths. */
#define _DEFAULT_SOURCE /* madvise */
#include "file.h"
#include "mapped.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

/* ---- whole files ---------------------------------------------------------------------------------------------- */

/* Non-blocking: otherwise opening a pipe without a writer, or reading from it, would block forever. */
static int open_to_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); }

/* Waits until there is something to read, or the end of the file; polls for cancellation, as a pipe may be slow. Also
 * waits for a pipe that has no writer yet. */
static sfu_status wait_for_bytes(int file) {
    sfu_status status = SFU_OK;
    for (;;) {
        struct pollfd at = {.fd = file, .events = POLLIN};
        const int ready = poll(&at, 1, 50);
        if (ready > 0 || (ready < 0 && errno != EINTR)) {
            return SFU_OK; /* read() will report the error */
        }
        SFU_TRY(sfu__poll());
    }
done:
    return status;
}

/* read() until `size` bytes were read or the file ends. */
static sfu_status read_fully(int file, const char *path, char *buffer, size_t size, size_t *have) {
    sfu_status status = SFU_OK;
    *have = 0;
    while (*have < size) {
        SFU_TRY(wait_for_bytes(file));
        SFU_TRY(sfu__poll());
        const ssize_t got = read(file, buffer + *have, size - *have);
        if (got < 0 && errno != EINTR && errno != EAGAIN) {
            return sfu__fail_system(path, "cannot read", errno);
        }
        if (got == 0) {
            break;
        }
        *have += got > 0 ? (size_t)got : 0;
    }
done:
    return status;
}

static sfu_status read_whole(sfu__bytes *bytes, int file, const char *path) {
    size_t capacity = 1 << 16;
    size_t size = 0;
    char *buffer = NULL;
    sfu_status status = SFU_OK;
    SFU_ALLOC(buffer, capacity);
    for (;;) {
        size_t got;
        SFU_TRY(read_fully(file, path, buffer + size, capacity - size, &got));
        size += got;
        if (size < capacity) {
            break;
        }
        char *grown = sfu__grow(buffer, &capacity, capacity + 1, 1);
        if (grown == NULL) {
            status = SFU_ERR_MEMORY;
            goto done;
        }
        buffer = grown;
    }
    bytes->data = (const unsigned char *)buffer;
    bytes->owned = buffer;
    bytes->size = size;
    buffer = NULL;
done:
    sfu__free(buffer);
    return status;
}

/* A private copy, immune to changes of the file. Aligned to 64 bytes, as a mapped file is. */
static sfu_status read_copy(sfu__bytes *bytes, int file, size_t size, const char *path) {
    enum { ALIGNMENT = 64 };
    unsigned char *block = sfu__alloc(size + ALIGNMENT, 1);
    if (block == NULL) {
        return SFU_ERR_MEMORY;
    }
    unsigned char *data = block + (ALIGNMENT - (uintptr_t)block % ALIGNMENT) % ALIGNMENT;
    size_t got;
    sfu_status status = read_fully(file, path, (char *)data, size, &got);
    if (status == SFU_OK && got != size) {
        status = sfu__fail(SFU_ERR_IO, "%s: it was truncated while it was read", path);
    }
    if (status != SFU_OK) {
        sfu__free(block);
        return status;
    }
    *bytes = (sfu__bytes){.data = data, .size = size, .owned = block};
    return SFU_OK;
}

static sfu_status map(sfu__bytes *bytes, int file, size_t size, const char *path) {
    void *mapped = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) {
        return sfu__fail_system(path, "cannot map", errno);
    }
    sfu__mapped_add(mapped, size, path);
    *bytes = (sfu__bytes){.data = mapped, .size = size, .mapped = mapped};
    return SFU_OK;
}

/* Files of at most `copied` bytes are copied. */
static sfu_status open_bytes(sfu__bytes *bytes, const char *path, size_t copied) {
    *bytes = (sfu__bytes){0};
    sfu_status status = SFU_OK;
    const int file = open_to_read(path);
    struct stat file_status;
    if (file < 0) {
        return errno == ENOENT ? sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such file", path)
                               : sfu__fail_system(path, "cannot open", errno);
    }
    if (fstat(file, &file_status) != 0) {
        status = sfu__fail_system(path, "cannot open", errno);
    } else if (S_ISDIR(file_status.st_mode)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: is a folder, not a file", path);
    } else if (S_ISREG(file_status.st_mode) && file_status.st_size > 0) {
        const size_t size = (size_t)file_status.st_size;
        status = size <= copied ? read_copy(bytes, file, size, path) : map(bytes, file, size, path);
    } else if (!S_ISREG(file_status.st_mode)) {
        status = read_whole(bytes, file, path);
    }
    close(file);
    return status;
}

sfu_status sfu__bytes_open(sfu__bytes *bytes, const char *path) { return open_bytes(bytes, path, SFU__BYTES_COPIED); }

sfu_status sfu__bytes_map(sfu__bytes *bytes, const char *path) { return open_bytes(bytes, path, 0); }

void sfu__bytes_drop(const sfu__bytes *bytes, const void *from, size_t size) {
    if (!sfu__bytes_is_mapped(bytes, from)) {
        return;
    }
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)from + page - 1) / page * page;
    const uintptr_t end = ((uintptr_t)from + size) / page * page;
    if (begin < end) {
        (void)madvise((void *)begin, end - begin, MADV_DONTNEED);
    }
}

bool sfu__bytes_is_mapped(const sfu__bytes *bytes, const void *address) {
    const uintptr_t begin = (uintptr_t)bytes->mapped;
    return begin != 0 && (uintptr_t)address >= begin && (uintptr_t)address - begin < bytes->size;
}

void sfu__bytes_close(sfu__bytes *bytes) {
    if (bytes->mapped != NULL) {
        sfu__mapped_remove(bytes->mapped);
        munmap(bytes->mapped, bytes->size);
    }
    sfu__free(bytes->owned);
    *bytes = (sfu__bytes){0};
}

/* ---- streams, gzip-compressed or not -------------------------------------------------------------------------- */

struct sfu__stream_file {
    char *path;
    int file;     /* uncompressed; or -1 */
    gzFile gzip;  /* compressed; or NULL */
    double size;  /* of the file */
    double taken; /* bytes read, after decompression */
};

bool sfu__is_unpacked_fair(double unpacked, double packed) {
    const double always = 256.0 * 1024 * 1024, times = 100;
    return unpacked <= always || unpacked <= times * packed;
}

sfu_status sfu__stream_open(sfu__stream_file **stream, const char *path) {
    *stream = NULL;
    sfu_status status = SFU_OK;
    struct stat file_status;
    unsigned char magic[2] = {0, 0};
    sfu__stream_file *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->file = -1;
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    self->file = open_to_read(path);
    if (self->file < 0 || fstat(self->file, &file_status) != 0) {
        status = errno == ENOENT ? sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such file", path)
                                 : sfu__fail_system(path, "cannot open", errno);
        goto done;
    }
    if (S_ISDIR(file_status.st_mode)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: is a folder, not a file", path);
        goto done;
    }
    self->size = (double)file_status.st_size;
    /* A pipe cannot be peeked into, so it is not decompressed. */
    if (S_ISREG(file_status.st_mode) && pread(self->file, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b) {
        self->gzip = gzdopen(self->file, "rb");
        if (self->gzip == NULL) {
            status = sfu__fail(SFU_ERR_MEMORY, "out of memory: %s could not be opened", path);
            goto done;
        }
        self->file = -1; /* gzclose closes it */
        gzbuffer(self->gzip, 1 << 18);
    }
    *stream = self;
    self = NULL;
done:
    sfu__stream_close(self);
    return status;
}

sfu_status sfu__stream_read(sfu__stream_file *stream, char *buffer, size_t size, size_t *got) {
    *got = 0;
    if (stream->gzip == NULL) {
        const sfu_status status = read_fully(stream->file, stream->path, buffer, size, got);
        stream->taken += (double)*got;
        return status;
    }
    while (*got < size) {
        const size_t left = size - *got;
        const sfu_status status = sfu__poll();
        if (status != SFU_OK) {
            return status;
        }
        const int n = gzread(stream->gzip, buffer + *got, left < 1 << 20 ? (unsigned)left : 1u << 20);
        int code = Z_OK;
        const char *reason = gzerror(stream->gzip, &code);
        /* Z_BUF_ERROR at the end is how zlib reports a truncated last member. */
        if (n < 0 || (n == 0 && code == Z_BUF_ERROR)) {
            return code == Z_ERRNO
                       ? sfu__fail_system(stream->path, "cannot read", errno)
                       : sfu__fail(SFU_ERR_FORMAT, "%s: byte %.0f: corrupt gzip file: %s", stream->path,
                                   sfu__stream_position(stream), code == Z_BUF_ERROR ? "it ends too early" : reason);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
        stream->taken += n;
        if (!sfu__is_unpacked_fair(stream->taken, stream->size)) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s: it decompresses to more than 256 MiB and more than 100 times its size; decompress it "
                             "with gunzip first",
                             stream->path);
        }
    }
    return SFU_OK;
}

double sfu__stream_position(const sfu__stream_file *stream) {
    return stream->gzip != NULL ? (double)gzoffset(stream->gzip) : stream->taken;
}

double sfu__stream_size(const sfu__stream_file *stream) { return stream->size; }

void sfu__stream_close(sfu__stream_file *stream) {
    if (stream == NULL) {
        return;
    }
    if (stream->gzip != NULL) {
        gzclose(stream->gzip);
    }
    if (stream->file >= 0) {
        close(stream->file);
    }
    sfu__free(stream->path);
    sfu__free(stream);
}

/* ---- paths ---------------------------------------------------------------------------------------------------- */

const char *sfu__path_base(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

char *sfu__path_stem(const char *path) {
    char *stem = sfu__copy_string(sfu__path_base(path));
    if (stem == NULL) {
        return NULL;
    }
    if (sfu__path_ends_with(stem, ".gz") && strlen(stem) > 3) {
        stem[strlen(stem) - 3] = '\0';
    }
    char *dot = strrchr(stem, '.');
    if (dot != NULL && dot != stem) {
        *dot = '\0';
    }
    return stem;
}

char *sfu__path_join(const char *folder, const char *name) {
    sfu__text text = {0};
    const size_t size = strlen(folder);
    const char *slash = size > 0 && folder[size - 1] == '/' ? "" : "/";
    if (sfu__text_format(&text, "%s%s%s", folder, slash, name) != SFU_OK) {
        return NULL;
    }
    return text.bytes;
}

bool sfu__path_is_file(const char *path) {
    struct stat file_status;
    return stat(path, &file_status) == 0 && !S_ISDIR(file_status.st_mode);
}

bool sfu__path_is_folder(const char *path) {
    struct stat file_status;
    return stat(path, &file_status) == 0 && S_ISDIR(file_status.st_mode);
}

bool sfu__path_is_pipe(const char *path) {
    struct stat file_status;
    return stat(path, &file_status) == 0 && S_ISFIFO(file_status.st_mode);
}

bool sfu__path_ends_with(const char *path, const char *ending) {
    size_t size = strlen(path);
    const size_t want = strlen(ending);
    if (strcasecmp(ending, ".gz") != 0 && size > 3 && strcasecmp(path + size - 3, ".gz") == 0) {
        size -= 3;
    }
    return size >= want && strncasecmp(path + size - want, ending, want) == 0;
}

sfu_status sfu__make_folders(const char *path) {
    char *copy = sfu__copy_string(path);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    sfu_status status = SFU_OK;
    for (char *p = copy + (*copy == '/'); status == SFU_OK; p++) {
        if (*p == '/' || *p == '\0') {
            const char saved = *p;
            *p = '\0';
            if (*copy != '\0' && mkdir(copy, 0777) != 0 && errno != EEXIST) {
                status = sfu__fail_system(copy, "cannot create this folder", errno);
            } else if (saved == '\0') {
                status =
                    sfu__path_is_folder(copy)
                        ? SFU_OK
                        : sfu__fail(SFU_ERR_IO, "%s: cannot create this folder: a file with this name exists", copy);
                break;
            }
            *p = saved;
        }
    }
    sfu__free(copy);
    return status;
}
