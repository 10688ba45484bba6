/* gnuplot.h - the files of a plot: FILE.svg, its script FILE.gp and its data FILE.csv, named after the first; and
 * drawing them with gnuplot. */
#ifndef SFU_GNUPLOT_H
#define SFU_GNUPLOT_H

#include "text.h"

/* Starts as {0}; call sfu__plot_files_clear also after a failure. */
typedef struct sfu__plot_files {
    char *svg, *gp, *csv;
} sfu__plot_files;

/* Refuses a path that does not end with ".svg" or has control characters, which a script cannot contain. */
SFU_CHECKED sfu_status sfu__plot_files_make(sfu__plot_files *files, const char *path);
void sfu__plot_files_clear(sfu__plot_files *files);

/* 'TEXT' as a gnuplot string, without control characters and invalid UTF-8. */
SFU_CHECKED sfu_status sfu__plot_quote(sfu__text *out, const char *text);

/* The first lines of a script: a comment `about` what it draws, and the names of its files as `svg` and `csv`; and the
 * line that opens a terminal with these options and sets the output. */
SFU_CHECKED sfu_status sfu__plot_start(sfu__text *script, const sfu__plot_files *files, const char *about);
SFU_CHECKED sfu_status sfu__plot_terminal(sfu__text *script, const char *words);

/* Runs gnuplot on the script in its folder and renames the output to its final path. If gnuplot is not installed or
 * fails, a warning is logged; script and data stay. */
SFU_CHECKED sfu_status sfu__plot_draw(const sfu__plot_files *files);

/* The same for several plots in one folder; if gnuplot is not installed, there is one warning for all. */
SFU_CHECKED sfu_status sfu__plot_draw_all(const sfu__plot_files *files, int count);

#endif
