/* memory_limit.h - builds a dataset within a limit of anonymous memory.
 *
 * The limit holds for the process: its allocations (memory.h), and a reserve for the program itself and the stacks of
 * its threads. Arrays in scratch files and mapped files are page cache and do not count.
 */
#ifndef SFU_MEMORY_LIMIT_H
#define SFU_MEMORY_LIMIT_H

#include "raw.h"

/* Starts the limit, unless `memory` is 0: fewer threads if their stacks would take too much of it, and large arrays of
 * `raw` in the folder `scratch` (NULL: the current one). */
SFU_CHECKED sfu_status sfu__limit_start(sfu__raw *raw, uint64_t memory, const char *scratch, int *threads);

/* The bytes that sorting edges may take now. */
int64_t sfu__limit_left(void);

/* Ends it. If `status` is SFU_ERR_MEMORY, the message becomes what `doing` ("the import") would need: `lacking` bytes
 * more, or, if that is 0, more than the limit. Returns `status`. */
sfu_status sfu__limit_end(sfu_status status, uint64_t memory, const char *doing, int64_t lacking);

#endif
