/* pickle.h - reads Python pickles of arrays, sparse matrices, dictionaries, lists, text and integers.
 *
 * A pickle is a program for a stack machine that can call any Python function. This machine is restricted: it supports
 * the opcodes that such files use (protocols 0 to 4) and a short list of globals, none of which is called; they only
 * identify the type of the values around them. Anything else is rejected by name.
 *
 *   1. Values are stored in one pool and refer to each other by index; the items of a list, tuple or dictionary are a
 *      linked list of cells in a second pool. Every opcode adds at most one value, and every value enters at most one
 *      list each time it is popped from the stack, so both pools are bounded by the size of the file.
 *   2. A memo index must be below the size of the file, so the memo is bounded, too.
 *   3. Nothing recurses: values may form cycles, and readers only follow the few steps they expect.
 *   4. A value can be referenced many times, so code that copies values out of a pickle bounds what it copies.
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
    size_t byte; /* file offset of the opcode that created it, for messages */
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

/* Executes the whole pickle. `bytes` and `path` must outlive it. */
SFU_CHECKED sfu_status sfu__pickle_read(sfu__pickle **pickle, const void *bytes, size_t size, const char *path);
void sfu__pickle_free(sfu__pickle *pickle);
const sfu__object *sfu__pickle_root(const sfu__pickle *pickle);
size_t sfu__pickle_size(const sfu__pickle *pickle);
const char *sfu__pickle_path(const sfu__pickle *pickle);

/* A value by its index. */
const sfu__object *sfu__pickle_value(const sfu__pickle *pickle, uint32_t value);

/* Iterates over the items of a tuple, list or dictionary: *cell starts at value->as.items.first; NULL at the end. */
const sfu__object *sfu__pickle_next(const sfu__pickle *pickle, uint32_t *cell);

/* Fails with "PATH: byte N: a list where a dictionary is needed" unless the value has the kind. */
SFU_CHECKED sfu_status sfu__pickle_need(const sfu__pickle *pickle, const sfu__object *value, sfu__object_kind kind);
sfu_status sfu__pickle_fail(const sfu__pickle *pickle, const sfu__object *value, const char *what);

/* ---- pickle_arrays.c: conversion of values ---------------------------------------------------------------------- */

/* An array or a sparse matrix. A dense array borrows its data from the pickle. */
SFU_CHECKED sfu_status sfu__pickle_table(sfu__table *table, const sfu__pickle *pickle, const sfu__object *value);

/* The strings of a list, of an array of objects, or of a dictionary with the keys 0, 1, ... (in any order); also of an
 * array that holds just such a dictionary. */
SFU_CHECKED sfu_status sfu__pickle_strings(sfu__strings *strings, const sfu__pickle *pickle);

#endif
