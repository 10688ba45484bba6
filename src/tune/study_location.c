/* study_location.c - public functions on the path or URL of a study. */
#include "memory.h"
#include "study_url.h"

#include <stdio.h>

const char *sfu_study_location_text(char *text, size_t size, const char *location) {
    char shown[SFU__URL_SHOWN];
    snprintf(text, size, "%s", sfu__study_url_shown(shown, location));
    return text;
}

sfu_status sfu_study_file(char **path, const char *location) {
    *path = NULL;
    const sfu_status status = location != NULL ? sfu__study_url_read(path, location) : SFU_OK;
    if (status == SFU_OK && *path != NULL && sfu__study_url_is_postgres(*path)) {
        sfu__free(*path);
        *path = NULL;
    }
    return status;
}

bool sfu_study_location_is_memory(const char *location) {
    char *read = NULL;
    const bool is = location == NULL || (sfu__study_url_read(&read, location) == SFU_OK && read == NULL);
    sfu__free(read);
    return is;
}

void sfu_hide_passwords(char *text) { sfu__without_passwords(text); }
