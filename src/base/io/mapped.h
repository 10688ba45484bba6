/* mapped.h - registry of memory-mapped files: if a file is truncated while it is mapped, access raises SIGBUS, and the
 * program that handles it wants to name the file (sfu_mapped_file). */
#ifndef SFU_MAPPED_H
#define SFU_MAPPED_H

#include "status.h"

/* Registers that the file `path` is mapped at [begin, begin + size); and unregisters it. */
void sfu__mapped_add(const void *begin, size_t size, const char *path);
void sfu__mapped_remove(const void *begin);

#endif
