/* db_sqlite.h - the SQLite driver's setting for tests. */
#ifndef SFU_DB_SQLITE_H
#define SFU_DB_SQLITE_H

/* How long to wait for a locked file, in milliseconds: by default a minute. */
extern int sfu__sqlite_patience_ms;

#endif
