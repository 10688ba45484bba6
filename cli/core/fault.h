/* fault.h - a mapped dataset that is truncated while in use (SIGBUS): an error message and exit status 1, no crash. */
#ifndef SFU_FAULT_H
#define SFU_FAULT_H

/* At the start of the program. */
void fault_guard(void);

#endif
