/* read_linqs.c - reads the LINQS format. NAME.content has one paper per line: its id, its words (0 or 1) and its class.
 * NAME.cites beside it has one citation per line: the id of the cited paper and of the citing one.
 *
 * Citations of papers that are missing from the content file are skipped and counted, or an error if strict. An edge
 * leads from the citing paper to the cited one. */
#include "csv_tables.h"

#include <string.h>

/* ---- content ---------------------------------------------------------------------------------------------------- */

/* Adds the nonzero words of one paper. */
static sfu_status add_words(sfu__triples *words, const sfu__csv *csv, int64_t node) {
    sfu_status status = SFU_OK;
    for (size_t column = 1; column + 1 < csv->width; column++) {
        const sfu__csv_field *field = &csv->fields[column];
        float value = 0;
        if (field->size == 1 && field->bytes[0] == '0') {
            continue;
        }
        SFU_TRY(sfu__csv_number(csv, column, &value));
        if (value != 0) {
            SFU_TRY(sfu__triples_add(words, node, (int64_t)column - 1, value));
        }
    }
done:
    return status;
}

static sfu_status read_content(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__seen seen = {0};
    int64_t node;
    bool more;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){.header = SFU_HEADER_NO}));
    if (csv.width < 3) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s:%lld: expected at least 3 columns (id, words, class), found %zu", path,
                           (long long)csv.width_line, csv.width);
        goto done;
    }
    tables->named = tables->has_triples = true;
    tables->labels_from = path;
    tables->raw->features = (int64_t)csv.width - 2;
    sfu__node_index_numbers(&tables->features, tables->raw->features);
    for (;;) {
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(sfu__tables_node(tables, &csv, 0, &node));
        SFU_TRY(sfu__seen_add(&seen, &csv, node, ""));
        SFU_TRY(add_words(&tables->triples, &csv, node));
        SFU_TRY(sfu__tables_label(tables, &csv, node, csv.width - 1));
    }
done:
    sfu__free(seen.lines);
    sfu__csv_close(&csv);
    return status;
}

/* ---- cites ------------------------------------------------------------------------------------------------------ */

/* The two papers of a row, -1 for a paper that is missing from the content file. */
static sfu_status find_papers(sfu__tables *tables, const sfu__csv *csv, int64_t papers[2]) {
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < 2; i++) {
        SFU_TRY(sfu__node_index_find(&tables->nodes, csv->fields[i].bytes, csv->fields[i].size, &papers[i]));
        if (papers[i] < 0 && tables->options->strict) {
            status =
                sfu__csv_fail(csv, i, "is a paper that is missing from the content file, and the import is strict");
            goto done;
        }
    }
done:
    return status;
}

static sfu_status read_cites(sfu__tables *tables, const char *path) {
    sfu_status status = SFU_OK;
    sfu__csv csv = {0};
    sfu__pair_buffer buffer = {0};
    int64_t skipped = 0;
    bool more;
    SFU_TRY(sfu__tables_open(tables, &csv, path, (sfu__csv_rules){.edges = true, .header = SFU_HEADER_NO}));
    if (csv.width != 2 && csv.width != 0) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s:%lld: expected 2 columns (cited and citing paper), found %zu", path,
                           (long long)csv.width_line, csv.width);
        goto done;
    }
    for (;;) {
        int64_t papers[2]; /* cited, citing */
        SFU_TRY(sfu__csv_next(&csv, &more));
        if (!more) {
            break;
        }
        SFU_TRY(find_papers(tables, &csv, papers));
        if (papers[0] < 0 || papers[1] < 0) {
            skipped++;
        } else {
            SFU_TRY(sfu__pair_buffer_add(&buffer, &tables->raw->pairs, papers[1], papers[0], NULL));
        }
    }
    SFU_TRY(sfu__pair_buffer_flush(&buffer, &tables->raw->pairs));
    tables->raw->has_graph = true;
    if (skipped > 0) {
        sfu__log(SFU_LOG_WARNING, "%s: skipped %lld citation%s of papers that are missing from the content file", path,
                 (long long)skipped, skipped == 1 ? "" : "s");
    }
done:
    sfu__pair_buffer_clear(&buffer);
    sfu__csv_close(&csv);
    return status;
}

/* ---- both files ------------------------------------------------------------------------------------------------- */

/* Replaces the suffix `from` of a path (with or without ".gz" after it) by `to`. */
static sfu_status other_file(char **other, const char *path, const char *from, const char *to) {
    const size_t size = strlen(path);
    const bool gzip = sfu__path_ends_with(path, ".gz");
    const size_t stem = size - strlen(from) - (gzip ? strlen(".gz") : 0);
    sfu__text text = {0};
    sfu_status status = sfu__text_format(&text, "%.*s%s%s", (int)stem, path, to, gzip ? ".gz" : "");
    if (status == SFU_OK && gzip && !sfu__path_is_file(text.bytes)) {
        text.bytes[text.size - strlen(".gz")] = '\0';
    } else if (status == SFU_OK && !gzip && !sfu__path_is_file(text.bytes)) {
        sfu__text compressed = {0};
        status = sfu__text_format(&compressed, "%s.gz", text.bytes);
        if (status == SFU_OK && sfu__path_is_file(compressed.bytes)) {
            sfu__text_clear(&text);
            text = compressed;
            compressed = (sfu__text){0};
        }
        sfu__text_clear(&compressed);
    }
    *other = text.bytes;
    return status;
}

sfu_status sfu__read_linqs(sfu__raw *raw, const sfu_import_options *options) {
    sfu_status status = SFU_OK;
    sfu__tables tables = {.raw = raw, .options = options};
    char *other = NULL;
    const char *content = options->source;
    const char *cites = options->edges;
    raw->format = "linqs";
    if (content == NULL || (!sfu__path_ends_with(content, ".content") && !sfu__path_ends_with(content, ".cites"))) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: the source is the file NAME.content, with NAME.cites beside it",
                           content != NULL ? content : "LINQS");
        goto done;
    }
    if (sfu__path_ends_with(content, ".cites")) {
        SFU_TRY(other_file(&other, content, ".cites", ".content"));
        cites = content;
        content = other;
    } else if (cites == NULL) {
        SFU_TRY(other_file(&other, content, ".content", ".cites"));
        cites = other;
    }
    SFU_TRY(read_content(&tables, content));
    SFU_TRY(read_cites(&tables, cites));
    if (options->split != NULL) {
        SFU_TRY(sfu__csv_split(&tables, options->split));
    }
    SFU_TRY(sfu__tables_finish(&tables));
done:
    sfu__free(other);
    sfu__tables_clear(&tables);
    return status;
}
