/* tables_start.c - what is known before the first CSV file is read: the rules for cells, and the column transformation
 * of the dataset or model that the option `like` names. */
#include "csv_tables.h"
#include "dataset.h"
#include "file.h"

static sfu_status split_names(sfu__strings *names, const char *list) {
    sfu_status status = SFU_OK;
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        SFU_TRY(sfu__strings_add(names, list, length));
        list += length + (list[length] == ',');
    }
done:
    return status;
}

/* ---- like ------------------------------------------------------------------------------------------------------- */

static sfu_status fail_no_transform(const char *like) {
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "%s: it has no column transformation; expected a dataset that was imported from a CSV table, or a "
                     "model that was trained on one",
                     like);
}

static sfu_status add_classes(sfu__node_index *classes, const sfu__strings *names) {
    sfu_status status = SFU_OK;
    for (int64_t i = 0; i < names->count; i++) { /* each name ends with a NUL byte */
        const char *name = names->bytes + names->offsets[i];
        SFU_TRY(sfu__node_index_append(classes, name, strlen(name)));
    }
done:
    return status;
}

/* Datasets and models are files of one kind, with classes and transformation in their metadata. */
static sfu_status read_file(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__safetensors *file = NULL;
    sfu__strings names = {0};
    sfu__text place = {0};
    SFU_TRY(sfu__safetensors_open(&file, path));
    const char *text = sfu__safetensors_metadata(file, "transform");
    if (text == NULL) {
        status = fail_no_transform(path);
        goto done;
    }
    SFU_TRY(sfu__text_format(&place, "%s: the metadata \"transform\"", path));
    SFU_TRY(sfu__transform_read(&tables->transform, text, place.bytes));
    SFU_TRY(sfu__names_from_json(&names, sfu__safetensors_metadata(file, "classes"), path));
    SFU_TRY(add_classes(&tables->like, &names));
done:
    sfu__strings_clear(&names);
    sfu__text_clear(&place);
    sfu__safetensors_free(file);
    return status;
}

/* A dataset by its name. */
static sfu_status read_named(sfu__tables *tables, const char *name) {
    sfu_status status = SFU_OK;
    sfu_dataset *dataset = NULL;
    SFU_TRY(sfu_dataset_open(&dataset, name));
    if (dataset->transform == NULL) {
        status = fail_no_transform(name);
        goto done;
    }
    SFU_TRY(sfu__transform_read(&tables->transform, dataset->transform, name));
    SFU_TRY(add_classes(&tables->like, &dataset->class_names));
done:
    sfu_dataset_free(dataset);
    return status;
}

static sfu_status read_like(sfu__tables *tables) {
    const sfu_import_options *options = tables->options;
    if (options->numeric != NULL || options->categorical != NULL || options->text != NULL || options->ignore != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "--like takes the types of the columns from %s; it cannot be combined with --numeric, "
                         "--categorical, --text and --ignore",
                         options->like);
    }
    if (options->scale != SFU_SCALE_AUTO) {
        return sfu__fail(SFU_ERR_ARGUMENT, "the columns are scaled as those of %s; --scale cannot be given, too",
                         options->like);
    }
    return sfu__path_is_file(options->like) ? read_file(tables, options->like) : read_named(tables, options->like);
}

/* ---- start ------------------------------------------------------------------------------------------------------ */

sfu_status sfu__tables_start(sfu__tables *tables) {
    sfu_status status = SFU_OK;
    const sfu_import_options *options = tables->options;
    sfu__transform *transform = &tables->transform;
    tables->rules.decimal = options->decimal == ',' ? ',' : '.';
    SFU_TRY(split_names(&tables->rules.missing, options->missing));
    if (options->like != NULL) {
        SFU_TRY(read_like(tables));
        if (options->decimal != '\0') {
            transform->rules.decimal = options->decimal;
        }
    } else {
        transform->rules.decimal = tables->rules.decimal;
        transform->rows = options->scale == SFU_SCALE_QUANTILE ? SFU_SCALE_AUTO : options->scale;
        transform->values = options->scale == SFU_SCALE_AUTO       ? SFU__VALUES_STANDARD
                            : options->scale == SFU_SCALE_QUANTILE ? SFU__VALUES_QUANTILE
                                                                   : SFU__VALUES_RAW;
    }
    SFU_TRY(split_names(&transform->rules.missing, options->missing));
done:
    return status;
}
