/* frugal.h - settings of the process for commands with a memory limit: when the option is read. */
#ifndef SFU_FRUGAL_H
#define SFU_FRUGAL_H

/* From now on, large blocks that are freed go back to the system at once, and threads have small stacks and share few
 * heaps: memory that nobody uses does not count. */
void frugal_start(void);

#endif
