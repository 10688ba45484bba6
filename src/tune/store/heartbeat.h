/* heartbeat.h - worker identity and liveness: ids of workers, and whether the process of an id has certainly ended. */
#ifndef SFU_HEARTBEAT_H
#define SFU_HEARTBEAT_H

#include <stdbool.h>

enum { SFU__WORKER_ID = 160 };

/* HOST/BOOT/NAMESPACE/PID/START/UNIQUE of this process, printable and without blanks; different at each call. A part
 * that this system does not provide is empty. */
void sfu__worker_here(char id[SFU__WORKER_ID]);

/* True only if the id has this host, boot and pid namespace, and its process has ended: then there is no need to wait
 * for its heartbeat to expire. A rebooted host cannot be distinguished from another one of the same name. */
bool sfu__worker_is_gone(const char *id);

#endif
