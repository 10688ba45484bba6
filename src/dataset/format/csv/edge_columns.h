/* edge_columns.h - which columns of an edge list are the two nodes and the weight. */
#ifndef SFU_EDGE_COLUMNS_H
#define SFU_EDGE_COLUMNS_H

#include "csv.h"

typedef struct sfu__edge_columns {
    size_t source, target, weight;
    bool weighted;
} sfu__edge_columns;

/* The columns that the options name, or those that the header names, or the first two and an optional third. If the
 * file can be read in two ways, it is SFU_ERR_FORMAT with a message that shows both. Columns that are not read are
 * reported in a note. The file stays before its first row. */
SFU_CHECKED sfu_status sfu__edge_columns_find(sfu__edge_columns *columns, sfu__csv *csv,
                                              const sfu_import_options *options);

/* Whether the two nodes are beside each other in this order, with only the weight before or after them. */
bool sfu__edge_columns_plain(const sfu__edge_columns *columns, const sfu__csv *csv);

#endif
