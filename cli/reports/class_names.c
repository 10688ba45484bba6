#include "class_names.h"

#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The contents of a file, ended by a 0; NULL after saying what is wrong. */
static char *read_file(const char *path) {
    enum { LARGEST = 1 << 26 };
    struct stat about;
    FILE *file = fopen(path, "rb");
    char *text = NULL;
    if (!file || fstat(fileno(file), &about) != 0) {
        fail("%s: %s", path, strerror(errno));
    } else if (about.st_size > LARGEST) {
        fail("%s: too large for a file with names of classes", path);
    } else if ((text = malloc((size_t)about.st_size + 1)) == NULL) {
        fail("out of memory");
    } else {
        text[fread(text, 1, (size_t)about.st_size, file)] = '\0';
    }
    if (file) {
        fclose(file);
    }
    return text;
}

/* Takes the quotes off the field at `from`, in place, and returns where it ends: at a separator or at the end. */
static char *unquote(char *from) {
    char *to = from, *c = from + 1;
    while (*c && !(c[0] == '"' && c[1] != '"')) {
        c += c[0] == '"'; /* two quotes are one */
        *to++ = *c++;
    }
    c += *c == '"';
    *to = '\0';
    return c;
}

/* Cuts the text at its separators. */
static bool cut(cli_class_names *names, char separator) {
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
    struct stat about;
    const bool is_file = stat(list, &about) == 0 && S_ISREG(about.st_mode);
    names->text = is_file ? read_file(list) : strdup(list);
    if (!names->text || !cut(names, is_file ? '\n' : ',')) {
        return FAILED;
    }
    for (int32_t i = 0; i < names->count; i++) {
        if (names->names[i][0] == '\0') {
            fail("--class-names %s: the name of class %d is empty", quote(list), i);
            return is_file ? FAILED : WRONG_USE;
        }
    }
    return DONE;
}

void class_names_clear(cli_class_names *names) {
    free(names->names);
    free(names->text);
    *names = (cli_class_names){0};
}
