/* npz.c - reads .npz archives through libzip; stubs if built without it. */
#include "npz.h"
#include "progress.h"
#include "file.h"
#include "npy.h"

#include <stdio.h>
#include <string.h>

#if SFU_HAVE_ZIP

#include <sys/stat.h>
#include <zip.h>

struct sfu__npz {
    char *path;
    zip_t *archive;
    uint64_t size;     /* of the file */
    uint64_t unpacked; /* total so far, as counted by sfu__check_unpacked */
    void **owned;      /* decompressed members */
    size_t owned_count, owned_capacity;
};

sfu_status sfu__npz_open(sfu__npz **npz, const char *path) {
    *npz = NULL;
    sfu_status status = SFU_OK;
    sfu__npz *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    if (sfu__path_is_pipe(path)) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected a file, found a pipe, which .npz cannot be read from", path);
        goto done;
    }
    int code = 0;
    self->archive = zip_open(path, ZIP_RDONLY, &code);
    if (self->archive == NULL) {
        zip_error_t error;
        zip_error_init_with_code(&error, code);
        status = code == ZIP_ER_NOENT    ? sfu__fail(SFU_ERR_NOT_FOUND, "%s: no such file", path)
                 : code == ZIP_ER_MEMORY ? sfu__fail(SFU_ERR_MEMORY, "out of memory: %s could not be opened", path)
                 : sfu__path_is_folder(path)
                     ? sfu__fail(SFU_ERR_FORMAT, "%s: is a folder, not a file", path)
                     : sfu__fail(SFU_ERR_FORMAT, "%s: not a whole .npz file (is it cut short?): %s", path,
                                 zip_error_strerror(&error));
        zip_error_fini(&error);
        goto done;
    }
    struct stat about;
    self->size = stat(path, &about) == 0 && about.st_size > 0 ? (uint64_t)about.st_size : 0;
    *npz = self;
    self = NULL;
done:
    sfu__npz_free(self);
    return status;
}

void sfu__npz_free(sfu__npz *npz) {
    if (npz == NULL) {
        return;
    }
    if (npz->archive != NULL) {
        zip_discard(npz->archive);
    }
    for (size_t i = 0; i < npz->owned_count; i++) {
        sfu__free(npz->owned[i]);
    }
    sfu__free(npz->owned);
    sfu__free(npz->path);
    sfu__free(npz);
}

const char *sfu__npz_path(const sfu__npz *npz) { return npz->path; }

/* The index of NAME.npy in the archive, or -1. */
static zip_int64_t locate(const sfu__npz *npz, const char *name) {
    char member[256];
    const int size = snprintf(member, sizeof member, "%s.npy", name);
    return size > 0 && (size_t)size < sizeof member ? zip_name_locate(npz->archive, member, ZIP_FL_ENC_RAW) : -1;
}

bool sfu__npz_has(const sfu__npz *npz, const char *name) { return locate(npz, name) >= 0; }

char *sfu__npz_list(const sfu__npz *npz) {
    enum { LIST_MAX = 400 };
    sfu__text text = {0};
    sfu_status status = sfu__text_add(&text, "", 0);
    const zip_int64_t count = zip_get_num_entries(npz->archive, 0);
    for (zip_int64_t i = 0; i < count && status == SFU_OK; i++) {
        if (text.size > LIST_MAX) {
            status = sfu__text_format(&text, ", ...");
            break;
        }
        const char *name = zip_get_name(npz->archive, (zip_uint64_t)i, ZIP_FL_ENC_RAW);
        const size_t size = name != NULL ? strlen(name) : 0;
        if (size > 4 && strcmp(name + size - 4, ".npy") == 0) {
            char quoted[SFU__QUOTE_MAX];
            sfu__quote(quoted, name, size - 4);
            const size_t inside = strlen(quoted) - 2; /* without the quotes */
            status = sfu__text_format(&text, "%s%.*s", text.size > 0 ? ", " : "", (int)inside, quoted + 1);
        }
    }
    if (status != SFU_OK) {
        sfu__text_clear(&text);
    }
    return text.bytes;
}

static sfu_status broken(const char *location, zip_file_t *file) {
    return sfu__fail(SFU_ERR_FORMAT, "%s: cannot be unpacked: %s", location, zip_file_strerror(file));
}

/* Checks the declared sizes. Deflate expands at most 1032 times. */
static sfu_status check_announced(const zip_stat_t *entry, const char *location) {
    enum { DEFLATE_MOST = 1032, SLACK = 64 };
    const zip_uint64_t needed = ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((entry->valid & needed) != needed || entry->encryption_method != ZIP_EM_NONE ||
        (entry->comp_method != ZIP_CM_STORE && entry->comp_method != ZIP_CM_DEFLATE)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: packed in a way that numpy does not use (stored or deflated is read)",
                         location);
    }
    const zip_uint64_t most =
        entry->comp_method == ZIP_CM_STORE ? entry->comp_size : entry->comp_size * DEFLATE_MOST + SLACK;
    if (entry->comp_size > (zip_uint64_t)1 << 48 || entry->size > most) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it declares %llu bytes, more than %llu compressed bytes can hold",
                         location, (unsigned long long)entry->size, (unsigned long long)entry->comp_size);
    }
    return SFU_OK;
}

/* Decompresses the member to its end, where libzip compares the checksum. */
static sfu_status unpack(char **bytes, zip_file_t *file, size_t announced, const char *location) {
    enum { FIRST = 1 << 16, CHUNK = 1 << 20 };
    sfu_status status = SFU_OK;
    size_t capacity = 0;
    size_t size = 0;
    for (;;) {
        if (size == capacity) {
            const size_t new_capacity = capacity == 0 ? FIRST : capacity > announced / 2 ? announced + 1 : 2 * capacity;
            char *grown = sfu__resize(*bytes, new_capacity > announced ? announced + 1 : new_capacity, 1);
            if (grown == NULL) {
                return SFU_ERR_MEMORY;
            }
            *bytes = grown;
            capacity = new_capacity > announced ? announced + 1 : new_capacity;
        }
        SFU_TRY(sfu__poll());
        const size_t space = capacity - size;
        const zip_int64_t got = zip_fread(file, *bytes + size, space < CHUNK ? space : CHUNK);
        if (got < 0) {
            return broken(location, file);
        }
        size += (size_t)got;
        if (got == 0 || size > announced) {
            break;
        }
    }
    if (size != announced) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: it decompresses to %s than the declared %zu bytes", location,
                           size > announced ? "more" : "less", announced);
    }
done:
    return status;
}

/* Checks the first bytes of a member before all of it is decompressed: its .npy header must match the declared size,
 * and the total of all members so far must be within the limit. */
static sfu_status check_member(sfu__npz *npz, zip_uint64_t index, size_t announced, const char *location) {
    enum { FIRST = 4096 };
    char first[FIRST];
    size_t have = 0;
    int64_t entries = 0;
    sfu_status status = SFU_OK;
    zip_file_t *file = zip_fopen_index(npz->archive, index, 0);
    for (zip_int64_t got = 1; file != NULL && got > 0 && have<FIRST; have += got> 0 ? (size_t)got : 0) {
        got = zip_fread(file, first + have, FIRST - have);
    }
    if (file != NULL) {
        zip_fclose(file);
    }
    if (file != NULL && have > 0) { /* otherwise decompression reports the error */
        SFU_TRY(sfu__npy_announced(&entries, first, have < announced ? have : announced, announced, location));
    }
    npz->unpacked += sfu__memory_of(announced, entries);
    SFU_TRY(sfu__check_unpacked(location, npz->unpacked, npz->size));
done:
    return status;
}

/* Decompresses member `index` into memory owned by the npz. */
static sfu_status load(sfu__npz *npz, zip_uint64_t index, const char *location, const char **bytes, size_t *size) {
    sfu_status status = SFU_OK;
    zip_file_t *file = NULL;
    char *unpacked = NULL;
    zip_stat_t entry;
    zip_stat_init(&entry);
    if (zip_stat_index(npz->archive, index, 0, &entry) != 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: %s", location, zip_strerror(npz->archive));
        goto done;
    }
    SFU_TRY(check_announced(&entry, location));
    SFU_TRY(check_member(npz, index, (size_t)entry.size, location));
    void **grown = sfu__grow(npz->owned, &npz->owned_capacity, npz->owned_count + 1, sizeof *grown);
    if (grown == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    npz->owned = grown;
    file = zip_fopen_index(npz->archive, index, 0);
    if (file == NULL) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: cannot be unpacked: %s", location, zip_strerror(npz->archive));
        goto done;
    }
    SFU_TRY(unpack(&unpacked, file, (size_t)entry.size, location));
    *bytes = unpacked;
    *size = (size_t)entry.size;
    npz->owned[npz->owned_count++] = unpacked;
    unpacked = NULL;
done:
    if (file != NULL) {
        zip_fclose(file);
    }
    sfu__free(unpacked);
    return status;
}

sfu_status sfu__npz_get(sfu__array *array, sfu__npz *npz, const char *name) {
    sfu_status status = SFU_OK;
    char location[SFU__LOCATION_MAX];
    const char *bytes = NULL;
    size_t size = 0;
    snprintf(location, sizeof location, "%.400s: %.100s", npz->path, name);
    const zip_int64_t index = locate(npz, name);
    if (index < 0) {
        char *list = sfu__npz_list(npz);
        status = list == NULL
                     ? SFU_ERR_MEMORY
                     : sfu__fail(SFU_ERR_FORMAT, "%s: there is no such array; the file has: %s", location, list);
        sfu__free(list);
        return status;
    }
    SFU_TRY(load(npz, (zip_uint64_t)index, location, &bytes, &size));
    SFU_TRY(sfu__npy_view(array, bytes, size, location));
done:
    return status;
}

#else

sfu_status sfu__npz_open(sfu__npz **npz, const char *path) {
    *npz = NULL;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: this build reads no .npz files: it was made without libzip", path);
}

/* No npz can be created, so these are never called with one. */
void sfu__npz_free(sfu__npz *npz) { (void)npz; }

bool sfu__npz_has(const sfu__npz *npz, const char *name) { return npz != NULL && name == NULL; }

const char *sfu__npz_path(const sfu__npz *npz) { return npz != NULL ? "" : NULL; }

char *sfu__npz_list(const sfu__npz *npz) { return npz != NULL ? sfu__copy_string("") : NULL; }

sfu_status sfu__npz_get(sfu__array *array, sfu__npz *npz, const char *name) {
    (void)array;
    (void)npz;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "%s: this build reads no .npz files", name);
}

#endif
