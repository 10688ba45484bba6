/* http_curl.c - HTTP requests through libcurl, loaded on first use; stubs if built without it. */
#include "http.h"

#include "memory.h"

#if SFU_HAVE_CURL

#include "lazy.h"
#include "text.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

/* ---- the library ---------------------------------------------------------------------------------------------- */

static struct {
    bool ready;
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    void (*reset)(CURL *curl);
    CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
    const char *(*error_text)(CURLcode code);
    void (*cleanup)(CURL *curl);
} library;

static const sfu__symbol symbols[] = {
    {"curl_global_init", &library.global_init},
    {"curl_easy_init", &library.init},
    {"curl_easy_reset", &library.reset},
    {"curl_easy_setopt", &library.setopt},
    {"curl_easy_perform", &library.perform},
    {"curl_easy_getinfo", &library.getinfo},
    {"curl_easy_strerror", &library.error_text},
    {"curl_easy_cleanup", &library.cleanup},
    {NULL, NULL},
};

static sfu_status load(void) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    sfu_status status = SFU_OK;
    pthread_mutex_lock(&lock);
    if (!library.ready) {
        status = sfu__lazy_load(SFU_CURL_SONAME, "data get over HTTPS", symbols);
        if (status == SFU_OK && library.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
            status = sfu__fail(SFU_ERR_UNSUPPORTED, "data get over HTTPS: libcurl could not be started");
        }
        library.ready = status == SFU_OK;
    }
    pthread_mutex_unlock(&lock);
    return status;
}

struct sfu__http {
    CURL *curl;
};

sfu_status sfu__http_new(sfu__http **http) {
    *http = NULL;
    sfu_status status = SFU_OK;
    sfu__http *self = NULL;
    SFU_TRY(load());
    SFU_ALLOC(self, 1);
    self->curl = library.init();
    if (self->curl == NULL) {
        status = sfu__fail(SFU_ERR_MEMORY, "out of memory: libcurl could not be started");
        goto done;
    }
    *http = self;
    self = NULL;
done:
    sfu__http_free(self);
    return status;
}

void sfu__http_free(sfu__http *http) {
    if (http != NULL) {
        if (http->curl != NULL) {
            library.cleanup(http->curl);
        }
        sfu__free(http);
    }
}

/* ---- callbacks of libcurl ------------------------------------------------------------------------------------- */

typedef struct transfer {
    CURL *curl;
    const sfu__http_request *request;
    const sfu__http_sink *sink;
    int64_t range_from; /* first byte in the Content-Range header; -1: none */
    bool started;
    sfu_status status; /* of the sink */
    char refusal[64];  /* why we aborted the transfer, or "" */
    char error[CURL_ERROR_SIZE];
} transfer;

static size_t on_header(char *bytes, size_t unit, size_t count, void *user) {
    static const char name[] = "content-range:";
    transfer *self = user;
    const size_t size = unit * count;
    char line[80];
    if (size >= 5 && memcmp(bytes, "HTTP/", 5) == 0) {
        self->range_from = -1; /* the next response after a redirect */
    } else if (size > sizeof name && size < sizeof line && strncasecmp(bytes, name, sizeof name - 1) == 0) {
        memcpy(line, bytes, size);
        line[size] = '\0';
        const char *from = strstr(line, "bytes ");
        const char *end = from != NULL ? strchr(from, '-') : NULL;
        if (end == NULL || !sfu__parse_int64(&self->range_from, from + strlen("bytes "), end)) {
            self->range_from = -1;
        }
    }
    return size;
}

/* The file offset of the first byte of the body; -1 and a refusal if the response is not usable. */
static int64_t first_byte(transfer *self) {
    long code = 0;
    library.getinfo(self->curl, CURLINFO_RESPONSE_CODE, &code);
    if (code == 200) {
        return 0;
    }
    if (code == 206 && self->range_from == self->request->from) {
        return self->range_from;
    }
    snprintf(self->refusal, sizeof self->refusal, code == 206 ? "sent another range than asked for" : "HTTP %ld", code);
    return -1;
}

static size_t on_body(char *bytes, size_t unit, size_t count, void *user) {
    transfer *self = user;
    const size_t size = unit * count;
    if (!self->started && size > 0) {
        const int64_t offset = first_byte(self);
        if (offset < 0) {
            return size + 1; /* any value but `size` aborts the transfer */
        }
        self->status = self->sink->start(self->sink->user, offset);
        self->started = self->status == SFU_OK;
    }
    if (self->status == SFU_OK) {
        self->status = self->sink->take(self->sink->user, bytes, size);
    }
    return self->status == SFU_OK ? size : size + 1;
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now) {
    transfer *self = user;
    (void)total, (void)now, (void)up_total, (void)up_now;
    if (self->status == SFU_OK) {
        self->status = self->sink->tick(self->sink->user);
    }
    return self->status != SFU_OK;
}

/* ---- a request ------------------------------------------------------------------------------------------------ */

/* Older versions know the protocols as bits only. If the library does not support the option, the request fails:
 * otherwise it could follow a redirect to any protocol. */
#if LIBCURL_VERSION_NUM >= 0x075500
static CURLcode limit_protocols(CURL *curl, bool plain) {
    const char *allowed = plain ? "http,https" : "https";
    const CURLcode code = library.setopt(curl, CURLOPT_PROTOCOLS_STR, allowed);
    return code != CURLE_OK ? code : library.setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, allowed);
}
#else
static CURLcode limit_protocols(CURL *curl, bool plain) {
    const long allowed = plain ? CURLPROTO_HTTP | CURLPROTO_HTTPS : CURLPROTO_HTTPS;
    const CURLcode code = library.setopt(curl, CURLOPT_PROTOCOLS, allowed);
    return code != CURLE_OK ? code : library.setopt(curl, CURLOPT_REDIR_PROTOCOLS, allowed);
}
#endif

static CURLcode set_up(transfer *self) {
    CURL *curl = self->curl;
    const sfu__http_request *request = self->request;
    CURLcode bad = CURLE_OK;
    char range[32];
    library.reset(curl); /* resets the options and keeps the connection */
#define SET(option, value)                                                                                             \
    if (bad == CURLE_OK) {                                                                                             \
        bad = library.setopt(curl, CURLOPT_##option, value);                                                           \
    }
    SET(URL, request->url)
    SET(USERAGENT, "sfumato/" SFU_VERSION)
    SET(NOSIGNAL, 1L) /* timeouts must not use SIGALRM, which belongs to the program */
    SET(FAILONERROR, 1L)
    SET(FOLLOWLOCATION, 1L)
    SET(MAXREDIRS, 5L)
    SET(CONNECTTIMEOUT, (long)request->connect_seconds)
    SET(LOW_SPEED_LIMIT, 100L)
    SET(LOW_SPEED_TIME, (long)request->stall_seconds)
    SET(ERRORBUFFER, self->error)
    SET(HEADERFUNCTION, on_header)
    SET(HEADERDATA, self)
    SET(WRITEFUNCTION, on_body)
    SET(WRITEDATA, self)
    SET(XFERINFOFUNCTION, on_progress)
    SET(XFERINFODATA, self)
    SET(NOPROGRESS, 0L)
    if (request->from > 0) {
        snprintf(range, sizeof range, "%lld-", (long long)request->from);
        SET(RANGE, range)
    }
    const char *authorities = getenv("SSL_CERT_FILE");
    if (authorities != NULL && *authorities != '\0') {
        SET(CAINFO, authorities)
    }
#undef SET
    return bad != CURLE_OK ? bad : limit_protocols(curl, request->plain);
}

/* Writing to a connection that the peer has closed raises SIGPIPE, which by default kills the process. The signal is
 * blocked for this thread, and a SIGPIPE raised meanwhile is consumed, unless one was pending before. */
static CURLcode perform_without_sigpipe(CURL *curl) {
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    const bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    const CURLcode code = library.perform(curl);
    if (!was_pending) {
        const struct timespec no_wait = {0, 0};
        while (sigtimedwait(&pipe_signal, NULL, &no_wait) == SIGPIPE) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

/* Copies an error text of libcurl, printable and truncated. */
static void copy_reason(char *reason, size_t size, const char *text) {
    size_t n = 0;
    for (; text[n] != '\0' && n + 1 < size; n++) {
        reason[n] = text[n] >= ' ' && text[n] < 127 ? text[n] : '?';
    }
    reason[n] = '\0';
}

static void explain(sfu__http_answer *answer, const transfer *self, CURLcode code) {
    answer->outcome = self->started ? SFU__HTTP_CUT : SFU__HTTP_NOTHING;
    if (self->refusal[0] != '\0') {
        copy_reason(answer->reason, sizeof answer->reason, self->refusal);
    } else if (code == CURLE_HTTP_RETURNED_ERROR) {
        snprintf(answer->reason, sizeof answer->reason, "HTTP %ld", answer->code);
    } else {
        const char *text = self->error[0] != '\0' ? self->error : library.error_text(code);
        copy_reason(answer->reason, sizeof answer->reason, text);
    }
}

sfu_status sfu__http_get(sfu__http_answer *answer, sfu__http *http, const sfu__http_request *request,
                         const sfu__http_sink *sink) {
    transfer self = {.curl = http->curl, .request = request, .sink = sink, .range_from = -1};
    *answer = (sfu__http_answer){.outcome = SFU__HTTP_WHOLE};
    CURLcode code = set_up(&self);
    if (code == CURLE_OK) {
        code = perform_without_sigpipe(self.curl);
        library.getinfo(self.curl, CURLINFO_RESPONSE_CODE, &answer->code);
    }
    if (self.status == SFU_OK && code != CURLE_OK) {
        explain(answer, &self, code);
    }
    return self.status;
}

#else

sfu_status sfu__http_new(sfu__http **http) {
    *http = NULL;
    return sfu__fail(SFU_ERR_UNSUPPORTED, "data get over HTTPS needs libcurl, which this build was made without");
}

void sfu__http_free(sfu__http *http) { (void)http; }

sfu_status sfu__http_get(sfu__http_answer *answer, sfu__http *http, const sfu__http_request *request,
                         const sfu__http_sink *sink) {
    (void)answer, (void)http, (void)request, (void)sink;
    return SFU_ERR_UNSUPPORTED;
}

#endif
