/* process_memory.h - the memory of this process. */
#ifndef SFU_PROCESS_MEMORY_H
#define SFU_PROCESS_MEMORY_H

#include <stdint.h>

/* Bytes of private writable memory that this process has reserved, in use or not: what RLIMIT_DATA limits. Mapped files
 * do not count. 0 if unknown. */
int64_t sfu__process_memory(void);

#endif
