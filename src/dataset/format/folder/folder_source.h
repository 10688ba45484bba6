/* folder_source.h - what the readers of published folders share: the files of a folder, and the CSV tables they are
 * read into.
 *
 * A published layout is a fixed set of files. The options header, source_column, ... are about files of the user and do
 * not concern it; how the data is processed afterwards does.
 */
#ifndef SFU_FOLDER_SOURCE_H
#define SFU_FOLDER_SOURCE_H

#include "csv_tables.h"
#include "string_list.h"

/* Starts with sfu__folder_start. */
typedef struct sfu__folder_source {
    sfu__tables tables;
    sfu_import_options options; /* of `tables` */
    sfu__string_list paths;     /* messages and tables refer to them */
} sfu__folder_source;

/* Fails if an option names a file that the folder has, too. Call sfu__folder_clear also then. */
SFU_CHECKED sfu_status sfu__folder_start(sfu__folder_source *self, sfu__raw *raw, const sfu_import_options *options,
                                         sfu_header header);
void sfu__folder_clear(sfu__folder_source *self);

/* The path of FOLDER/NAME or FOLDER/NAME.gz, which lives as long as the source. If there is neither: SFU_ERR_NOT_FOUND,
 * or NULL if the file is optional. */
SFU_CHECKED sfu_status sfu__folder_path(const char **path, sfu__folder_source *self, const char *folder,
                                        const char *name, bool required);

/* Whether there is a FOLDER/NAME or FOLDER/NAME.gz. */
bool sfu__folder_has(const char *folder, const char *name);

/* The entries of a folder that begin and end so, sorted: shorter names first, so that 2 is before 10. None if there is
 * no such folder. */
SFU_CHECKED sfu_status sfu__folder_list(sfu__string_list *names, const char *folder, const char *begin,
                                        const char *end);

/* Opens a CSV file of which each row is a node, in order; fails unless it has `rows` rows afterwards. */
typedef sfu_status (*sfu__folder_row)(sfu__folder_source *self, const sfu__csv *csv, int64_t node);
SFU_CHECKED sfu_status sfu__folder_rows(sfu__folder_source *self, const char *path, sfu__folder_row row, int64_t rows);

#endif
