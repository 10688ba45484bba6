/* gnuplot.c - draws plots by running gnuplot.
 *
 * A script names its data and its output without a folder, so that it can be edited and run again in its folder. Its
 * output is a variable, so that we can have it written to a temporary file and renamed.
 */
#define _GNU_SOURCE /* realpath */
#include "gnuplot.h"

#include "file.h"
#include "program.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool has_control(const char *text) {
    for (const unsigned char *c = (const unsigned char *)text; *c != '\0'; c++) {
        if (*c < 0x20 || *c == 0x7f) {
            return true;
        }
    }
    return false;
}

/* The first `size` bytes of the path, and another extension. */
static char *with_ending(const char *path, size_t size, const char *ending) {
    sfu__text text = {0};
    if (sfu__text_add(&text, path, size) != SFU_OK || sfu__text_add(&text, ending, strlen(ending)) != SFU_OK) {
        sfu__text_clear(&text);
    }
    return text.bytes;
}

sfu_status sfu__plot_files_make(sfu__plot_files *files, const char *path) {
    static const char ending[] = ".svg";
    char quoted[SFU__QUOTE_MAX];
    const size_t size = strlen(path), stem = size - (sizeof ending - 1);
    if (size < sizeof ending || strcmp(path + stem, ending) != 0 || path[stem - 1] == '/') {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the name of a plot must end with .svg", sfu__quote(quoted, path, size));
    }
    if (has_control(path)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the name of a plot cannot have control characters",
                         sfu__quote(quoted, path, size));
    }
    files->svg = sfu__copy_string(path);
    files->gp = with_ending(path, stem, ".gp");
    files->csv = with_ending(path, stem, ".csv");
    const bool whole = files->svg != NULL && files->gp != NULL && files->csv != NULL;
    return whole ? SFU_OK : SFU_ERR_MEMORY;
}

void sfu__plot_files_clear(sfu__plot_files *files) {
    sfu__free(files->svg);
    sfu__free(files->gp);
    sfu__free(files->csv);
    *files = (sfu__plot_files){0};
}

/* ---- scripts ----------------------------------------------------------------------------------------------------- */

sfu_status sfu__plot_quote(sfu__text *out, const char *text) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_add(out, "'", 1));
    const char *end = text + strlen(text);
    for (const char *c = text; c < end;) {
        const size_t size = sfu__utf8_size(c, (size_t)(end - c));
        const size_t shown = sfu__shown_size(c, (size_t)(end - c));
        SFU_TRY(*c == '\''   ? sfu__text_add(out, "''", 2)
                : shown == 0 ? sfu__text_add(out, size > 0 ? " " : "?", 1)
                             : sfu__text_add(out, c, shown));
        c += size > 0 ? size : 1;
    }
    SFU_TRY(sfu__text_add(out, "'", 1));
done:
    return status;
}

sfu_status sfu__plot_start(sfu__text *script, const sfu__plot_files *files, const char *about) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(script, "# %s; \"gnuplot FILE\" in this folder draws it again.\nsvg = ", about));
    SFU_TRY(sfu__plot_quote(script, sfu__path_base(files->svg)));
    SFU_TRY(sfu__text_format(script, "\ncsv = "));
    SFU_TRY(sfu__plot_quote(script, sfu__path_base(files->csv)));
    SFU_TRY(sfu__text_format(script, "\n"));
done:
    return status;
}

sfu_status sfu__plot_terminal(sfu__text *script, const char *words) {
    return sfu__text_format(script,
                            "set datafile separator comma\n"
                            "set terminal svg name 'sfumato' dynamic font 'Helvetica,Arial,sans-serif,14' %s\n"
                            "if (!exists('out')) out = svg\n"
                            "set output out\n",
                            words);
}

/* cd 'FOLDER'; out = '/ABSOLUTE/.history.svg.sfumato-XXXXXX' */
static sfu_status make_start(sfu__text *start, const sfu__plot_files *files, const char *out) {
    sfu_status status = SFU_OK;
    char *folder = NULL;
    const char *base = sfu__path_base(files->svg);
    if (base > files->svg) {
        folder = sfu__copy_bytes(files->svg, (size_t)(base - files->svg));
        if (folder == NULL) {
            return SFU_ERR_MEMORY;
        }
        SFU_TRY(sfu__text_format(start, "cd "));
        SFU_TRY(sfu__plot_quote(start, folder));
        SFU_TRY(sfu__text_format(start, "; "));
    }
    SFU_TRY(sfu__text_format(start, "out = "));
    SFU_TRY(sfu__plot_quote(start, out));
done:
    sfu__free(folder);
    return status;
}

/* The path of the temporary file, valid in every folder. */
static sfu_status place_drawing(char out[PATH_MAX], const sfu__writer *drawing, const char *svg) {
    const char *temporary = sfu__writer_temporary(drawing);
    if (temporary == NULL) {
        return sfu__fail(SFU_ERR_IO, "%s: cannot draw: expected a regular file, found a device or FIFO", svg);
    }
    if (realpath(temporary, out) == NULL) {
        return sfu__fail_system(svg, "cannot be written", errno);
    }
    return !has_control(out) ? SFU_OK
                             : sfu__fail(SFU_ERR_ARGUMENT,
                                         "%s: resolves to a path with control characters, which a "
                                         "script cannot contain",
                                         svg);
}

/* Runs gnuplot, which draws into the temporary file. gnuplot->found: whether it is installed. */
static sfu_status run_gnuplot(sfu__program *gnuplot, const sfu__writer *drawing, const sfu__plot_files *files) {
    sfu_status status = SFU_OK;
    char out[PATH_MAX];
    sfu__text start = {0}, script = {0};
    sfu__ticker ticker = {.what = "gnuplot"};
    SFU_TRY(place_drawing(out, drawing, files->svg));
    SFU_TRY(make_start(&start, files, out));
    /* a name that begins with '-' would be an option */
    SFU_TRY(sfu__text_format(&script, "./%s", sfu__path_base(files->gp)));
    const char *const argv[] = {"gnuplot", "-d", "-e", start.bytes, script.bytes, NULL};
    SFU_TRY(sfu__program_run(gnuplot, argv, &ticker));
done:
    sfu__text_clear(&start);
    sfu__text_clear(&script);
    return status;
}

/* Draws the plot and renames it to its final path. On failure, an earlier plot, which shows other data, is removed. */
static sfu_status draw(sfu__program *gnuplot, const sfu__plot_files *files) {
    sfu_status status = SFU_OK;
    sfu__writer *drawing = NULL;
    SFU_TRY(sfu__writer_open(&drawing, files->svg));
    if (gnuplot->found) {
        SFU_TRY(run_gnuplot(gnuplot, drawing, files));
    }
    if (gnuplot->found && gnuplot->exit_code == 0) {
        SFU_TRY(sfu__writer_commit(drawing));
    } else {
        sfu__writer_remove_old(drawing);
    }
    if (gnuplot->found && gnuplot->exit_code != 0) {
        sfu__log(SFU_LOG_WARNING, "%s: not drawn: gnuplot ended with status %d: %s; the script is %s", files->svg,
                 gnuplot->exit_code, gnuplot->said, files->gp);
    }
done:
    sfu__writer_close(drawing);
    return status;
}

sfu_status sfu__plot_draw(const sfu__plot_files *files) {
    sfu_status status = SFU_OK;
    sfu__program gnuplot = {.found = true};
    SFU_TRY(draw(&gnuplot, files));
    if (!gnuplot.found) {
        sfu__log(SFU_LOG_WARNING, "%s: not drawn: gnuplot is not installed; the script and the data are %s and %s",
                 files->svg, files->gp, files->csv);
    }
done:
    return status;
}

sfu_status sfu__plot_draw_all(const sfu__plot_files *files, int count) {
    sfu_status status = SFU_OK;
    sfu__program gnuplot = {.found = true};
    for (int i = 0; i < count; i++) {
        SFU_TRY(draw(&gnuplot, &files[i]));
    }
    if (!gnuplot.found) {
        sfu__log(SFU_LOG_WARNING, "gnuplot is not installed: %d plot%s skipped; %.*s has the scripts and data", count,
                 count == 1 ? " was" : "s were", (int)(sfu__path_base(files[0].svg) - files[0].svg), files[0].svg);
    }
done:
    return status;
}
