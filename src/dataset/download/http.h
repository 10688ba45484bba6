/* http.h - requests a file, or the rest of one, over HTTP. The only interface to libcurl, which is loaded on first use.
 */
#ifndef SFU_HTTP_H
#define SFU_HTTP_H

#include "status.h"

/* Keeps connections open between requests. Not thread-safe. */
typedef struct sfu__http sfu__http;

/* SFU_ERR_UNSUPPORTED if libcurl is not available. */
SFU_CHECKED sfu_status sfu__http_new(sfu__http **http);
void sfu__http_free(sfu__http *http);

/* Receives the bytes. If a callback returns anything but SFU_OK, the request stops and returns it. */
typedef struct sfu__http_sink {
    sfu_status (*start)(void *user, int64_t offset); /* once before the first bytes: their offset in the file */
    sfu_status (*take)(void *user, const char *bytes, size_t size);
    sfu_status (*tick)(void *user); /* periodically, also while no bytes arrive */
    void *user;
} sfu__http_sink;

typedef struct sfu__http_request {
    const char *url;
    bool plain;   /* http is accepted as well as https, also in redirects */
    int64_t from; /* the first byte requested; a server may still start at 0 */
    int connect_seconds, stall_seconds;
} sfu__http_request;

typedef enum sfu__http_outcome {
    SFU__HTTP_WHOLE,   /* the response is complete */
    SFU__HTTP_CUT,     /* the connection broke after some bytes */
    SFU__HTTP_NOTHING, /* no connection, no such file, a server error */
} sfu__http_outcome;

typedef struct sfu__http_answer {
    sfu__http_outcome outcome;
    long code;        /* HTTP status, 0 if there was no response */
    char reason[160]; /* why it is incomplete; printable */
} sfu__http_answer;

/* Fails only if the sink does; network errors are reported in the answer. */
SFU_CHECKED sfu_status sfu__http_get(sfu__http_answer *answer, sfu__http *http, const sfu__http_request *request,
                                     const sfu__http_sink *sink);

#endif
