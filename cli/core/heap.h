/* heap.h - the heap of a command with a memory limit. */
#ifndef SFU_HEAP_H
#define SFU_HEAP_H

/* From now on, large blocks that are freed go back to the system at once, so that freed memory does not count. */
void heap_return_freed(void);

#endif
