/* emulated_settings.c - reads the words of $SFUMATO_EMULATED_DRIVER. */
#include "emulated_settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

_Noreturn void emulated_fault(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fputs("emulated driver: ", stderr);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    fflush(NULL);
    _exit(3);
}

static bool number_word(const char *word, const char *name, long long *value) {
    const size_t size = strlen(name);
    char *end;
    if (strncmp(word, name, size) != 0 || word[size] != '=') {
        return false;
    }
    *value = strtoll(word + size + 1, &end, 10);
    return end != word + size + 1 && *end == '\0';
}

/* "fail=FUNCTION:CODE" or "fail=FUNCTION:CODE:N" */
static bool failure_word(emulated_settings *settings, const char *word) {
    emulated_failure *failure = &settings->failures[settings->failure_count];
    if (settings->failure_count == EMULATED_FAILURES ||
        sscanf(word, "fail=%63[^:]:%u:%ld", failure->function, &failure->code, &failure->nth) < 2) {
        return false;
    }
    settings->failure_count++;
    return true;
}

static void read_word(emulated_settings *settings, const char *word) {
    long long value;
    if (number_word(word, "devices", &value)) {
        settings->devices = (int)value;
    } else if (number_word(word, "driver", &value)) {
        settings->driver = (int)value;
    } else if (number_word(word, "capability", &value)) {
        settings->capability = (int)value;
    } else if (number_word(word, "memory", &value)) {
        settings->memory = (size_t)value;
    } else if (strcmp(word, "report") == 0) {
        settings->report = true;
    } else if (!failure_word(settings, word)) {
        emulated_fault("$SFUMATO_EMULATED_DRIVER: unknown word '%s'", word);
    }
}

emulated_settings *emulated_current(void) {
    static emulated_settings settings;
    static char seen[512] = "?";
    const char *text = getenv("SFUMATO_EMULATED_DRIVER");
    text = text == NULL ? "" : text;
    if (strcmp(text, seen) != 0) {
        char words[sizeof seen], *rest = NULL;
        settings = (emulated_settings){.devices = 1, .driver = 13000, .capability = 90, .memory = 8000000000};
        snprintf(seen, sizeof seen, "%s", text);
        snprintf(words, sizeof words, "%s", text);
        for (char *word = strtok_r(words, ",", &rest); word != NULL; word = strtok_r(NULL, ",", &rest)) {
            read_word(&settings, word);
        }
    }
    return &settings;
}
