#include "study_url.h"

#include "memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- reading ----------------------------------------------------------------------------------------------------- */

typedef enum url_kind {
    URL_FILE,
    URL_MEMORY,
    URL_SQLITE,     /* sqlite:///FILE */
    URL_BAD_SQLITE, /* sqlite:// with a host or parameters */
    URL_POSTGRES,
    URL_OTHER,    /* mysql://, or postgresql: without // */
    URL_URI,      /* file:, a way of SQLite's own to write paths */
    URL_PAIRS,    /* host=x dbname=y, as libpq takes them too */
    URL_NO_SCHEME /* user:password@host/database */
} url_kind;

/* A text taken to pieces, which are borrowed from it. */
typedef struct url {
    url_kind kind;
    const char *text, *end; /* without blanks around it */
    const char *rest;       /* behind "SCHEME://", or where a scheme would end */
} url;

/* Where "password" begins, in large or small letters; NULL: nowhere. */
static const char *find_password(const char *text) {
    static const char word[] = "password";
    while (*text != '\0' && strncasecmp(text, word, sizeof word - 1) != 0) {
        text++;
    }
    return *text != '\0' ? text : NULL;
}

/* Whether the text up to `end` is this word or, as SQLAlchemy has it, WORD+DRIVER. */
static bool is_scheme(const char *text, const char *end, const char *word) {
    const size_t size = strlen(word);
    return (size_t)(end - text) >= size && strncasecmp(text, word, size) == 0 &&
           (text + size == end || text[size] == '+');
}

/* Where "SCHEME" of "SCHEME:" ends; NULL: the text does not begin so. */
static const char *scheme_end(const char *text) {
    const char *at = text;
    while (isalnum((unsigned char)*at) || (at > text && strchr("+-.", *at) != NULL && *at != '\0')) {
        at++;
    }
    return at > text && isalpha((unsigned char)text[0]) && *at == ':' ? at : NULL;
}

/* sqlite:// and sqlite:/// are memory to SQLAlchemy. A path is not unescaped, as it is not there. */
static url_kind sqlite_kind(url *self) {
    const char *rest = self->rest;
    const size_t size = (size_t)(self->end - rest);
    if (size == 0 || (size == 1 && rest[0] == '/') || (size == 9 && strncmp(rest, "/:memory:", 9) == 0)) {
        return URL_MEMORY;
    }
    return rest[0] == '/' && memchr(rest, '?', size) == NULL ? URL_SQLITE : URL_BAD_SQLITE;
}

/* KEY=VALUE pairs of libpq: one of its usual keys stands first, or there is a password. */
static bool is_pairs(const char *text, const char *end) {
    static const char *const keys[] = {"host", "hostaddr", "port", "dbname", "user", "service", "passfile", "sslmode"};
    const char *equals = memchr(text, '=', (size_t)(end - text));
    if (equals == NULL || memchr(text, '/', (size_t)(equals - text)) != NULL) {
        return false;
    }
    const char *key_end = equals;
    while (key_end > text && isspace((unsigned char)key_end[-1])) {
        key_end--;
    }
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if ((size_t)(key_end - text) == strlen(keys[i]) && strncasecmp(text, keys[i], strlen(keys[i])) == 0) {
            return true;
        }
    }
    return find_password(text) != NULL;
}

/* USER:PASSWORD@HOST, before any folder of a path. */
static bool has_no_scheme(const char *text, const char *end) {
    const char *colon = memchr(text, ':', (size_t)(end - text));
    return colon != NULL && memchr(text, '/', (size_t)(colon - text)) == NULL &&
           memchr(colon, '@', (size_t)(end - colon)) != NULL;
}

static url take_apart(const char *text) {
    url self = {.kind = URL_FILE};
    while (isspace((unsigned char)*text)) {
        text++;
    }
    self.text = self.rest = text;
    self.end = text + strlen(text);
    while (self.end > text && isspace((unsigned char)self.end[-1])) {
        self.end--;
    }
    const char *scheme = scheme_end(text);
    const size_t size = (size_t)(self.end - text);
    const bool has_slashes = scheme != NULL && strncmp(scheme, "://", 3) == 0;
    self.rest = has_slashes ? scheme + 3 : scheme != NULL ? scheme + 1 : text;
    const bool postgres =
        scheme != NULL && (is_scheme(text, scheme, "postgresql") || is_scheme(text, scheme, "postgres"));
    if ((size == 6 && strncmp(text, "memory", size) == 0) || (size == 8 && strncmp(text, ":memory:", size) == 0)) {
        self.kind = URL_MEMORY;
    } else if (has_slashes) {
        self.kind = postgres ? URL_POSTGRES : is_scheme(text, scheme, "sqlite") ? sqlite_kind(&self) : URL_OTHER;
    } else if (postgres || (scheme != NULL && is_scheme(text, scheme, "sqlite"))) {
        self.kind = URL_OTHER;
    } else if (scheme != NULL && is_scheme(text, scheme, "file")) {
        self.kind = URL_URI;
    } else if (is_pairs(text, self.end)) {
        self.kind = URL_PAIRS;
    } else if (has_no_scheme(text, self.end)) {
        self.kind = URL_NO_SCHEME;
    }
    return self;
}

static const char expected[] =
    "expected the path of an SQLite file, sqlite:///PATH, postgresql://USER@HOST/DATABASE or memory";

static sfu_status refuse(const url *self, const char *text) {
    char shown[SFU__URL_SHOWN];
    sfu__study_url_shown(shown, text);
    switch (self->kind) {
    case URL_BAD_SQLITE:
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s: expected sqlite:///PATH, or sqlite:////PATH from the root on, with no host and no "
                         "parameters behind a ?",
                         shown);
    case URL_URI:
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: expected a path without \"file:\" before it, or memory", shown);
    case URL_PAIRS:
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s: expected postgresql://USER@HOST/DATABASE, found KEY=VALUE pairs; a file of this name is "
                         "written with ./ before it",
                         shown);
    case URL_NO_SCHEME:
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "%s: expected postgresql://USER@HOST/DATABASE, found an address without postgresql://; a file "
                         "of this name is written with ./ before it",
                         shown);
    default:
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: %s", shown, expected);
    }
}

static char *join(const char *before, const char *text, const char *end) {
    const size_t first = strlen(before), size = (size_t)(end - text);
    char *joined = sfu__alloc(first + size + 1, 1);
    if (joined != NULL) {
        memcpy(joined, before, first);
        memcpy(joined + first, text, size);
        joined[first + size] = '\0';
    }
    return joined;
}

sfu_status sfu__study_url_read(char **place, const char *text) {
    const url self = take_apart(text);
    *place = NULL;
    switch (self.kind) {
    case URL_MEMORY:
        return SFU_OK;
    case URL_FILE: /* blanks around it are a part of its name */
        *place = join("", text, text + strlen(text));
        break;
    case URL_SQLITE:
        *place = join("", self.rest + 1, self.end);
        break;
    case URL_POSTGRES:
        *place = join("postgresql://", self.rest, self.end);
        break;
    default:
        return refuse(&self, text);
    }
    return *place != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

bool sfu__study_url_is_postgres(const char *place) { return strncmp(place, "postgresql://", 13) == 0; }

/* ---- showing ------------------------------------------------------------------------------------------------------
 */

/* HOST:PORT,HOST:PORT, where every port is a number: else what is behind the colon may be a password. */
static bool are_hosts(const char *text, const char *end) {
    for (const char *at = text; at < end; at++) {
        if (*at == '[') { /* an address with colons in it */
            const char *close = memchr(at, ']', (size_t)(end - at));
            at = close != NULL ? close : at;
        } else if (*at == ':') {
            while (at + 1 < end && isdigit((unsigned char)at[1])) {
                at++;
            }
            if (at + 1 < end && at[1] != ',') {
                return false;
            }
        }
    }
    return true;
}

/* Where one of these characters first stands; `end` where none does. */
static const char *find_any(const char *text, const char *end, const char *characters) {
    while (text < end && strchr(characters, *text) == NULL) {
        text++;
    }
    return text;
}

/* The parts of USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS that may be shown. */
typedef struct url_parts {
    const char *user_end;        /* the user begins where the rest of the URL does */
    const char *host, *host_end; /* with the @ before it and the database behind it */
} url_parts;

/* As libpq finds them: user and password end at an @ that no / precedes. False where another @ or a port that is none
 * tells that a password has one of these in it. */
static bool find_parts(url_parts *parts, const url *self) {
    const char *at = find_any(self->rest, self->end, "@/");
    const bool has_user = at < self->end && *at == '@';
    parts->user_end = has_user ? find_any(self->rest, at, ":") : self->rest;
    parts->host = has_user ? at : self->rest;
    parts->host_end = find_any(parts->host, self->end, "?");
    const char *address = has_user ? at + 1 : self->rest;
    const char *path = find_any(address, parts->host_end, "/");
    return find_any(address, parts->host_end, "@") == parts->host_end && are_hosts(address, path);
}

bool sfu__study_url_is_clear(const char *text) {
    const url self = take_apart(text);
    url_parts parts;
    return self.kind == URL_POSTGRES && find_parts(&parts, &self);
}

static void show_postgres(char shown[SFU__URL_SHOWN], const url *self) {
    url_parts parts;
    if (find_parts(&parts, self)) {
        snprintf(shown, SFU__URL_SHOWN, "postgresql://%.*s%.*s", (int)(parts.user_end - self->rest), self->rest,
                 (int)(parts.host_end - parts.host), parts.host);
    } else {
        snprintf(shown, SFU__URL_SHOWN, "postgresql://...");
    }
}

static const char *last_of(const char *text, const char *end, char c) {
    while (end > text && *end != c) {
        end--;
    }
    return end;
}

const char *sfu__study_url_shown(char shown[SFU__URL_SHOWN], const char *text) {
    const url self = take_apart(text);
    const char *at;
    switch (self.kind) {
    case URL_POSTGRES:
        show_postgres(shown, &self);
        break;
    case URL_MEMORY:
        snprintf(shown, SFU__URL_SHOWN, "memory");
        break;
    case URL_SQLITE:
        snprintf(shown, SFU__URL_SHOWN, "%.*s", (int)(self.end - self.rest - 1), self.rest + 1);
        break;
    case URL_OTHER:
    case URL_BAD_SQLITE:
    case URL_URI:
        snprintf(shown, SFU__URL_SHOWN, "%.*s...", (int)(self.rest - self.text), self.text);
        break;
    case URL_PAIRS:
        snprintf(shown, SFU__URL_SHOWN, "%.*s=...", (int)strcspn(self.text, "="), self.text);
        break;
    case URL_NO_SCHEME:
        at = last_of(self.text, self.end - 1, '@');
        snprintf(shown, SFU__URL_SHOWN, "%.*s%.*s", (int)strcspn(self.text, ":"), self.text, (int)(self.end - at), at);
        break;
    case URL_FILE:
        snprintf(shown, SFU__URL_SHOWN, "%s", text);
        sfu__without_passwords(shown);
        break;
    }
    return shown;
}

/* ---- passwords in any text ----------------------------------------------------------------------------------------
 */

static void cut_out(char *from, const char *to) { memmove(from, to, strlen(to) + 1); }

/* At what is behind "://": cuts :PASSWORD out of USER:PASSWORD@. */
static void hide_in_address(char *address) {
    char *colon = address + strcspn(address, ":@/?[ \"\n");
    if (*colon != ':') {
        return;
    }
    const char *near_end = colon + strcspn(colon, " \"\n");
    const char *at = last_of(colon, near_end, '@');
    const size_t digits = strspn(colon + 1, "0123456789");
    if (at == colon && strchr("/?,: \"\n", colon[1 + digits]) == NULL) { /* no port: is there a blank in it? */
        const char *line_end = colon + strcspn(colon, "\n");
        at = last_of(colon, line_end, '@');
        at = at == colon ? near_end : at;
    }
    if (at != colon) {
        cut_out(colon, at);
    }
}

/* At what is behind "password": cuts out the value behind an equals sign. */
static void hide_value(char *at) {
    at += strspn(at, " \t");
    if (*at != '=') {
        return;
    }
    at += 1 + strspn(at + 1, " \t");
    const char *end = at;
    if (*at == '\'') {
        end++;
        while (*end != '\0' && *end != '\'') {
            end += 1 + (end[0] == '\\' && end[1] != '\0');
        }
        end += *end == '\'';
    } else {
        end += strcspn(at, "& \t\"\n");
    }
    cut_out(at, end);
}

void sfu__without_passwords(char *text) {
    for (char *at = strstr(text, "://"); at != NULL; at = strstr(at, "://")) {
        at += 3;
        hide_in_address(at);
    }
    for (const char *at = find_password(text); at != NULL; at = find_password(at)) {
        at += strlen("password");
        hide_value(text + (at - text));
    }
}
