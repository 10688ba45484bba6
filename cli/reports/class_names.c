#include "class_names.h"

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The contents of a file as a string; NULL after printing an error. */
static char *read_file(const char *path) {
    enum { LARGEST = 1 << 26 };
    struct stat info;
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (!file || fstat(fileno(file), &info) != 0) {
        fail("%s: %s", path, strerror(errno));
    } else if (info.st_size > LARGEST) {
        fail("%s: too large for a file of class names", path);
    } else if ((text = malloc((size_t)info.st_size + 1)) == NULL) {
        fail("out of memory");
    } else {
        text[fread(text, 1, (size_t)info.st_size, file)] = '\0';
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* Removes the quotes of the field at `from`, in place, and returns its end: a separator or the end of the text. */
static char *unquote(char *from) {
    char *to = from, *c = from + 1;
    while (*c && !(c[0] == '"' && c[1] != '"')) {
        c += c[0] == '"'; /* two quotes encode one */
        *to++ = *c++;
    }
    c += *c == '"';
    *to = '\0';
    return c;
}

/* Splits the text at its separators. */
static bool split(cli_class_names *names, char separator) {
    const char separators[] = {separator, '\0'};
    size_t most = 1;
    for (const char *c = names->text; *c; c++) {
        most += *c == separator;
    }
    names->names = calloc(most, sizeof *names->names);
    if (!names->names) {
        fail("out of memory");
        return false;
    }
    for (char *field = names->text; *field || separator == ',';) {
        field += strspn(field, " ");
        names->names[names->count++] = field;
        char *end = *field == '"' ? unquote(field) : field;
        end += strcspn(end, separators);
        const bool last = *end == '\0';
        if (end > field && end[-1] == '\r') {
            end[-1] = '\0';
        }
        *end = '\0';
        if (last) {
            break;
        }
        field = end + 1;
    }
    return true;
}

int class_names_read(cli_class_names *names, const char *list) {
    struct stat info;
    const bool is_file = stat(list, &info) == 0 && S_ISREG(info.st_mode);
    names->text = is_file ? read_file(list) : strdup(list);
    if (!names->text || !split(names, is_file ? '\n' : ',')) {
        return FAILED;
    }
    for (int32_t i = 0; i < names->count; i++) {
        if (names->names[i][0] == '\0') {
            fail("--class-names %s: the name of class %d is empty", quote(list), i);
            return is_file ? FAILED : USAGE_ERROR;
        }
    }
    return DONE;
}

void class_names_clear(cli_class_names *names) {
    free(names->names);
    free(names->text);
    *names = (cli_class_names){0};
}
