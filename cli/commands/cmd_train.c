/* Trains a network on a dataset, once or with several seeds, says how it went, and keeps the model. */
#include "cmd.h"

#include "output.h"
#include "progress_bar.h"
#include "train_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct {
    cli_input_settings input;
    sfu_train_options train;
    sfu_loss loss;
    int class_weight; /* a place in class_weights */
    sfu_keep keep;
    const char *init, *device, *output, *curve;
    int32_t threads, repeat;
    bool report;
} settings;

static const char *const losses[] = {"mean", "sum", NULL};
static const char *const class_weights[] = {"none", "balanced", NULL};
static const char *const keeps[] = {"best", "last", NULL};

static void defaults(void) {
    sfu_net_options_init(&settings.input.net);
    sfu_train_options_init(&settings.train);
    settings.loss = settings.train.loss;
    settings.keep = settings.train.keep;
    settings.device = settings.train.device;
    settings.repeat = 1;
}

/* ---- the trainings ----------------------------------------------------------------------------------------------- */

/* The epochs of a training, for its curve. */
typedef struct curve {
    sfu_epoch *epochs;
    int64_t count, capacity;
    bool wanted, lost; /* lost: there was no memory */
} curve;

static bool make_room(curve *notes) {
    if (notes->count < notes->capacity) {
        return true;
    }
    const int64_t capacity = notes->capacity > 0 ? 2 * notes->capacity : 512;
    sfu_epoch *grown = realloc(notes->epochs, (size_t)capacity * sizeof *grown);
    if (!grown) {
        notes->lost = true;
        return false;
    }
    notes->epochs = grown;
    notes->capacity = capacity;
    return true;
}

static void note_epoch(curve *notes, const sfu_epoch *epoch) {
    if (make_room(notes)) {
        notes->epochs[notes->count++] = *epoch;
    }
}

/* What the trainings of one command leave. */
typedef struct session {
    cli_input input;
    sfu_model *init, *best;
    curve now, kept;
    sfu_scores *runs;
    int32_t count;
} session;

static bool on_epoch(void *user, const sfu_epoch *epoch) {
    session *all = user;
    char what[64] = "training", detail[96];
    if (settings.repeat > 1) {
        snprintf(what, sizeof what, "training %d of %d", all->count + 1, settings.repeat);
    }
    if (isfinite(epoch->val_accuracy)) {
        snprintf(detail, sizeof detail, "loss %.3f, val %.1f %%", epoch->train_loss, 100 * epoch->val_accuracy);
    } else {
        snprintf(detail, sizeof detail, "loss %.3f", epoch->train_loss);
    }
    if (all->now.wanted) {
        note_epoch(&all->now, epoch);
    }
    progress_detail(detail);
    return progress_report(
        NULL, &(sfu_progress){.what = what, .unit = "epochs", .done = epoch->epoch, .total = settings.train.epochs});
}

/* By validation accuracy, ties to the lower loss, then to the earlier; without validation the first. */
static bool is_better(const sfu_scores *one, const sfu_scores *other) {
    return one->val_accuracy > other->val_accuracy ||
           (one->val_accuracy == other->val_accuracy && one->val_loss < other->val_loss);
}

/* Keeps the model where it is the best yet, and lets it go where it is not. */
static void take(session *all, sfu_model *model) {
    const sfu_scores scores = *sfu_model_scores(model);
    all->runs[all->count++] = scores;
    const sfu_scores before = all->best ? *sfu_model_scores(all->best) : scores;
    if (all->best && !is_better(&scores, &before)) {
        sfu_model_free(model);
        return;
    }
    sfu_model_free(all->best);
    all->best = model;
    const curve notes = all->kept;
    all->kept = all->now;
    all->now = notes;
}

/* Several trainings of one network share what their plans compute once, as long as one plan is alive: this one. NULL
 * where there is no plan to be had, which the training itself then says. */
static sfu_plan *hold_shared(const session *all) {
    sfu_plan *plan = NULL;
    sfu_plan_options options;
    sfu_plan_options_init(&options);
    options.dropout = settings.train.dropout;
    options.threads = settings.train.threads;
    if (settings.repeat < 2 ||
        sfu_plan_new(&plan, all->input.dataset, all->input.net, all->input.split, &options) != SFU_OK) {
        return NULL;
    }
    return plan;
}

static sfu_status train_all(session *all) {
    const uint64_t first = settings.train.seed;
    bool interrupted = false;
    sfu_plan *shared = hold_shared(all);
    sfu_status status = SFU_OK;
    for (int32_t i = 0; i < settings.repeat && !interrupted && status == SFU_OK; i++) {
        sfu_model *model = NULL;
        settings.train.seed = first + (uint64_t)i;
        all->now.count = 0;
        all->now.wanted = settings.curve != NULL;
        status = sfu_train(&model, all->input.dataset, all->input.net, all->input.split, &settings.train);
        if (status == SFU_OK) {
            interrupted = sfu_model_scores(model)->interrupted;
            take(all, model);
        }
    }
    sfu_plan_free(shared);
    if (status == SFU_ERR_CANCELLED && all->count > 0) { /* before the first epoch of a later training */
        all->runs[all->count - 1].interrupted = true;
        status = SFU_OK;
    }
    return status;
}

/* ---- the command ------------------------------------------------------------------------------------------------- */

static sfu_status begin(session *all, char **operands) {
    settings.train.loss = settings.loss;
    settings.train.keep = settings.keep;
    settings.train.balanced = settings.class_weight == 1;
    settings.train.device = settings.device;
    settings.train.threads = settings.threads;
    settings.train.on_epoch = on_epoch;
    settings.train.on_epoch_user = all;
    all->runs = calloc((size_t)settings.repeat, sizeof *all->runs);
    sfu_status status = all->runs ? input_open(&all->input, &settings.input, operands) : SFU_ERR_MEMORY;
    if (status == SFU_OK && settings.init) {
        status = sfu_model_open(&all->init, settings.init);
        settings.train.init = all->init;
    }
    return status;
}

/* Files first, so that what is said to be written is. */
static int finish(session *all) {
    const sfu_scores scores = *sfu_model_scores(all->best);
    const bool interrupted = all->runs[all->count - 1].interrupted;
    (void)progress_hold(); /* an interrupted training is written all the same */
    sfu_status status = settings.output ? sfu_model_save(all->best, settings.output) : SFU_OK;
    if (status == SFU_OK && settings.curve) {
        status = all->kept.lost ? SFU_ERR_MEMORY : sfu_curve_save(settings.curve, all->kept.epochs, all->kept.count);
    }
    if (status != SFU_OK) {
        return fail_status(status);
    }
    if (interrupted) {
        say("interrupted in epoch %d%s; the best weights so far are kept, those of epoch %d",
            (int)all->runs[all->count - 1].epochs, settings.repeat > 1 ? " of a training" : "", (int)scores.best_epoch);
    }
    const cli_trainings said = {&all->input, all->best, all->runs, all->count, settings.output, settings.curve};
    int code = DONE;
    if (common.json) {
        code = put_json(trainings_json(&said));
    } else {
        trainings_print(&said);
        if (settings.report) {
            trainings_print_classes(&said);
        }
    }
    return code == DONE && interrupted ? INTERRUPTED : code;
}

/* What can be done now. */
static void print_next(const char *dataset) {
    if (!settings.output) {
        say("the model was not kept; -o MODEL keeps it");
    } else if (!common.json) {
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
    session all = {0};
    progress_start();
    sfu_status status = begin(&all, operands);
    if (status == SFU_OK) {
        status = train_all(&all);
    }
    const int code = status == SFU_OK ? finish(&all) : fail_status(status);
    progress_end();
    if (code == DONE || (code == INTERRUPTED && all.best)) {
        print_next(operands[0]);
    }
    free(all.now.epochs);
    free(all.kept.epochs);
    free(all.runs);
    sfu_model_free(all.best);
    sfu_model_free(all.init);
    input_close(&all.input);
    return code;
}

static const cli_option options[] = {
    OPTION_OUTPUT(VALUE_FILE, "MODEL", settings.output, false, "the model is not kept", "where the model goes"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("lr", settings.train.lr, 0, 1e30, "learning rate of Adam, above 0"),
    OPTION_NUMBER("weight-decay", settings.train.weight_decay, 0, 1e30, "L2 weight decay, added to the gradient"),
    OPTION_NUMBER("dropout", settings.train.dropout, 0, 1, "rate of dropout, below 1"),
    OPTION_CHOICE("loss", settings.loss, losses, "cross-entropy of the labelled nodes, as mean or sum"),
    OPTION_CHOICE("class-weight", settings.class_weight, class_weights,
                  "balanced: a class weighs the more the fewer labels it has"),
    OPTION_COUNT("epochs", "N", settings.train.epochs, 1, INT32_MAX, NULL, "how many at most"),
    OPTION_COUNT("patience", "N", settings.train.patience, 0, INT32_MAX, NULL,
                 "end after so many epochs without a better validation accuracy; 0: never early"),
    OPTION_CHOICE("keep", settings.keep, keeps, "the weights of the epoch that validates best, or of the last one"),
    OPTION_SEED("seed", settings.train.seed, "of the first weights and of dropout"),
    OPTION_COUNT("repeat", "N", settings.repeat, 1, 100000, NULL,
                 "so many trainings with seeds in a row: mean, deviation, the best is kept"),
    OPTION_TEXT("init", VALUE_FILE, "MODEL", settings.init, "", "start from the weights of this model"),
    OPTION_FLAG("report", settings.report, "print precision, recall and F1 a class, and the confusion matrix"),
    OPTION_TEXT("curve", VALUE_FILE, "FILE", settings.curve, "", "write losses and accuracy of every epoch as CSV"),
    OPTION_TEXT("device", VALUE_TEXT, "NAME", settings.device, NULL, "what computes"),
    OPTION_COUNT("threads", "N", settings.threads, 0, 1024, "one a core",
                 "how many threads work; never changes the result"),
    {0}};

const cli_command cmd_train = {
    .name = "train",
    .summary = "train a network on the labelled nodes of a dataset",
    .description =
        "A network is one of the names below, or layers with | between them, such as 'smooth | dense 64 relu | smooth "
        "| "
        "softmax'.\n\n"
        "After every epoch the validation nodes are scored. The weights of the epoch with the best validation accuracy "
        "are kept, ties to the lower validation loss. The test nodes are scored once, at the end. The same seed gives "
        "the same model, whatever the number of threads and the machine.\n\n"
        "Ctrl-C ends the training, and the best weights so far are kept.",
    .operands = (const cli_operand[]){INPUT_OPERANDS, {0}},
    .options = options,
    .examples =
        (const cli_example[]){{"sfumato train citation gcn -o model.safetensors", "Train one and keep it:"},
                              {"sfumato train citation 'smooth^2 | dense 32 tanh | softmax' --report",
                               "One of your own, class by class:"},
                              {"sfumato train citation sgcn --repeat 10 --dropout 0", "Ten seeds, mean and deviation:"},
                              {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
