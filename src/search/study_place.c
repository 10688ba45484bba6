/* study_place.c - where a study is, as people may see it. */
#include "db.h"

#include <stdio.h>

const char *sfu_study_place_text(char *text, size_t size, const char *place) {
    char shown[SFU__DB_SHOWN];
    snprintf(text, size, "%s", sfu__db_shown(shown, place));
    return text;
}
