/* study_plot.c - plot of the history of a study: one point per trial, the best so far as a step line, failed trials at
 * the bottom.
 *
 * Many trials of a search are bad. If the worst ones would compress all others into a strip at the top, the axis begins
 * above them and they are drawn at the bottom as small triangles.
 */
#include "file.h"
#include "gnuplot.h"
#include "study_int.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Axis limits and counts for the script. */
typedef struct extent {
    int32_t trials, complete, failed, below; /* below: complete, but worse than the axis shows */
    double low, high, step;                  /* the axis, in percent */
    double best;                             /* in percent; NaN: none */
    int32_t best_number;                     /* */
} extent;

static bool is_complete(const sfu_trial *trial) {
    return trial->state == SFU_TRIAL_COMPLETE && isfinite(trial->val_score);
}

/* ---- the axis ---------------------------------------------------------------------------------------------------- */

static int by_size(const void *one, const void *other) {
    const double a = *(const double *)one, b = *(const double *)other;
    return (a > b) - (a < b);
}

/* 1, 2 or 5 times a power of ten, such that there are four to ten steps. */
static double nice_step(double range) {
    static const double steps[] = {0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20};
    size_t i = 0;
    while (i + 1 < sizeof steps / sizeof steps[0] && range / steps[i] > 8) {
        i++;
    }
    return steps[i];
}

/* Axis limits from the sorted accuracies: all of them, or those not far below the median. */
static void set_scale(extent *e, const double *sorted) {
    const double best = 100 * sorted[e->complete - 1], worst = 100 * sorted[0];
    const double middle = 100 * sorted[e->complete / 2], cut = middle - 3 * (best - middle) - 1;
    const double low = best - worst > 1.5 * (best - cut) ? cut : worst;
    e->step = nice_step(best - low > 1 ? best - low : 1);
    e->low = floor(low / e->step - 0.25) * e->step;
    e->low = e->low < 0 ? 0 : e->low;
    e->high = ceil(best / e->step + 0.5) * e->step;
    e->high = e->high > 100 ? 100 : e->high;
    for (int32_t i = 0; i < e->complete && 100 * sorted[i] < e->low; i++) {
        e->below++;
    }
}

static sfu_status measure(extent *e, const sfu_study *study) {
    sfu_status status = SFU_OK;
    double *sorted = NULL;
    *e = (extent){.trials = sfu_study_trials(study), .high = 100, .step = 20, .best = NAN};
    SFU_ALLOC(sorted, e->trials);
    for (int32_t i = 0; i < e->trials; i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        if (is_complete(trial)) {
            sorted[e->complete++] = trial->val_score;
        }
        e->failed += trial->state == SFU_TRIAL_FAIL;
    }
    if (e->complete > 0) {
        qsort(sorted, (size_t)e->complete, sizeof *sorted, by_size);
        set_scale(e, sorted);
    }
    const sfu_trial *winner = sfu_study_ranked(study, 0);
    if (winner != NULL) {
        e->best = 100 * winner->val_score;
        e->best_number = winner->number;
    }
done:
    sfu__free(sorted);
    return status;
}

/* ---- the data ---------------------------------------------------------------------------------------------------- */

/* ",81.4" */
static sfu_status put_percent(sfu__writer *out, double accuracy) {
    return isfinite(accuracy) ? sfu__writer_format(out, ",%.6g", 100 * accuracy) : sfu__writer_add(out, ",", 1);
}

static sfu_status write_data(const char *path, const sfu_study *study) {
    static const char *const states[] = {"running", "complete", "pruned", "failed", "waiting"};
    sfu_status status = SFU_OK;
    sfu__writer *out = NULL;
    double best = NAN;
    SFU_TRY(sfu__writer_open(&out, path));
    SFU_TRY(sfu__writer_format(out, "trial,state,val_percent,best_percent\n"));
    for (int32_t i = 0; i < sfu_study_trials(study); i++) {
        const sfu_trial *trial = sfu_study_trial(study, i);
        const double accuracy = is_complete(trial) ? trial->val_score : NAN;
        best = !trial->added && (isnan(best) || accuracy > best) ? accuracy : best;
        SFU_TRY(sfu__writer_format(out, "%d,%s", trial->number, states[trial->state]));
        SFU_TRY(put_percent(out, accuracy));
        SFU_TRY(put_percent(out, best));
        SFU_TRY(sfu__writer_add(out, "\n", 1));
    }
    SFU_TRY(sfu__writer_commit(out));
done:
    sfu__writer_close(out);
    return status;
}

/* ---- the script -------------------------------------------------------------------------------------------------- */

static const char terminal[] = "enhanced size 960,540 background '#ffffff'";

static const char style[] = "\n"
                            "set border 3 lw 1 lc rgb '#8c8c8c'\n"
                            "set tics nomirror out scale 0.5 textcolor rgb '#404040'\n"
                            "set grid ytics lt 1 lw 0.6 lc rgb '#e4e4e4'\n"
                            "set lmargin 10\n"
                            "set rmargin 3\n"
                            "set bmargin 5\n"
                            "set tmargin 3.5\n"
                            "set key horizontal maxcols 4 center bottom at screen 0.5, 0.03 Left reverse samplen 1.2 "
                            "width -4 font ',13' textcolor rgb '#404040'\n"
                            "set xlabel 'trial' textcolor rgb '#404040' offset 0,0.4\n";

/* The series, from back to front; a kind without points is left out of the key. */
static sfu_status add_points(sfu__text *script, const extent *e) {
    sfu_status status = SFU_OK;
    const double size = e->trials > 1000 ? 0.30 : e->trials > 200 ? 0.42 : 0.6;
    SFU_TRY(sfu__text_format(script,
                             "plot csv using 1:(shown($3)) with points pt 7 ps %.2f lc rgb '#665b8bc8' title "
                             "'a trial'",
                             size));
    if (e->below > 0) {
        SFU_TRY(sfu__text_format(script,
                                 ", \\\n     csv using 1:(below($3)) with points pt 11 ps %.2f lc rgb '#889a9a9a' "
                                 "title 'lower (%d)'",
                                 size + 0.1, e->below));
    }
    if (e->failed > 0) {
        SFU_TRY(sfu__text_format(script,
                                 ", \\\n     csv using 1:(strcol(2) eq 'failed' ? foot : NaN) with points pt 2 ps 0.6 "
                                 "lw 1.5 lc rgb '#c0392b' title 'failed (%d)'",
                                 e->failed));
    }
    SFU_TRY(
        sfu__text_format(script, ", \\\n     csv using 1:4 with steps lw 2.2 lc rgb '#1f3f77' title 'best so far'"));
    if (isfinite(e->best)) {
        SFU_TRY(sfu__text_format(script,
                                 ", \\\n     '+' using (best_trial):(best) every ::0::0 with points pt 7 ps 0.9 lc rgb "
                                 "'#e07b1f' notitle"));
    }
    SFU_TRY(sfu__text_format(script, "\n"));
done:
    return status;
}

/* Names, numbers and the title come first: these are what users edit. */
static sfu_status add_header(sfu__text *script, const sfu__plot_files *files, const sfu_study *study, const extent *e) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__plot_start(script, files, "The history of a study"));
    SFU_TRY(sfu__text_format(script, "low = %.6g\nhigh = %.6g\nfoot = low + 0.012 * (high - low)\n", e->low, e->high));
    if (isfinite(e->best)) {
        SFU_TRY(sfu__text_format(script, "best_trial = %d\nbest = %.6g\n", e->best_number, e->best));
    }
    SFU_TRY(sfu__text_format(script, "shown(y) = y >= low ? y : NaN\nbelow(y) = y < low ? foot : NaN\n\n"));
    SFU_TRY(sfu__text_format(script, "set title "));
    SFU_TRY(sfu__plot_quote(script, sfu_study_name(study)));
    SFU_TRY(sfu__text_format(script, " noenhanced font ',17' textcolor rgb '#202020' offset 0,0.3\n"));
done:
    return status;
}

static sfu_status write_script(const sfu__plot_files *files, const sfu_study *study, const extent *e) {
    sfu_status status = SFU_OK;
    sfu__text script = {0};
    SFU_TRY(add_header(&script, files, study, e));
    SFU_TRY(sfu__plot_terminal(&script, terminal));
    SFU_TRY(sfu__text_add(&script, style, sizeof style - 1));
    SFU_TRY(sfu__text_format(&script, "set ylabel 'validation %s, %%' textcolor rgb '#404040' offset 0.5,0\n",
                             sfu_metric_name((int)study->metric, NULL)));
    SFU_TRY(sfu__text_format(&script, "set xrange [%.6g:%d]\nset yrange [low:high]\nset ytics %g\n", -0.005 * e->trials,
                             e->trials > 1 ? e->trials : 1, e->step));
    if (e->trials <= 10) { /* integer ticks only */
        SFU_TRY(sfu__text_format(&script, "set xtics 1\n"));
    }
    if (isfinite(e->best)) {
        const bool right = e->best_number > e->trials / 2;
        SFU_TRY(sfu__text_format(&script,
                                 "set label sprintf('trial %%d: %%.1f %%%%', best_trial, best) at best_trial, best "
                                 "%s offset %s,0.9 front textcolor rgb '#b35a0c'\n\n",
                                 right ? "right" : "left", right ? "-0.3" : "0.3"));
    }
    SFU_TRY(add_points(&script, e));
    SFU_TRY(sfu__write_file(files->gp, script.bytes, script.size));
done:
    sfu__text_clear(&script);
    return status;
}

sfu_status sfu_study_plot(const sfu_study *study, const char *path) {
    sfu_status status = SFU_OK;
    sfu__plot_files files = {0};
    extent e;
    SFU_TRY(sfu__plot_files_make(&files, path));
    SFU_TRY(measure(&e, study));
    SFU_TRY(write_data(files.csv, study));
    SFU_TRY(write_script(&files, study, &e));
    SFU_TRY(sfu__plot_draw(&files));
done:
    sfu__plot_files_clear(&files);
    return status;
}
