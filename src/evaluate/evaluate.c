/* evaluate.c - sfu_evaluate: predicts labelled nodes of any dataset and compares with their labels.
 *
 * 1. choose the nodes with a label of a class that the model knows; 2. predict these; 3. count and score; 4. count
 * those that the model was fitted on.
 */
#include "calibration.h"
#include "format_number.h"
#include "metrics.h"
#include "node_digest.h"
#include "predict.h"
#include "process_memory.h"
#include "scorer.h"
#include "sized_struct.h"
#include "stats.h"

#include <math.h>
#include <string.h>

enum { CONFUSION_MAX_CLASSES = 1024 }; /* classes: a larger confusion matrix is not stored */

struct sfu_evaluation {
    sfu_evaluation_summary summary;
    int32_t classes;
    sfu__tally *tallies; /* [classes] */
    int32_t *confusion;  /* [classes][classes], or NULL */
};

/* One call of sfu_evaluate. */
typedef struct evaluate_job {
    const sfu_dataset *dataset;
    const sfu_model *model;
    const sfu_evaluate_options *options;
    sfu_evaluation *result;
    int32_t *class_of;       /* [classes of the dataset]: class of the model, or -1 */
    int32_t *nodes, *labels; /* [count]: nodes to predict, and their classes in the model */
    int32_t count;
    sfu_predict_options how;
    sfu__pieces pieces;
    float *rows;              /* [count][classes], if the prediction is in several pieces; else NULL */
    sfu__dense probabilities; /* in `rows`, or those of the only piece */
} evaluate_job;

/* ---- the nodes --------------------------------------------------------------------------------------------------- */

static void add_node(evaluate_job *job, int32_t node) {
    const int32_t label = job->dataset->labels[node];
    sfu_evaluation_summary *summary = &job->result->summary;
    if (label == SFU_NO_LABEL) {
        summary->unlabelled++;
        return;
    }
    summary->nodes++;
    if (job->class_of[label] < 0) {
        summary->unknown_class++;
        return;
    }
    job->nodes[job->count] = node;
    job->labels[job->count++] = job->class_of[label];
}

static sfu_status check_count(const evaluate_job *job) {
    const sfu_evaluation_summary *summary = &job->result->summary;
    const char *name = job->dataset->name;
    if (summary->nodes == 0) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: none of the %d nodes has a label, so there is nothing to score", name,
                         summary->unlabelled);
    }
    return job->count > 0 ? SFU_OK
                          : sfu__fail(SFU_ERR_ARGUMENT, "%s: the model knows none of the classes of these %d nodes",
                                      name, summary->nodes);
}

static sfu_status choose_nodes(evaluate_job *job) {
    sfu_status status = SFU_OK;
    const sfu_dataset *dataset = job->dataset;
    const sfu_evaluate_options *options = job->options;
    const int32_t count = options->nodes != NULL ? options->node_count : dataset->nodes;
    if (dataset->labels == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: no node has a label, so there is nothing to score", dataset->name);
    }
    SFU_ALLOC(job->class_of, dataset->classes);
    SFU_ALLOC(job->nodes, count);
    SFU_ALLOC(job->labels, count);
    for (int32_t i = 0; i < dataset->classes; i++) {
        job->class_of[i] = sfu__model_class(job->model, dataset, i);
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t node = options->nodes != NULL ? options->nodes[i] : i;
        if (node < 0 || node >= dataset->nodes || (i > 0 && options->nodes != NULL && node <= options->nodes[i - 1])) {
            status = sfu__fail(SFU_ERR_ARGUMENT, "%s: node %d of the list is %d; expected ascending numbers below %d",
                               dataset->name, i, node, dataset->nodes);
            goto done;
        }
        add_node(job, node);
    }
    SFU_TRY(check_count(job));
done:
    return status;
}

/* ---- the scores -------------------------------------------------------------------------------------------------- */

static sfu_status count_predictions(evaluate_job *job, const sfu__dense *probabilities) {
    sfu_status status = SFU_OK;
    sfu_evaluation *result = job->result;
    const int32_t classes = result->classes;
    SFU_ALLOC_ZERO(result->tallies, classes);
    if (classes <= CONFUSION_MAX_CLASSES) {
        SFU_ALLOC_ZERO(result->confusion, (size_t)classes * (size_t)classes);
    }
    for (int32_t i = 0; i < job->count; i++) {
        const int32_t guess = sfu__largest(probabilities->data + (int64_t)i * probabilities->ld, classes);
        sfu__tally_add(result->tallies, job->labels[i], guess);
        result->summary.correct += guess == job->labels[i];
        if (result->confusion != NULL) {
            result->confusion[(int64_t)job->labels[i] * classes + guess]++;
        }
    }
    const sfu_evaluation_summary *summary = &result->summary;
    const sfu__interval interval = sfu__share_interval(summary->correct, summary->nodes);
    result->summary.accuracy = (double)summary->correct / summary->nodes;
    result->summary.low = interval.low;
    result->summary.high = interval.high;
done:
    return status;
}

static sfu_status score_metric(double *score, const evaluate_job *job, const sfu__dense *probabilities,
                               sfu_metric metric) {
    sfu__scorer scorer = {0};
    const int32_t classes = job->result->classes;
    const int32_t positive = sfu__positive_class(job->labels, job->count, classes);
    const sfu_status status = sfu__scorer_make(&scorer, metric, job->labels, job->count, classes, positive);
    if (status == SFU_OK) {
        *score = sfu__scorer_score(&scorer, probabilities);
    }
    sfu__scorer_clear(&scorer);
    return status;
}

static sfu_status score(evaluate_job *job, const sfu__dense *probabilities) {
    sfu_status status = SFU_OK;
    sfu_evaluation_summary *summary = &job->result->summary;
    SFU_TRY(count_predictions(job, probabilities));
    SFU_TRY(sfu__calibrate(probabilities, job->model, job->options->threads));
    SFU_TRY(score_metric(&summary->macro_f1, job, probabilities, SFU_METRIC_MACRO_F1));
    SFU_TRY(score_metric(&summary->balanced_accuracy, job, probabilities, SFU_METRIC_BALANCED_ACCURACY));
    SFU_TRY(score_metric(&summary->auc, job, probabilities, SFU_METRIC_AUC));
    SFU_TRY(score_metric(&summary->average_precision, job, probabilities, SFU_METRIC_AVERAGE_PRECISION));
    summary->log_loss = sfu__log_loss(probabilities, job->labels);
    SFU_TRY(sfu__calibration_error(&summary->calibration_error, probabilities, job->labels));
done:
    return status;
}

static sfu_status count_fitted(evaluate_job *job) {
    sfu_status status = SFU_OK;
    sfu__node_digests digests = {0};
    sfu_evaluation_summary *summary = &job->result->summary;
    summary->fitted_known = job->model->fitted != NULL;
    if (job->model->fitted_count == 0) {
        return SFU_OK;
    }
    SFU_TRY(sfu__node_digests_make(&digests, job->dataset));
    for (int32_t i = 0; i < job->count; i++) {
        summary->fitted += sfu__model_has_fitted(job->model, sfu__node_digest(&digests, job->nodes[i]));
    }
done:
    sfu__node_digests_clear(&digests);
    return status;
}

/* ---- the interface ----------------------------------------------------------------------------------------------- */

void sfu_evaluate_options_init_sized(sfu_evaluate_options *options, size_t size) {
    const sfu_evaluate_options defaults = {.size = sizeof defaults, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* Fails if the probabilities of all nodes do not fit into the limit. */
static sfu_status check_limit(const evaluate_job *job) {
    enum { SORTED = 16 }; /* bytes per node, for the scores */
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    const int64_t row = (int64_t)job->result->classes * (int64_t)sizeof *job->rows;
    const double bytes = (double)sfu__process_memory() + (double)(job->count * (row + SORTED));
    return bytes <= (double)job->options->memory
               ? SFU_OK
               : sfu__fail(SFU_ERR_MEMORY,
                           "%s: the probabilities of %d nodes need %s of memory, more than the limit of %s; evaluate "
                           "fewer nodes or use a larger limit",
                           job->dataset->name, job->count, sfu__size_text(needs, bytes),
                           sfu__size_text(limit, (double)job->options->memory));
}

/* Collects the pieces, and frees what predicted them. */
static sfu_status join_pieces(evaluate_job *job) {
    sfu_status status = SFU_OK;
    const int32_t classes = job->result->classes;
    SFU_TRY(check_limit(job));
    SFU_ALLOC(job->rows, (int64_t)job->count * classes);
    for (int32_t first = 0; first < job->count; first += job->pieces.rows) {
        sfu__dense piece;
        SFU_TRY(sfu__pieces_run(&piece, &job->pieces, first));
        for (int64_t row = 0; row < piece.rows; row++) {
            memcpy(job->rows + (first + row) * classes, piece.data + row * piece.ld,
                   (size_t)classes * sizeof *job->rows);
        }
    }
    sfu__pieces_clear(&job->pieces);
    job->probabilities = (sfu__dense){job->rows, job->count, classes, classes};
done:
    return status;
}

static sfu_status predict(evaluate_job *job) {
    sfu_status status = SFU_OK;
    sfu_predict_options *how = &job->how;
    sfu_predict_options_init(how);
    how->ignore_unknown_features = job->options->ignore_unknown_features;
    how->threads = job->options->threads;
    how->device = job->options->device;
    how->memory = job->options->memory;
    how->scratch = job->options->scratch;
    how->nodes = job->nodes;
    how->node_count = job->count;
    job->pieces.prediction.any_classes = true;
    SFU_TRY(sfu__pieces_start(&job->pieces, job->dataset, job->model, how));
    SFU_TRY(job->pieces.rows < job->count ? join_pieces(job) : sfu__pieces_run(&job->probabilities, &job->pieces, 0));
done:
    return status;
}

sfu_status sfu_evaluate(sfu_evaluation **evaluation, const sfu_dataset *dataset, const sfu_model *model,
                        const sfu_evaluate_options *given) {
    sfu_status status = SFU_OK;
    sfu_evaluate_options options;
    evaluate_job job = {.dataset = dataset, .model = model, .options = &options};
    *evaluation = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_evaluate_options));
    SFU_TRY(sfu__plan_check_data(dataset, options.memory));
    SFU_ALLOC_ZERO(job.result, 1);
    job.result->classes = model->classes;
    SFU_TRY(choose_nodes(&job));
    SFU_TRY(predict(&job));
    SFU_TRY(score(&job, &job.probabilities));
    SFU_TRY(count_fitted(&job));
    *evaluation = job.result;
    job.result = NULL;
done:
    sfu__pieces_clear(&job.pieces);
    sfu__free(job.rows);
    sfu__free(job.class_of);
    sfu__free(job.nodes);
    sfu__free(job.labels);
    sfu_evaluation_free(job.result);
    return status;
}

void sfu_evaluation_free(sfu_evaluation *evaluation) {
    if (evaluation != NULL) {
        sfu__free(evaluation->tallies);
        sfu__free(evaluation->confusion);
        sfu__free(evaluation);
    }
}

const sfu_evaluation_summary *sfu_evaluation_scores(const sfu_evaluation *evaluation) { return &evaluation->summary; }

sfu_class_score sfu_evaluation_class_score(const sfu_evaluation *evaluation, int32_t class_index) {
    const bool inside = class_index >= 0 && class_index < evaluation->classes;
    return sfu__tally_score(inside ? &evaluation->tallies[class_index] : &(sfu__tally){0});
}

int32_t sfu_evaluation_confusion(const sfu_evaluation *evaluation, int32_t truth, int32_t guess) {
    const int32_t classes = evaluation->classes;
    const bool inside = truth >= 0 && truth < classes && guess >= 0 && guess < classes;
    return inside && evaluation->confusion != NULL ? evaluation->confusion[(int64_t)truth * classes + guess] : 0;
}
