#include "heap.h"

#include <malloc.h>

/* glibc otherwise raises the size from which blocks are mapped, up to 32 MiB, whenever one is freed. */
void heap_return_freed(void) { mallopt(M_MMAP_THRESHOLD, 4 << 20); }
