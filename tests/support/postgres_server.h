/* postgres_server.h - a PostgreSQL server for a test program, made by postgres_server.sh and ended with the program. */
#ifndef SFU_POSTGRES_SERVER_H
#define SFU_POSTGRES_SERVER_H

/* The address of an empty database of that name, made on a server that is started for the first. `more` is put behind
 * it, "&connect_timeout=1". Skips the calling test, saying so, where there is no server to be had. The text lives until
 * the eighth call after. */
const char *test_postgres(const char *database, const char *more);

/* The address for any user and database. */
const char *test_postgres_as(const char *user, const char *database);

/* At once, as in a crash; and back again. */
void test_postgres_stop(void);
void test_postgres_start(void);

/* Its processes stop where they are, so that nobody answers; and go on. */
void test_postgres_freeze(void);
void test_postgres_thaw(void);

/* Runs SQL through psql, and gives back what it prints, unaligned; the text lives until the next call. */
const char *test_postgres_ask(const char *database, const char *sql);

/* Waits until the log of the server has these words. */
void test_postgres_wait_for_log(const char *words);

#endif
