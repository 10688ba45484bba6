/* results_plots.c - the list of plots, and writing them into their folder. */
#include "plots.h"

#include "file.h"
#include "progress.h"

#include <math.h>
#include <string.h>

/* ---- the list ---------------------------------------------------------------------------------------------------- */

void sfu__plots_clear(sfu__plots *plots) {
    for (int i = 0; i < plots->count; i++) {
        sfu__plot *plot = &plots->items[i];
        sfu__plot_files_clear(&plot->files);
        sfu__free(plot->title);
        sfu__text_clear(&plot->data);
        sfu__text_clear(&plot->script);
    }
    sfu__free(plots->items);
    *plots = (sfu__plots){0};
}

/* A file name from any text: lower-case letters and digits are kept, all else becomes '-'; at most 40 characters. */
static sfu_status add_slug(sfu__text *path, const char *of) {
    enum { MOST = 40 };
    sfu_status status = SFU_OK;
    bool dash = true;
    for (int i = 0; i < MOST && of[i] != '\0'; i++) {
        const char c = (char)(of[i] >= 'A' && of[i] <= 'Z' ? of[i] - 'A' + 'a' : of[i]);
        const bool plain = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        if (plain || !dash) {
            SFU_TRY(sfu__text_add(path, plain ? &c : "-", 1));
        }
        dash = !plain;
    }
done:
    return status;
}

static bool is_taken(const sfu__plots *plots, const char *path) {
    for (int i = 0; i < plots->count; i++) {
        if (plots->items[i].files.svg != NULL && strcmp(plots->items[i].files.svg, path) == 0) {
            return true;
        }
    }
    return false;
}

/* FOLDER/plots/KIND-OF.svg; where two texts give the same name, the second gets a number after a '.', which no name
 * has. */
static sfu_status make_path(sfu__text *path, const sfu__plots *plots, const char *folder, const char *kind,
                            const char *of) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(path, "%s/plots/%s-", folder, kind));
    SFU_TRY(add_slug(path, of));
    const size_t stem = path->size;
    SFU_TRY(sfu__text_format(path, ".svg"));
    for (int i = 2; is_taken(plots, path->bytes); i++) {
        path->size = stem;
        SFU_TRY(sfu__text_format(path, ".%d.svg", i));
    }
done:
    return status;
}

sfu_status sfu__plots_add(sfu__plot **plot, sfu__plots *plots, const sfu_results *results, const sfu__plot_kind *kind,
                          const char *of, const char *title) {
    sfu_status status = SFU_OK;
    sfu__text path = {0};
    sfu__plot *grown = sfu__grow(plots->items, &plots->capacity, (size_t)plots->count + 1, sizeof *grown);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    plots->items = grown;
    sfu__plot *made = &plots->items[plots->count];
    *made = (sfu__plot){.heading = kind->heading, .note = kind->note};
    SFU_TRY(make_path(&path, plots, results->folder, kind->name, of));
    plots->count++;
    SFU_TRY(sfu__plot_files_make(&made->files, path.bytes));
    made->title = sfu__copy_string(title);
    status = made->title != NULL ? SFU_OK : SFU_ERR_MEMORY;
    *plot = made;
done:
    sfu__text_clear(&path);
    return status;
}

sfu_status sfu__plots_add_chart(sfu__plots *plots, const sfu_results *results, const sfu__plot_kind *kind,
                                const char *of, const sfu__chart *chart) {
    sfu_status status = SFU_OK;
    sfu__plot *plot = NULL;
    SFU_TRY(sfu__plots_add(&plot, plots, results, kind, of, chart->title));
    SFU_TRY(sfu__chart_data(&plot->data, chart));
    SFU_TRY(sfu__chart_script(&plot->script, &plot->files, chart));
done:
    return status;
}

sfu_status sfu__plots_by_dataset(sfu__plots *plots, const sfu_results *results, sfu__plot_dataset_fn add) {
    sfu_status status = SFU_OK;
    sfu__string_list datasets = {0};
    SFU_TRY(sfu__cell_datasets(&datasets, results));
    for (int i = 0; i < datasets.count; i++) {
        SFU_TRY(add(plots, results, datasets.items[i]));
    }
done:
    sfu__string_list_clear(&datasets);
    return status;
}

sfu_status sfu__plots_make(sfu__plots *plots, const sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__plot_sizes(plots, results));
    SFU_TRY(sfu__plot_ranks(plots, results));
    SFU_TRY(sfu__plot_tradeoff(plots, results));
    SFU_TRY(sfu__plot_sweeps(plots, results));
    SFU_TRY(sfu__plot_noise(plots, results));
    SFU_TRY(sfu__plot_curves(plots, results));
done:
    return status;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

bool sfu__is_main_cell(const sfu_cell *cell) {
    return cell->k == 0 && isnan(cell->alpha) && !cell->beyond && strcmp(cell->measure, "test") == 0;
}

static const char *dataset_of(const sfu_cell *cell) { return cell->dataset; }
static const char *size_of(const sfu_cell *cell) { return cell->size; }
static const char *net_of(const sfu_cell *cell) { return cell->net; }

static sfu_status collect(sfu__string_list *list, const sfu_results *results, const char *(*of)(const sfu_cell *)) {
    sfu_status status = SFU_OK;
    for (int i = 0, place; i < results->cell_count && status == SFU_OK; i++) {
        if (sfu__is_main_cell(&results->cells[i])) {
            status = sfu__string_list_index(&place, list, of(&results->cells[i]));
        }
    }
    return status;
}

sfu_status sfu__cell_datasets(sfu__string_list *datasets, const sfu_results *results) {
    return collect(datasets, results, dataset_of);
}
sfu_status sfu__cell_sizes(sfu__string_list *sizes, const sfu_results *results) {
    return collect(sizes, results, size_of);
}
sfu_status sfu__cell_nets(sfu__string_list *nets, const sfu_results *results) { return collect(nets, results, net_of); }

/* ---- the folder -------------------------------------------------------------------------------------------------- */

static sfu_status write_and_draw(const sfu__plots *plots) {
    sfu_status status = SFU_OK;
    sfu__plot_files *files = NULL; /* borrowed, one after the other */
    SFU_ALLOC(files, plots->count);
    for (int i = 0; i < plots->count; i++) {
        files[i] = plots->items[i].files;
        /* The script first: it shows that the others are ours (results_files.c), should the process be killed now. */
        SFU_TRY(sfu__write_file(files[i].gp, plots->items[i].script.bytes, plots->items[i].script.size));
        SFU_TRY(sfu__write_file(files[i].csv, plots->items[i].data.bytes, plots->items[i].data.size));
    }
    SFU_TRY(sfu__plot_draw_all(files, plots->count));
done:
    sfu__free(files);
    return status;
}

sfu_status sfu__results_plots(const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__plots plots = {0};
    char *folder = NULL;
    if (sfu__curves_missing(results) && !results->curves_broken) {
        sfu__log(SFU_LOG_NOTE,
                 "%s: no learning curves in it: the report has none; this version keeps them for new runs",
                 results->folder);
    }
    SFU_TRY(sfu__plots_make(&plots, results));
    if (plots.count > 0) {
        folder = sfu__path_join(results->folder, "plots");
        status = folder != NULL ? sfu__make_folders(folder) : SFU_ERR_MEMORY;
    }
    if (status == SFU_OK && plots.count > 0) {
        SFU_TRY(write_and_draw(&plots));
    }
done:
    sfu__free(folder);
    sfu__plots_clear(&plots);
    return status;
}
