/* postgres_int.h - a connection to a PostgreSQL server, shared by what makes it and what uses it. */
#ifndef SFU_POSTGRES_INT_H
#define SFU_POSTGRES_INT_H

#include "db.h"
#include "study_url.h"

#include <libpq-fe.h>

/* What a failure was, for what to do about it. */
typedef enum sfu__pg_failure {
    SFU__PG_NONE,     /* nothing, or not the server's */
    SFU__PG_FINAL,    /* would fail again */
    SFU__PG_CONFLICT, /* with another worker: the same may succeed now */
    SFU__PG_BUSY,     /* the server is not ready, or has too many connections */
    SFU__PG_LOST      /* the connection */
} sfu__pg_failure;

typedef struct sfu__pg {
    sfu__db db; /* first, so that a sfu__db is one */
    char *url;
    char shown[SFU__URL_SHOWN]; /* what messages call it */
    double patience_s;          /* how long a lost connection is tried again */
    double connect_s;           /* how long one try may take */
    bool gave_up;               /* patience was at its end, and is not had again */
    PGconn *connection;         /* NULL while there is none */
    char **prepared;            /* the statements that the server knows, statement i as "si" */
    size_t prepared_count, prepared_capacity;
    bool making;             /* tables: others (Optuna) may be making them too */
    sfu__pg_failure failure; /* of the last call */
    sfu__text numbers;       /* values as text, each with a 0 behind it */
    const char **values;     /* */
    size_t values_capacity;
} sfu__pg;

/* The functions of libpq, filled in by sfu__pg_load. */
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

/* Reads self->url, which stays as it is: patience and time for a try. */
SFU_CHECKED sfu_status sfu__pg_read_url(sfu__pg *self);

/* Connects; the failure says whether trying again may help. */
SFU_CHECKED sfu_status sfu__pg_connect(sfu__pg *self);
void sfu__pg_disconnect(sfu__pg *self);

/* Connects, and where that may help again and again with growing pauses until the patience is at its end; after that
 * once a call. */
SFU_CHECKED sfu_status sfu__pg_connect_patiently(sfu__pg *self);

/* Waits for the answer to what one of the functions `send` has just sent, and returned. The last result, as PQexec
 * would give it; NULL where there is none, which sfu__pg_check explains. No call of libpq that could block is made: a
 * server that does not answer is waited for only as long as sfu__db_gives_up lets us. */
PGresult *sfu__pg_receive(sfu__pg *self, int sent);

/* Takes a result to pieces where it failed: writes the message, settles self->failure. The result is not cleared. */
SFU_CHECKED sfu_status sfu__pg_check(sfu__pg *self, const PGresult *result);

/* Sleeps; false where a call that waits since `since` is to be given up meanwhile. */
bool sfu__pg_pause(sfu__pg *self, double seconds, double since);

#endif
