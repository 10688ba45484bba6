/* heartbeat.h - who a worker is, and whether it surely is no more. */
#ifndef SFU_HEARTBEAT_H
#define SFU_HEARTBEAT_H

#include <stdbool.h>

enum { SFU__WORKER_ID = 160 };

/* HOST/BOOT/NAMESPACE/PID/START/UNIQUE of this process, printable and without blanks; another one at each call. A part
 * that this system does not tell is empty. */
void sfu__worker_here(char id[SFU__WORKER_ID]);

/* True only where the id is of this host, since it was booted, and of this namespace of processes, and that process has
 * ended: then nobody needs to wait for a heartbeat. A host that was booted again is not told from another one of the
 * same name. */
bool sfu__worker_is_gone(const char *id);

#endif
