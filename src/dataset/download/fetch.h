/* fetch.h - a pinned file from the first mirror that gives it.
 *
 * 1. The bytes go to FILE.part and become FILE only after their SHA-256 was right. 2. What came before a connection
 * broke stays in FILE.part, and the next request, of whichever mirror, asks for the rest only. 3. A FILE.part that is
 * known to be wrong is removed, and so is one that could not be written. 4. No more bytes are taken than the file has.
 */
#ifndef SFU_FETCH_H
#define SFU_FETCH_H

#include "catalogue.h"
#include "http.h"
#include "progress.h"

/* Starts with sfu__fetch_init; then the caller sets what it likes. */
typedef struct sfu__fetch {
    const sfu__mirror *mirrors; /* borrowed, tried in this order, the last one that worked first */
    size_t mirror_count;
    int connect_seconds, stall_seconds;
    sfu__ticker ticker; /* counts bytes */
    double bytes_done;  /* of the files before */
    bool unreachable;   /* out: it failed because of the mirrors, so that another way may still succeed */

    size_t first; /* the mirror to begin with */
    sfu__http *http;
} sfu__fetch;

void sfu__fetch_init(sfu__fetch *fetch, const sfu__mirror *mirrors, size_t mirror_count);
void sfu__fetch_clear(sfu__fetch *fetch);

/* Brings a file into a folder. Returns at once where it is there already. */
SFU_CHECKED sfu_status sfu__fetch_file(sfu__fetch *fetch, const char *folder, const sfu__pinned_file *file);

/* Whether the file of that path is the pinned one. One that is not is removed. */
SFU_CHECKED sfu_status sfu__pinned_file_check(bool *right, const char *path, const sfu__pinned_file *file);

#endif
