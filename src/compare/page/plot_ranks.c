/* plot_ranks.c - critical-difference diagrams (Demsar), one per label-set size: average ranks on an axis, the better
 * half of the networks named on the left, the others on the right. A bar shows the critical difference, and thick lines
 * join networks that are not significantly different.
 */
#include "plots.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MOST = 24, WIDTH = 560 };

/* The ranks of one size, the best first. Lengths are in lines of text, downwards from the axis. */
typedef struct diagram {
    const sfu_rank **ranks;
    int count;
    double critical;
    double first, groups; /* where the names begin; how much the groups take */
} diagram;

static int by_rank(const void *one, const void *other) {
    const sfu_rank *a = *(const sfu_rank *const *)one, *b = *(const sfu_rank *const *)other;
    return a->rank != b->rank ? (a->rank > b->rank) - (a->rank < b->rank) : strcmp(a->net, b->net);
}

static sfu_status take(diagram *self, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(self->ranks, results->rank_count);
    for (int i = 0; i < results->rank_count; i++) {
        const sfu_rank *rank = &results->ranks[i];
        if (strcmp(rank->size, size) == 0 && isfinite(rank->rank) && rank->datasets > 1) {
            self->ranks[self->count++] = rank;
            self->critical = rank->critical;
        }
    }
    qsort(self->ranks, (size_t)self->count, sizeof *self->ranks, by_rank);
done:
    return status;
}

/* The last network within the critical difference of this one. */
static int group_end(const diagram *self, int begin) {
    int end = begin;
    while (end + 1 < self->count && self->ranks[end + 1]->rank - self->ranks[begin]->rank <= self->critical) {
        end++;
    }
    return end;
}

/* Lines below the axis, one per maximal group. */
static sfu_status add_groups(sfu__text *script, diagram *self) {
    sfu_status status = SFU_OK;
    int reached = 0;
    double y = 0;
    for (int begin = 0; begin < self->count && isfinite(self->critical); begin++) {
        const int end = group_end(self, begin);
        if (end > begin && end > reached) {
            y -= 0.45;
            reached = end;
            char from[SFU__FIXED_MAX], to[SFU__FIXED_MAX], height[SFU__FIXED_MAX];
            sfu__fixed(height, y, 2);
            SFU_TRY(sfu__text_format(script, "set arrow from %s,%s to %s,%s nohead lw 5 lc rgb '%s' front\n",
                                     sfu__fixed(from, self->ranks[begin]->rank - 0.03, 4), height,
                                     sfu__fixed(to, self->ranks[end]->rank + 0.03, 4), height, sfu__chart_colour(1)));
        }
    }
    self->groups = -y;
    self->first = self->groups + 0.9;
done:
    return status;
}

/* Ranks from 1 to the number of networks, and the bar of the critical difference above. */
static sfu_status add_axis(sfu__text *script, const diagram *self) {
    sfu_status status = SFU_OK;
    const double most = self->count - 1;
    char end[SFU__FIXED_MAX], length[SFU__FIXED_MAX];
    SFU_TRY(sfu__text_format(script, "set arrow from 1,0 to n,0 nohead lw 1.4 lc rgb '" SFU__INK "'\n"
                                     "do for [r=1:n] {\n"
                                     "    set arrow from r,0 to r,0.2 nohead lw 1.4 lc rgb '" SFU__INK "'\n"
                                     "    set label sprintf('%%d', r) at r,0.6 center textcolor rgb '" SFU__INK "'\n"
                                     "}\n"));
    if (isfinite(self->critical) && self->critical > 0) {
        SFU_TRY(sfu__text_format(script,
                                 "set arrow from 1,1.6 to %s,1.6 %s size screen 0.006,90 lw 2 lc rgb '%s'\n"
                                 "set label 'critical difference %s%s' at 1,2.3 left textcolor rgb '" SFU__INK "'\n",
                                 sfu__fixed(end, 1 + (self->critical < most ? self->critical : most), 4),
                                 self->critical < most ? "heads" : "backhead", sfu__chart_colour(1),
                                 sfu__fixed(length, self->critical, 2),
                                 self->critical < most ? "" : ", longer than the axis"));
    }
done:
    return status;
}

/* rank,depth,side,net: a line goes down from the axis and then to the side that the name stands on. */
static sfu_status add_data(sfu__text *csv, const diagram *self) {
    sfu_status status = SFU_OK;
    const int left = (self->count + 1) / 2;
    SFU_TRY(sfu__text_format(csv, "rank,depth,side,name\n"));
    for (int i = 0; i < self->count; i++) {
        const sfu_rank *rank = self->ranks[i];
        const int place = i < left ? i : self->count - 1 - i;
        SFU_TRY(sfu__chart_number(csv, rank->rank, ","));
        SFU_TRY(sfu__chart_number(csv, self->first + place, i < left ? ",-1," : ",1,"));
        SFU_TRY(sfu__chart_field(csv, rank->net));
        SFU_TRY(sfu__text_format(csv, "\n"));
    }
done:
    return status;
}

/* Names are labels in the script, where long ones are cut; the data has them in full. */
static sfu_status add_names(sfu__text *script, const diagram *self) {
    sfu_status status = SFU_OK;
    const int left = (self->count + 1) / 2;
    char rank[SFU__FIXED_MAX], y[SFU__FIXED_MAX];
    for (int i = 0; i < self->count; i++) {
        const int place = i < left ? i : self->count - 1 - i;
        SFU_TRY(sfu__text_format(script, "set label "));
        SFU_TRY(sfu__chart_quote(script, self->ranks[i]->net, NAME_MOST));
        SFU_TRY(sfu__text_format(script, ".'  %s' at %s,%s %s textcolor rgb '" SFU__INK "'\n",
                                 sfu__fixed(rank, self->ranks[i]->rank, 2), i < left ? "1 - gap" : "n + gap",
                                 sfu__fixed(y, -(self->first + place), 2), i < left ? "right" : "left"));
    }
done:
    return status;
}

/* The space for the names on each side, as a share of the axis: a character is about 8 units wide. */
static double name_room(const diagram *self, int width) {
    size_t most = 0;
    for (int i = 0; i < self->count; i++) {
        const size_t size = strlen(self->ranks[i]->net);
        most = size > most ? size : most;
    }
    const double side = 8.0 * ((most < NAME_MOST ? (double)most : NAME_MOST + 1) + 7) / width;
    return side / (1 - 2 * side);
}

static sfu_status add_script(sfu__text *script, const sfu__plot *plot, diagram *self) {
    sfu_status status = SFU_OK;
    sfu__text groups = {0};
    char room[SFU__FIXED_MAX], low[SFU__FIXED_MAX];
    SFU_TRY(add_groups(&groups, self));
    const int left = (self->count + 1) / 2;
    const double depth = self->first + left - 0.3;
    SFU_TRY(sfu__plot_start(script, &plot->files, "Average ranks"));
    SFU_TRY(sfu__chart_style(script, WIDTH, (int)(26 * (depth + 3)) + 50));
    SFU_TRY(sfu__text_format(script, "set title "));
    SFU_TRY(sfu__chart_quote(script, plot->title, 50));
    SFU_TRY(sfu__text_format(script,
                             " font ',16' textcolor rgb '" SFU__INK "'\n"
                             "n = %d\ngap = 0.02 * (n - 1)\n"
                             "unset border\nunset tics\nunset key\nset lmargin 1\nset rmargin 1\n"
                             "room = %s * (n - 1)\nset xrange [1 - room : n + room]\nset yrange [%s:3]\n",
                             self->count, sfu__fixed(room, name_room(self, WIDTH), 3), sfu__fixed(low, -depth, 2)));
    SFU_TRY(add_axis(script, self));
    SFU_TRY(sfu__text_add(script, groups.bytes != NULL ? groups.bytes : "", groups.size));
    SFU_TRY(add_names(script, self));
    SFU_TRY(sfu__text_format(script,
                             "side(s) = s < 0 ? 1 - 0.5 * gap : n + 0.5 * gap\n\n"
                             "plot csv skip 1 using 1:(0):(0):(-$2) with vectors nohead lw 1.2 lc rgb '" SFU__INK
                             "', \\\n"
                             "     csv skip 1 using 1:(-$2):(side($3) - $1):(0) with vectors nohead lw 1.2 lc rgb "
                             "'" SFU__INK "', \\\n"
                             "     csv skip 1 using 1:(0) with points pt 7 ps 0.8 lc rgb '%s'\n",
                             sfu__chart_colour(0)));
done:
    sfu__text_clear(&groups);
    return status;
}

static const sfu__plot_kind kind = {"ranks", "Average ranks",
                                    "Average rank over the datasets; 1 is best. Networks whose ranks differ by "
                                    "less than the critical difference "
                                    "(Nemenyi, 5 %) are joined by a thick line: they are not significantly different."};

static sfu_status add(sfu__plots *plots, const sfu_results *results, const char *size) {
    sfu_status status = SFU_OK;
    diagram self = {.critical = NAN};
    sfu__plot *plot = NULL;
    sfu__text title = {0};
    SFU_TRY(take(&self, results, size));
    if (self.count > 1) {
        SFU_TRY(sfu__text_format(&title, "Average rank over %d datasets, size %s", self.ranks[0]->datasets, size));
        SFU_TRY(sfu__plots_add(&plot, plots, results, &kind, size, title.bytes));
        SFU_TRY(add_script(&plot->script, plot, &self));
        SFU_TRY(add_data(&plot->data, &self));
    }
done:
    sfu__free(self.ranks);
    sfu__text_clear(&title);
    return status;
}

sfu_status sfu__plot_ranks(sfu__plots *plots, const sfu_results *results) {
    sfu_status status = SFU_OK;
    sfu__string_list sizes = {0};
    int place = 0;
    for (int i = 0; i < results->rank_count; i++) {
        SFU_TRY(sfu__string_list_index(&place, &sizes, results->ranks[i].size));
    }
    for (int i = 0; i < sizes.count; i++) {
        SFU_TRY(add(plots, results, sizes.items[i]));
    }
done:
    sfu__string_list_clear(&sizes);
    return status;
}
