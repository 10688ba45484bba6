/* csv_features.c - reads the files with numbers per node: nodes.csv, features.csv, columns.csv.
 *
 * A features file is read as node,feature,value if it has three columns and either its header names the second one
 * "feature" and the third "value", or it has no header and the second field of its first row is not a number. Every
 * other features file has a number in each column except the first.
 */
#include "csv_tables.h"

#include <string.h>

/* ---- feature names ---------------------------------------------------------------------------------------------- */

sfu_status sfu__csv_feature_names(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    bool more;
    int64_t number;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){.lines = true}));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        const int64_t before = tables->features.count;
        SFU_TRY(sfu__tables_name(&tables->features, &csv, csv.fields[0].bytes, csv.fields[0].size, "feature", &number));
        if (tables->features.count == before) {
            char quoted[SFU__QUOTE_MAX];
            status = sfu__csv_fail_row(&csv, "feature %s is a duplicate of feature %lld",
                                       sfu__quote(quoted, csv.fields[0].bytes, csv.fields[0].size), (long long)number);
            goto done;
        }
    }
    if (tables->features.count == 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected one feature name per line, found none", path);
        goto done;
    }
    tables->features_fixed = true;
done:
    sfu__csv_close(&csv);
    return status;
}

/* The number of features must agree with the file of feature names. */
static sfu_status check_feature_count(const sfu__tables *tables, const sfu__csv *csv, int64_t count) {
    if (count == tables->features.count) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_FORMAT, "%s: found %lld features, but %s names %lld", csv->path, (long long)count,
                     tables->options->feature_names, (long long)tables->features.count);
}

static sfu_status fail_double_column(const sfu__csv *csv, size_t column) {
    char name[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_FORMAT, "%s: duplicate column name: %s", csv->path, sfu__csv_column(csv, column, name));
}

/* The feature index of a column of the header: in order of appearance, or from the file of feature names. */
static sfu_status column_index(sfu__tables *tables, const sfu__csv *csv, size_t column, int64_t *feature) {
    sfu_status status = SFU_OK;
    size_t size;
    const char *name = sfu__strings_get(&csv->header, (int64_t)column, &size);
    if (tables->features_fixed) {
        SFU_TRY(sfu__node_index_find(&tables->features, name, size, feature));
        if (*feature < 0) {
            char quoted[SFU__QUOTE_MAX];
            status = sfu__fail(SFU_ERR_FORMAT, "%s: column %s is not a feature named in %s", csv->path,
                               sfu__quote(quoted, name, size), tables->options->feature_names);
        }
    } else {
        const int64_t before = tables->features.count;
        SFU_TRY(sfu__tables_name(&tables->features, csv, name, size, "feature", feature));
        if (tables->features.count == before) {
            status = fail_double_column(csv, column);
        }
    }
done:
    return status;
}

/* Assigns the columns of the header, except column 0 and `skip`, to features. *order (allocated) is the feature index
 * of each column, or NULL without a header. */
static sfu_status feature_columns(sfu__tables *tables, const sfu__csv *csv, size_t skip, int32_t **order) {
    sfu_status status = SFU_OK;
    bool *taken = NULL;
    const int64_t count = (int64_t)csv->width - 1 - (skip < csv->width ? 1 : 0);
    *order = NULL;
    if (tables->features_fixed) {
        SFU_TRY(check_feature_count(tables, csv, count));
    }
    if (!csv->has_header) {
        if (!tables->features_fixed) {
            sfu__node_index_numbers(&tables->features, count);
        }
        goto done;
    }
    SFU_ALLOC(*order, count);
    SFU_ALLOC_ZERO(taken, count);
    int64_t i = 0;
    for (size_t column = 1; column < csv->width; column++) {
        if (column == skip) {
            continue;
        }
        int64_t feature;
        SFU_TRY(column_index(tables, csv, column, &feature));
        if (taken[feature]) {
            status = fail_double_column(csv, column);
            goto done;
        }
        taken[feature] = true;
        (*order)[i++] = (int32_t)feature;
    }
done:
    sfu__free(taken);
    return status;
}

/* ---- the nodes file --------------------------------------------------------------------------------------------- */

/* The column of the label; csv->width if none is requested. */
static sfu_status find_label(const sfu__tables *tables, const sfu__csv *csv, size_t *column) {
    sfu_status status = SFU_OK;
    const char *label = tables->options->label;
    sfu__text columns = {0};
    *column = csv->width;
    if (label == NULL) {
        return SFU_OK;
    }
    for (size_t i = 1; i < csv->width; i++) {
        size_t size;
        int64_t number;
        const char *name = csv->has_header ? sfu__strings_get(&csv->header, (int64_t)i, &size) : NULL;
        if (name != NULL ? size == strlen(label) && memcmp(name, label, size) == 0
                         : sfu__parse_int64_string(&number, label) && number == (int64_t)i + 1) {
            *column = i;
            return SFU_OK;
        }
    }
    enum { SHOWN = 12 };
    char quoted[SFU__QUOTE_MAX];
    for (size_t i = 1; i < csv->width && i <= SHOWN; i++) {
        SFU_TRY(sfu__text_format(&columns, "%s%s", i > 1 ? ", " : "", sfu__csv_column(csv, i, quoted)));
    }
    status = sfu__fail(SFU_ERR_ARGUMENT, "%s: no column %s for the label; there %s %s%s", csv->path,
                       sfu__quote(quoted, label, strlen(label)), csv->width == 2 ? "is" : "are",
                       csv->width > 1 ? columns.bytes : "none", csv->width > SHOWN + 1 ? ", ..." : "");
done:
    sfu__text_clear(&columns);
    return status;
}

sfu_status sfu__csv_nodes(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    int32_t *order = NULL;
    size_t label;
    bool more;
    tables->named = true;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){.label = tables->options->label}));
    SFU_TRY(find_label(tables, &csv, &label));
    tables->labels_from = label < csv.width ? path : NULL;
    if (csv.width > 1 + (size_t)(label < csv.width)) {
        tables->features_from = path;
        SFU_TRY(feature_columns(tables, &csv, label, &order));
        tables->dense.width = tables->features.count;
    }
    for (;;) {
        int64_t node;
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, ""));
        SFU_TRY(sfu__rows_add(&tables->dense, &csv, node, 1, label, order));
        if (label < csv.width) {
            SFU_TRY(sfu__tables_label(tables, &csv, node, label));
        }
    }
done:
    sfu__free(order);
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}

/* ---- features --------------------------------------------------------------------------------------------------- */

/* Whether the file holds triples; the current row is the first row of data. */
static bool are_triples(const sfu__csv *csv) {
    if (csv->width != 3) {
        return false;
    }
    if (csv->has_header) {
        size_t sizes[2];
        const char *second = sfu__strings_get(&csv->header, 1, &sizes[0]);
        const char *third = sfu__strings_get(&csv->header, 2, &sizes[1]);
        return sfu__csv_is(second, sizes[0], "feature") && sfu__csv_is(third, sizes[1], "value");
    }
    double number;
    const sfu__csv_field *second = &csv->fields[1];
    return !sfu__parse_double(&number, second->bytes, second->bytes + second->size);
}

static sfu_status add_triple(sfu__tables *tables, const sfu__csv *csv, int64_t node) {
    sfu_status status = SFU_OK;
    const sfu__csv_field *feature = &csv->fields[1];
    int64_t number;
    float value;
    if (feature->size == 0 && csv->fields[2].size == 0) {
        return SFU_OK; /* "node,,": a node without features */
    }
    if (tables->features_fixed) {
        SFU_TRY(sfu__node_index_find(&tables->features, feature->bytes, feature->size, &number));
        if (number < 0) {
            char quoted[SFU__QUOTE_MAX];
            status =
                sfu__csv_fail_row(csv, "%s is not a feature named in %s",
                                  sfu__quote(quoted, feature->bytes, feature->size), tables->options->feature_names);
            goto done;
        }
    } else {
        SFU_TRY(sfu__tables_name(&tables->features, csv, feature->bytes, feature->size, "feature", &number));
    }
    SFU_TRY(sfu__csv_number(csv, 2, &value));
    SFU_TRY(sfu__triples_add(&tables->triples, node, number, value));
done:
    return status;
}

/* If all feature names are plain integers, they are used as column indices. */
static sfu_status number_triples(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    int32_t *values = NULL;
    int64_t largest;
    if (tables->features_fixed || !sfu__node_index_all_plain(&tables->features, &largest)) {
        tables->raw->features = tables->features.count;
        goto done;
    }
    if (largest >= INT32_MAX) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: feature number %lld is too large; expected less than %d", path,
                           (long long)largest, INT32_MAX);
        goto done;
    }
    SFU_ALLOC(values, tables->features.count);
    for (int64_t i = 0; i < tables->features.count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        int64_t value = 0;
        const char *name = sfu__node_index_name(&tables->features, i, digits, &size);
        (void)sfu__plain_integer(&value, name, size);
        values[i] = (int32_t)value;
    }
    for (int64_t t = 0; t < tables->triples.count; t++) {
        tables->triples.features[t] = values[tables->triples.features[t]];
    }
    tables->raw->features = largest + 1;
    sfu__node_index_clear(&tables->features);
done:
    sfu__free(values);
    return status;
}

static sfu_status read_feature_rows(sfu__tables *tables, sfu__csv *csv, bool more) {
    sfu_status status = SFU_OK;
    sfu__seen seen = {0};
    int32_t *order = NULL;
    int64_t node;
    const char *hint = csv->width == 3 ? "; for node,feature,value give it that header" : "";
    SFU_TRY(feature_columns(tables, csv, csv->width, &order));
    tables->dense.width = tables->features.count;
    while (more) {
        SFU_TRY(sfu__tables_node(tables, csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, csv, node, hint));
        SFU_TRY(sfu__rows_add(&tables->dense, csv, node, 1, csv->width, order));
        SFU_TRY(sfu__csv_next(csv, &more));
    }
done:
    sfu__free(order);
    sfu__free(seen.lines);
    return status;
}

sfu_status sfu__csv_features(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    int64_t node;
    bool more;
    tables->named = true;
    if (tables->features_from != NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s and %s both give features", tables->features_from, path);
    }
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(sfu__csv_next(&csv, &more));
    if (csv.width == 1) {
        status =
            sfu__csv_fail_row(&csv, "expected at least 2 columns (node and features, or node,feature,value), found 1");
        goto done;
    }
    tables->features_from = path;
    tables->has_triples = (more || csv.has_header) && are_triples(&csv);
    if (!tables->has_triples && csv.width > 0) {
        SFU_TRY(read_feature_rows(tables, &csv, more));
    } else {
        while (more) {
            SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
            SFU_TRY(add_triple(tables, &csv, node));
            SFU_TRY(sfu__csv_next(&csv, &more));
        }
        SFU_TRY(number_triples(tables, path));
    }
done:
    sfu__csv_close(&csv);
    return status;
}

/* ---- node columns ----------------------------------------------------------------------------------------------- */

static sfu_status name_columns(sfu__tables *tables, const sfu__csv *csv) {
    sfu_status status = SFU_OK;
    if (!csv->has_header || csv->width < 2) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: node columns need a header line that names them: node,NAME,...",
                         csv->path);
    }
    for (size_t i = 1; i < csv->width; i++) {
        size_t size;
        int64_t number;
        const char *name = sfu__strings_get(&csv->header, (int64_t)i, &size);
        SFU_TRY(sfu__tables_name(&tables->column_names, csv, name, size, "column", &number));
        if (number != (int64_t)i - 1) {
            status = fail_double_column(csv, i);
            goto done;
        }
    }
    tables->columns.width = tables->column_names.count;
done:
    return status;
}

sfu_status sfu__csv_columns(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    int64_t node;
    bool more;
    tables->named = true;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    SFU_TRY(name_columns(tables, &csv));
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, ""));
        SFU_TRY(sfu__rows_add(&tables->columns, &csv, node, 1, csv.width, NULL));
    }
done:
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}
