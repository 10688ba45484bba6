/* fault.h - a dataset that is cut short while it is mapped: one line and exit status 1, not a crash. */
#ifndef SFU_FAULT_H
#define SFU_FAULT_H

/* At the start of the program. */
void fault_guard(void);

#endif
