/* edges_fast.c - the fast path for numeric edge lists; see edges_fast.h. */
#include "edges_fast.h"
#include "file.h"
#include "parallel.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    BLOCK_BYTES = 1 << 20, /* fits the L2 cache, so that the text is fetched from memory once */
    LINE_MAX_BYTES = 4096, /* longer lines are left to the general path */
};

/* ---- uncompressed files, in parallel ---------------------------------------------------------------------------- */

/* Work item i holds the lines that start in block i of the file; the last one may end after it. */
typedef struct file_scan {
    const sfu__edge_file *file;
    int descriptor;
    int64_t size; /* of the file */
    int64_t items;
    int64_t first; /* of the items that are read now */
    size_t block;
    char **buffers;           /* one per thread */
    sfu__edge_lines *results; /* of the items that are read now */
    sfu__ticker ticker;
} file_scan;

static sfu_status read_at(const file_scan *self, char *buffer, size_t size, int64_t offset, size_t *got) {
    *got = 0;
    while (*got < size) {
        const ssize_t n = pread(self->descriptor, buffer + *got, size - *got, offset + (int64_t)*got);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return sfu__fail_system(self->file->path, "cannot read", errno);
        }
        if (n == 0) {
            break;
        }
        *got += (size_t)n;
    }
    return SFU_OK;
}

/* Finds the lines that start in a block. The buffer holds the block, the byte before it (if any) and the bytes after
 * it. SFU_ERR_UNSUPPORTED if the last line is too long. */
static sfu_status find_lines(const file_scan *self, int64_t item, const char *buffer, size_t got, const char **begin,
                             const char **end) {
    const size_t before = item > 0 ? 1 : 0;
    const size_t border = before + self->block; /* where the next block starts */
    *begin = buffer;
    *end = buffer + got;
    if (before > 0) {
        const char *line_end = got > 0 ? memchr(buffer, '\n', got < border ? got : border) : NULL;
        *begin = line_end != NULL ? line_end + 1 : *end;
    }
    if (item + 1 == self->items) {
        return SFU_OK;
    }
    if (*begin >= buffer + border || *begin >= *end) {
        *end = *begin; /* no line starts in this block */
        return SFU_OK;
    }
    const char *line_end = got >= border ? memchr(buffer + border - 1, '\n', got - border + 1) : NULL;
    if (line_end == NULL) {
        return SFU_ERR_UNSUPPORTED;
    }
    *end = line_end + 1;
    return SFU_OK;
}

static sfu_status parse_item(void *context, int64_t index, int thread) {
    file_scan *self = context;
    const int64_t item = self->first + index;
    sfu_status status = SFU_OK;
    char *buffer = self->buffers[thread];
    /* The byte before the block shows whether a line starts at the block's first byte. */
    const size_t before = item > 0 ? 1 : 0;
    const size_t behind = item + 1 < self->items ? LINE_MAX_BYTES : 0;
    const int64_t offset = self->file->offset + item * (int64_t)self->block - (int64_t)before;
    const char *begin;
    const char *end;
    size_t got;
    SFU_TRY(read_at(self, buffer, before + self->block + behind, offset, &got));
    if (offset + (int64_t)got == self->size && got > 0 && buffer[got - 1] != '\n') {
        buffer[got++] = '\n';
    }
    memset(buffer + got, 0, SFU__EDGE_PADDING);
    SFU_TRY(find_lines(self, item, buffer, got, &begin, &end));
    SFU_TRY(sfu__edge_lines_read(&self->results[index], begin, end, &self->file->style));
    if (thread == 0) {
        SFU_TRY(sfu__tick(&self->ticker, (double)(offset + (int64_t)got)));
    }
done:
    return status;
}

/* Moves the results to `pairs` in file order. */
static sfu_status take_results(sfu__pairs *pairs, sfu__edge_file *file, sfu__edge_lines *results, int64_t count) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < count; i++) {
        sfu__edge_lines *result = &results[i];
        if (result->count > 0) {
            file->largest = result->largest > file->largest ? result->largest : file->largest;
            SFU_TRY(sfu__pairs_take(pairs, &result->ends, &result->weights, result->count));
        }
    }
done:
    return status;
}

static void free_results(sfu__edge_lines *results, int64_t count) {
    for (int64_t i = 0; results != NULL && i < count; i++) {
        sfu__free(results[i].ends);
        sfu__free(results[i].weights);
        results[i] = (sfu__edge_lines){0};
    }
}

/* All items at once; if the pairs are kept on disk, a few per thread at a time. */
static sfu_status read_plain(sfu__pairs *pairs, sfu__edge_file *file, int descriptor, int64_t size) {
    enum { ITEMS_PER_THREAD = 4 };
    sfu_status status = SFU_OK;
    file_scan self = {.file = file, .descriptor = descriptor, .size = size};
    self.ticker = (sfu__ticker){file->progress, file->progress_user, file->what, "bytes", (double)size, 0};
    self.block = file->block > 0 ? file->block : BLOCK_BYTES;
    self.items = (size - file->offset + (int64_t)self.block - 1) / (int64_t)self.block;
    const int threads = file->threads < self.items ? file->threads : (int)self.items;
    const int64_t together = pairs->folder == NULL ? self.items : (int64_t)ITEMS_PER_THREAD * threads;
    SFU_ALLOC_ZERO(self.results, together);
    SFU_ALLOC_ZERO(self.buffers, threads);
    for (int i = 0; i < threads; i++) {
        SFU_ALLOC(self.buffers[i], 1 + self.block + LINE_MAX_BYTES + 1 + SFU__EDGE_PADDING);
    }
    for (; self.first < self.items; self.first += together) {
        const int64_t left = self.items - self.first;
        const int64_t count = left < together ? left : together;
        SFU_TRY(sfu__parallel(parse_item, &self, count, threads));
        SFU_TRY(take_results(pairs, file, self.results, count));
        free_results(self.results, count);
    }
done:
    free_results(self.results, together);
    sfu__free(self.results);
    for (int i = 0; self.buffers != NULL && i < threads; i++) {
        sfu__free(self.buffers[i]);
    }
    sfu__free(self.buffers);
    return status;
}

/* ---- gzip-compressed files -------------------------------------------------------------------------------------- */

static sfu_status skip_bytes(sfu__stream_file *stream, char *buffer, size_t capacity, int64_t count) {
    while (count > 0) {
        size_t got;
        const size_t want = count < (int64_t)capacity ? (size_t)count : capacity;
        const sfu_status status = sfu__stream_read(stream, buffer, want, &got);
        if (status != SFU_OK) {
            return status;
        }
        if (got == 0) {
            return SFU_ERR_UNSUPPORTED;
        }
        count -= (int64_t)got;
    }
    return SFU_OK;
}

/* Decompression takes several times as long as parsing, so one thread does both. */
static sfu_status read_stream(sfu__pairs *pairs, sfu__edge_file *file) {
    sfu_status status = SFU_OK;
    sfu__stream_file *stream = NULL;
    char *buffer = NULL;
    sfu__edge_lines result = {0};
    const size_t block = file->block > 0 ? file->block : BLOCK_BYTES;
    const size_t capacity = block + LINE_MAX_BYTES;
    size_t have = 0;
    SFU_ALLOC(buffer, capacity + 1 + SFU__EDGE_PADDING);
    SFU_TRY(sfu__stream_open(&stream, file->path));
    sfu__ticker ticker = {file->progress, file->progress_user, file->what, "bytes", sfu__stream_size(stream), 0};
    SFU_TRY(skip_bytes(stream, buffer, capacity, file->offset));
    for (;;) {
        size_t got;
        SFU_TRY(sfu__stream_read(stream, buffer + have, capacity - have, &got));
        have += got;
        const bool last = have < capacity;
        if (last && have > 0 && buffer[have - 1] != '\n') {
            buffer[have++] = '\n';
        }
        size_t complete = have;
        while (complete > 0 && buffer[complete - 1] != '\n') {
            complete--;
        }
        if (complete == 0 && !last) {
            status = SFU_ERR_UNSUPPORTED;
            goto done;
        }
        /* Words are loaded beyond the last line end, but no number continues there. */
        memset(buffer + have, 0, SFU__EDGE_PADDING);
        SFU_TRY(sfu__edge_lines_read(&result, buffer, buffer + complete, &file->style));
        SFU_TRY(take_results(pairs, file, &result, 1));
        sfu__free(result.ends);
        sfu__free(result.weights);
        result = (sfu__edge_lines){0};
        memmove(buffer, buffer + complete, have - complete);
        have -= complete;
        SFU_TRY(sfu__tick(&ticker, sfu__stream_position(stream)));
        if (last) {
            break;
        }
    }
done:
    sfu__free(result.ends);
    sfu__free(result.weights);
    sfu__free(buffer);
    sfu__stream_close(stream);
    return status;
}

/* ---- entry points ----------------------------------------------------------------------------------------------- */

static bool is_gzip(int descriptor) {
    unsigned char magic[2];
    return pread(descriptor, magic, 2, 0) == 2 && magic[0] == 0x1f && magic[1] == 0x8b;
}

sfu_status sfu__edges_fast(sfu__pairs *pairs, sfu__edge_file *file) {
    sfu_status status = SFU_OK;
    struct stat file_status;
    const size_t first = pairs->block_count;
    file->fits = false;
    file->largest = 0;
    const int descriptor = open(file->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* do not block on a pipe */
    if (descriptor < 0 || fstat(descriptor, &file_status) != 0) {
        status = sfu__fail_system(file->path, "cannot open", errno);
        goto done;
    }
    /* A pipe cannot be read again if its contents do not fit. */
    if (!S_ISREG(file_status.st_mode) || file->style.separator == '\0') {
        goto done;
    }
    if (is_gzip(descriptor)) {
        SFU_TRY(read_stream(pairs, file));
    } else if (file_status.st_size > file->offset) {
        SFU_TRY(read_plain(pairs, file, descriptor, file_status.st_size));
    }
    file->fits = true;
done:
    if (descriptor >= 0) {
        close(descriptor);
    }
    if (status != SFU_OK) {
        sfu__pairs_drop(pairs, first);
    }
    return status == SFU_ERR_UNSUPPORTED ? SFU_OK : status;
}
