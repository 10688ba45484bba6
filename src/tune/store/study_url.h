/* study_url.h - what the path or URL of a study means, and how it may be printed: never with a password.
 *
 * Accepted are a file, sqlite:///FILE, postgresql:// in the spellings of libpq and of SQLAlchemy, and memory. All that
 * looks like another address of a database is refused, and not taken for the name of a file: a password would become a
 * part of it.
 */
#ifndef SFU_STUDY_URL_H
#define SFU_STUDY_URL_H

#include "status.h"

/* *place: the path of a file, or a URL that begins with postgresql://, both to be freed; NULL: memory. */
SFU_CHECKED sfu_status sfu__study_url_read(char **place, const char *text);

/* The text as messages may show it: of a URL no password and no parameters. Where it is not certain what the password
 * is, nothing behind the scheme is shown. Returns `shown`. */
enum { SFU__URL_SHOWN = 1024 };
const char *sfu__study_url_shown(char shown[SFU__URL_SHOWN], const char *text);

/* Whether a place that sfu__study_url_read gave is a PostgreSQL database. */
bool sfu__study_url_is_postgres(const char *place);

/* Whether a PostgreSQL URL can be shown: else there is a user or a password with @, : or / in it that is not escaped.
 */
bool sfu__study_url_is_clear(const char *url);

/* Removes what may be a password from a text of any kind, such as a message of libpq: SCHEME://USER:PASSWORD@ becomes
 * SCHEME://USER@, and password=PASSWORD becomes password=. */
void sfu__without_passwords(char *text);

#endif
