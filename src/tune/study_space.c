/* study_space.c - the search space of a call of sfu_tune: the one in the options; or that of the existing study; or the
 * default. */
#include "fingerprint.h"
#include "json.h"
#include "tune_int.h"

#include <string.h>

static sfu_status make_space(sfu__tuning *self, const char *text, const char *net, const sfu_net_options *net_options) {
    uint64_t unused;
    sfu__space **space = &self->study->space;
    return self->options->space_is_shared ? sfu__space_new_among(space, text, net, net_options, &unused)
                                          : sfu__space_new(space, text, net, net_options);
}

/* The text of a JSON string; NULL for other JSON, which this program has not written. */
static sfu_status unquote(char **text, const char *json) {
    sfu__json_text parsed = {0};
    sfu_status status = sfu__json_read(&parsed, json, strlen(json), "the search space of the study");
    const char *found = status == SFU_OK ? sfu__json_string(parsed.root) : NULL;
    if (found != NULL) {
        *text = sfu__copy_string(found);
        status = *text != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
    sfu__json_clear(&parsed);
    return status == SFU_ERR_MEMORY ? status : SFU_OK;
}

/* *text: the space of the existing study, to be freed; NULL if there is none. */
static sfu_status find_text(char **text, sfu__tuning *self, const char *net) {
    sfu_status status = SFU_OK;
    char *name = NULL, *json = NULL;
    const sfu__db_wait wait = {sfu__tune_keep_waiting, self};
    SFU_TRY(sfu__study_name_make(&name, self->options, self->dataset, net, self->split));
    SFU_TRY(sfu__store_peek(&json, self->study->location, name, SFU__SPACE_KEY, &wait));
    if (json != NULL) {
        SFU_TRY(unquote(text, json));
    }
done:
    sfu__free(name);
    sfu__free(json);
    return status;
}

/* Continues with the space of the study instead of the default one. If this network does not fit it, the study has
 * another network, and opening it will say so. */
static sfu_status take_space(sfu__tuning *self, const char *text, const char *net, const sfu_net_options *net_options) {
    sfu__space *before = self->study->space;
    self->study->space = NULL;
    const sfu_status status = make_space(self, text, net, net_options);
    if (status != SFU_OK) {
        self->study->space = before;
        return status == SFU_ERR_MEMORY || before == NULL ? status : SFU_OK;
    }
    sfu__space_free(before);
    return SFU_OK;
}

sfu_status sfu__tune_space(sfu__tuning *self, const char *net, const sfu_net_options *net_options) {
    char *text = NULL;
    sfu_status status = make_space(self, self->options->space, net, net_options);
    const sfu__space *space = self->study->space;
    if (self->options->space != NULL || self->study->location == NULL || status == SFU_ERR_MEMORY) {
        return status;
    }
    const sfu_status usual = status; /* a network with $names needs a space of its own */
    SFU_TRY(find_text(&text, self, usual != SFU_OK ? net : sfu__space_net_text(space)));
    status = text != NULL      ? take_space(self, text, net, net_options)
             : usual != SFU_OK ? make_space(self, NULL, net, net_options) /* again, for its message */
                               : SFU_OK;
done:
    sfu__free(text);
    return status;
}
