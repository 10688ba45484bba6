/* table_read.c - reads a table of nodes row by row; see table_read.h. */
#include "table_read.h"

void sfu__table_scan_clear(sfu__table_scan *scan) {
    sfu__cells_clear(&scan->cells);
    sfu__free(scan->nodes);
    scan->nodes = NULL;
}

static sfu_status add_row(sfu__tables *tables, sfu__table_scan *scan, sfu__seen *seen) {
    sfu_status status = SFU_OK;
    const sfu__csv *csv = scan->csv;
    const int64_t row = scan->cells.rows;
    int64_t node;
    SFU_TRY(sfu__tables_node(tables, csv, scan->id, &node));
    SFU_TRY(sfu__seen_add(seen, csv, node, scan->hint));
    int32_t *nodes = sfu__grow(scan->nodes, &scan->capacity, (size_t)row + 1, sizeof *nodes);
    if (nodes == NULL) {
        return SFU_ERR_MEMORY;
    }
    scan->nodes = nodes;
    nodes[row] = (int32_t)node;
    for (size_t i = 0; i < csv->width; i++) {
        if (!scan->cells.columns[i].skipped) {
            SFU_TRY(sfu__cell_column_add(&scan->cells.columns[i], row, scan->rules, csv->fields[i].bytes,
                                         csv->fields[i].size));
        }
    }
    if (scan->label < csv->width) {
        SFU_TRY(sfu__tables_label(tables, csv, node, scan->label));
    }
    scan->cells.rows++;
done:
    return status;
}

static sfu_status read_rows(sfu__tables *tables, sfu__table_scan *scan) {
    sfu_status status = SFU_OK;
    sfu__seen seen = {.column = scan->id};
    bool more = scan->more;
    if (!scan->row_read) {
        SFU_TRY(sfu__csv_next(scan->csv, &more));
    }
    while (more) {
        SFU_TRY(add_row(tables, scan, &seen));
        SFU_TRY(sfu__csv_next(scan->csv, &more));
    }
done:
    sfu__free(seen.lines);
    return status;
}

sfu_status sfu__table_read(sfu__tables *tables, sfu__table_scan *scan) {
    sfu_status status = SFU_OK;
    bool done = false;
    SFU_TRY(sfu__table_fast(tables, scan, &done));
    if (!done) {
        SFU_TRY(read_rows(tables, scan));
    }
done:
    return status;
}

int64_t sfu__table_line(const sfu__table_scan *scan, int64_t row) {
    sfu__csv again = {0};
    bool more = true;
    int64_t line = 0;
    if (sfu__path_is_pipe(scan->csv->path)) {
        return 0;
    }
    sfu__csv_rules rules = scan->csv->rules;
    rules.progress = NULL;
    sfu_status status = sfu__csv_open(&again, scan->csv->path, &rules);
    for (int64_t i = 0; status == SFU_OK && more && i <= row; i++) {
        status = sfu__csv_next(&again, &more);
        line = status == SFU_OK && more ? again.line : 0;
    }
    sfu__csv_close(&again);
    return line;
}
