/* status.h - error handling: functions return a status, and the message is stored per thread.
 *
 * A function that can fail declares `sfu_status status = SFU_OK;`, passes errors up with SFU_TRY, and releases
 * everything after one `done:` label. The message is written once, where the error occurs, by sfu__fail.
 */
#ifndef SFU_STATUS_H
#define SFU_STATUS_H

#include "sfumato.h"

#if defined(__GNUC__)
#define SFU_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define SFU_PRINTF(format_index, first)
#endif

/* Sets the thread's message, escaped into one printable line (sfu_escape), and evaluates to `status`, for use as
 * `return sfu__fail(...)`. A macro, so that compiler and analyser see that a failure is never SFU_OK. */
#define sfu__fail(status, ...) sfu__failed((status), sfu__write_message(__VA_ARGS__))
int sfu__write_message(const char *format, ...) SFU_PRINTF(1, 2);
static inline sfu_status sfu__failed(sfu_status status, int written) {
    (void)written;
    return status;
}

/* The message of a failed system call: "PATH: WHAT: strerror(error)". The status is SFU_ERR_IO. */
#define sfu__fail_system(path, what, error) sfu__failed(SFU_ERR_IO, sfu__write_system_message(path, what, error))
int sfu__write_system_message(const char *path, const char *what, int error);

/* Prepends "PREFIX: " to the thread's message, for a caller that knows the location of the error. */
sfu_status sfu__fail_prefix(sfu_status status, const char *prefix);

/* Sets the message of this thread to one that is already escaped: a copy of another thread's sfu_message(). */
enum { SFU__MESSAGE_MAX = 1024 }; /* bytes, including the terminating NUL */
void sfu__set_message(const char *text);

/* Quotes user data for a message: control bytes and invalid UTF-8 are escaped, truncated after about 60 characters.
 * Returns `quoted`. */
enum { SFU__QUOTE_MAX = 272 };
const char *sfu__quote(char quoted[SFU__QUOTE_MAX], const char *bytes, size_t size);

#define SFU_TRY(call)                                                                                                  \
    do {                                                                                                               \
        status = (call);                                                                                               \
        if (status != SFU_OK) {                                                                                        \
            goto done;                                                                                                 \
        }                                                                                                              \
    } while (0)

#endif
