/* lazy.h - libraries that few runs need are loaded when first used: libcurl and libmatio bring dozens of others with
 * them, which cost every start several milliseconds. */
#ifndef SFU_LAZY_H
#define SFU_LAZY_H

#include "status.h"

/* A function of the library and the place for its address. */
typedef struct sfu__symbol {
    const char *name;
    void *place; /* the address of a function pointer */
} sfu__symbol;

/* Loads `library` (its soname, as found when the project was built) and fills in all `symbols`, the last of which has
 * a NULL name. SFU_ERR_UNSUPPORTED with a line that says `purpose` needs it where it is not installed. Not undone. */
SFU_CHECKED sfu_status sfu__lazy_load(const char *library, const char *purpose, const sfu__symbol *symbols);

#endif
