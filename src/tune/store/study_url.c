/* study_url.c - parsing and printing of paths and URLs of studies, without passwords. */
#include "study_url.h"

#include "memory.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

typedef enum url_kind {
    URL_FILE,
    URL_MEMORY,
    URL_SQLITE,     /* sqlite:///FILE */
    URL_BAD_SQLITE, /* sqlite:// with a host or parameters */
    URL_POSTGRES,
    URL_OTHER,    /* mysql://, or postgresql: without // */
    URL_URI,      /* file:, SQLite's URI syntax */
    URL_PAIRS,    /* host=x dbname=y, which libpq accepts too */
    URL_NO_SCHEME /* user:password@host/database */
} url_kind;

/* The parts of a text, borrowed from it. */
typedef struct url {
    url_kind kind;
    const char *text, *end; /* without surrounding blanks */
    const char *rest;       /* after "SCHEME://", or where a scheme would end */
} url;

/* The first "password" in upper or lower case, or NULL. */
static const char *find_password(const char *text) {
    static const char word[] = "password";
    while (*text != '\0' && strncasecmp(text, word, sizeof word - 1) != 0) {
        text++;
    }
    return *text != '\0' ? text : NULL;
}

/* Whether the text up to `end` is this word or, as in SQLAlchemy, WORD+DRIVER. */
static bool is_scheme(const char *text, const char *end, const char *word) {
    const size_t size = strlen(word);
    return (size_t)(end - text) >= size && strncasecmp(text, word, size) == 0 &&
           (text + size == end || text[size] == '+');
}

/* The end of "SCHEME" of "SCHEME:"; NULL if the text does not begin so. */
static const char *scheme_end(const char *text) {
    const char *at = text;
    while (isalnum((unsigned char)*at) || (at > text && strchr("+-.", *at) != NULL && *at != '\0')) {
        at++;
    }
    return at > text && isalpha((unsigned char)text[0]) && *at == ':' ? at : NULL;
}

/* sqlite:// and sqlite:/// mean memory, as in SQLAlchemy; as there, a path is not unescaped. */
static url_kind sqlite_kind(url *self) {
    const char *rest = self->rest;
    const size_t size = (size_t)(self->end - rest);
    if (size == 0 || (size == 1 && rest[0] == '/') || (size == 9 && strncmp(rest, "/:memory:", 9) == 0)) {
        return URL_MEMORY;
    }
    return rest[0] == '/' && memchr(rest, '?', size) == NULL ? URL_SQLITE : URL_BAD_SQLITE;
}

/* KEY=VALUE pairs of libpq: the first key is one of its common ones, or there is a password. */
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

static url parse(const char *text) {
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
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "%s: expected sqlite:///PATH, or sqlite:////PATH for an absolute path, without a host and without "
            "parameters after a ?",
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

sfu_status sfu__study_url_read(char **location, const char *text) {
    const url self = parse(text);
    *location = NULL;
    switch (self.kind) {
    case URL_MEMORY:
        return SFU_OK;
    case URL_FILE: /* surrounding blanks are part of the name */
        *location = join("", text, text + strlen(text));
        break;
    case URL_SQLITE:
        *location = join("", self.rest + 1, self.end);
        break;
    case URL_POSTGRES:
        *location = join("postgresql://", self.rest, self.end);
        break;
    default:
        return refuse(&self, text);
    }
    return *location != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

bool sfu__study_url_is_postgres(const char *location) { return strncmp(location, "postgresql://", 13) == 0; }

/* ---- printing ---------------------------------------------------------------------------------------------------- */

/* HOST:PORT,HOST:PORT, where every port is a number: otherwise the text after the colon may be a password. */
static bool are_hosts(const char *text, const char *end) {
    for (const char *at = text; at < end; at++) {
        if (*at == '[') { /* an IPv6 address */
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

/* The first of these characters, or `end`. */
static const char *find_any(const char *text, const char *end, const char *characters) {
    while (text < end && strchr(characters, *text) == NULL) {
        text++;
    }
    return text;
}

/* The parts of USER:PASSWORD@HOST:PORT/DATABASE?PARAMETERS that may be shown. */
typedef struct url_parts {
    const char *user_end;        /* the user begins at url.rest */
    const char *host, *host_end; /* from the @ to the end of the database */
} url_parts;

/* As libpq finds them: user and password end at an @ that no / precedes. False if another @ or an invalid port shows
 * that a password contains one of these. */
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
    const url self = parse(text);
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
    const url self = parse(text);
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

/* ---- passwords in any text --------------------------------------------------------------------------------------- */

static void remove_range(char *from, const char *to) { memmove(from, to, strlen(to) + 1); }

/* `address` is the text after "://": removes :PASSWORD from USER:PASSWORD@. */
static void hide_in_address(char *address) {
    char *colon = address + strcspn(address, ":@/?[ \"\n");
    if (*colon != ':') {
        return;
    }
    const char *near_end = colon + strcspn(colon, " \"\n");
    const char *at = last_of(colon, near_end, '@');
    const size_t digits = strspn(colon + 1, "0123456789");
    if (at == colon && strchr("/?,: \"\n", colon[1 + digits]) == NULL) { /* not a port: does it contain a blank? */
        const char *line_end = colon + strcspn(colon, "\n");
        at = last_of(colon, line_end, '@');
        at = at == colon ? near_end : at;
    }
    if (at != colon) {
        remove_range(colon, at);
    }
}

/* `at` is after "password": removes the value after an equals sign. */
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
    remove_range(at, end);
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
