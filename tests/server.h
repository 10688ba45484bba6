/* server.h - the misbehaving web server of misbehaving_server.py, for the tests that fetch. */
#ifndef SFU_TEST_SERVER_H
#define SFU_TEST_SERVER_H

#include "support.h"

/* Starts it over two folders, either may be NULL; `tls` is a pair of paths, certificate and key, or NULL. Returns the
 * port; skips the calling test, saying so, where there is no python3. It ends with the test program. */
int test_server(const char *root, const char *other_root, const char *const *tls);

/* What was asked of all servers since the last call of this, "PATH RANGE" a line. The text lives until the next. */
const char *test_server_requests(void);

#endif
