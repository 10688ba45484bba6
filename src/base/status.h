/* status.h - how errors travel: a status up the stack, the message in a place of the thread.
 *
 * A function that can fail declares `sfu_status status = SFU_OK;`, passes errors up with SFU_TRY, and releases
 * everything behind one `done:` label. The message is written once, where the facts are, by sfu__fail.
 */
#ifndef SFU_STATUS_H
#define SFU_STATUS_H

#include "sfumato.h"

#if defined(__GNUC__)
#define SFU_PRINTF(format_index, first) __attribute__((format(printf, format_index, first)))
#else
#define SFU_PRINTF(format_index, first)
#endif

/* Sets the thread's message and returns `status`, so that `return sfu__fail(...)` reads as one thought. */
sfu_status sfu__fail(sfu_status status, const char *format, ...) SFU_PRINTF(2, 3);

/* The message of a failed system call: "PATH: WHAT: strerror(error)". */
sfu_status sfu__fail_system(const char *path, const char *what, int error);

/* Puts "PREFIX: " before the thread's message, for a caller that knows where in a file the mistake is. */
sfu_status sfu__fail_prefix(sfu_status status, const char *prefix);

/* Sets the message of this thread to one that another thread has written. */
void sfu__set_message(const char *message);

/* Bytes of the user's as they may stand in a message: quoted, control bytes and invalid UTF-8 escaped, cut after about
 * 60 characters. Returns `quoted`. */
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
