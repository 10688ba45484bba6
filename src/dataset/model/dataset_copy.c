#include "dataset_copy.h"
#include "json.h"

#include <string.h>

sfu_status sfu__dataset_copy_names(sfu_dataset *made, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    const char *name;
    for (int32_t i = 0; (name = sfu_dataset_class_name(dataset, i)) != NULL; i++) {
        SFU_TRY(sfu__names_add(&made->class_names, name, strlen(name)));
    }
    for (int32_t i = 0; (name = sfu_dataset_feature_name(dataset, i)) != NULL; i++) {
        SFU_TRY(sfu__names_add(&made->feature_names, name, strlen(name)));
    }
    if (dataset->transform != NULL) {
        made->transform = sfu__copy_string(dataset->transform);
        status = made->transform != NULL ? SFU_OK : SFU_ERR_MEMORY;
    }
done:
    return status;
}

/* Parses the record of the source; a file of another program has none. */
static sfu_status read_source(sfu__json_text *source, const sfu_dataset *dataset) {
    *source = (sfu__json_text){0};
    if (dataset->source == NULL) {
        return SFU_OK;
    }
    const sfu_status status = sfu__json_read(source, dataset->source, strlen(dataset->source), dataset->name);
    return status == SFU_ERR_FORMAT ? SFU_OK : status;
}

sfu_status sfu__dataset_record(sfu_dataset *made, const sfu_dataset *dataset, const char *name, const char *value,
                               bool *before) {
    sfu_status status = SFU_OK;
    sfu__json_text source = {0};
    sfu__text text = {0};
    SFU_TRY(read_source(&source, dataset));
    *before = sfu__json_get(source.root, name) != NULL;
    const bool more = source.root != NULL && source.root->kind == SFU__JSON_OBJECT && source.root->count > 0;
    SFU_TRY(sfu__text_format(&text, "{\"%s\":%s%s", name, value, more ? "," : "}"));
    if (more) {
        SFU_TRY(sfu__text_format(&text, "%s", strchr(dataset->source, '{') + 1));
    }
    made->source = text.bytes;
    text = (sfu__text){0};
done:
    sfu__json_clear(&source);
    sfu__text_clear(&text);
    return status;
}

sfu_status sfu__dataset_has_record(bool *has, const sfu_dataset *dataset, const char *name) {
    sfu__json_text source = {0};
    const sfu_status status = read_source(&source, dataset);
    *has = sfu__json_get(source.root, name) != NULL;
    sfu__json_clear(&source);
    return status;
}
