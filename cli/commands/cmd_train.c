/* Trains a network on a dataset with one or several seeds, prints the scores, and saves the model. */
#include "cmd.h"

#include "output.h"
#include "progress_bar.h"
#include "train_report.h"
#include "training_options.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct {
    cli_input_settings input;
    sfu_train_options train;
    sfu_loss loss;
    int class_weight, metric; /* indices into the choices of training_options.h */
    sfu_keep keep;
    const char *init, *output, *curve;
    int32_t threads, repeat;
    bool report;
} settings;

static const char *const losses[] = {"mean", "sum", NULL};
static const char *const keeps[] = {"best", "last", NULL};

static void defaults(void) {
    sfu_net_options_init(&settings.input.net);
    sfu_train_options_init(&settings.train);
    settings.loss = settings.train.loss;
    settings.keep = settings.train.keep;
    settings.repeat = 1;
}

/* ---- the trainings ----------------------------------------------------------------------------------------------- */

/* The learning curve of a training. */
typedef struct learning_curve {
    sfu_epoch *epochs;
    int64_t count, capacity;
    bool wanted, no_memory;
} learning_curve;

static bool grow(learning_curve *curve) {
    if (curve->count < curve->capacity) {
        return true;
    }
    const int64_t capacity = curve->capacity > 0 ? 2 * curve->capacity : 512;
    sfu_epoch *grown = realloc(curve->epochs, (size_t)capacity * sizeof *grown);
    if (!grown) {
        curve->no_memory = true;
        return false;
    }
    curve->epochs = grown;
    curve->capacity = capacity;
    return true;
}

static void add_epoch(learning_curve *curve, const sfu_epoch *epoch) {
    if (grow(curve)) {
        curve->epochs[curve->count++] = *epoch;
    }
}

/* The results of the trainings. */
typedef struct session {
    cli_input input;
    sfu_model *init, *best;
    learning_curve curve, best_curve; /* of the current and of the best training */
    sfu_scores *runs;
    int32_t count;
    bool stop_told; /* that the training was interrupted */
} session;

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    session *state = user;
    char what[64] = "training", detail[96];
    if (settings.repeat > 1) {
        snprintf(what, sizeof what, "training %d of %d", state->count + 1, settings.repeat);
    }
    if (isfinite(epoch->val_accuracy)) {
        snprintf(detail, sizeof detail, "loss %.3f, val %.1f %%", epoch->train_loss, 100 * epoch->val_accuracy);
    } else {
        snprintf(detail, sizeof detail, "loss %.3f", epoch->train_loss);
    }
    if (state->curve.wanted) {
        add_epoch(&state->curve, epoch);
    }
    progress_detail(detail);
    return progress_report(
        NULL, &(sfu_progress){.what = what, .unit = "epochs", .done = epoch->epoch, .total = settings.train.epochs});
}

/* By the metric on the validation nodes, then lower validation loss, then the earlier one; without validation the
 * first. */
static bool is_better(const sfu_scores *one, const sfu_scores *other) {
    return one->val_score > other->val_score || (one->val_score == other->val_score && one->val_loss < other->val_loss);
}

/* Once. `epochs` are those of the interrupted training. */
static void tell_stop(session *state, int32_t epochs, const sfu_model *best) {
    if (!state->stop_told) {
        print_note("interrupted in epoch %d%s; using the best weights so far, those of epoch %d", (int)epochs,
                   settings.repeat > 1 ? " of a training" : "", (int)sfu_model_scores(best)->best_epoch);
    }
    state->stop_told = true;
}

/* Writes the model of an interrupted training at once, and tells so: launchers of ranks kill those that take long to
 * end. The file is written again when the scores are known, and an error is reported then. */
static void on_stopped(void *user, const sfu_model *model) {
    session *state = user;
    const bool best = !state->best || is_better(sfu_model_scores(model), sfu_model_scores(state->best));
    if (settings.output && best && (access(settings.output, F_OK) != 0 || is_regular_file(settings.output))) {
        (void)(sfu_model_save(model, settings.output) == SFU_OK);
    }
    tell_stop(state, sfu_model_scores(model)->epochs, best ? model : state->best);
}

/* Keeps the model if it is the best so far, and frees it otherwise. */
static void add_model(session *state, sfu_model *model) {
    const sfu_scores scores = *sfu_model_scores(model);
    state->runs[state->count++] = scores;
    const sfu_scores before = state->best ? *sfu_model_scores(state->best) : scores;
    if (state->best && !is_better(&scores, &before)) {
        sfu_model_free(model);
        return;
    }
    sfu_model_free(state->best);
    state->best = model;
    const learning_curve previous = state->best_curve;
    state->best_curve = state->curve;
    state->curve = previous;
}

/* Trainings of one network share precomputed results while a plan of it exists: this one. NULL if planning fails; the
 * training itself then reports the error. */
static sfu_plan *new_shared_plan(const session *state) {
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.dropout = settings.train.dropout;
    options.threads = settings.train.threads;
    if (settings.repeat < 2 || settings.train.memory > 0 ||
        sfu_plan_new(&plan, state->input.dataset, state->input.net, state->input.split, &options) != SFU_OK) {
        return NULL;
    }
    return plan;
}

static sfu_status train_all(session *state) {
    const uint64_t first = settings.train.seed;
    bool interrupted = false;
    sfu_status status = sfu_ranks_agree("another --repeat", &settings.repeat, sizeof settings.repeat);
    sfu_plan *shared = status == SFU_OK ? new_shared_plan(state) : NULL;
    for (int32_t i = 0; i < settings.repeat && !interrupted && status == SFU_OK; i++) {
        sfu_model *model = NULL;
        settings.train.seed = first + (uint64_t)i;
        state->curve.count = 0;
        state->curve.wanted = settings.curve != NULL;
        status = sfu_train(&model, state->input.dataset, state->input.net, state->input.split, &settings.train);
        if (status == SFU_OK) {
            interrupted = sfu_model_scores(model)->interrupted;
            add_model(state, model);
        }
    }
    sfu_plan_free(shared);
    if (status == SFU_ERR_CANCELLED && state->count > 0) { /* before the first epoch of a later training */
        state->runs[state->count - 1].interrupted = true;
        status = SFU_OK;
    }
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static sfu_status begin(session *state, char **operands) {
    settings.train.loss = settings.loss;
    settings.train.keep = settings.keep;
    settings.train.balanced = settings.class_weight == 1;
    settings.train.metric = (sfu_metric)settings.metric;
    settings.train.threads = settings.threads;
    settings.train.memory = settings.input.memory;
    settings.train.on_epoch = on_epoch;
    settings.train.on_epoch_user = state;
    settings.train.on_stopped = on_stopped;
    state->runs = calloc((size_t)settings.repeat, sizeof *state->runs);
    sfu_status status = state->runs ? input_open(&state->input, &settings.input, operands) : SFU_ERR_MEMORY;
    if (status == SFU_OK && settings.init) {
        status = sfu_model_open(&state->init, settings.init);
        settings.train.init = state->init;
    }
    return status;
}

/* Writes the files before printing that they were written. */
static int finish(session *state) {
    const bool interrupted = state->runs[state->count - 1].interrupted;
    (void)progress_hold(); /* the model of an interrupted training is written, too */
    sfu_status status = settings.output ? sfu_model_save(state->best, settings.output) : SFU_OK;
    if (status == SFU_OK && settings.curve) {
        status = state->best_curve.no_memory
                     ? SFU_ERR_MEMORY
                     : sfu_curve_save(settings.curve, state->best_curve.epochs, state->best_curve.count);
    }
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (interrupted) {
        tell_stop(state, state->runs[state->count - 1].epochs, state->best);
    }
    const cli_trainings report = {&state->input,   state->best,    state->runs,           state->count,
                                  settings.output, settings.curve, settings.train.metric, settings.train.device};
    int code = DONE;
    if (common.json) {
        code = put_json(trainings_json(&report));
    } else {
        trainings_print(&report);
        if (settings.report) {
            trainings_print_classes(&report);
        }
    }
    return code == DONE && interrupted ? INTERRUPTED : code;
}

/* The next step, if the model can be read back: not from /dev/null or a FIFO. */
static void print_next(const char *dataset) {
    if (!settings.output) {
        print_note("the model was not saved; use -o MODEL to save it");
    } else if (!common.json && is_regular_file(settings.output)) {
        printf("Next: sfumato predict %s %s -o predictions.csv\n", shell_word(dataset), shell_word(settings.output));
    }
}

static int run(int count, char **operands) {
    (void)count;
    cli_files files = {0};
    files_write(&files, "-o", settings.output, &model_file);
    files_write(&files, "--curve", settings.curve, &curve_file);
    files_read(&files, "--init", settings.init);
    input_files(&files, &settings.input, operands[0]);
    const int checked = files_check(&files, &cmd_train);
    if (checked != DONE) {
        return checked;
    }
    session state = {0};
    progress_start();
    sfu_status status = begin(&state, operands);
    if (status == SFU_OK) {
        status = train_all(&state);
    }
    const int code = status == SFU_OK ? finish(&state) : fail_status(status);
    progress_end();
    if (code == DONE || (code == INTERRUPTED && state.best)) {
        print_next(operands[0]);
    }
    free(state.curve.epochs);
    free(state.best_curve.epochs);
    free(state.runs);
    sfu_model_free(state.best);
    sfu_model_free(state.init);
    input_close(&state.input);
    return code;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "MODEL", settings.output, false, "the model is not saved", "output file of the model"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("lr", settings.train.lr, 0, 1e30, "learning rate of Adam, above 0"),
    OPTION_NUMBER("weight-decay", settings.train.weight_decay, 0, 1e30, "weight decay (L2), added to the gradient"),
    OPTION_NUMBER("dropout", settings.train.dropout, 0, 1, "dropout rate, below 1"),
    OPTION_CHOICE("loss", settings.loss, losses, "cross-entropy over the labelled nodes: mean or sum"),
    OPTION_CLASS_WEIGHT(settings.class_weight),
    OPTION_METRIC(settings.metric),
    OPTION_COUNT("epochs", "N", settings.train.epochs, 1, INT32_MAX, NULL, "maximum number of epochs"),
    OPTION_COUNT("patience", "N", settings.train.patience, 0, INT32_MAX, NULL,
                 "early stopping: epochs without a better validation accuracy; 0: off"),
    OPTION_CHOICE("keep", settings.keep, keeps,
                  "weights to keep: of the epoch with the best validation accuracy, or of the last"),
    OPTION_SEED("seed", settings.train.seed, "random seed of weight initialization and dropout"),
    OPTION_COUNT("repeat", "N", settings.repeat, 1, 100000, NULL,
                 "train with N consecutive seeds; print mean and standard deviation, keep the best"),
    OPTION_TEXT("init", VALUE_FILE, "MODEL", settings.init, "", "initialize the weights from this model"),
    OPTION_FLAG("allow-leak", settings.train.allow_leak,
                "with --init: go on if that model was fitted on test nodes; the results are marked as leaked"),
    OPTION_FLAG("report", settings.report, "print precision, recall and F1 per class, and the confusion matrix"),
    OPTION_TEXT("curve", VALUE_FILE, "FILE", settings.curve, "",
                "write the learning curve as CSV: loss and accuracy per epoch"),
    OPTION_DEVICE(settings.train.device),
    OPTION_MEMORY(settings.input.memory, "does not affect the result"),
    OPTION_COUNT("threads", "N", settings.threads, 0, 1024, "one per core",
                 "number of threads; does not affect the result"),
    {0}};

const cli_command cmd_train = {
    .name = "train",
    .summary = "train a network on the labelled nodes of a dataset",
    .description =
        "A network is one of the names below, or layers separated by |, such as 'smooth | dense 64 relu | smooth | "
        "softmax'.\n\n"
        "The validation accuracy is computed after every epoch. The weights of the epoch with the best validation "
        "accuracy are kept; ties are broken by the lower validation loss. The test nodes are evaluated once, at the "
        "end. The same seed gives the same model, regardless of the machine and the number of threads.\n\n"
        "Ctrl-C ends the training and keeps the best weights so far.",
    .operands = (const cli_operand[]){INPUT_OPERANDS, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato train citation gcn -o model.safetensors", "Train a network and save the model:"},
            {"sfumato train citation 'smooth^2 | dense 32 tanh | softmax' --report",
             "Your own composition, with scores per class:"},
            {"sfumato train citation sgcn --repeat 10 --dropout 0", "Ten seeds, with mean and standard deviation:"},
            {0}},
    .reports = true,
    .ranks = RANKS_TOGETHER,
    .writes = true,
    .defaults = defaults,
    .run = run};
