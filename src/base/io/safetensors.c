/* safetensors.c - reads, writes and hashes safetensors files. */
#include "safetensors.h"
#include "digest.h"
#include "json.h"
#include "parallel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The limit of the reference implementation. */
#define HEADER_MAX ((uint64_t)100000000)
enum { LENGTH_BYTES = 8, ALIGNMENT = 64 };

static const struct {
    const char *name;
    sfu__dtype dtype;
    size_t size;
} dtypes[] = {{"F32", SFU__F32, 4},    {"I32", SFU__I32, 4},    {"I64", SFU__I64, 8},   {"U8", SFU__U8, 1},
              {"BOOL", SFU__OTHER, 1}, {"I8", SFU__OTHER, 1},   {"I16", SFU__OTHER, 2}, {"U16", SFU__OTHER, 2},
              {"F16", SFU__OTHER, 2},  {"BF16", SFU__OTHER, 2}, {"U32", SFU__OTHER, 4}, {"F64", SFU__OTHER, 8},
              {"U64", SFU__OTHER, 8}};
enum { DTYPES = sizeof dtypes / sizeof dtypes[0] };

static int dtype_row(const char *name) {
    for (int i = 0; i < DTYPES; i++) {
        if (strcmp(dtypes[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The row of one of the four types that we write. */
static int dtype_row_of(sfu__dtype dtype) { return (int)dtype; }

/* ---- reading -------------------------------------------------------------------------------------------------- */

struct sfu__safetensors {
    char *path;
    sfu__bytes bytes;
    sfu__json_text header;
    sfu__tensor *tensors; /* sorted by name */
    void **copies;        /* of unaligned tensors: one per tensor, mostly NULL */
    int64_t count;
};

/* The bytes of a tensor, relative to the data. */
typedef struct extent {
    int64_t begin, end;
    int64_t tensor;
    size_t item; /* bytes per element */
} extent;

static int compare_extents(const void *a, const void *b) {
    const extent *x = a;
    const extent *y = b;
    if (x->begin != y->begin) {
        return x->begin < y->begin ? -1 : 1;
    }
    return (x->end > y->end) - (x->end < y->end);
}

static int compare_names(const void *a, const void *b) {
    return strcmp(((const sfu__tensor *)a)->name, ((const sfu__tensor *)b)->name);
}

static sfu_status broken(const char *path, const char *name, const char *what) {
    char quoted[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_FORMAT, "%s: header: tensor %s: %s", path, sfu__quote(quoted, name, strlen(name)), what);
}

/* Reads one entry of the header into the tensor and its extent. */
static sfu_status read_entry(sfu__tensor *tensor, extent *extent_of, const char *path, const char *name,
                             const sfu__json *entry, int64_t data_size) {
    const char *dtype = sfu__json_string(sfu__json_get(entry, "dtype"));
    const sfu__json *shape = sfu__json_get(entry, "shape");
    const sfu__json *offsets = sfu__json_get(entry, "data_offsets");
    if (dtype == NULL || !sfu__json_is(shape, SFU__JSON_ARRAY) || !sfu__json_is(offsets, SFU__JSON_ARRAY) ||
        offsets->count != 2) {
        return broken(path, name, "it needs dtype, shape and two data_offsets");
    }
    const int row = dtype_row(dtype);
    if (row < 0) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail(SFU_ERR_FORMAT, "%s: header: tensor \"%.80s\": unknown dtype %s", path, name,
                         sfu__quote(quoted, dtype, strlen(dtype)));
    }
    if (shape->count > SFU__TENSOR_DIMS) {
        return broken(path, name, "its shape has more than four dimensions");
    }
    *tensor = (sfu__tensor){.name = name, .dtype = dtypes[row].dtype, .dims = (int)shape->count, .count = 1};
    const sfu__json *side = sfu__json_items(shape);
    for (int i = 0; side != NULL; i++, side = side->next) {
        tensor->shape[i] = sfu__json_whole(side);
        if (side->kind != SFU__JSON_WHOLE || tensor->shape[i] < 0 ||
            __builtin_mul_overflow(tensor->count, tensor->shape[i], &tensor->count)) {
            return broken(path, name, "its shape is invalid: expected whole numbers with a product below 2^63");
        }
    }
    extent_of->item = dtypes[row].size;
    const sfu__json *begin = sfu__json_items(offsets);
    extent_of->begin = sfu__json_whole(begin);
    extent_of->end = sfu__json_whole(begin->next);
    int64_t size;
    if (begin->kind != SFU__JSON_WHOLE || begin->next->kind != SFU__JSON_WHOLE || extent_of->begin < 0 ||
        extent_of->end < extent_of->begin || extent_of->end > data_size) {
        return sfu__fail(
            SFU_ERR_FORMAT,
            "%s: header: tensor \"%.80s\": data_offsets [%lld, %lld] lie outside the file's %lld data bytes"
            " (is it cut short?)",
            path, name, (long long)extent_of->begin, (long long)extent_of->end, (long long)data_size);
    }
    if (__builtin_mul_overflow(tensor->count, (int64_t)extent_of->item, &size) ||
        size != extent_of->end - extent_of->begin) {
        return broken(path, name, "its data_offsets do not fit its shape");
    }
    return SFU_OK;
}

/* The tensors must be contiguous from the first byte of the data to the last: overlaps would allow a small file to
 * expand when they are copied, and gaps could hide data. */
static sfu_status check_extents(const char *path, extent *extents, const sfu__tensor *tensors, int64_t count,
                                int64_t data_size) {
    int64_t end = 0;
    qsort(extents, (size_t)count, sizeof *extents, compare_extents);
    for (int64_t i = 0; i < count; i++) {
        if (extents[i].begin != end) {
            return broken(path, tensors[extents[i].tensor].name,
                          extents[i].begin < end ? "its bytes overlap another tensor's"
                                                 : "there is a gap before its bytes, which the format does not allow");
        }
        end = extents[i].end;
    }
    return end == data_size ? SFU_OK
                            : sfu__fail(SFU_ERR_FORMAT,
                                        "%s: header: %lld bytes at the end of the file belong to no tensor, which the "
                                        "format does not allow",
                                        path, (long long)(data_size - end));
}

/* Points the tensor at its bytes, or at a copy if they are not aligned for the type. */
static sfu_status set_tensor_data(sfu__safetensors *file, const extent *extent_of, const unsigned char *data) {
    sfu__tensor *tensor = &file->tensors[extent_of->tensor];
    const unsigned char *bytes = data + extent_of->begin;
    tensor->data = bytes;
    if ((uintptr_t)bytes % extent_of->item == 0 || tensor->count == 0) {
        return SFU_OK;
    }
    void *copy = sfu__alloc((size_t)tensor->count, extent_of->item);
    if (copy == NULL) {
        return SFU_ERR_MEMORY;
    }
    memcpy(copy, bytes, (size_t)tensor->count * extent_of->item);
    file->copies[extent_of->tensor] = copy;
    tensor->data = copy;
    return SFU_OK;
}

static sfu_status read_tensors(sfu__safetensors *file, const unsigned char *data, int64_t data_size) {
    sfu_status status = SFU_OK;
    extent *extents = NULL;
    const size_t most = file->header.root->count;
    SFU_ALLOC_ZERO(file->tensors, most);
    SFU_ALLOC_ZERO(file->copies, most);
    SFU_ALLOC(extents, most);
    for (const sfu__json *entry = sfu__json_items(file->header.root); entry != NULL; entry = entry->next) {
        if (strcmp(entry->key, "__metadata__") == 0) {
            continue;
        }
        extent *extent_of = &extents[file->count];
        extent_of->tensor = file->count;
        SFU_TRY(read_entry(&file->tensors[file->count], extent_of, file->path, entry->key, entry, data_size));
        file->count++;
    }
    SFU_TRY(check_extents(file->path, extents, file->tensors, file->count, data_size));
    for (int64_t i = 0; i < file->count; i++) {
        SFU_TRY(set_tensor_data(file, &extents[i], data));
    }
    qsort(file->tensors, (size_t)file->count, sizeof *file->tensors, compare_names);
done:
    sfu__free(extents);
    return status;
}

static sfu_status read_metadata(const sfu__safetensors *file) {
    const sfu__json *metadata = sfu__json_get(file->header.root, "__metadata__");
    if (metadata != NULL && metadata->kind != SFU__JSON_OBJECT) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: header: __metadata__ is not an object", file->path);
    }
    for (const sfu__json *value = sfu__json_items(metadata); value != NULL; value = value->next) {
        if (value->kind != SFU__JSON_TEXT) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: header: __metadata__ \"%.80s\" is not a string", file->path,
                             value->key);
        }
    }
    return SFU_OK;
}

/* Duplicate keys are ambiguous. */
static sfu_status check_keys(const sfu__safetensors *file) {
    sfu_status status = SFU_OK;
    const sfu__json *const objects[] = {file->header.root, sfu__json_get(file->header.root, "__metadata__")};
    for (int i = 0; i < 2 && status == SFU_OK; i++) {
        const char *twice = NULL;
        status = sfu__json_twice(&twice, objects[i]);
        if (twice != NULL) {
            status = sfu__fail(SFU_ERR_FORMAT, "%s: the header has the key \"%.80s\" twice", file->path, twice);
        }
    }
    return status;
}

/* A message without its "PATH: " prefix. */
static const char *reason_of(const char *message, const char *path) {
    const size_t size = strlen(path);
    return strncmp(message, path, size) == 0 && message[size] == ':' ? message + size + 2 : message;
}

static sfu_status parse(sfu__safetensors *file) {
    sfu_status status = SFU_OK;
    const unsigned char *bytes = file->bytes.data;
    const size_t size = file->bytes.size;
    if (size < LENGTH_BYTES) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %zu bytes are too few for a safetensors file", file->path, size);
    }
    uint64_t length = 0;
    for (int i = LENGTH_BYTES - 1; i >= 0; i--) {
        length = length << 8 | bytes[i];
    }
    if (length > HEADER_MAX || length > size - LENGTH_BYTES) {
        return sfu__fail(
            SFU_ERR_FORMAT,
            "%s: byte 0: a header of %llu bytes does not fit a file of %zu (not a safetensors file, or cut "
            "short)",
            file->path, (unsigned long long)length, size);
    }
    status = sfu__json_read(&file->header, (const char *)bytes + LENGTH_BYTES, (size_t)length, file->path);
    if (status == SFU_ERR_FORMAT || (status == SFU_OK && file->header.root->kind != SFU__JSON_OBJECT)) {
        status =
            sfu__fail(SFU_ERR_FORMAT, "%s: the header, from byte %d on, is not a JSON object: %s", file->path,
                      LENGTH_BYTES, status != SFU_OK ? reason_of(sfu_message(), file->path) : "another kind of value");
    }
    SFU_TRY(status);
    SFU_TRY(check_keys(file));
    SFU_TRY(read_metadata(file));
    SFU_TRY(read_tensors(file, bytes + LENGTH_BYTES + length, (int64_t)(size - LENGTH_BYTES - (size_t)length)));
done:
    return status;
}

static sfu_status open_with(sfu__safetensors **file, sfu__bytes *bytes, const char *path) {
    sfu_status status = SFU_OK;
    sfu__safetensors *self = NULL;
    *file = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->bytes = *bytes;
    *bytes = (sfu__bytes){0};
    self->path = sfu__copy_string(path);
    if (self->path == NULL) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    SFU_TRY(parse(self));
    *file = self;
    self = NULL;
done:
    sfu__bytes_close(bytes);
    sfu__safetensors_free(self);
    return status;
}

sfu_status sfu__safetensors_open(sfu__safetensors **file, const char *path) {
    *file = NULL;
    sfu__bytes bytes;
    const sfu_status status = sfu__bytes_open(&bytes, path);
    return status != SFU_OK ? status : open_with(file, &bytes, path);
}

sfu_status sfu__safetensors_map(sfu__safetensors **file, const char *path) {
    *file = NULL;
    sfu__bytes bytes;
    const sfu_status status = sfu__bytes_map(&bytes, path);
    return status != SFU_OK ? status : open_with(file, &bytes, path);
}

sfu_status sfu__safetensors_view(sfu__safetensors **file, const void *data, size_t size, const char *path) {
    sfu__bytes bytes = {.data = data, .size = size};
    return open_with(file, &bytes, path);
}

void sfu__safetensors_free(sfu__safetensors *file) {
    if (file == NULL) {
        return;
    }
    for (int64_t i = 0; file->copies != NULL && i < file->count; i++) {
        sfu__free(file->copies[i]);
    }
    sfu__free(file->copies);
    sfu__free(file->tensors);
    sfu__json_clear(&file->header);
    sfu__bytes_close(&file->bytes);
    sfu__free(file->path);
    sfu__free(file);
}

const sfu__tensor *sfu__safetensors_find(const sfu__safetensors *file, const char *name) {
    const sfu__tensor wanted = {.name = name};
    return file->count == 0
               ? NULL
               : bsearch(&wanted, file->tensors, (size_t)file->count, sizeof *file->tensors, compare_names);
}

const sfu__bytes *sfu__safetensors_bytes(const sfu__safetensors *file) { return &file->bytes; }

const char *sfu__safetensors_metadata(const sfu__safetensors *file, const char *key) {
    return sfu__json_string(sfu__json_get(sfu__json_get(file->header.root, "__metadata__"), key));
}

const sfu__tensor *sfu__safetensors_get(const sfu__safetensors *file, int64_t i) {
    return i >= 0 && i < file->count ? &file->tensors[i] : NULL;
}

/* ---- writing -------------------------------------------------------------------------------------------------- */

static size_t bytes_of(const sfu__tensor *tensor) {
    return (size_t)tensor->count * dtypes[dtype_row_of(tensor->dtype)].size;
}

static size_t padding_after(size_t size) { return (ALIGNMENT - size % ALIGNMENT) % ALIGNMENT; }

static sfu_status add_tensor(sfu__text *header, const sfu__tensor *tensor, int64_t offset) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__json_add_string(header, tensor->name));
    SFU_TRY(sfu__text_format(header, ":{\"dtype\":\"%s\",\"shape\":[", dtypes[dtype_row_of(tensor->dtype)].name));
    for (int i = 0; i < tensor->dims; i++) {
        SFU_TRY(sfu__text_format(header, "%s%lld", i == 0 ? "" : ",", (long long)tensor->shape[i]));
    }
    SFU_TRY(sfu__text_format(header, "],\"data_offsets\":[%lld,%lld]}", (long long)offset,
                             (long long)offset + (long long)bytes_of(tensor)));
done:
    return status;
}

/* Names and metadata must be UTF-8, as JSON requires. */
static sfu_status check_texts(const char *path, const sfu__tensor *tensors, int64_t count,
                              const char *const *metadata) {
    char quoted[SFU__QUOTE_MAX];
    for (int64_t i = 0; i < count; i++) {
        const size_t size = strlen(tensors[i].name);
        if (!sfu__utf8_valid(tensors[i].name, size)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: cannot be written: the name of tensor %s is not UTF-8", path,
                             sfu__quote(quoted, tensors[i].name, size));
        }
    }
    for (int i = 0; metadata != NULL && metadata[i] != NULL; i++) {
        if (!sfu__utf8_valid(metadata[i], strlen(metadata[i]))) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: cannot be written: the metadata \"%s\" is not UTF-8", path,
                             metadata[i - i % 2]);
        }
    }
    return SFU_OK;
}

/* The text of the header. The format allows no gaps between tensors. */
static sfu_status header_text(sfu__text *header, const sfu__tensor *tensors, int64_t count,
                              const char *const *metadata) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(header, "{\"__metadata__\":{"));
    for (int i = 0; metadata != NULL && metadata[i] != NULL; i++) {
        SFU_TRY(sfu__text_add(header, i % 2 != 0 ? ":" : ",", i == 0 ? 0 : 1));
        SFU_TRY(sfu__json_add_string(header, metadata[i]));
    }
    SFU_TRY(sfu__text_add(header, "}", 1));
    int64_t offset = 0;
    for (int64_t i = 0; i < count; i++) {
        SFU_TRY(sfu__text_add(header, ",", 1));
        SFU_TRY(add_tensor(header, &tensors[i], offset));
        offset += (int64_t)bytes_of(&tensors[i]);
    }
    SFU_TRY(sfu__text_add(header, "}", 1));
done:
    return status;
}

sfu_status sfu__safetensors_write(const char *path, const sfu__tensor *tensors, int64_t count,
                                  const char *const *metadata) {
    static const char blanks[ALIGNMENT] = "                                                                ";
    sfu_status status = SFU_OK;
    sfu__writer *writer = NULL;
    sfu__text header = {0};
    SFU_TRY(check_texts(path, tensors, count, metadata));
    SFU_TRY(header_text(&header, tensors, count, metadata));
    const size_t padding = padding_after(LENGTH_BYTES + header.size);
    unsigned char length[LENGTH_BYTES];
    for (int i = 0; i < LENGTH_BYTES; i++) {
        length[i] = (unsigned char)((uint64_t)(header.size + padding) >> (8 * i));
    }
    SFU_TRY(sfu__writer_open(&writer, path));
    SFU_TRY(sfu__writer_add(writer, length, sizeof length));
    SFU_TRY(sfu__writer_add(writer, header.bytes, header.size));
    SFU_TRY(sfu__writer_add(writer, blanks, padding));
    for (int64_t i = 0; i < count; i++) {
        SFU_TRY(sfu__writer_add(writer, tensors[i].data, bytes_of(&tensors[i])));
    }
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    sfu__text_clear(&header);
    return status;
}

/* ---- digest --------------------------------------------------------------------------------------------------- */

enum { PIECE_BYTES = 1 << 22 };

/* The tensors, divided into pieces that are hashed in parallel: SHA-256 is slower than memory. */
typedef struct digest_job {
    const sfu__tensor *tensors;
    int64_t *first_piece; /* count + 1: index of the first piece of each tensor */
    char (*pieces)[SFU__DIGEST_TEXT];
} digest_job;

static sfu_status digest_piece(void *context, int64_t piece, int thread) {
    (void)thread;
    const digest_job *self = context;
    int64_t i = 0;
    while (self->first_piece[i + 1] <= piece) {
        i++;
    }
    const size_t offset = (size_t)(piece - self->first_piece[i]) * PIECE_BYTES;
    const size_t left = bytes_of(&self->tensors[i]) - offset;
    return sfu__digest_of(self->pieces[piece], (const char *)self->tensors[i].data + offset,
                          left < PIECE_BYTES ? left : PIECE_BYTES);
}

static sfu_status digest_tensor(sfu__digest *digest, const digest_job *self, int64_t i) {
    const sfu__tensor *tensor = &self->tensors[i];
    sfu_status status = SFU_OK;
    char shape[SFU__TENSOR_DIMS * 24] = "";
    int used = 0;
    for (int d = 0; d < tensor->dims; d++) {
        used += snprintf(shape + used, sizeof shape - (size_t)used, " %lld", (long long)tensor->shape[d]);
    }
    const char *dtype = dtypes[dtype_row_of(tensor->dtype)].name;
    SFU_TRY(sfu__digest_add(digest, tensor->name, strlen(tensor->name)));
    SFU_TRY(sfu__digest_add(digest, " ", 1));
    SFU_TRY(sfu__digest_add(digest, dtype, strlen(dtype)));
    SFU_TRY(sfu__digest_add(digest, shape, (size_t)used + 1)); /* with its 0 */
    for (int64_t piece = self->first_piece[i]; piece < self->first_piece[i + 1]; piece++) {
        SFU_TRY(sfu__digest_add(digest, self->pieces[piece], SFU__DIGEST_TEXT - 1));
    }
done:
    return status;
}

sfu_status sfu__tensors_digest(char text[65], const sfu__tensor *tensors, int64_t count) {
    sfu_status status = SFU_OK;
    sfu__digest *digest = NULL;
    sfu__tensor *sorted = NULL;
    digest_job self = {0};
    SFU_ALLOC(sorted, count);
    SFU_ALLOC(self.first_piece, count + 1);
    if (count > 0) {
        memcpy(sorted, tensors, (size_t)count * sizeof *sorted);
        qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    }
    self.tensors = sorted;
    self.first_piece[0] = 0;
    for (int64_t i = 0; i < count; i++) {
        self.first_piece[i + 1] =
            self.first_piece[i] + (int64_t)((bytes_of(&sorted[i]) + PIECE_BYTES - 1) / PIECE_BYTES);
    }
    SFU_ALLOC(self.pieces, self.first_piece[count]);
    SFU_TRY(sfu__parallel(digest_piece, &self, self.first_piece[count], sfu__thread_count(0)));
    SFU_TRY(sfu__digest_new(&digest));
    for (int64_t i = 0; i < count; i++) {
        SFU_TRY(digest_tensor(digest, &self, i));
    }
    SFU_TRY(sfu__digest_end(digest, text));
done:
    sfu__digest_free(digest);
    sfu__free(self.pieces);
    sfu__free(self.first_piece);
    sfu__free(sorted);
    return status;
}
