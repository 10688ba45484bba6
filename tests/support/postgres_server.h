/* postgres_server.h - a PostgreSQL server for a test program, made by postgres_server.sh and ended with the program. */
#ifndef SFU_POSTGRES_SERVER_H
#define SFU_POSTGRES_SERVER_H

/* The URL of an empty database of that name, on a server that is started at the first call. `more` is appended,
 * "&connect_timeout=1". Skips the calling test with a message if there is no server. The text is valid until the eighth
 * call after. */
const char *test_postgres(const char *database, const char *more);

/* The address for any user and database. */
const char *test_postgres_as(const char *user, const char *database);

/* Stops it at once, as in a crash; and starts it again. */
void test_postgres_stop(void);
void test_postgres_start(void);

/* Suspends its processes, so that it does not answer; and resumes them. */
void test_postgres_freeze(void);
void test_postgres_thaw(void);

/* Runs SQL through psql, and returns its unaligned output; valid until the next call. */
const char *test_postgres_ask(const char *database, const char *sql);

/* Waits until the server's log contains this text. */
void test_postgres_wait_for_log(const char *words);

#endif
