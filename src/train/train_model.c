/* train_model.c - sfu_train: from a dataset, a network and a split to a model with its scores.
 *
 * 1. check the options, prepare labels and plan; 2. run the epochs, which never read a test label; 3. evaluate the
 * weights kept on the nodes of all three parts, with a separate prediction plan; 4. store weights and scores in the
 * model.
 */
#include "calibration.h"
#include "clock.h"
#include "dataset_copy.h"
#include "gpu_choice.h"
#include "leak.h"
#include "metrics.h"
#include "part_scores.h"
#include "progress.h"
#include "sized_struct.h"
#include "train.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CONFUSION_MAX_CLASSES = 256 }; /* classes: a larger confusion matrix is not stored */

/* One call of sfu_train. */
typedef struct train_job {
    const sfu_dataset *dataset;
    const sfu_net *net;
    const sfu_split *split;
    const sfu_train_options *options;
    sfu__device device;
    sfu__gpu *gpu; /* NULL, or stays open from the training to the scores */
    sfu__objective objective;
    sfu__scorer scorer;
    sfu__runner runner; /* for the training, then for the scores */
    float *start, *best;
    sfu__training training;
    int32_t *nodes; /* nodes of all parts, ascending */
    int32_t node_count;
    uint8_t *part_of;               /* [nodes]: sfu_part, or SFU_PARTS */
    sfu__tally *tallies[SFU_PARTS]; /* [classes] each */
    int32_t *labels;                /* [node_count]: labels of `nodes` after sort_parts */
    int32_t *confusion;             /* [classes][classes], or NULL */
    sfu_scores scores;
} train_job;

/* ---- preparation ------------------------------------------------------------------------------------------------- */

sfu__plan_request sfu__train_request(const sfu_net *net, const sfu_split *split, double dropout, int threads,
                                     sfu__device device) {
    sfu__plan_request request = {.dropout = dropout > 0.0,
                                 .rewrites = SFU__ALL_REWRITES,
                                 .threads = threads,
                                 .device = device,
                                 .ranks = sfu__ranks_here()};
    for (int i = 0; i < net->count; i++) {
        request.dropout = request.dropout || net->layers[i].dropout > 0.0;
    }
    request.nodes[SFU_PASS_TRAIN] = sfu_split_part(split, SFU_TRAIN, &request.count[SFU_PASS_TRAIN]);
    request.nodes[SFU_PASS_EVALUATE] = sfu_split_part(split, SFU_VAL, &request.count[SFU_PASS_EVALUATE]);
    return request;
}

static sfu_status check_data(train_job *job) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__train_options_check(job->options));
    SFU_TRY(sfu__device_parse(&job->device, job->options->device, job->options->memory));
    SFU_TRY(sfu__plan_check_data(job->dataset, job->options->memory));
    if (job->dataset->labels == NULL) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "%s: no node has a label, so there is nothing to learn from",
                           job->dataset->name);
    }
done:
    return status;
}

/* Initializes from the seed, then overwrites with the parameters of the model. */
static sfu_status start_from_model(train_job *job, const sfu_model *model) {
    sfu_status status = SFU_OK;
    const size_t size = (size_t)job->runner.parameters->size;
    SFU_TRY(sfu__check_leak(&job->scores.leaked, job->dataset, job->split, model, job->options->allow_leak));
    SFU_ALLOC(job->start, size);
    sfu__runner_start(&job->runner, job->objective.train_labels, job->options->seed);
    SFU_TRY(sfu__runner_load(&job->runner, model));
    memcpy(job->start, job->runner.theta, size * sizeof *job->start);
done:
    return status == SFU_ERR_ARGUMENT ? sfu__fail_prefix(status, "the weights to start from") : status;
}

/* The data, the network, and the options that decide about the epochs. */
static sfu_status check_ranks_agree(const train_job *job) {
    const sfu_train_options *options = job->options;
    const char *net = sfu_net_text(job->net), *split = sfu_split_digest(job->split);
    char digest[65];
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (sfu__ranks_here() == NULL) {
        return SFU_OK;
    }
    SFU_TRY(sfu_dataset_digest(digest, job->dataset));
    SFU_TRY(sfu_ranks_agree("another dataset", digest, strlen(digest)));
    SFU_TRY(sfu_ranks_agree("another network", net, strlen(net)));
    SFU_TRY(sfu_ranks_agree("another split", split, strlen(split)));
    SFU_TRY(sfu__text_format(&text, "%" PRIu64 " %.17g %.17g %.17g %d %d %d %d %d %d", options->seed, options->lr,
                             options->weight_decay, options->dropout, options->epochs, options->patience,
                             (int)options->keep, (int)options->loss, (int)options->metric, options->balanced));
    SFU_TRY(sfu_ranks_agree("other options of the training (seed, lr, epochs, ...)", text.bytes, text.size));
done:
    sfu__text_clear(&text);
    return status;
}

/* Lists the nodes of all parts in ascending order, with the part of each. */
static sfu_status list_nodes(train_job *job) {
    sfu_status status = SFU_OK;
    const int32_t all = job->dataset->nodes;
    int32_t count = 0;
    SFU_ALLOC(job->part_of, all);
    memset(job->part_of, SFU_PARTS, (size_t)all);
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t size = 0;
        const int32_t *nodes = sfu_split_part(job->split, (sfu_part)part, &size);
        for (int32_t i = 0; i < size; i++) {
            if (nodes[i] < all && job->dataset->labels[nodes[i]] != SFU_NO_LABEL) {
                job->part_of[nodes[i]] = (uint8_t)part;
            }
        }
        count += size;
    }
    SFU_ALLOC(job->nodes, count);
    for (int32_t node = 0; node < all; node++) {
        if (job->part_of[node] != SFU_PARTS) {
            job->nodes[job->node_count++] = node;
        }
    }
done:
    return status;
}

static void drop_nodes(train_job *job) {
    sfu__free(job->nodes);
    sfu__free(job->part_of);
    job->nodes = NULL;
    job->part_of = NULL;
    job->node_count = 0;
}

static sfu_status prepare(train_job *job) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_data(job));
    SFU_TRY(check_ranks_agree(job));
    sfu__plan_request request =
        sfu__train_request(job->net, job->split, job->options->dropout, job->options->threads, job->device);
    request.epochs = job->options->epochs;
    request.memory = sfu__limit_of(job->options->memory);
    if (request.memory > 0) { /* what scores the model must fit, too */
        SFU_TRY(list_nodes(job));
        request.later = job->node_count;
        request.later_nodes = job->nodes;
    }
    SFU_TRY(sfu__objective_make(
        &job->objective, job->dataset, job->split,
        &(sfu__objective_options){job->options->loss, job->options->balanced, job->options->metric}));
    SFU_TRY(sfu__objective_scorer(&job->scorer, &job->objective, job->dataset));
    SFU_TRY(sfu__gpu_choose(&job->gpu, job->device, 0, 0));
    SFU_TRY(sfu__runner_make(&job->runner, job->dataset, job->net, &request));
    drop_nodes(job);
    const sfu__parameters *parameters = job->runner.parameters;
    if (parameters->count == 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT,
                           "\"%s\" has nothing to learn: give it weights (dense, softmax without linear=no) or learn=",
                           sfu_net_text(job->net));
        goto done;
    }
    if (job->options->init != NULL) {
        SFU_TRY(start_from_model(job, job->options->init));
    }
    SFU_ALLOC(job->best, parameters->size);
done:
    return status;
}

/* ---- epochs ------------------------------------------------------------------------------------------------------ */

/* Fails if the training diverged before any epoch was kept; warns if it diverged later. */
static sfu_status check_divergence(const train_job *job) {
    const sfu__training *training = &job->training;
    if (training->diverged && training->stopping.best_epoch == 0) {
        return sfu__fail(SFU_ERR_DIVERGED,
                         "the training diverged in epoch %d: the loss or a weight is not finite; try a lr "
                         "below %g",
                         training->ran, training->lr);
    }
    if (training->diverged) {
        sfu__log(SFU_LOG_WARNING,
                 "the training diverged in epoch %d: the loss or a weight is not finite; the weights of epoch "
                 "%d are kept; a lr below %g may help",
                 training->ran, training->stopping.best_epoch, training->lr);
    }
    return SFU_OK;
}

/* What the ranks of a training cost this one, and how it would cost less. */
static sfu_status log_ranks(const train_job *job, double seconds) {
    sfu_status status = SFU_OK;
    const sfu__rank_group *ranks = sfu__ranks_here();
    if (ranks == NULL) {
        goto done;
    }
    const sfu__rank_traffic traffic = sfu__runner_traffic(&job->runner);
    const double epochs = job->training.ran > 0 ? job->training.ran : 1;
    sfu__log(SFU_LOG_NOTE, "%d ranks: an epoch takes %.3g s, of which rank 0 waits %.3g s for %.3g MB from the others",
             ranks->count, seconds / epochs, traffic.seconds / epochs, 1e-6 * (double)traffic.received / epochs);
    bool ordered = false;
    SFU_TRY(sfu__dataset_has_record(&ordered, job->dataset, "ordered"));
    if (!ordered && traffic.received > 0) {
        sfu__log(SFU_LOG_NOTE, "%s: its nodes are not ordered for ranks: `sfumato data order` makes them exchange less",
                 job->dataset->name);
    }
done:
    return status;
}

static sfu_status run_epochs(train_job *job) {
    sfu_status status = SFU_OK;
    const double began = sfu__now();
    const sfu_train_options *options = job->options;
    sfu__training *training = &job->training;
    *training = (sfu__training){.seed = options->seed,
                                .lr = options->lr,
                                .weight_decay = options->weight_decay,
                                .dropout = options->dropout,
                                .epochs = options->epochs,
                                .patience = options->patience,
                                .keep = options->keep,
                                .start = job->start,
                                .objective = &job->objective,
                                .scorer = options->metric != SFU_METRIC_ACCURACY ? &job->scorer : NULL,
                                .best = job->best};
    sfu__training_run(training, &job->runner, options->on_epoch, options->on_epoch_user);
    SFU_TRY(sfu__runner_check(&job->runner));
    SFU_TRY(log_ranks(job, sfu__now() - began));
    job->scores.epochs = training->ran;
    job->scores.best_epoch = training->stopping.best_epoch;
    job->scores.interrupted = training->stopped;
    job->scores.seed = options->seed;
    job->scores.val_loss = training->stopping.best_val_loss;
    job->scores.val_accuracy =
        job->objective.val_count > 0 ? (double)training->best_val_correct / job->objective.val_count : NAN;
    const bool by_metric = options->metric != SFU_METRIC_ACCURACY && job->objective.val_count > 0;
    job->scores.val_score = by_metric ? training->stopping.best_val_score : job->scores.val_accuracy;
    snprintf(job->scores.split_digest, sizeof job->scores.split_digest, "%s", sfu_split_digest(job->split));
    SFU_TRY(check_divergence(job));
done:
    return status;
}

/* ---- scores ------------------------------------------------------------------------------------------------------ */

static sfu_status make_tallies(train_job *job) {
    sfu_status status = SFU_OK;
    const int32_t classes = job->dataset->classes;
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_ALLOC_ZERO(job->tallies[part], classes);
    }
    if (classes <= CONFUSION_MAX_CLASSES) {
        SFU_ALLOC_ZERO(job->confusion, (size_t)classes * (size_t)classes);
    }
done:
    return status;
}

static void count_predictions(const train_job *job, const sfu__dense *probabilities) {
    const int32_t classes = job->dataset->classes;
    for (int32_t i = 0; i < job->node_count; i++) {
        const int32_t node = job->nodes[i], truth = job->dataset->labels[node];
        const int32_t guess = sfu__largest(probabilities->data + (int64_t)i * probabilities->ld, classes);
        sfu__tally_add(job->tallies[job->part_of[node]], truth, guess);
        if (job->confusion != NULL && job->part_of[node] == SFU_TEST) {
            job->confusion[(int64_t)truth * classes + guess]++;
        }
    }
}

static void swap_rows(const train_job *job, const sfu__dense *probabilities, int32_t i, int32_t j) {
    float *one = probabilities->data + (int64_t)i * probabilities->ld;
    float *other = probabilities->data + (int64_t)j * probabilities->ld;
    for (int32_t c = 0; c < probabilities->cols; c++) {
        const float value = one[c];
        one[c] = other[c];
        other[c] = value;
    }
    const int32_t node = job->nodes[i];
    job->nodes[i] = job->nodes[j];
    job->nodes[j] = node;
}

/* Moves the rows of a part to the front of those from `first` on; returns them. */
static sfu__dense take_part(const train_job *job, const sfu__dense *probabilities, int32_t first, sfu_part part) {
    int32_t next = first;
    for (int32_t i = first; i < job->node_count; i++) {
        if (job->part_of[job->nodes[i]] == part) {
            if (i != next) {
                swap_rows(job, probabilities, i, next);
            }
            next++;
        }
    }
    return (sfu__dense){.data = probabilities->data + (int64_t)first * probabilities->ld,
                        .rows = next - first,
                        .cols = probabilities->cols,
                        .ld = probabilities->ld};
}

/* Changes the probabilities. */
static sfu_status score_parts(train_job *job, const sfu__dense *probabilities) {
    sfu_status status = SFU_OK;
    const sfu__dense val = take_part(job, probabilities, 0, SFU_VAL);
    const sfu__dense test = take_part(job, probabilities, val.rows, SFU_TEST);
    SFU_ALLOC(job->labels, job->node_count);
    for (int32_t i = 0; i < job->node_count; i++) {
        job->labels[i] = job->dataset->labels[job->nodes[i]];
    }
    job->scores.temperature =
        job->options->temperature > 0 ? job->options->temperature : sfu__temperature_fit(&val, job->labels);
    SFU_TRY(sfu__score_test(&job->scores, &test, job->labels + val.rows, job->options->metric, job->scorer.positive));
done:
    return status;
}

static sfu_status score(train_job *job) {
    sfu_status status = SFU_OK;
    const int64_t size = job->runner.parameters->size;
    SFU_TRY(list_nodes(job));
    SFU_TRY(make_tallies(job));
    sfu__runner_clear(&job->runner); /* free the memory of the training first */
    sfu__plan_request request = {
        .rewrites = SFU__ALL_REWRITES, .threads = job->options->threads, .device = job->device};
    request.memory = sfu__limit_of(job->options->memory);
    request.nodes[SFU_PASS_PREDICT] = job->nodes;
    request.count[SFU_PASS_PREDICT] = job->node_count;
    SFU_TRY(sfu__runner_make(&job->runner, job->dataset, job->net, &request));
    memcpy(job->runner.theta, job->best, (size_t)size * sizeof *job->best);
    SFU_TRY(sfu__runner_stream(&job->runner));
    sfu__runner_forward(&job->runner, SFU_PASS_PREDICT);
    const sfu__dense probabilities = sfu__runner_output(&job->runner, SFU_PASS_PREDICT);
    SFU_TRY(sfu__runner_check(&job->runner));
    count_predictions(job, &probabilities);
    const int32_t classes = job->dataset->classes;
    job->scores.train_accuracy = sfu__tally_accuracy(job->tallies[SFU_TRAIN], classes);
    job->scores.test_accuracy = sfu__tally_accuracy(job->tallies[SFU_TEST], classes);
    job->scores.test_macro_f1 = sfu__tally_macro_f1(job->tallies[SFU_TEST], classes);
    SFU_TRY(score_parts(job, &probabilities));
done:
    return status;
}

/* ---- model ------------------------------------------------------------------------------------------------------- */

static sfu_status make_model(sfu_model **model, const train_job *job) {
    sfu_status status = SFU_OK;
    char digest[65];
    int64_t *fitted = NULL, fitted_count = 0;
    SFU_TRY(sfu_dataset_digest(digest, job->dataset));
    SFU_TRY(sfu__fitted_nodes(&fitted, &fitted_count, job->dataset, job->split, job->options->init));
    SFU_TRY(sfu__model_new(model, &(sfu__model_parts){.net = job->net,
                                                      .features = job->dataset->features,
                                                      .classes = job->dataset->classes,
                                                      .nodes = job->dataset->nodes,
                                                      .theta = job->best,
                                                      .class_names = &job->dataset->class_names,
                                                      .feature_names = &job->dataset->feature_names,
                                                      .dataset = digest,
                                                      .transform = job->dataset->transform,
                                                      .fitted = fitted,
                                                      .fitted_count = fitted_count,
                                                      .options = job->options,
                                                      .scores = &job->scores,
                                                      .confusion = job->confusion}));
done:
    sfu__free(fitted);
    return status;
}

/* Gives an interrupted training to the caller before it is scored. */
static sfu_status tell_stopped(train_job *job) {
    sfu_status status = SFU_OK;
    const sfu_scores known = job->scores;
    sfu_model *model = NULL;
    if (!known.interrupted || job->options->on_stopped == NULL) {
        return SFU_OK;
    }
    job->scores.temperature = 1;
    job->scores.train_accuracy = job->scores.test_accuracy = job->scores.test_macro_f1 = job->scores.test_score = NAN;
    job->scores.test_log_loss = job->scores.raw_test_log_loss = NAN;
    job->scores.test_calibration_error = job->scores.raw_test_calibration_error = NAN;
    SFU_TRY(make_model(&model, job));
    job->options->on_stopped(job->options->on_epoch_user, model);
done:
    job->scores = known;
    sfu_model_free(model);
    return status;
}

static void clear(train_job *job) {
    sfu__scorer_clear(&job->scorer);
    sfu__objective_clear(&job->objective);
    sfu__runner_clear(&job->runner);
    sfu__gpu_close(job->gpu);
    sfu__free(job->start);
    sfu__free(job->best);
    drop_nodes(job);
    sfu__free(job->labels);
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(job->tallies[part]);
    }
    sfu__free(job->confusion);
}

sfu_status sfu_train(sfu_model **model, const sfu_dataset *dataset, const sfu_net *net, const sfu_split *split,
                     const sfu_train_options *given) {
    sfu_status status = SFU_OK;
    sfu_train_options options;
    const int64_t started = sfu__now_ns();
    train_job job = {.dataset = dataset, .net = net, .split = split, .options = &options};
    *model = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_train_options));
    SFU_TRY(prepare(&job));
    SFU_TRY(run_epochs(&job));
    const sfu__watch before = sfu__watch_flag(NULL); /* cancelling no longer discards the trained weights */
    status = tell_stopped(&job);
    status = status == SFU_OK ? score(&job) : status;
    job.scores.seconds = 1e-9 * (double)(sfu__now_ns() - started);
    if (status == SFU_OK) {
        status = make_model(model, &job);
    }
    sfu__watch_end(before);
done:
    clear(&job);
    return status;
}
