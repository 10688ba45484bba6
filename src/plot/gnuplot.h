/* gnuplot.h - the files of a drawing: FILE.svg, its script FILE.gp and its data FILE.csv, made from the path of the
 * first.
 */
#ifndef SFU_GNUPLOT_H
#define SFU_GNUPLOT_H

#include "text.h"

/* Starts as {0}; sfu__plot_files_clear also after a failure. */
typedef struct sfu__plot_files {
    char *svg, *gp, *csv;
} sfu__plot_files;

/* Refuses a path that does not end with ".svg" or has control characters, which a script cannot hold. */
SFU_CHECKED sfu_status sfu__plot_files_make(sfu__plot_files *files, const char *path);
void sfu__plot_files_clear(sfu__plot_files *files);

/* 'TEXT' as gnuplot reads it, without control characters and what is not UTF-8. */
SFU_CHECKED sfu_status sfu__plot_quote(sfu__text *out, const char *text);

/* The first lines of a script: `about`, which it draws, as a comment, and the names of its files as `svg` and `csv`;
 * and the line that opens a terminal with these words and sends it where it belongs. */
SFU_CHECKED sfu_status sfu__plot_start(sfu__text *script, const sfu__plot_files *files, const char *about);
SFU_CHECKED sfu_status sfu__plot_terminal(sfu__text *script, const char *words);

/* Writes a script or data, whole or not at all. */
SFU_CHECKED sfu_status sfu__plot_write(const char *path, const sfu__text *text);

/* Runs gnuplot on the script that was written, in its folder, and moves the drawing into its place. Where gnuplot is
 * not installed or fails, a warning says so: script and data stay. */
SFU_CHECKED sfu_status sfu__plot_draw(const sfu__plot_files *files);

/* The same for several in one folder; where gnuplot is not installed one warning is for them all. */
SFU_CHECKED sfu_status sfu__plot_draw_all(const sfu__plot_files *files, int count);

#endif
