/* study_url.h - paths and URLs of studies: parsing them, and printing them without a password.
 *
 * Accepted are a file, sqlite:///FILE, postgresql:// as in libpq and in SQLAlchemy, and memory. Anything else that
 * looks like the address of a database is refused rather than taken for a file name, which would then contain a
 * password.
 */
#ifndef SFU_STUDY_URL_H
#define SFU_STUDY_URL_H

#include "status.h"

/* *location: the path of a file, or a URL that begins with postgresql://, both to be freed; NULL: memory. */
SFU_CHECKED sfu_status sfu__study_url_read(char **location, const char *text);

/* The text as messages may show it: for a URL without password and parameters. If it is uncertain what the password is,
 * nothing after the scheme is shown. Returns `shown`. */
enum { SFU__URL_SHOWN = 1024 };
const char *sfu__study_url_shown(char shown[SFU__URL_SHOWN], const char *text);

/* Whether a location from sfu__study_url_read is a PostgreSQL database. */
bool sfu__study_url_is_postgres(const char *location);

/* Whether a PostgreSQL URL can be shown: false if its user or password contains an unescaped @, : or /. */
bool sfu__study_url_is_clear(const char *url);

/* Removes what may be a password from any text, such as a message of libpq: SCHEME://USER:PASSWORD@ becomes
 * SCHEME://USER@, and password=PASSWORD becomes password=. */
void sfu__without_passwords(char *text);

#endif
