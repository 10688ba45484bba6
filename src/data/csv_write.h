/* csv_write.h - CSV going out, so that csv.h reads the same back: fields quoted as RFC 4180 has it, where needed. */
#ifndef SFU_CSV_WRITE_H
#define SFU_CSV_WRITE_H

#include "dataset.h"
#include "file.h"

/* Writes one field: in quotes where it is empty, holds a separator, quote or line end, begins or ends with a blank, or
 * begins as a comment does. */
SFU_CHECKED sfu_status sfu__csv_put(sfu__writer *writer, const char *bytes, size_t size);

/* The name of a node as a field; its number where it has none. The names must have been checked. */
SFU_CHECKED sfu_status sfu__csv_put_node(sfu__writer *writer, const sfu_dataset *dataset, int32_t node);

#endif
