/* postgres_int.h - the connection to a PostgreSQL server, shared by postgres_connect.c and db_postgres.c. */
#ifndef SFU_POSTGRES_INT_H
#define SFU_POSTGRES_INT_H

#include "db.h"
#include "study_url.h"

#include <libpq-fe.h>

/* Class of a failure, which decides whether to retry. */
typedef enum sfu__pg_failure {
    SFU__PG_NONE,     /* none, or not the server's */
    SFU__PG_FINAL,    /* a retry would fail again */
    SFU__PG_CONFLICT, /* conflict with another worker: a retry may succeed */
    SFU__PG_BUSY,     /* the server is not ready, or has too many connections */
    SFU__PG_LOST      /* the connection is lost */
} sfu__pg_failure;

typedef struct sfu__pg {
    sfu__db db; /* first, so that a sfu__db pointer can be cast */
    char *url;
    char shown[SFU__URL_SHOWN]; /* name for messages, without a password */
    double patience_s;          /* how long to retry a lost connection */
    double connect_s;           /* timeout of one attempt */
    bool gave_up;               /* the retry time has expired; from now on one attempt per call */
    PGconn *connection;         /* NULL: not connected */
    char **prepared;            /* prepared statements; statement i is "si" */
    size_t prepared_count, prepared_capacity;
    bool creating_tables;    /* creating tables, which other programs (Optuna) may do too */
    sfu__pg_failure failure; /* class of the last call's failure */
    sfu__text numbers;       /* values as text, each 0-terminated */
    const char **values;     /* */
    size_t values_capacity;
} sfu__pg;

/* The functions of libpq, set by sfu__pg_load. */
typedef struct sfu__pg_functions {
    PQconninfoOption *(*parse_url)(const char *url, char **error);
    void (*free_options)(PQconninfoOption *options);
    void (*free_memory)(void *pointer);
    PGconn *(*connect_start)(const char *const *keywords, const char *const *values, int expand);
    PostgresPollingStatusType (*connect_poll)(PGconn *connection);
    int (*socket)(const PGconn *connection);
    ConnStatusType (*status)(const PGconn *connection);
    int (*needs_password)(const PGconn *connection);
    char *(*error_message)(const PGconn *connection);
    PGTransactionStatusType (*transaction_status)(const PGconn *connection);
    PGVerbosity (*set_verbosity)(PGconn *connection, PGVerbosity verbosity);
    PQnoticeReceiver (*set_notice_receiver)(PGconn *connection, PQnoticeReceiver receiver, void *user);
    void (*finish)(PGconn *connection);
    int (*set_nonblocking)(PGconn *connection, int on);
    int (*send)(PGconn *connection, const char *sql);
    int (*send_params)(PGconn *connection, const char *sql, int count, const Oid *types, const char *const *values,
                       const int *lengths, const int *formats, int format);
    int (*send_prepare)(PGconn *connection, const char *name, const char *sql, int count, const Oid *types);
    int (*send_prepared)(PGconn *connection, const char *name, int count, const char *const *values, const int *lengths,
                         const int *formats, int format);
    int (*flush)(PGconn *connection);
    int (*consume_input)(PGconn *connection);
    int (*is_busy)(PGconn *connection);
    PGresult *(*get_result)(PGconn *connection);
    ExecStatusType (*result_status)(const PGresult *result);
    char *(*error_field)(const PGresult *result, int field);
    char *(*command_status)(PGresult *result);
    char *(*command_rows)(PGresult *result);
    int (*row_count)(const PGresult *result);
    int (*column_count)(const PGresult *result);
    Oid (*column_type)(const PGresult *result, int column);
    int (*is_null)(const PGresult *result, int row, int column);
    char *(*value)(const PGresult *result, int row, int column);
    void (*clear)(PGresult *result);
} sfu__pg_functions;
extern sfu__pg_functions sfu__pq;
SFU_CHECKED sfu_status sfu__pg_load(void);

/* Reads the timeouts from self->url, which is not changed. */
SFU_CHECKED sfu_status sfu__pg_read_url(sfu__pg *self);

/* Connects; self->failure tells whether a retry may help. */
SFU_CHECKED sfu_status sfu__pg_connect(sfu__pg *self);
void sfu__pg_disconnect(sfu__pg *self);

/* Connects, with retries and growing pauses until the retry time expires; after that with one attempt per call. */
SFU_CHECKED sfu_status sfu__pg_connect_patiently(sfu__pg *self);

/* Waits for the answer to what one of the functions `send` has just sent. Returns the last result, as PQexec would, or
 * NULL, which sfu__pg_check explains. Makes no blocking call of libpq: waits for a server that does not answer only as
 * long as sfu__db_gives_up allows. */
PGresult *sfu__pg_receive(sfu__pg *self, int sent);

/* Checks a result: on failure writes the message and sets self->failure. Does not free the result. */
SFU_CHECKED sfu_status sfu__pg_check(sfu__pg *self, const PGresult *result);

/* Sleeps; false if the call that waits since `since` is given up meanwhile. */
bool sfu__pg_pause(sfu__pg *self, double seconds, double since);

#endif
