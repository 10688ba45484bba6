/* study_location.c - where a study is, as people may see it. */
#include "memory.h"
#include "study_url.h"

#include <stdio.h>

const char *sfu_study_place_text(char *text, size_t size, const char *place) {
    char shown[SFU__URL_SHOWN];
    snprintf(text, size, "%s", sfu__study_url_shown(shown, place));
    return text;
}

sfu_status sfu_study_file(char **path, const char *place) {
    *path = NULL;
    const sfu_status status = place != NULL ? sfu__study_url_read(path, place) : SFU_OK;
    if (status == SFU_OK && *path != NULL && sfu__study_url_is_postgres(*path)) {
        sfu__free(*path);
        *path = NULL;
    }
    return status;
}

bool sfu_study_place_is_memory(const char *place) {
    char *read = NULL;
    const bool is = place == NULL || (sfu__study_url_read(&read, place) == SFU_OK && read == NULL);
    sfu__free(read);
    return is;
}

void sfu_hide_passwords(char *text) { sfu__without_passwords(text); }
