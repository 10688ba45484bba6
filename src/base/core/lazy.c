/* lazy.c - loads a shared library and resolves its symbols. */
#include "lazy.h"

#include <dlfcn.h>
#include <string.h>

const char *sfu__lazy_find(const char *library, const sfu__symbol *symbols, bool *library_found) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    *library_found = handle != NULL;
    if (handle == NULL) {
        return dlerror();
    }
    for (const sfu__symbol *symbol = symbols; symbol->name != NULL; symbol++) {
        void *address = dlsym(handle, symbol->name);
        if (address == NULL) {
            dlclose(handle);
            return symbol->name;
        }
        /* C has no cast from void * to a function pointer; POSIX guarantees the same representation. */
        memcpy(symbol->place, &address, sizeof address);
    }
    return NULL;
}

sfu_status sfu__lazy_load(const char *library, const char *purpose, const sfu__symbol *symbols) {
    bool found;
    const char *reason = sfu__lazy_find(library, symbols, &found);
    if (reason != NULL && !found) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "%s needs %s, which could not be loaded: %s", purpose, library, reason);
    }
    if (reason != NULL) {
        return sfu__fail(SFU_ERR_UNSUPPORTED, "%s needs %s with the function %s, which the installed one lacks",
                         purpose, library, reason);
    }
    return SFU_OK;
}
