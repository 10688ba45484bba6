/* compare.c - the public functions of comparisons: sfu_compare, sfu_reproduce, and access to their results. */
#include "results_int.h"

#include "device.h"
#include "file.h"
#include "progress.h"
#include "protocol.h"
#include "shared_work.h"
#include "sized_struct.h"

#include <string.h>

enum { SPLITS = 10, TRIALS = 2000 };

void sfu_compare_options_init_sized(sfu_compare_options *options, size_t size) {
    const sfu_compare_options defaults = {.size = sizeof defaults,
                                          .splits = SPLITS,
                                          .trials = TRIALS,
                                          .folder = "results",
                                          .feature_norm = "sym",
                                          .loss = SFU_LOSS_OF_SPACE,
                                          .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* Tables 1 and 2 of the paper need no studies: they consist of text only. */
static bool is_text_only(const char *kind) { return strcmp(kind, "cost") == 0 || strcmp(kind, "datasets") == 0; }

static sfu_status write_file(const char *folder, const char *name, const char *bytes, size_t size) {
    char *path = sfu__path_join(folder, name);
    const sfu_status status = path != NULL ? sfu__write_file(path, bytes, size) : SFU_ERR_MEMORY;
    sfu__free(path);
    return status;
}

static sfu_status make_text(sfu__text *text, const char *kind, const sfu__request *request,
                            const sfu_compare_options *options) {
    return strcmp(kind, "cost") == 0 ? sfu__cost_table(text, request, options->on_progress, options->on_progress_user)
                                     : sfu__datasets_table(text, request);
}

/* Writes cost.md and datasets.md beside the studies. */
static sfu_status write_texts(const sfu_results *results, const sfu_compare_options *options) {
    static const char *const kinds[][2] = {{"cost", "cost.md"}, {"datasets", "datasets.md"}};
    sfu_status status = SFU_OK;
    for (size_t i = 0; i < 2 && status == SFU_OK; i++) {
        sfu__text text = {0};
        status = make_text(&text, kinds[i][0], &results->request, options);
        if (status == SFU_OK) {
            status = write_file(results->folder, kinds[i][1], text.bytes, text.size);
        }
        sfu__text_clear(&text);
    }
    return status;
}

/* Computes the tables and writes the report in the folder. */
static sfu_status finish(sfu_results *results, const sfu_compare_options *options) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__curves_read(&results->curves, results->folder));
    SFU_TRY(sfu__details_read(&results->details, results->folder));
    SFU_TRY(sfu__results_finish(results));
    SFU_TRY(sfu__manifest_write(results->folder, &results->request, &results->entries));
    SFU_TRY(sfu_results_report(results));
    if (strcmp(results->request.kind, "all") == 0) {
        SFU_TRY(write_texts(results, options));
    }
done:
    return status;
}

static sfu_status start(sfu_results **results, const char *folder) {
    sfu_status status = SFU_OK;
    sfu_results *self = NULL;
    SFU_ALLOC_ZERO(self, 1);
    *results = self;
    self->folder = sfu__copy_string(folder);
    status = self->folder != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    return status;
}

/* Earlier results in a folder are continued only if they have the same settings; entries are matched one by one. A
 * folder without entries has nothing to mix up. */
static sfu_status check_settings(const sfu_results *results) {
    sfu__request before = {0};
    sfu__entries entries = {0};
    sfu__text difference = {0};
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__manifest_read(&before, results->folder));
    if (before.kind == NULL) {
        goto done;
    }
    SFU_TRY(sfu__request_difference(&difference, &before, &results->request));
    entries.metric = before.metric;
    SFU_TRY(sfu__entries_read(&entries, results->folder));
    const bool same = difference.size == 0 && strcmp(before.kind, results->request.kind) == 0;
    if (same && entries.count > 0 && before.protocol != SFU__PROTOCOL) {
        char quoted[SFU__QUOTE_MAX];
        sfu__log(SFU_LOG_WARNING,
                 "%s has results of version %s, whose protocol differs from that of \"%s\": new results may not be "
                 "comparable",
                 results->folder, sfu__quote(quoted, before.version, strlen(before.version)), sfu_version());
    } else if (!same && entries.count > 0) {
        const bool compared = strcmp(before.kind, "compare") == 0;
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s has results of %s%s%s; choose another folder with -o FOLDER",
                           results->folder, compared ? "" : "reproduce ", before.kind, difference.bytes);
    }
done:
    sfu__entries_clear(&entries);
    sfu__request_clear(&before);
    sfu__text_clear(&difference);
    return status;
}

/* The report of what a folder has so far. */
static sfu_status report_folder(const char *folder) {
    sfu_status status = SFU_OK;
    sfu_results *results = NULL;
    const sfu__watch before = sfu__watch_flag(NULL); /* the progress of the run is the one to be shown */
    SFU_TRY(sfu_results_open(&results, folder));
    SFU_TRY(sfu_results_report(results));
done:
    sfu__watch_end(before);
    sfu_results_free(results);
    return status;
}

static sfu_status run(sfu_results *results, const sfu_compare_options *options, sfu__log_filter *log_filter) {
    sfu_status status = SFU_OK;
    sfu__tasks tasks = {0};
    const sfu__run_options how = {.folder = results->folder,
                                  .request = &results->request,
                                  .jobs = options->jobs,
                                  .device = options->device,
                                  .on_progress = options->on_progress,
                                  .on_progress_user = options->on_progress_user,
                                  .log_filter = log_filter,
                                  .share = options->share,
                                  .memory = options->memory,
                                  .left_out = &results->left_out,
                                  .part = options->part,
                                  .parts = options->parts,
                                  .report = report_folder};
    SFU_TRY(sfu__request_tasks(&tasks, &results->request));
    SFU_TRY(strcmp(results->request.kind, "compare") == 0 ? SFU_OK : sfu__paper_check_loops(&tasks));
    SFU_TRY(check_settings(results));
    results->entries.metric = results->request.metric;
    SFU_TRY(sfu__entries_read(&results->entries, results->folder));
    SFU_TRY(sfu__run_tasks(&results->entries, &tasks, &how));
done:
    sfu__tasks_clear(&tasks);
    return status;
}

/* A table that consists of text only. */
static sfu_status describe(sfu_results *results, const sfu_compare_options *options) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(check_settings(results));
    SFU_TRY(make_text(&text, results->request.kind, &results->request, options));
    results->text = text.bytes;
    text = (sfu__text){0};
    SFU_TRY(sfu__make_folders(results->folder));
    SFU_TRY(sfu__manifest_write(results->folder, &results->request, &results->entries));
    SFU_TRY(sfu_results_report(results));
done:
    sfu__text_clear(&text);
    return status;
}

/* A comparison without a space or loss keeps that of the results in its folder, and any keeps the sampler and the norm
 * of label smoothing. Studies are
 * kept in a folder that kept them before. */
static sfu_status make_request(sfu_results *results, const char *kind, const sfu_compare_options *given) {
    sfu_status status = SFU_OK;
    sfu__request before = {0};
    sfu_compare_options options = *given;
    SFU_TRY(sfu__manifest_read(&before, results->folder));
    options.drop_studies = options.drop_studies && (before.kind == NULL || before.drop_studies);
    if (before.kind != NULL) {
        options.sampler = options.sampler == NULL ? before.sampler : options.sampler;
        options.label_norm = options.label_norm == NULL ? before.label_norm : options.label_norm;
    }
    if (strcmp(kind, "compare") == 0 && before.kind != NULL && strcmp(before.kind, kind) == 0 &&
        before.space[0] != '\0') {
        options.space = options.space == NULL ? before.space : options.space;
        options.loss = options.loss == SFU_LOSS_OF_SPACE ? before.loss : options.loss;
    }
    SFU_TRY(sfu__request_make(&results->request, kind, &options));
done:
    sfu__request_clear(&before);
    return status;
}

static sfu_status check_part(const sfu_compare_options *options) {
    const bool valid = options->parts == 0 || (options->part >= 1 && options->part <= options->parts);
    return valid ? SFU_OK
                 : sfu__fail(SFU_ERR_ARGUMENT, "part %d of %d; expected a part from 1 to the number of parts",
                             options->part, options->parts);
}

static sfu_status compare(sfu_results **results, const char *kind, const sfu_compare_options *options) {
    sfu_status status = SFU_OK;
    sfu_results *made = NULL;
    *results = NULL;
    sfu__device device; /* only checked here: each study reads it again */
    sfu__log_filter log_filter;
    sfu__log_filter_start(&log_filter);
    sfu__log_once(&log_filter, NULL);
    SFU_TRY(sfu__device_parse(&device, options->device, options->memory));
    SFU_TRY(check_part(options));
    SFU_TRY(sfu__shared_work_check(options->share));
    SFU_TRY(start(&made, options->folder));
    SFU_TRY(make_request(made, kind, options));
    if (is_text_only(kind)) {
        SFU_TRY(describe(made, options));
    } else {
        SFU_TRY(run(made, options, &log_filter));
        SFU_TRY(finish(made, options));
    }
    *results = made;
    made = NULL;
done:
    sfu__log_once(NULL, NULL);
    sfu__log_filter_clear(&log_filter);
    sfu_results_free(made);
    return status;
}

sfu_status sfu_compare(sfu_results **results, const sfu_compare_options *given) {
    sfu_compare_options options;
    *results = NULL;
    const sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_compare_options);
    return status != SFU_OK ? status : compare(results, "compare", &options);
}

sfu_status sfu_reproduce(sfu_results **results, const char *table, const sfu_compare_options *options) {
    char quoted[SFU__QUOTE_MAX];
    sfu_compare_options all;
    *results = NULL;
    const sfu_status status = SFU__READ_OPTIONS(&all, options, sfu_compare_options);
    if (status != SFU_OK) {
        return status;
    }
    if (all.memory > 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a table of the paper has no memory limit; its datasets are small");
    }
    all.splits = all.splits == 0 ? SPLITS : all.splits;
    all.trials = all.trials == 0 ? TRIALS : all.trials;
    for (int i = 0; sfu_reproduce_table(i, NULL) != NULL; i++) {
        if (strcmp(sfu_reproduce_table(i, NULL), table) == 0) {
            return compare(results, table, &all);
        }
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "unknown table %s; expected set1 to set5, standard, layers, self-neighbour, "
                     "degree-exponents, extras, noise, cost, datasets or all",
                     sfu__quote(quoted, table, strlen(table)));
}

/* Measured times are read, not measured again. */
static sfu_status read_text(sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__bytes bytes = {0};
    char *path = sfu__path_join(results->folder, "tables.md");
    if (path == NULL) {
        return SFU_ERR_MEMORY;
    }
    SFU_TRY(sfu__bytes_open(&bytes, path));
    results->text = sfu__copy_bytes((const char *)bytes.data, bytes.size);
    status = results->text != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    sfu__bytes_close(&bytes);
    sfu__free(path);
    return status;
}

/* A report does not need its learning curves: a problem with them is a warning. */
static sfu_status read_curves(sfu_results *results) {
    const sfu_status status = sfu__curves_read(&results->curves, results->folder);
    if (status == SFU_OK || status == SFU_ERR_MEMORY) {
        return status;
    }
    sfu__log(SFU_LOG_WARNING, "%s; learning curves are left out of the report", sfu_message());
    sfu__curves_clear(&results->curves);
    results->curves_broken = true;
    return SFU_OK;
}

/* The same for details. */
static sfu_status read_details(sfu_results *results) {
    const sfu_status status = sfu__details_read(&results->details, results->folder);
    if (status == SFU_OK || status == SFU_ERR_MEMORY) {
        return status;
    }
    sfu__log(SFU_LOG_WARNING, "%s; the report is written without these details", sfu_message());
    sfu__details_clear(&results->details);
    return SFU_OK;
}

sfu_status sfu_results_open(sfu_results **results, const char *folder) {
    sfu_status status = SFU_OK;
    sfu_results *made = NULL;
    *results = NULL;
    SFU_TRY(start(&made, folder));
    SFU_TRY(sfu__manifest_read(&made->request, folder));
    if (made->request.kind == NULL) {
        status = sfu__fail(SFU_ERR_NOT_FOUND,
                           "%s: no manifest.json in this folder, so it has no results of compare or "
                           "reproduce",
                           folder);
        goto done;
    }
    if (is_text_only(made->request.kind)) {
        SFU_TRY(read_text(made));
    } else {
        made->entries.metric = made->request.metric;
        SFU_TRY(sfu__entries_read(&made->entries, folder));
        SFU_TRY(read_curves(made));
        SFU_TRY(read_details(made));
        SFU_TRY(sfu__results_finish(made));
    }
    *results = made;
    made = NULL;
done:
    sfu_results_free(made);
    return status;
}

void sfu_results_free(sfu_results *results) {
    if (results == NULL) {
        return;
    }
    sfu__request_clear(&results->request);
    sfu__entries_clear(&results->entries);
    sfu__curves_clear(&results->curves);
    sfu__details_clear(&results->details);
    sfu__string_list_clear(&results->texts);
    sfu__free(results->left_out.items);
    sfu__free(results->order);
    sfu__free(results->row_groups);
    sfu__free(results->cells);
    sfu__free(results->ranks);
    sfu__free(results->rank_pairs);
    sfu__free(results->published);
    sfu__free(results->pairs);
    sfu__free(results->shown);
    sfu__free(results->text);
    sfu__free(results->folder);
    sfu__free(results);
}

const sfu_cell *sfu_results_cell(const sfu_results *results, int i) {
    return i >= 0 && i < results->cell_count ? &results->cells[i] : NULL;
}

const sfu_left_out *sfu_results_left_out(const sfu_results *results, int i) {
    return i >= 0 && i < results->left_out.count ? &results->left_out.items[i].shown : NULL;
}

const sfu_rank *sfu_results_rank(const sfu_results *results, int i) {
    return i >= 0 && i < results->rank_count ? &results->ranks[i] : NULL;
}

const sfu_rank_pair *sfu_results_rank_pair(const sfu_results *results, int i) {
    return i >= 0 && i < results->rank_pair_count ? &results->rank_pairs[i] : NULL;
}

const char *sfu_results_text(const sfu_results *results) { return results->text; }
const char *sfu_results_folder(const sfu_results *results) { return results->folder; }
sfu_metric sfu_results_metric(const sfu_results *results) { return results->request.metric; }

/* ---- the report -------------------------------------------------------------------------------------------------- */

sfu_status sfu_results_report(const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__text md = {0}, tex = {0};
    if (is_text_only(results->request.kind)) {
        SFU_TRY(write_file(results->folder, "tables.md", results->text, strlen(results->text)));
        goto done;
    }
    SFU_TRY(sfu__entries_write(&results->entries, results->folder));
    SFU_TRY(sfu__tables_md(&md, results));
    SFU_TRY(write_file(results->folder, "tables.md", md.bytes, md.size));
    SFU_TRY(sfu__tables_tex(&tex, results));
    SFU_TRY(write_file(results->folder, "tables.tex", tex.bytes, tex.size));
    SFU_TRY(sfu__results_plots(results));
    SFU_TRY(sfu__results_html(results));
done:
    sfu__text_clear(&md);
    sfu__text_clear(&tex);
    return status;
}
