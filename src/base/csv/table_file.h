/* table_file.h - reads and writes the CSV tables of a results folder: one row per struct, one column per field. */
#ifndef SFU_TABLE_FILE_H
#define SFU_TABLE_FILE_H

#include "csv.h"
#include "csv_write.h"
#include "json.h"

typedef enum sfu__column_type {
    SFU__COLUMN_TEXT,   /* char[] */
    SFU__COLUMN_WHOLE,  /* int32_t, non-negative */
    SFU__COLUMN_LONG,   /* int64_t, non-negative */
    SFU__COLUMN_NUMBER, /* double; empty: NaN */
    SFU__COLUMN_SWITCH  /* bool, as 0 or 1 */
} sfu__column_type;

typedef struct sfu__table_column {
    const char *name;
    sfu__column_type type;
    size_t field, size; /* offset in the struct, and size */
} sfu__table_column;

#define SFU__COLUMN(row, name, type, field)                                                                            \
    { name, type, offsetof(row, field), sizeof((row *)0)->field }

typedef struct sfu__table_file {
    const char *file;
    const sfu__table_column *columns;
    size_t count;
    size_t optional; /* the last columns, all of which a file may lack; they are then unchanged in the row */
} sfu__table_file;

/* Writes FOLDER/FILE atomically. Starts as {0}; call sfu__table_file_close also after a failure. */
typedef struct sfu__table_file_writer {
    const sfu__table_file *table_file;
    sfu__writer *out;
    sfu__text number; /* scratch */
} sfu__table_file_writer;

SFU_CHECKED sfu_status sfu__table_file_open(sfu__table_file_writer *writer, const sfu__table_file *table_file,
                                            const char *folder);
SFU_CHECKED sfu_status sfu__table_file_put(sfu__table_file_writer *writer, const void *row);
SFU_CHECKED sfu_status sfu__table_file_commit(sfu__table_file_writer *writer);
void sfu__table_file_close(sfu__table_file_writer *writer);

/* Calls `take` with each row of the file, read into `row`, whose other fields are unchanged. A missing file has no
 * rows; an invalid one fails with its location. `csv` allows `take` to fail with a location as well. */
typedef sfu_status (*sfu__table_row_fn)(void *user, const void *row, const sfu__csv *csv);
SFU_CHECKED sfu_status sfu__table_file_read(const sfu__table_file *table_file, const char *folder, void *row,
                                            sfu__table_row_fn take, void *user);

/* A row as a JSON array, for a database: added to a text, and read back. `place`: where the array was found. */
SFU_CHECKED sfu_status sfu__table_row_print(sfu__text *json, const sfu__table_file *table_file, const void *row);
SFU_CHECKED sfu_status sfu__table_row_read(void *row, const sfu__table_file *table_file, const sfu__json *json,
                                           const char *place);

#endif
