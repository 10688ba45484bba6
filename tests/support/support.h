/* support.h - shared by the test programs: cmocka, paths of files, an allocator that fails on demand. */
#ifndef SFU_TEST_SUPPORT_H
#define SFU_TEST_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sfumato.h"

#include <sys/types.h>

/* Whether this build is about ten times slower, under sanitizers or in an emulator; then tests do less. */
bool test_is_slow(void);

/* A path below the folder of the public datasets; skips the calling test with a message if they are missing. Valid
 * until the next call. */
const char *test_data(const char *relative);

/* A path in a fresh folder of the calling test program, which is removed when the program ends. Valid until the eighth
 * call after. */
const char *test_path(const char *name);

/* Writes a file below that folder and returns its path. */
const char *test_file(const char *name, const void *bytes, size_t size);
const char *test_text_file(const char *name, const char *text);

/* A child process in which a crash ends only the child. It must end with _exit. */
pid_t test_fork(void);

/* Fails with sfu_message() unless the status is as expected; then the message must contain each of the strings
 * (NULL-terminated). */
#define assert_ok(call) test_assert_ok((call), #call, __FILE__, __LINE__)
void test_assert_ok(sfu_status status, const char *call, const char *file, int line);
#define assert_fails(status, call, ...)                                                                                \
    test_assert_fails((status), (call), #call, __FILE__, __LINE__, (const char *[]){__VA_ARGS__, NULL})
void test_assert_fails(sfu_status wanted, sfu_status status, const char *call, const char *file, int line,
                       const char *const *parts);

/* Runs `body` repeatedly, with the n-th allocation of the n-th run failing, until a run succeeds. Each run must return
 * SFU_ERR_MEMORY or, the last, SFU_OK, and leak nothing. `most` bounds the number of runs: further ones are spread over
 * the rest. */
void test_fail_each_allocation(sfu_status (*body)(void *context), void *context, int64_t most);

#endif
