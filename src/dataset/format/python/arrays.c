/* arrays.c - typed views of arrays: types, shapes and access to entries. */
#include "arrays.h"
#include "file.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* ---- limits on decompression ---------------------------------------------------------------------------------- */

uint64_t sfu__memory_of(uint64_t bytes, int64_t entries) {
    const uint64_t most = UINT64_MAX / 8;
    const uint64_t count = (uint64_t)entries < most ? 8 * (uint64_t)entries : most;
    return bytes > count ? bytes : count;
}

sfu_status sfu__check_unpacked(const char *location, uint64_t unpacked, uint64_t packed) {
    return sfu__is_unpacked_fair((double)unpacked, (double)packed)
               ? SFU_OK
               : sfu__fail(SFU_ERR_FORMAT,
                           "%s: it takes %llu bytes of memory once unpacked, more than 256 MiB and more than 100 times "
                           "the %llu bytes of the file; save it without compression, or as a sparse matrix",
                           location, (unsigned long long)unpacked, (unsigned long long)packed);
}

/* ---- types ---------------------------------------------------------------------------------------------------- */

static bool set_order(sfu__array *array, char order) {
    const uint16_t probe = 1;
    unsigned char first;
    memcpy(&first, &probe, 1);
    array->big_endian = order == '>' || (order == '=' && first == 0);
    return order == '<' || order == '>' || order == '=' || order == '|';
}

/* A number type has one of a few sizes; text has any size but 0. */
static bool set_kind(sfu__array *array, char letter, int64_t number) {
    static const struct {
        char letter;
        sfu__kind kind;
        const char *sizes; /* NULL: text */
    } kinds[] = {{'b', SFU__KIND_BOOL, "\1"},        {'i', SFU__KIND_INT, "\1\2\4\10"},
                 {'u', SFU__KIND_UINT, "\1\2\4\10"}, {'f', SFU__KIND_FLOAT, "\2\4\10"},
                 {'S', SFU__KIND_BYTES, NULL},       {'a', SFU__KIND_BYTES, NULL},
                 {'U', SFU__KIND_UNICODE, NULL},     {'O', SFU__KIND_OBJECT, "\4\10"}};
    enum { TEXT_MAX = 1 << 20 };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (kinds[i].letter == letter) {
            array->kind = kinds[i].kind;
            array->item = (size_t)number * (letter == 'U' ? 4 : 1);
            return number > 0 && number <= TEXT_MAX &&
                   (kinds[i].sizes == NULL || (number <= 8 && strchr(kinds[i].sizes, (int)number) != NULL));
        }
    }
    return false;
}

sfu_status sfu__array_set_type(sfu__array *array, const char *code, size_t size) {
    char quoted[SFU__QUOTE_MAX];
    const bool ordered = size > 0 && set_order(array, code[0]);
    const char *letter = code + ordered;
    const char *end = code + size;
    int64_t number = 8; /* "|O" has no size */
    const bool plain_object = end - letter == 1 && *letter == 'O';
    if (letter == end || !(plain_object || sfu__parse_int64(&number, letter + 1, end)) ||
        !set_kind(array, *letter, number)) {
        return sfu__fail(SFU_ERR_FORMAT,
                         "%s: type %s: only whole numbers, floating-point numbers, booleans and text can be read",
                         array->location, sfu__quote(quoted, code, size));
    }
    return SFU_OK;
}

sfu_status sfu__array_set_shape(sfu__array *array, int dims, const int64_t *shape) {
    array->dims = dims;
    array->count = 1;
    for (int i = 0; i < dims; i++) {
        array->shape[i] = shape[i];
        if (shape[i] < 0 || __builtin_mul_overflow(array->count, shape[i], &array->count)) {
            return sfu__fail(SFU_ERR_FORMAT, "%s: dimension %lld of its shape is not possible", array->location,
                             (long long)shape[i]);
        }
    }
    return SFU_OK;
}

sfu_status sfu__array_set_data(sfu__array *array, const void *data, size_t size) {
    size_t need = 0;
    array->data = data;
    array->size = size;
    if (array->kind == SFU__KIND_OBJECT) { /* a pickle takes at least one byte per object */
        return (uint64_t)array->count <= size
                   ? SFU_OK
                   : sfu__fail(SFU_ERR_FORMAT, "%s: %zu bytes of data, where %lld objects are declared",
                               array->location, size, (long long)array->count);
    }
    if (__builtin_mul_overflow((size_t)array->count, array->item, &need) || need != size) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: %zu bytes of data, where %lld entries of %zu bytes are declared%s",
                         array->location, size, (long long)array->count, array->item,
                         need > size ? " (is it cut short?)" : "");
    }
    return SFU_OK;
}

bool sfu__array_is_number(const sfu__array *array) { return array->kind <= SFU__KIND_FLOAT; }

sfu_status sfu__array_need_numbers(const sfu__array *array) {
    if (sfu__array_is_number(array)) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s: it holds %s where numbers are needed", array->location,
                     array->kind == SFU__KIND_OBJECT ? "Python objects" : "text");
}

sfu_status sfu__array_need_matrix(const sfu__array *array) {
    const sfu_status status = sfu__array_need_numbers(array);
    if (status == SFU_OK && array->dims != 2) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: it has %d dimensions, and a matrix has 2", array->location, array->dims);
    }
    /* Rows without columns take no bytes, so any number of them could be declared. */
    if (status == SFU_OK && array->count == 0) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: a matrix of %lld x %lld is empty", array->location,
                         (long long)array->shape[0], (long long)array->shape[1]);
    }
    return status;
}

/* ---- entries -------------------------------------------------------------------------------------------------- */

/* The bits of entry i, at most eight bytes. */
static uint64_t load(const sfu__array *array, int64_t i) {
    const unsigned char *bytes = array->data + (size_t)i * array->item;
    if (array->item == 1) { /* fast path for the large dense matrices of .mat files */
        return *bytes;
    }
    uint64_t bits = 0;
    for (size_t k = 0; k < array->item; k++) {
        bits |= (uint64_t)bytes[array->big_endian ? array->item - 1 - k : k] << (8 * k);
    }
    return bits;
}

static int64_t sign_extended(uint64_t bits, size_t item) {
    assert(item >= 1 && item <= 8);
    const unsigned unused = 64 - 8 * (unsigned)item;
    return (int64_t)(bits << unused) >> unused;
}

/* IEEE 754 half precision: 1 + 5 + 10 bits. */
static double half(uint64_t bits) {
    const uint64_t exponent = (bits >> 10) & 31;
    const uint64_t fraction = bits & 1023;
    double magnitude;
    if (exponent == 0) {
        magnitude = (double)fraction * 0x1p-24;
    } else {
        const uint64_t wide = (exponent == 31 ? UINT64_C(2047) : exponent + 1023 - 15) << 52 | fraction << 42;
        memcpy(&magnitude, &wide, sizeof magnitude);
    }
    return bits & 0x8000 ? -magnitude : magnitude;
}

static double floating(uint64_t bits, size_t item) {
    if (item == 2) {
        return half(bits);
    }
    if (item == 4) {
        const uint32_t narrow = (uint32_t)bits;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return (double)value;
    }
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double sfu__array_number(const sfu__array *array, int64_t i) {
    const uint64_t bits = load(array, i);
    switch (array->kind) {
    case SFU__KIND_INT:
        return (double)sign_extended(bits, array->item);
    case SFU__KIND_FLOAT:
        return floating(bits, array->item);
    default:
        return (double)bits;
    }
}

sfu_status sfu__array_whole(int64_t *value, const sfu__array *array, int64_t i) {
    const uint64_t bits = load(array, i);
    bool fits = true;
    if (array->kind == SFU__KIND_INT) {
        *value = sign_extended(bits, array->item);
    } else if (array->kind == SFU__KIND_FLOAT) {
        const double number = floating(bits, array->item);
        fits = fabs(number) <= 0x1p53 && trunc(number) == number;
        *value = fits ? (int64_t)number : 0;
    } else {
        fits = bits <= INT64_MAX;
        *value = (int64_t)bits;
    }
    return fits ? SFU_OK
                : sfu__fail(SFU_ERR_FORMAT, "%s: entry %lld is %.17g, not a whole number that can be used",
                            array->location, (long long)i, sfu__array_number(array, i));
}

int64_t sfu__array_at(const sfu__array *array, int64_t row, int64_t col) {
    return array->by_column ? col * array->shape[0] + row : row * array->shape[1] + col;
}

sfu_status sfu__array_sides(int64_t *rows, int64_t *cols, const sfu__array *array) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__array_need_numbers(array));
    if (array->count != 2) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: expected the 2 dimensions of a matrix, found %lld", array->location,
                         (long long)array->count);
    }
    SFU_TRY(sfu__array_whole(rows, array, 0));
    SFU_TRY(sfu__array_whole(cols, array, 1));
done:
    return status;
}
