/* lazy.h - loads optional libraries on first use: libcurl and libmatio depend on dozens of others, which would cost
 * every start several milliseconds. */
#ifndef SFU_LAZY_H
#define SFU_LAZY_H

#include "status.h"

/* A function of the library and the variable for its address. */
typedef struct sfu__symbol {
    const char *name;
    void *place; /* address of a function pointer */
} sfu__symbol;

/* Loads `library` (its soname, as found at build time) and fills in all `symbols`, terminated by a NULL name.
 * SFU_ERR_UNSUPPORTED, with a message that `purpose` needs it, if it is not installed. Never unloaded. */
SFU_CHECKED sfu_status sfu__lazy_load(const char *library, const char *purpose, const sfu__symbol *symbols);

/* The same for a caller that writes its own message: NULL if all is loaded; otherwise the reason, valid until the next
 * call on this thread, and *library_found tells whether only a function is missing, whose name the reason is then. */
const char *sfu__lazy_find(const char *library, const sfu__symbol *symbols, bool *library_found);

#endif
