/* pieces.h - several small files in one input: for each a byte that identifies it, its size in two bytes, and its
 * bytes. And a zip file of such pieces, uncompressed, with correct checksums, so that a fuzzer gets past libzip. */
#ifndef SFU_PIECES_H
#define SFU_PIECES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

typedef struct piece {
    unsigned which;
    const uint8_t *bytes;
    size_t size;
} piece;

/* Takes the next piece off the input; a piece that claims too much gets the rest. */
static inline int next_piece(piece *taken, const uint8_t **bytes, size_t *size) {
    if (*size < 3) {
        return 0;
    }
    const size_t announced = (size_t)(*bytes)[1] | (size_t)(*bytes)[2] << 8;
    *taken = (piece){(*bytes)[0], *bytes + 3, announced < *size - 3 ? announced : *size - 3};
    *bytes += 3 + taken->size;
    *size -= 3 + taken->size;
    return 1;
}

static inline uint8_t *put_number(uint8_t *out, uint32_t number, int width) {
    for (int i = 0; i < width; i++) {
        *out++ = (uint8_t)(number >> (8 * i));
    }
    return out;
}

/* Fields common to the local header and the central directory. */
static inline uint8_t *put_facts(uint8_t *out, const piece *one, size_t name_size) {
    out = put_number(out, 20, 2); /* version */
    out = put_number(out, 0, 4);  /* flags, stored */
    out = put_number(out, 0x00210000, 4);
    out = put_number(out, (uint32_t)crc32(0, one->bytes, (uInt)one->size), 4);
    out = put_number(out, (uint32_t)one->size, 4);
    out = put_number(out, (uint32_t)one->size, 4);
    out = put_number(out, (uint32_t)name_size, 2);
    return put_number(out, 0, 2);
}

/* A zip file of `count` pieces, piece i named names[which] + ".npy". Free it. */
static inline uint8_t *zip_pieces(size_t *size, const piece *pieces, int count, const char *const *names) {
    enum { A_PIECE = 256 };
    size_t room = A_PIECE;
    for (int i = 0; i < count; i++) {
        room += pieces[i].size + A_PIECE;
    }
    uint8_t *zip = malloc(room);
    uint8_t *directory = malloc(room);
    if (zip == NULL || directory == NULL) {
        abort();
    }
    uint8_t *out = zip;
    uint8_t *entry = directory;
    for (int i = 0; i < count; i++) {
        char name[64];
        const size_t name_size = (size_t)snprintf(name, sizeof name, "%s.npy", names[pieces[i].which]);
        const uint32_t offset = (uint32_t)(out - zip);
        out = put_number(out, 0x04034b50, 4);
        out = put_facts(out, &pieces[i], name_size);
        memcpy(out, name, name_size);
        memcpy(out + name_size, pieces[i].bytes, pieces[i].size);
        out += name_size + pieces[i].size;
        entry = put_number(entry, 0x02014b50, 4);
        entry = put_number(entry, 20, 2);
        entry = put_facts(entry, &pieces[i], name_size);
        entry = put_number(entry, 0, 4); /* comment, disk */
        entry = put_number(entry, 0, 2);
        entry = put_number(entry, 0, 4);
        entry = put_number(entry, offset, 4);
        memcpy(entry, name, name_size);
        entry += name_size;
    }
    const uint32_t directory_size = (uint32_t)(entry - directory);
    const uint32_t directory_at = (uint32_t)(out - zip);
    memcpy(out, directory, directory_size);
    out += directory_size;
    out = put_number(out, 0x06054b50, 4);
    out = put_number(out, 0, 4);
    out = put_number(out, (uint32_t)count, 2);
    out = put_number(out, (uint32_t)count, 2);
    out = put_number(out, directory_size, 4);
    out = put_number(out, directory_at, 4);
    out = put_number(out, 0, 2);
    *size = (size_t)(out - zip);
    free(directory);
    return zip;
}

/* The pieces of the readers of this folder. */
static const char *const planetoid_endings[] = {".x", ".y", ".tx", ".ty", ".allx", ".ally", ".graph", ".test.index"};
static const char *const npz_names[] = {"adj_data",     "adj_indices", "adj_indptr", "adj_shape",    "attr_data",
                                        "attr_indices", "attr_indptr", "attr_shape", "attr_matrix",  "labels",
                                        "class_names",  "node_names",  "attr_names", "idx_to_class", "idx_to_node"};
static const char *const platonov_names[] = {"edges",       "node_features", "node_labels",
                                             "train_masks", "val_masks",     "test_masks"};
static const char *const scipy_names[] = {"format", "shape", "data", "indices", "indptr", "row", "col"};
enum { PLANETOID_FILES = 8, NPZ_NAMES = 15, PLATONOV_NAMES = 6, SCIPY_NAMES = 7, SCIPY_LABELS = 100 };

#endif
