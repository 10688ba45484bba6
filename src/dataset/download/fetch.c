/* fetch.c - downloads files with known digests, with resume and fallback to other mirrors; see fetch.h. */
#include "fetch.h"

#include "digest.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void sfu__fetch_init(sfu__fetch *fetch, const sfu__mirror *mirrors, size_t mirror_count) {
    *fetch = (sfu__fetch){.mirrors = mirrors, .mirror_count = mirror_count, .connect_seconds = 15, .stall_seconds = 30};
    fetch->ticker = (sfu__ticker){.what = "fetching", .unit = "bytes"};
}

void sfu__fetch_clear(sfu__fetch *fetch) {
    sfu__http_free(fetch->http);
    fetch->http = NULL;
}

sfu_status sfu__pinned_file_check(bool *right, const char *path, const sfu__pinned_file *file) {
    char digest[SFU__DIGEST_TEXT] = "";
    struct stat file_status;
    *right = false;
    if (stat(path, &file_status) != 0) {
        return SFU_OK;
    }
    if (file_status.st_size == file->size) {
        const sfu_status status = sfu__digest_of_file(digest, path);
        if (status != SFU_OK) {
            return status;
        }
    }
    *right = strcmp(digest, file->digest) == 0;
    if (!*right) {
        unlink(path);
    }
    return SFU_OK;
}

/* ---- FILE.part ------------------------------------------------------------------------------------------------ */

/* The state of one download. */
typedef struct download {
    sfu__fetch *fetch;
    const sfu__pinned_file *pinned;
    char *path, *part;
    int file;          /* descriptor of FILE.part, or -1 */
    int64_t size;      /* of FILE.part */
    bool opened;       /* FILE.part was opened, so `size` is known */
    bool too_long;     /* the server sent more than the expected size */
    bool unwritable;   /* FILE.part could not be written */
    sfu__text reasons; /* "MIRROR: reason" of all failures so far */
} download;

static sfu_status part_failed(download *self) {
    self->unwritable = true;
    return sfu__fail_system(self->part, "cannot write", errno);
}

/* Opens FILE.part without truncating it: an earlier get may have written the first bytes. */
static sfu_status part_open(download *self) {
    struct stat file_status;
    if (self->file < 0) {
        self->file = open(self->part, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
        if (self->file < 0 || fstat(self->file, &file_status) != 0) {
            return part_failed(self);
        }
        self->size = file_status.st_size;
        self->opened = true;
    }
    return SFU_OK;
}

static void part_discard(download *self) {
    if (self->file >= 0) {
        close(self->file);
        self->file = -1;
    }
    unlink(self->part);
    self->size = 0;
}

static sfu_status part_start(void *user, int64_t offset) {
    download *self = user;
    if (offset < self->size && ftruncate(self->file, offset) != 0) {
        return part_failed(self);
    }
    self->size = offset;
    return lseek(self->file, offset, SEEK_SET) == offset ? SFU_OK : part_failed(self);
}

static sfu_status part_take(void *user, const char *bytes, size_t size) {
    download *self = user;
    if ((int64_t)size > self->pinned->size - self->size) {
        self->too_long = true;
        return SFU_ERR_FORMAT; /* handled by try_once, which knows the mirror */
    }
    while (size > 0) {
        const ssize_t wrote = write(self->file, bytes, size);
        if (wrote < 0 && errno != EINTR) {
            return part_failed(self);
        }
        if (wrote > 0) {
            bytes += wrote;
            size -= (size_t)wrote;
            self->size += wrote;
        }
    }
    return SFU_OK;
}

static sfu_status part_tick(void *user) {
    download *self = user;
    return sfu__tick(&self->fetch->ticker, self->fetch->bytes_done + (double)self->size);
}

/* ---- a mirror ------------------------------------------------------------------------------------------------- */

typedef enum attempt_result { RIGHT, AGAIN, NEXT } attempt_result;

/* Evaluates a complete response. If the download was resumed, the wrong bytes may be old ones, so it is tried again
 * from the beginning. */
static sfu_status check_complete(attempt_result *verdict, char *reason, size_t size, download *self, int64_t before) {
    const int64_t got = self->size;
    bool right = false;
    if (self->file >= 0 && close(self->file) != 0) {
        self->file = -1;
        return part_failed(self); /* some file systems report a full disk only now */
    }
    self->file = -1;
    const sfu_status status = sfu__pinned_file_check(&right, self->part, self->pinned);
    if (status != SFU_OK) {
        return status;
    }
    *verdict = right ? RIGHT : before > 0 ? AGAIN : NEXT;
    if (!right) {
        self->size = 0;
        if (got == self->pinned->size) {
            snprintf(reason, size, "wrong SHA-256");
        } else {
            snprintf(reason, size, "sent %lld bytes, expected %lld", (long long)got, (long long)self->pinned->size);
        }
    }
    return SFU_OK;
}

static sfu_status try_once(attempt_result *verdict, char *reason, size_t size, download *self,
                           const sfu__mirror *mirror, const char *url) {
    const sfu__http_sink sink = {part_start, part_take, part_tick, self};
    sfu__http_answer answer;
    sfu_status status = part_open(self);
    if (status != SFU_OK) {
        return status;
    }
    const int64_t before = self->size;
    const sfu__http_request request = {.url = url,
                                       .plain = mirror->plain,
                                       .from = before,
                                       .connect_seconds = self->fetch->connect_seconds,
                                       .stall_seconds = self->fetch->stall_seconds};
    self->too_long = false;
    status = sfu__http_get(&answer, self->fetch->http, &request, &sink);
    *verdict = NEXT;
    if (self->too_long) {
        snprintf(reason, size, "sent more than the %lld bytes of the file", (long long)self->pinned->size);
        part_discard(self);
        *verdict = before > 0 ? AGAIN : NEXT;
        return SFU_OK;
    }
    if (status != SFU_OK) {
        return status;
    }
    if (answer.outcome == SFU__HTTP_WHOLE || self->size == self->pinned->size) {
        return check_complete(verdict, reason, size, self, before);
    }
    snprintf(reason, size, "%s", answer.reason);
    if (answer.outcome == SFU__HTTP_CUT) {
        *verdict = self->size > before ? AGAIN : NEXT;
    } else if (answer.code == 416 && before > 0) {
        part_discard(self); /* the server's file is shorter than our partial one, which must be wrong */
        *verdict = AGAIN;
    }
    return SFU_OK;
}

static sfu_status try_mirror(bool *got, download *self, const sfu__mirror *mirror) {
    enum { ATTEMPTS = 4 };
    sfu_status status = SFU_OK;
    sfu__text url = {0};
    char reason[200] = "";
    attempt_result verdict = AGAIN;
    SFU_TRY(sfu__text_format(&url, "%s%s", mirror->url, self->pinned->name));
    for (int i = 0; i < ATTEMPTS && verdict == AGAIN; i++) {
        SFU_TRY(try_once(&verdict, reason, sizeof reason, self, mirror, url.bytes));
    }
    *got = verdict == RIGHT;
    if (!*got) {
        SFU_TRY(
            sfu__text_format(&self->reasons, "%s%s: %s", self->reasons.size > 0 ? "; " : "", mirror->label, reason));
    }
done:
    sfu__text_clear(&url);
    return status;
}

/* ---- a file --------------------------------------------------------------------------------------------------- */

static sfu_status fail_all_mirrors(const download *self) {
    char resume[120] = "";
    if (self->opened && self->size > 0) {
        snprintf(resume, sizeof resume, "; %lld of %lld bytes were received, and the next get resumes there",
                 (long long)self->size, (long long)self->pinned->size);
    }
    self->fetch->unreachable = true;
    return sfu__fail(SFU_ERR_IO, "%s: no mirror could provide it: %s%s", self->pinned->name, self->reasons.bytes,
                     resume);
}

/* A FILE.part of the full size only needs the check, which removes it if it is wrong. */
static sfu_status check_part(bool *got, download *self) {
    struct stat file_status;
    *got = false;
    if (stat(self->part, &file_status) == 0 && file_status.st_size >= self->pinned->size) {
        return sfu__pinned_file_check(got, self->part, self->pinned);
    }
    return SFU_OK;
}

static sfu_status try_mirrors(bool *got, download *self) {
    sfu_status status = SFU_OK;
    sfu__fetch *fetch = self->fetch;
    if (fetch->http == NULL) {
        status = sfu__http_new(&fetch->http);
        fetch->unreachable = status == SFU_ERR_UNSUPPORTED;
    }
    const size_t first = fetch->first;
    for (size_t i = 0; i < fetch->mirror_count && status == SFU_OK && !*got; i++) {
        const size_t mirror = (first + i) % fetch->mirror_count;
        status = try_mirror(got, self, &fetch->mirrors[mirror]);
        if (*got) {
            fetch->first = mirror;
        }
    }
    return status;
}

sfu_status sfu__fetch_file(sfu__fetch *fetch, const char *folder, const sfu__pinned_file *file) {
    sfu_status status = SFU_OK;
    bool got = false;
    download self = {.fetch = fetch, .pinned = file, .file = -1};
    sfu__text part = {0};
    fetch->unreachable = false;
    self.path = sfu__path_join(folder, file->name);
    if (self.path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(sfu__text_format(&part, "%s.part", self.path));
    self.part = part.bytes;
    SFU_TRY(sfu__pinned_file_check(&got, self.path, file));
    if (got) {
        goto done;
    }
    SFU_TRY(check_part(&got, &self));
    if (!got) {
        SFU_TRY(try_mirrors(&got, &self));
    }
    if (!got) {
        status = fail_all_mirrors(&self);
    } else if (rename(self.part, self.path) != 0) {
        status = sfu__fail_system(self.path, "cannot write", errno);
    }
done:
    if (self.file >= 0) {
        close(self.file);
    }
    if (self.unwritable || (self.opened && self.size == 0)) {
        unlink(self.part); /* nothing worth keeping */
    }
    if (status == SFU_OK) {
        fetch->bytes_done += (double)file->size;
    }
    sfu__text_clear(&self.reasons);
    sfu__text_clear(&part);
    sfu__free(self.path);
    return status;
}
