/* server.h - the misbehaving web server of misbehaving_server.py, for the tests that fetch. */
#ifndef SFU_TEST_SERVER_H
#define SFU_TEST_SERVER_H

#include "support.h"

/* What main returns for a test program that cannot run here. */
enum { TEST_SKIPPED = 77 };

/* Whether there is a python3 to run it; says so where not. */
bool test_can_serve(void);

/* Starts it over two folders, either may be NULL; `tls` is a pair of paths, certificate and key, or NULL. Returns the
 * port. It ends with the test program. */
int test_server(const char *root, const char *other_root, const char *const *tls);

/* What was asked of all servers since the last call of this, "PATH RANGE" a line. The text lives until the next. */
const char *test_server_requests(void);

#endif
