/* mapped.h - which files are mapped, and where: a file that is cut short while it is mapped ends in a SIGBUS, and the
 * program that handles it wants to name the file (sfu_mapped_file). */
#ifndef SFU_MAPPED_H
#define SFU_MAPPED_H

#include "status.h"

/* Notes that the file `path` is mapped at [begin, begin + size); and that it no longer is. */
void sfu__mapped_add(const void *begin, size_t size, const char *path);
void sfu__mapped_remove(const void *begin);

#endif
