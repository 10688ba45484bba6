/* http.h - one request for a file, or for the rest of one. The only door to libcurl, which is loaded when first used.
 */
#ifndef SFU_HTTP_H
#define SFU_HTTP_H

#include "status.h"

/* Keeps the connection between requests. For one thread at a time. */
typedef struct sfu__http sfu__http;

/* SFU_ERR_UNSUPPORTED where there is no libcurl. */
SFU_CHECKED sfu_status sfu__http_new(sfu__http **http);
void sfu__http_free(sfu__http *http);

/* Where the bytes go. What a function here returns other than SFU_OK stops the request and is returned by it. */
typedef struct sfu__http_sink {
    sfu_status (*start)(void *user, int64_t offset); /* once before the first bytes: where in the file they belong */
    sfu_status (*take)(void *user, const char *bytes, size_t size);
    sfu_status (*tick)(void *user); /* now and then, also while nothing comes */
    void *user;
} sfu__http_sink;

typedef struct sfu__http_request {
    const char *url;
    bool plain;   /* http is accepted beside https, here and in redirects */
    int64_t from; /* the first byte wanted; a server may still start at 0 */
    int connect_seconds, stall_seconds;
} sfu__http_request;

typedef enum sfu__http_outcome {
    SFU__HTTP_WHOLE,   /* all that the server wanted to send has come */
    SFU__HTTP_CUT,     /* bytes came, then it broke off */
    SFU__HTTP_NOTHING, /* no connection, no such file, an error at the server */
} sfu__http_outcome;

typedef struct sfu__http_answer {
    sfu__http_outcome outcome;
    long code;        /* of HTTP, 0 where it did not come to that */
    char reason[160]; /* why it is not whole; printable */
} sfu__http_answer;

/* Fails only where the sink does; what the network did is in the answer. */
SFU_CHECKED sfu_status sfu__http_get(sfu__http_answer *answer, sfu__http *http, const sfu__http_request *request,
                                     const sfu__http_sink *sink);

#endif
