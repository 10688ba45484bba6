/* mat5.c - reads .mat files of version 5: a sequence of elements, each a tag of type and size and its bytes, padded to
 * eight.
 *
 *   element      u32 type, u32 size, bytes; or, up to four bytes: u16 type, u16 size, four bytes
 *   compressed   (type 15, at the top level only, not padded) a zlib stream of one matrix element
 *   matrix       (type 14) flags: class, complex; dimensions; name; then, by class, the real numbers, or, if sparse,
 *                row indices, column offsets and numbers; anything after that is ignored
 *
 * Numbers are stored in the smallest type that holds them, whatever the class.
 */
#define ZLIB_CONST /* makes zlib's input pointer const */
#include "mat_int.h"
#include "progress.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum { TYPE_MATRIX = 14, TYPE_COMPRESSED = 15, TAG = 8, TOP = 128, PREFIX = 1024 };
enum { CLASS_SPARSE = 5, CLASS_DOUBLE = 6, CLASS_UINT64 = 15, FLAG_COMPLEX = 8 };

typedef struct element {
    uint32_t type;
    size_t size;
    const unsigned char *data;
} element;

/* A range of elements. */
typedef struct cursor {
    const unsigned char *at, *end;
    bool big_endian;
} cursor;

/* The flags, dimensions and name of a matrix. */
typedef struct header {
    int class_type;
    bool is_complex;
    int dims;
    int64_t shape[SFU__ARRAY_DIMS]; /* the first dimensions */
    const char *name;
    size_t name_size;
} header;

static uint32_t number(const cursor *c, const unsigned char *bytes) {
    return c->big_endian ? (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3]
                         : (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
}

/* Reads an element; false if it does not fit into the rest of the range. */
static bool take(cursor *c, element *taken) {
    const size_t left = (size_t)(c->end - c->at);
    if (left < TAG) {
        return false;
    }
    const uint32_t first = number(c, c->at);
    const bool is_small = first >> 16 != 0;
    *taken = is_small ? (element){first & 0xffff, first >> 16, c->at + 4}
                      : (element){first, number(c, c->at + 4), c->at + TAG};
    if (is_small ? taken->size > 4 : taken->size > left - TAG) {
        return false;
    }
    const size_t padding = taken->type == TYPE_COMPRESSED ? 0 : (8 - taken->size % 8) % 8;
    const size_t total = is_small ? TAG : TAG + taken->size + padding;
    c->at += total < left ? total : left; /* the last element may be unpadded */
    return true;
}

/* Parses the header of a matrix; false if it is invalid. */
static bool read_header(cursor *c, header *found) {
    element flags;
    element shape;
    element name;
    if (!take(c, &flags) || flags.size != 8 || !take(c, &shape) || shape.size % 4 != 0 || shape.size < 8 ||
        !take(c, &name)) {
        return false;
    }
    const uint32_t bits = number(c, flags.data);
    *found = (header){.class_type = (int)(bits & 0xff), .is_complex = (bits >> 8 & FLAG_COMPLEX) != 0};
    found->dims = shape.size / 4 < SFU__ARRAY_DIMS ? (int)(shape.size / 4) : SFU__ARRAY_DIMS;
    for (int i = 0; i < found->dims; i++) {
        found->shape[i] = (int32_t)number(c, shape.data + (size_t)(4 * i));
    }
    found->name = (const char *)name.data;
    found->name_size = name.size;
    return true;
}

/* ---- decompression -------------------------------------------------------------------------------------------- */

/* Decompresses up to `most` bytes. */
static sfu_status unpack(unsigned char *out, size_t most, size_t *got, const element *packed, const char *location) {
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK) {
        return sfu__fail(SFU_ERR_MEMORY, "out of memory: %s could not be decompressed", location);
    }
    enum { CHUNK = 1 << 20 };
    size_t fed = 0;
    *got = 0;
    int code = Z_OK;
    sfu_status status = SFU_OK;
    while (status == SFU_OK && code == Z_OK && *got < most) {
        const size_t more = packed->size - fed < CHUNK ? packed->size - fed : CHUNK;
        const size_t space = most - *got < CHUNK ? most - *got : CHUNK;
        stream.next_in = packed->data + fed;
        stream.avail_in = (uInt)more;
        stream.next_out = out + *got;
        stream.avail_out = (uInt)space;
        code = inflate(&stream, Z_NO_FLUSH);
        fed += more - stream.avail_in;
        *got += space - stream.avail_out;
        status = sfu__poll();
    }
    inflateEnd(&stream);
    return status != SFU_OK ? status
           : code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT, "%s: cannot be decompressed: the data is corrupt", location);
}

static sfu_status peek(header *found, bool *is_matrix, unsigned char prefix[PREFIX], const element *top,
                       bool big_endian, const char *location);

/* Checks that the decompressed size of a matrix is plausible for the size of the file. */
static sfu_status check_unpacked(const sfu__mat *mat, const element *packed, size_t size, const char *location) {
    sfu_status status = SFU_OK;
    unsigned char prefix[PREFIX];
    header found = {0};
    bool is_matrix = false;
    int64_t entries = 1;
    SFU_TRY(peek(&found, &is_matrix, prefix, packed, mat->big_endian, location));
    for (int i = 0; i < found.dims && found.class_type != CLASS_SPARSE; i++) {
        if (found.shape[i] < 0 || __builtin_mul_overflow(entries, found.shape[i], &entries)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: dimension %lld of its shape is not possible", location,
                             (long long)found.shape[i]);
        }
    }
    SFU_TRY(sfu__check_unpacked(location, sfu__memory_of(size, entries), mat->bytes.size));
done:
    return status;
}

/* Decompresses the matrix of a compressed element into mat->unpacked. */
static sfu_status unpack_matrix(sfu__mat *mat, element *matrix, const element *packed, const char *location) {
    enum { DEFLATE_MOST = 1032 }; /* maximum compression ratio of deflate */
    sfu_status status = SFU_OK;
    unsigned char tag[TAG];
    size_t got;
    SFU_TRY(unpack(tag, TAG, &got, packed, location));
    const cursor c = {tag, tag + TAG, mat->big_endian};
    const size_t size = got == TAG ? number(&c, tag + 4) : 0;
    if (got < TAG || number(&c, tag) != TYPE_MATRIX || size / DEFLATE_MOST > packed->size) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the compressed element is not a matrix of a plausible size", location);
    }
    SFU_TRY(check_unpacked(mat, packed, size, location));
    SFU_ALLOC(mat->unpacked, size + TAG + 1); /* one spare byte, so that zlib continues to its checksum */
    SFU_TRY(unpack((unsigned char *)mat->unpacked, size + TAG + 1, &got, packed, location));
    if (got != size + TAG) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: expected %zu bytes of decompressed data, found %zu", location, size + TAG,
                         got);
    }
    *matrix = (element){TYPE_MATRIX, size, (unsigned char *)mat->unpacked + TAG};
done:
    return status;
}

/* ---- listing -------------------------------------------------------------------------------------------------- */

/* Finds the name and shape of the matrix in an element, which must outlive them. *is_matrix: whether it is one. */
static sfu_status peek(header *found, bool *is_matrix, unsigned char prefix[PREFIX], const element *top,
                       bool big_endian, const char *location) {
    cursor c = {top->data, top->data + top->size, big_endian};
    *is_matrix = top->type == TYPE_MATRIX;
    if (top->type == TYPE_COMPRESSED) {
        size_t got;
        const sfu_status status = unpack(prefix, PREFIX, &got, top, location);
        if (status != SFU_OK) {
            return status;
        }
        c = (cursor){prefix, prefix + got, big_endian};
        *is_matrix = got > TAG && number(&c, prefix) == TYPE_MATRIX;
        c.at += *is_matrix ? TAG : 0;
    }
    if (*is_matrix && !read_header(&c, found)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix without its flags, dimensions and name", location);
    }
    return SFU_OK;
}

static sfu_status add_variable(sfu__mat *mat, const header *found, size_t offset) {
    const size_t count = (size_t)mat->names.count;
    size_t *grown = sfu__grow(mat->offsets, &mat->offset_capacity, count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    mat->offsets = grown;
    mat->offsets[count] = offset;
    return sfu__mat_add(mat, found->name, found->name_size, found->shape, found->dims);
}

sfu_status sfu__mat5_list(sfu__mat *mat) {
    sfu_status status = SFU_OK;
    const unsigned char *begin = mat->bytes.data;
    cursor c = {begin + TOP, begin + mat->bytes.size, mat->big_endian};
    char location[SFU__LOCATION_MAX];
    while (c.at < c.end) {
        const size_t offset = (size_t)(c.at - begin);
        unsigned char prefix[PREFIX];
        element top;
        header found;
        bool is_matrix;
        snprintf(location, sizeof location, "%.440s: byte %zu", mat->path, offset);
        if (!take(&c, &top)) {
            return sfu__fail(SFU_ERR_FORMAT,
                             "%s: the file ends inside the element that begins there (is it cut short?)", location);
        }
        SFU_TRY(peek(&found, &is_matrix, prefix, &top, mat->big_endian, location));
        if (is_matrix) {
            SFU_TRY(add_variable(mat, &found, offset));
        }
    }
done:
    return status;
}

/* ---- reading -------------------------------------------------------------------------------------------------- */

/* Reads an element of numbers as a vector. */
static sfu_status take_numbers(sfu__array *array, cursor *c, const char *location) {
    static const char *const codes[] = {[1] = "i1", [2] = "u1", [3] = "i2", [4] = "u2",  [5] = "i4",
                                        [6] = "u4", [7] = "f4", [9] = "f8", [12] = "i8", [13] = "u8"};
    sfu_status status = SFU_OK;
    element taken;
    char code[4];
    *array = (sfu__array){0};
    snprintf(array->location, sizeof array->location, "%s", location);
    if (!take(c, &taken) || taken.type >= sizeof codes / sizeof codes[0] || codes[taken.type] == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: expected an element of numbers", location);
    }
    snprintf(code, sizeof code, "%c%s", c->big_endian ? '>' : '<', codes[taken.type]);
    SFU_TRY(sfu__array_set_type(array, code, 3));
    const int64_t count = (int64_t)(taken.size / array->item);
    SFU_TRY(sfu__array_set_shape(array, 1, &count));
    SFU_TRY(sfu__array_set_data(array, taken.data, taken.size));
done:
    return status;
}

static sfu_status read_dense(sfu__table *table, cursor *c, const header *about) {
    sfu_status status = SFU_OK;
    sfu__array array;
    SFU_TRY(take_numbers(&array, c, table->location));
    SFU_TRY(sfu__array_set_shape(&array, 2, about->shape));
    SFU_TRY(sfu__array_set_data(&array, array.data, array.size));
    array.by_column = true;
    sfu__table_set_dense(table, &array);
done:
    return status;
}

static sfu_status read_sparse(sfu__table *table, cursor *c, const header *about) {
    sfu_status status = SFU_OK;
    sfu__array indices;
    sfu__array offsets;
    sfu__array values;
    SFU_TRY(take_numbers(&indices, c, table->location));
    SFU_TRY(take_numbers(&offsets, c, table->location));
    SFU_TRY(take_numbers(&values, c, table->location));
    SFU_TRY(sfu__mat_sparse(table, about->shape[0], about->shape[1], &offsets, &indices, &values));
done:
    return status;
}

sfu_status sfu__mat5_get(sfu__table *table, sfu__mat *mat, int64_t i) {
    sfu_status status = SFU_OK;
    cursor c = {mat->bytes.data + mat->offsets[i], mat->bytes.data + mat->bytes.size, mat->big_endian};
    element matrix;
    header about;
    sfu__free(mat->unpacked);
    mat->unpacked = NULL;
    if (!take(&c, &matrix)) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the file is cut short", table->location);
    }
    if (matrix.type == TYPE_COMPRESSED) {
        const element packed = matrix;
        SFU_TRY(unpack_matrix(mat, &matrix, &packed, table->location));
    }
    c = (cursor){matrix.data, matrix.data + matrix.size, mat->big_endian};
    if (!read_header(&c, &about) || about.dims != 2 || about.is_complex || about.class_type < CLASS_SPARSE ||
        about.class_type > CLASS_UINT64) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it is not a matrix of real numbers", table->location);
    }
    SFU_TRY(about.class_type == CLASS_SPARSE ? read_sparse(table, &c, &about) : read_dense(table, &c, &about));
done:
    return status;
}
