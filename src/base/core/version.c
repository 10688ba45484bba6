/* version.c - version and optional features of the build. */
#include "sfumato.h"

const char *sfu_version(void) { return SFU_VERSION; }

#define TEXT_OF(have) #have
#define PART(name, have, library) name " " TEXT_OF(have) " " library

const char *sfu_version_part(int i) {
    static const char *const parts[] = {
        PART("npz", SFU_HAVE_ZIP, "libzip"),
        PART("mat", SFU_HAVE_MAT, "libmatio, for .mat of version 7.3"),
        PART("https", SFU_HAVE_CURL, "libcurl"),
        PART("sqlite", SFU_HAVE_SQLITE, "SQLite, for studies in files"),
        PART("postgresql", SFU_HAVE_POSTGRES, "libpq, for studies in PostgreSQL"),
        PART("mpi", SFU_HAVE_MPI, "MPI, for trainings over several machines"),
        PART("metis", SFU_HAVE_METIS, "METIS, for ordering nodes"),
        PART("cuda", SFU_HAVE_CUDA, "CUDA, for training on NVIDIA GPUs"),
    };
    return i >= 0 && i < (int)(sizeof parts / sizeof parts[0]) ? parts[i] : 0;
}
