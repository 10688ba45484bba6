/* fetch.h - downloads a file with a known SHA-256 from the first mirror that has it.
 *
 * 1. Bytes are written to FILE.part, which is renamed to FILE only after the SHA-256 matched. 2. Bytes received before
 * a connection broke stay in FILE.part, and the next request, to any mirror, resumes there. 3. A FILE.part that is
 * known to be wrong, or that could not be written, is removed. 4. No more bytes than the size of the file are accepted.
 */
#ifndef SFU_FETCH_H
#define SFU_FETCH_H

#include "catalogue.h"
#include "http.h"
#include "progress.h"

/* Initialized by sfu__fetch_init; then the caller sets the fields it needs. */
typedef struct sfu__fetch {
    const sfu__mirror *mirrors; /* borrowed; tried in this order, starting with the last one that worked */
    size_t mirror_count;
    int connect_seconds, stall_seconds;
    sfu__ticker ticker; /* counts bytes */
    double bytes_done;  /* bytes of the files fetched before */
    bool unreachable;   /* out: the mirrors failed, so another source may still succeed */

    size_t first; /* the mirror to start with */
    sfu__http *http;
} sfu__fetch;

void sfu__fetch_init(sfu__fetch *fetch, const sfu__mirror *mirrors, size_t mirror_count);
void sfu__fetch_clear(sfu__fetch *fetch);

/* Downloads a file into a folder. Returns at once if it exists. */
SFU_CHECKED sfu_status sfu__fetch_file(sfu__fetch *fetch, const char *folder, const sfu__pinned_file *file);

/* Whether the file has the expected digest. A wrong file is removed. */
SFU_CHECKED sfu_status sfu__pinned_file_check(bool *right, const char *path, const sfu__pinned_file *file);

#endif
