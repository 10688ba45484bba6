/* server.h - the misbehaving web server of misbehaving_server.py, for tests of downloads. */
#ifndef SFU_TEST_SERVER_H
#define SFU_TEST_SERVER_H

#include "support.h"

/* What main returns for a test program that cannot run here. */
enum { TEST_SKIPPED = 77 };

/* Whether python3 is available to run it; prints a message if not. */
bool test_can_serve(void);

/* Starts it with two folders, either of which may be NULL; `tls` is a pair of paths, certificate and key, or NULL.
 * Returns the port. It ends with the test program. */
int test_server(const char *root, const char *other_root, const char *const *tls);

/* The requests to all servers since the last call, one line "PATH RANGE" each. Valid until the next call. */
const char *test_server_requests(void);

#endif
