/* table_read.h - reads a table of nodes, one row per node, into cells (table_cells.h).
 *
 * Two paths give the same cells. The fast path (table_fast.c) parses blocks of an uncompressed file without quotes in
 * parallel; the general one reads any CSV file row by row, and reports the errors.
 */
#ifndef SFU_TABLE_READ_H
#define SFU_TABLE_READ_H

#include "table_cells.h"
#include "csv_tables.h"

/* An open file, and what is read from it. */
typedef struct sfu__table_scan {
    sfu__csv *csv;
    int64_t offset;     /* of the first row of data */
    size_t id, label;   /* columns; label >= csv->width: none */
    const char *hint;   /* ends the message about a node with two rows */
    bool row_read;      /* the first row of data is the current one of `csv`, */
    bool more;          /* if there is one */
    bool features_file; /* not the file of the nodes */
    sfu__cell_rules *rules;
    sfu__cells cells; /* out; the columns of node ids and labels are skipped */
    int32_t *nodes;   /* out: the node of each row */
    size_t capacity;  /* of `nodes` */
} sfu__table_scan;

/* Reads a table: assigns its columns to the transformation, which is fitted unless it was given. Of `scan`, what comes
 * before `rules` is given. */
SFU_CHECKED sfu_status sfu__csv_table(sfu__tables *tables, sfu__table_scan *scan);

/* Reads the nodes, labels and cells of all rows. Which columns are skipped or exact is given in `cells`. */
SFU_CHECKED sfu_status sfu__table_read(sfu__tables *tables, sfu__table_scan *scan);
void sfu__table_scan_clear(sfu__table_scan *scan);

/* The fast path. *done is false if the general path must read the file; nodes may have been added then, but only those
 * that the general path adds, too. */
SFU_CHECKED sfu_status sfu__table_fast(sfu__tables *tables, sfu__table_scan *scan, bool *done);

/* The line of a row of data, by reading the file again; 0 if it cannot be read twice. */
int64_t sfu__table_line(const sfu__table_scan *scan, int64_t row);

#endif
