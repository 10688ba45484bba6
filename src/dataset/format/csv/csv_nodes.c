/* csv_nodes.c - reads a table of nodes: assigns its columns to a column transformation and fits it.
 *
 * Every column except the node and the label is a column of the transformation, in the order of the file, or in that
 * of the file of feature names. With the option `like` the transformation is given, and its columns are found by name.
 */
#include "parallel.h"
#include "table_read.h"

#include <stdio.h>

/* ---- names of columns ------------------------------------------------------------------------------------------- */

bool sfu__names_have(const char *list, const char *name, size_t size) {
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        if (length == size && memcmp(list, name, size) == 0) {
            return true;
        }
        list += length + (list[length] == ',');
    }
    return false;
}

/* The name of a column in the header, or its number from 1. */
static const char *column_name(const sfu__csv *csv, size_t column, char digits[SFU__DIGITS_MAX], size_t *size) {
    if (csv->has_header) {
        return sfu__strings_get(&csv->header, (int64_t)column, size);
    }
    *size = sfu__write_integer(digits, column + 1);
    return digits;
}

static sfu_status fail_no_column(const sfu__csv *csv, const char *wanted, size_t wanted_size, const char *what) {
    enum { SHOWN = 12 };
    sfu_status status = SFU_OK;
    sfu__text columns = {0};
    char quoted[SFU__QUOTE_MAX];
    for (size_t i = 1; i < csv->width && i <= SHOWN; i++) {
        SFU_TRY(sfu__text_format(&columns, "%s%s", i > 1 ? ", " : "", sfu__csv_column(csv, i, quoted)));
    }
    status = sfu__fail(SFU_ERR_ARGUMENT, "%s: no column %s for %s; there %s %s%s", csv->path,
                       sfu__quote(quoted, wanted, wanted_size), what, csv->width == 2 ? "is" : "are",
                       csv->width > 1 ? columns.bytes : "none", csv->width > SHOWN + 1 ? ", ..." : "");
done:
    sfu__text_clear(&columns);
    return status;
}

/* csv->width if there is none. */
static size_t column_of(const sfu__csv *csv, const char *name, size_t size) {
    for (size_t i = 0; i < csv->width; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t have;
        const char *found = column_name(csv, i, digits, &have);
        if (have == size && memcmp(found, name, size) == 0) {
            return i;
        }
    }
    return csv->width;
}

sfu_status sfu__csv_find_column(const sfu__csv *csv, const char *name, const char *what, size_t *column) {
    *column = name != NULL ? column_of(csv, name, strlen(name)) : csv->width;
    return name == NULL || *column < csv->width ? SFU_OK : fail_no_column(csv, name, strlen(name), what);
}

/* ---- declared types --------------------------------------------------------------------------------------------- */

enum { DECLARATIONS = 4 };
typedef struct declaration {
    const char *option, *list;
    sfu__transform_type type;
} declaration;

static void list_declarations(declaration list[DECLARATIONS], const sfu_import_options *options) {
    const declaration all[DECLARATIONS] = {{"--numeric", options->numeric, SFU__TYPE_NUMBER},
                                           {"--categorical", options->categorical, SFU__TYPE_CATEGORY},
                                           {"--text", options->text, SFU__TYPE_TEXT},
                                           {"--ignore", options->ignore, SFU__TYPE_IGNORED}};
    memcpy(list, all, sizeof all);
}

/* Every name of a list must be a column. */
static sfu_status check_list(const sfu__csv *csv, const declaration *declared) {
    const char *list = declared->list;
    while (list != NULL && *list != '\0') {
        const size_t length = strcspn(list, ",");
        if (column_of(csv, list, length) == csv->width) {
            return fail_no_column(csv, list, length, declared->option);
        }
        list += length + (list[length] == ',');
    }
    return SFU_OK;
}

static sfu_status declared_type(sfu__transform_type *type, const sfu__tables *tables, const char *name, size_t size) {
    declaration list[DECLARATIONS];
    const char *before = NULL;
    list_declarations(list, tables->options);
    *type = SFU__TYPE_AUTO;
    for (int i = 0; i < DECLARATIONS; i++) {
        if (sfu__names_have(list[i].list, name, size)) {
            if (before != NULL) {
                char quoted[SFU__QUOTE_MAX];
                return sfu__fail(SFU_ERR_ARGUMENT, "column %s is in both %s and %s", sfu__quote(quoted, name, size),
                                 before, list[i].option);
            }
            before = list[i].option;
            *type = list[i].type;
        }
    }
    return SFU_OK;
}

/* ---- columns ---------------------------------------------------------------------------------------------------- */

static sfu_status fail_double_column(const sfu__csv *csv, size_t column) {
    char name[SFU__QUOTE_MAX];
    return sfu__fail(SFU_ERR_FORMAT, "%s: duplicate column name: %s", csv->path, sfu__csv_column(csv, column, name));
}

/* The position of a column among the features: in order of appearance, or from the file of feature names. */
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

/* source[i] is the column of the file that is column i of the transformation; allocated. */
static sfu_status order_columns(sfu__tables *tables, const sfu__table_scan *scan, size_t **source, int64_t *count) {
    sfu_status status = SFU_OK;
    const sfu__csv *csv = scan->csv;
    *count = (int64_t)csv->width - 1 - (scan->label < csv->width ? 1 : 0);
    if (tables->features_fixed && *count != tables->features.count) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: found %lld features, but %s names %lld", csv->path, (long long)*count,
                         tables->options->feature_names, (long long)tables->features.count);
    }
    SFU_ALLOC(*source, *count);
    for (int64_t i = 0; i < *count; i++) {
        (*source)[i] = csv->width;
    }
    int64_t next = 0;
    for (size_t column = 0; column < csv->width; column++) {
        int64_t feature = next;
        if (column == scan->id || column == scan->label) {
            continue;
        }
        if (csv->has_header) {
            SFU_TRY(column_index(tables, csv, column, &feature));
        }
        if ((*source)[feature] < csv->width) {
            status = fail_double_column(csv, column);
            goto done;
        }
        (*source)[feature] = column;
        next++;
    }
done:
    return status;
}

/* Adds the columns to the transformation, with their declared types. */
static sfu_status declare_columns(sfu__tables *tables, const sfu__table_scan *scan, int64_t count) {
    sfu_status status = SFU_OK;
    sfu__transform *transform = &tables->transform;
    declaration lists[DECLARATIONS];
    list_declarations(lists, tables->options);
    for (int i = 0; i < DECLARATIONS; i++) {
        SFU_TRY(check_list(scan->csv, &lists[i]));
    }
    for (int64_t i = 0; i < count; i++) {
        char digits[SFU__DIGITS_MAX];
        size_t size;
        sfu__transform_type type = SFU__TYPE_AUTO;
        const char *name = column_name(scan->csv, tables->cell_source[i], digits, &size);
        SFU_TRY(declared_type(&type, tables, name, size));
        if (tables->features_fixed && !scan->csv->has_header) {
            name = sfu__node_index_name(&tables->features, i, digits, &size);
        }
        SFU_TRY(sfu__transform_add(transform, name, size, type));
    }
    transform->named = scan->csv->has_header || tables->features_fixed;
    if (scan->csv->has_header) {
        size_t size;
        const char *id = sfu__strings_get(&scan->csv->header, (int64_t)scan->id, &size);
        const bool stored = sfu__utf8_valid(id, size);
        transform->id = stored ? sfu__copy_bytes(id, size) : NULL;
        status = stored && transform->id == NULL ? SFU_ERR_MEMORY : SFU_OK;
    }
done:
    return status;
}

static bool has_features(const sfu__transform_column *column) {
    return column->type != SFU__TYPE_IDENTIFIER && column->type != SFU__TYPE_IGNORED && column->type != SFU__TYPE_EMPTY;
}

/* Finds the columns of a given transformation. */
static sfu_status match_columns(sfu__tables *tables, const sfu__table_scan *scan) {
    sfu_status status = SFU_OK;
    const sfu__transform *transform = &tables->transform;
    SFU_ALLOC(tables->cell_source, transform->count);
    for (int64_t i = 0; i < transform->count; i++) {
        const sfu__transform_column *column = &transform->columns[i];
        const size_t found = column_of(scan->csv, column->name, strlen(column->name));
        tables->cell_source[i] = found;
        if (has_features(column) && (found == scan->csv->width || found == scan->id || found == scan->label)) {
            status = fail_no_column(scan->csv, column->name, strlen(column->name), tables->options->like);
            goto done;
        }
    }
done:
    return status;
}

static sfu_status assign_columns(sfu__tables *tables, sfu__table_scan *scan) {
    sfu_status status = SFU_OK;
    int64_t count = 0;
    const sfu__transform *transform = &tables->transform;
    if (tables->options->like != NULL) {
        SFU_TRY(match_columns(tables, scan));
    } else {
        SFU_TRY(order_columns(tables, scan, &tables->cell_source, &count));
        SFU_TRY(declare_columns(tables, scan, count));
    }
    for (int64_t i = 0; i < transform->count; i++) {
        const sfu__transform_column *column = &transform->columns[i];
        if (has_features(column)) {
            sfu__cell_column *cells = &scan->cells.columns[tables->cell_source[i]];
            cells->skipped = false;
            cells->exact = column->declared && column->type != SFU__TYPE_NUMBER;
        }
    }
done:
    return status;
}

/* ---- the table -------------------------------------------------------------------------------------------------- */

static int64_t line_of(void *user, int64_t row) { return sfu__table_line(user, row); }

static sfu_status fit(sfu__tables *tables, sfu__table_scan *scan) {
    const sfu__transform_input input = {.cells = &scan->cells,
                                        .source = tables->cell_source,
                                        .path = scan->csv->path,
                                        .line_of = line_of,
                                        .user = scan,
                                        .features_file = scan->features_file,
                                        .threads = sfu__thread_count(tables->options->threads)};
    return tables->options->like != NULL ? sfu__transform_check(&tables->transform, &input)
                                         : sfu__transform_fit(&tables->transform, &input);
}

sfu_status sfu__csv_table(sfu__tables *tables, sfu__table_scan *scan) {
    sfu_status status = SFU_OK;
    const bool has_columns = scan->csv->width > 1 + (size_t)(scan->label < scan->csv->width);
    scan->rules = &tables->transform.rules;
    SFU_TRY(sfu__cells_start(&scan->cells, scan->csv->width));
    for (size_t i = 0; i < scan->csv->width; i++) {
        scan->cells.columns[i].skipped = true;
    }
    if (has_columns) {
        tables->features_from = scan->csv->path;
        SFU_TRY(assign_columns(tables, scan));
    }
    SFU_TRY(sfu__table_read(tables, scan));
    if (has_columns) {
        SFU_TRY(fit(tables, scan));
        tables->cells = scan->cells;
        tables->cell_nodes = scan->nodes;
        scan->cells = (sfu__cells){0};
        scan->nodes = NULL;
    }
done:
    sfu__table_scan_clear(scan);
    return status;
}

sfu_status sfu__csv_nodes(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__table_scan scan = {.csv = &csv, .hint = "", .more = true};
    const sfu_import_options *options = tables->options;
    tables->named = true;
    const char *like_id = options->like != NULL ? tables->transform.id : NULL; /* of the earlier table */
    SFU_TRY(
        sfu__tables_open(tables, &csv, path,
                         (sfu__csv_rules){.label = options->label, .id = options->id != NULL ? options->id : like_id}));
    if (csv.width == 0) {
        goto done;
    }
    scan.offset = sfu__csv_offset(&csv);
    SFU_TRY(sfu__csv_find_column(&csv, options->label, "the label", &scan.label));
    SFU_TRY(sfu__csv_find_column(&csv, options->id, "--id", &scan.id));
    if (scan.id == csv.width) { /* that of the given transformation, or the first */
        const size_t found = like_id != NULL ? column_of(&csv, like_id, strlen(like_id)) : csv.width;
        scan.id = found < csv.width ? found : 0;
    }
    if (scan.label == scan.id) {
        char quoted[SFU__QUOTE_MAX];
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: column %s cannot be both the node and the label", path,
                           sfu__csv_column(&csv, scan.id, quoted));
        goto done;
    }
    tables->labels_from = scan.label < csv.width ? path : NULL;
    SFU_TRY(sfu__csv_table(tables, &scan));
done:
    sfu__csv_close(&csv);
    return status;
}
