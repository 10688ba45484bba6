/* process_memory.h - the memory of this process. */
#ifndef SFU_PROCESS_MEMORY_H
#define SFU_PROCESS_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* Whether only what this library has allocated counts. A sanitizer reserves terabytes for itself; tests set it in an
 * emulator, which reserves more while it runs. */
extern bool sfu__process_memory_own;

/* Bytes of private memory of this process: what this library has allocated now, and what the process had reserved, as
 * RLIMIT_DATA counts it, before the first allocation. So the same calls find the same number. Memory that others have
 * written since is added in steps of 64 MiB, which stacks do not fill. Holes in the heap and mapped files do not
 * count. */
int64_t sfu__process_memory(void);

/* Notes what the process has before the first allocation; later calls do nothing. */
void sfu__process_memory_start(void);

#endif
