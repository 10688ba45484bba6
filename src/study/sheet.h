/* sheet.h - the CSV files of a folder of results: a row a struct, a column a field of it.
 */
#ifndef SFU_SHEET_H
#define SFU_SHEET_H

#include "csv.h"
#include "csv_write.h"

typedef enum sfu__column_type {
    SFU__COLUMN_TEXT,   /* char[] */
    SFU__COLUMN_WHOLE,  /* int32_t, from 0 on */
    SFU__COLUMN_LONG,   /* int64_t, from 0 on */
    SFU__COLUMN_NUMBER, /* double; empty: NaN */
    SFU__COLUMN_SWITCH  /* bool, as 0 or 1 */
} sfu__column_type;

typedef struct sfu__column {
    const char *name;
    sfu__column_type type;
    size_t field, size; /* where in the row, and how large */
} sfu__column;

#define SFU__COLUMN(row, name, type, field)                                                                            \
    { name, type, offsetof(row, field), sizeof((row *)0)->field }

typedef struct sfu__sheet {
    const char *file;
    const sfu__column *columns;
    size_t count;
} sfu__sheet;

/* FOLDER/FILE, written whole or not at all. Starts as {0}; sfu__sheet_close also after a failure. */
typedef struct sfu__sheet_writer {
    const sfu__sheet *sheet;
    sfu__writer *out;
    sfu__text number; /* scratch */
} sfu__sheet_writer;

SFU_CHECKED sfu_status sfu__sheet_open(sfu__sheet_writer *writer, const sfu__sheet *sheet, const char *folder);
SFU_CHECKED sfu_status sfu__sheet_put(sfu__sheet_writer *writer, const void *row);
SFU_CHECKED sfu_status sfu__sheet_commit(sfu__sheet_writer *writer);
void sfu__sheet_close(sfu__sheet_writer *writer);

/* Calls `take` with each row of the file, read into `row`, whose other fields stay as they are. A file that is not
 * there has none; a broken one gets a line with its place, and `csv` is there for `take` to say more of that kind. */
typedef sfu_status (*sfu__sheet_fn)(void *user, const void *row, const sfu__csv *csv);
SFU_CHECKED sfu_status sfu__sheet_read(const sfu__sheet *sheet, const char *folder, void *row, sfu__sheet_fn take,
                                       void *user);

#endif
