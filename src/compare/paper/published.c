/* published.c - lookup of the paper's figures, agreement with ours, and cells that are equal by algebra. */
#include "published.h"

#include "file.h"
#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { PAPER_SPLITS = 10 };

static const sfu__published_row rows[] = {
#include "published_rows.inc"
};
enum { ROWS = sizeof rows / sizeof rows[0] };

const sfu__published_row *sfu__published_at(int i) { return i >= 0 && i < ROWS ? &rows[i] : NULL; }

/* ---- names ------------------------------------------------------------------------------------------------------- */

const char *sfu__paper_dataset(int i) {
    static const char *const names[] = {"Cora", "Citeseer", "Pubmed", "ACM", "DBLP", NULL};
    return i >= 0 && i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

const char *sfu__paper_dataset_of(const char *name_or_path) {
    const char *base = sfu__path_base(name_or_path);
    const size_t size = strcspn(base, ".+");
    const char *rest = base + size;
    rest += strncmp(rest, "+loops", 6) == 0 ? 6 : 0;
    const char *name = NULL;
    for (int i = 0; (name = sfu__paper_dataset(i)) != NULL; i++) {
        if (strlen(name) == size && strncasecmp(base, name, size) == 0) {
            break;
        }
    }
    return *rest == '\0' || strcmp(rest, ".safetensors") == 0 ? name : NULL;
}

const char *sfu__task_table(const sfu__task *task) {
    static const char *const sets[] = {"set1", "set2", "set3", "set4", "set5"};
    if (!isnan(task->alpha)) {
        return task->exponents ? "degree-exponents" : "self-neighbour";
    }
    if (task->k > 0) {
        return "layers";
    }
    if (strcmp(task->size, "standard") == 0) {
        return "standard";
    }
    const bool is_set = task->size[0] >= '1' && task->size[0] <= '5' && task->size[1] == '\0';
    return is_set ? sets[task->size[0] - '1'] : NULL;
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

static bool same_number(double one, double other) { return (isnan(one) && isnan(other)) || one == other; }

/* The row of a cell, or NULL. */
static const sfu__published_row *find(const char *table, const sfu__task *task, const char *measure) {
    const char *dataset = sfu__paper_dataset_of(task->dataset);
    if (strcmp(table, "all") == 0) {
        table = sfu__task_table(task);
    }
    for (int i = 0; i < ROWS && dataset != NULL && table != NULL; i++) {
        if (strcmp(rows[i].table, table) == 0 && strcmp(rows[i].dataset, dataset) == 0 &&
            strcasecmp(rows[i].net, task->net) == 0 && rows[i].k == task->k &&
            same_number(rows[i].alpha, task->alpha) && same_number(rows[i].beta, task->beta) &&
            strcmp(rows[i].measure, measure) == 0) {
            return &rows[i];
        }
    }
    return NULL;
}

sfu__published sfu__published_cell(const char *table, const sfu__task *task, const char *measure) {
    const sfu__published_row *row = find(table, task, measure);
    return row != NULL ? (sfu__published){row->mean, row->std} : (sfu__published){NAN, NAN};
}

double sfu__published_rank(const char *table, const char *net) {
    for (int i = 0; i < ROWS; i++) {
        if (strcmp(rows[i].dataset, "average_rank") == 0 && strcmp(rows[i].table, table) == 0 &&
            strcasecmp(rows[i].net, net) == 0) {
            return rows[i].mean;
        }
    }
    return NAN;
}

const char *sfu__verdict(double mean, double std, int splits, const sfu__published *paper) {
    const sfu__interval difference = sfu__welch_interval(mean, std, splits, paper->mean, paper->std, PAPER_SPLITS);
    if (isnan(difference.low) || isnan(difference.high)) {
        return "";
    }
    return difference.low > 0.0 ? "higher" : difference.high < 0.0 ? "lower" : "agrees";
}

/* ---- cells that are the same network by algebra ------------------------------------------------------------------
 *
 * After the softmax the rows of S are scaled to sum to 1, so a constant factor per row cancels.
 *   D^-a A~ D^-b       D^-a is such a factor: cells with equal b are the same network.
 *   A~ = a I + b A     with c a and c b instead, A~ and D are c times as large, and c cancels in D^-1/2 A~ D^-1/2
 *                      before the rows are scaled: cells with equal a : b are the same network.
 * And a GCN of one convolution is an SGCN of one smoothing: smooth | softmax.
 */

/* One of the paper's numbers, with at most two decimals: "0.25", "1"; independent of the locale. */
static const char *hundredths(char text[16], double number) {
    const int whole = (int)(number * 100.0 + 0.5);
    snprintf(text, 16, "%d.%02d", whole / 100, whole % 100);
    for (size_t end = strlen(text); end > 0 && (text[end - 1] == '0' || text[end - 1] == '.'); end--) {
        const bool point = text[end - 1] == '.';
        text[end - 1] = '\0';
        if (point) {
            break;
        }
    }
    return text;
}

static bool is_same(const sfu__published_row *row, const sfu__task *task) {
    return task->exponents ? row->beta == task->beta : fabs(row->alpha * task->beta - row->beta * task->alpha) <= 1e-12;
}

const char *sfu__same_network(char text[64], const char *table, const sfu__task *task) {
    char alpha[16], beta[16];
    const char *own = sfu__task_table(task);
    if (own == NULL || (strcmp(table, "all") != 0 && strcmp(table, own) != 0)) {
        return NULL;
    }
    if (strcmp(own, "layers") == 0 && strcasecmp(task->net, "gcn") == 0 && task->k == 1) {
        snprintf(text, 64, "sgcn, k=1");
        return text;
    }
    if (isnan(task->alpha)) {
        return NULL;
    }
    const sfu__published_row *first = &rows[0];
    while (first < rows + ROWS && !(strcmp(first->table, own) == 0 && is_same(first, task))) {
        first++;
    }
    if (first == rows + ROWS || (first->alpha == task->alpha && first->beta == task->beta)) {
        return NULL;
    }
    snprintf(text, 64, "alpha=%s, beta=%s", hundredths(alpha, first->alpha), hundredths(beta, first->beta));
    return text;
}
