/* csv_features.c - reads the files of features and of numbers per node: features.csv, columns.csv.
 *
 * A features file is read as node,feature,value if it has three columns and either its header names the second one
 * "feature" and the third "value", or it has no header and the second field of its first row is not a number. Every
 * other features file is a table: csv_nodes.c.
 */
#include "table_read.h"

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

static sfu_status fail_double_column(const sfu__csv *csv, size_t column) {
    char name[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_FORMAT, "%s: duplicate column name: %s", csv->path, sfu__csv_column(csv, column, name));
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

sfu_status sfu__csv_features(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    int64_t node;
    bool more;
    tables->named = true;
    if (tables->features_from != NULL) {
        return sfu__fail(
            SFU_ERR_ARGUMENT,
            "%s and %s both give features; leave one of them out, or name the label column of a table that has "
            "nothing else (--label)",
            tables->features_from, path);
    }
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){0}));
    const int64_t offset = sfu__csv_offset(&csv);
    SFU_TRY(sfu__csv_next(&csv, &more));
    if (csv.width == 1) {
        status =
            sfu__csv_fail_row(&csv, "expected at least 2 columns (node and features, or node,feature,value), found 1");
        goto done;
    }
    tables->features_from = path;
    tables->has_triples = (more || csv.has_header) && are_triples(&csv);
    if (!tables->has_triples && csv.width > 0) {
        const char *hint = csv.width == 3 ? "; for node,feature,value give it that header" : "";
        SFU_TRY(sfu__csv_table(tables, &(sfu__table_scan){.csv = &csv,
                                                          .offset = offset,
                                                          .label = csv.width,
                                                          .hint = hint,
                                                          .more = more,
                                                          .row_read = true,
                                                          .features_file = true}));
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
