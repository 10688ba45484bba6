/* pickle.h - Python's pickles, as far as arrays, sparse matrices, dictionaries, lists, text and whole numbers go.
 *
 * A pickle is a program for a stack machine that can call any function of Python. This machine is closed: it knows the
 * opcodes that such files use (protocols 0 to 4) and a short list of globals, none of which is called; each is only a
 * mark that tells what the values around it mean. Anything else is refused by its name.
 *
 *   1. Values live in one pool and refer to each other by number; what a list, tuple or dictionary holds is a chain of
 *      cells in a second pool. Every opcode adds at most one value, and every value enters at most one chain each time
 *      it is taken from the stack, so both pools are bounded by the size of the file.
 *   2. A number in the memo must be below the size of the file, so the memo is, too.
 *   3. Nothing here recurses: values may form cycles, and readers only follow the few steps they expect.
 *   4. A value can be referred to many times, so who copies out of a pickle bounds what is copied.
 */
#ifndef SFU_PICKLE_H
#define SFU_PICKLE_H

#include "arrays.h"

typedef enum sfu__object_kind {
    SFU__OBJECT_NONE,
    SFU__OBJECT_INT,   /* and True, False */
    SFU__OBJECT_BYTES, /* Python 2's str, Python 3's bytes */
    SFU__OBJECT_TEXT,  /* unicode, as UTF-8 */
    SFU__OBJECT_TUPLE,
    SFU__OBJECT_LIST,
    SFU__OBJECT_DICT, /* items: key, value, key, value, ... */
    SFU__OBJECT_GLOBAL,
    SFU__OBJECT_DTYPE,
    SFU__OBJECT_ARRAY,
    SFU__OBJECT_CSR,
    SFU__OBJECT_KINDS
} sfu__object_kind;

typedef struct sfu__object {
    sfu__object_kind kind;
    size_t byte; /* where in the file it was made, for messages */
    union {
        int64_t integer;
        int global;
        struct {
            const char *bytes;
            size_t size;
        } text;
        struct {
            uint32_t first, last, count; /* cells; 0: none */
        } items;
        struct {
            uint32_t arguments, state; /* values; 0: none */
        } object;
    } as;
} sfu__object;

typedef struct sfu__pickle sfu__pickle;

/* Runs the whole pickle. `bytes` and `path` must outlive it. */
SFU_CHECKED sfu_status sfu__pickle_read(sfu__pickle **pickle, const void *bytes, size_t size, const char *path);
void sfu__pickle_free(sfu__pickle *pickle);
const sfu__object *sfu__pickle_root(const sfu__pickle *pickle);
size_t sfu__pickle_size(const sfu__pickle *pickle);
const char *sfu__pickle_path(const sfu__pickle *pickle);

/* A value by its number. */
const sfu__object *sfu__pickle_value(const sfu__pickle *pickle, uint32_t value);

/* The items of a tuple, list or dictionary one after the other: starts at value->as.items.first, NULL at the end. */
const sfu__object *sfu__pickle_next(const sfu__pickle *pickle, uint32_t *cell);

/* "PATH: byte N: it is a list where a dictionary is needed". */
SFU_CHECKED sfu_status sfu__pickle_need(const sfu__pickle *pickle, const sfu__object *value, sfu__object_kind kind);
sfu_status sfu__pickle_fail(const sfu__pickle *pickle, const sfu__object *value, const char *what);

/* ---- pickle_arrays.c: what values mean -------------------------------------------------------------------------- */

/* An array or a sparse matrix. A dense one borrows its data from the pickle. */
SFU_CHECKED sfu_status sfu__pickle_table(sfu__table *table, const sfu__pickle *pickle, const sfu__object *value);

/* The texts of a list, of an array of objects, or of a dictionary from 0, 1, ... (in any order) to texts; also of an
 * array that holds just such a dictionary. */
SFU_CHECKED sfu_status sfu__pickle_strings(sfu__strings *strings, const sfu__pickle *pickle);

#endif
