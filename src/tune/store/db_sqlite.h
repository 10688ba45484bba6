/* db_sqlite.h - what tests need to know of the driver of SQLite. */
#ifndef SFU_DB_SQLITE_H
#define SFU_DB_SQLITE_H

/* How long a locked file is waited for, in milliseconds: a minute. */
extern int sfu__sqlite_patience_ms;

#endif
