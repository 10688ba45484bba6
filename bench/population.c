/* population.c - trainings on a GPU, many at once: microseconds per epoch and training (a training step and the
 * validation accuracy; hidden 64, dropout 0.5, no early stopping), and whether the parameters are those of the CPU.
 *
 *   usage: population [--trainings N] [--epochs N] [--patience N] [--nets NET,NET] [--size 1|2|3|4|5] [--check]
 *                     [--threads N] [--shared BYTES] [--cluster N] DATASET...
 *
 * --size: the label set of split random:0 instead of the usual split.
 *
 * Prints one line per dataset and network: DATASET NET MEDIAN LOW HIGH of five runs, then what was compared.
 */
#define _POSIX_C_SOURCE 200809L
#include "gpu_population.h"
#include "timing.h"
#include "trained.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 5 };

typedef struct options {
    int trainings, epochs, patience;
    sfu__gpu_tuning tuning;
    const char *nets, *size;
    bool check;
} options;

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static sfu__training training_of(const options *options, const sfu__objective *objective, int i) {
    return (sfu__training){.seed = (uint64_t)i + 1,
                           .lr = 0.01,
                           .weight_decay = 5e-4,
                           .dropout = 0.5,
                           .epochs = options->epochs,
                           .patience = options->patience,
                           .keep = SFU_KEEP_BEST,
                           .objective = objective,
                           .outcome_only = options->patience > 0};
}

/* Trains a few on the CPU as well; returns how many have the same parameters and outcome. */
static int same_as_cpu(const options *options, const setting *of, const sfu_net *net, const sfu__objective *objective,
                       sfu__gpu_worker *worker, const sfu__gpu_trainer *trainer, const sfu__runner *runner, int count) {
    const size_t size = (size_t)runner->parameters->size;
    sfu__training *gpu = calloc((size_t)count, sizeof *gpu);
    float *best = calloc(size * (size_t)count, sizeof *best), *cpu_best = calloc(size, sizeof *best);
    int same = 0;
    (void)of;
    (void)net;
    for (int i = 0; i < count; i++) {
        gpu[i] = training_of(options, objective, i);
        gpu[i].best = best + (size_t)i * size;
    }
    must(sfu__gpu_worker_run(worker, trainer, gpu, count, &options->tuning, NULL));
    for (int i = 0; i < count; i++) {
        sfu__training cpu = training_of(options, objective, i);
        cpu.best = cpu_best;
        sfu__training_run(&cpu, runner, NULL, NULL);
        same += cpu.ran == gpu[i].ran && cpu.stopping.best_epoch == gpu[i].stopping.best_epoch &&
                cpu.stopping.best_val_loss == gpu[i].stopping.best_val_loss &&
                memcmp(cpu_best, gpu[i].best, size * sizeof *best) == 0;
    }
    free(gpu);
    free(best);
    free(cpu_best);
    return same;
}

static void measure(const options *options, const char *dataset, const setting *of, const char *text, sfu__gpu *gpu) {
    sfu_net *net = NULL;
    sfu__runner runner = {0};
    sfu__objective objective = {0};
    sfu__gpu_trainer *trainer = NULL;
    sfu__gpu_worker *worker = NULL;
    double times[RUNS] = {0};
    must(sfu_net_parse(&net, text, NULL));
    must(sfu__objective_make(&objective, of->dataset, of->split, &(sfu__objective_options){.loss = SFU_LOSS_MEAN}));
    const sfu__plan_request request =
        sfu__train_request(net, of->split, 0.5, 1, (sfu__device){.kind = SFU__DEVICE_CPU});
    must(sfu__runner_make(&runner, of->dataset, net, &request));
    must(runner.lpnn != NULL ? sfu__gpu_trainer_new_lpnn(&trainer, gpu, runner.lpnn, &objective, options->epochs)
                             : sfu__gpu_trainer_new(&trainer, gpu, runner.own, net,
                                                    (const float *const *)runner.columns, &objective, options->epochs));
    must(sfu__gpu_worker_new(&worker, gpu, NULL));
    sfu__training *trainings = calloc((size_t)options->trainings, sizeof *trainings);
    double epochs = 0;
    for (int run = -1; run < RUNS; run++) {
        double seconds = 0;
        for (int i = 0; i < options->trainings; i++) {
            trainings[i] = training_of(options, &objective, i);
        }
        must(sfu__gpu_worker_run(worker, trainer, trainings, options->trainings, &options->tuning, &seconds));
        epochs = 0;
        for (int i = 0; i < options->trainings; i++) {
            epochs += trainings[i].ran;
        }
        if (run >= 0) {
            times[run] = 1e6 * seconds / epochs;
        }
    }
    qsort(times, RUNS, sizeof *times, by_value);
    printf("%s %s %.3f %.3f %.3f us per epoch and training; %d trainings of %.1f epochs, %lld KB each", dataset, text,
           times[RUNS / 2], times[0], times[RUNS - 1], options->trainings, epochs / options->trainings,
           (long long)sfu__gpu_trainer_each(trainer) / 1024);
    if (options->check) {
        printf("; %d of 3 as on the CPU", same_as_cpu(options, of, net, &objective, worker, trainer, &runner, 3));
    }
    printf("\n");
    fflush(stdout);
    free(trainings);
    sfu__gpu_worker_free(worker);
    sfu__gpu_trainer_free(trainer);
    sfu__runner_clear(&runner);
    sfu__objective_clear(&objective);
    sfu_net_free(net);
}

int main(int count, char **words) {
    options options = {.trainings = 528, .epochs = 100, .nets = "gcn,sgcn,mlp+lp,fp+mlp,sgcn+lp,gcn+lp,linear+lp"};
    sfu__gpu *gpu = NULL;
    int i = 1;
    for (; i < count && strncmp(words[i], "--", 2) == 0; i++) {
        if (strcmp(words[i], "--check") == 0) {
            options.check = true;
            continue;
        }
        const char *value = i + 1 < count ? words[i + 1] : "";
        int *to = strcmp(words[i], "--trainings") == 0  ? &options.trainings
                  : strcmp(words[i], "--epochs") == 0   ? &options.epochs
                  : strcmp(words[i], "--patience") == 0 ? &options.patience
                  : strcmp(words[i], "--threads") == 0  ? &options.tuning.threads
                  : strcmp(words[i], "--shared") == 0   ? &options.tuning.shared
                  : strcmp(words[i], "--cluster") == 0  ? &options.tuning.cluster
                                                        : NULL;
        if (strcmp(words[i], "--size") == 0) {
            options.size = value;
        } else if (to != NULL) {
            *to = (int)strtol(value, NULL, 10);
        } else {
            options.nets = value;
        }
        i++;
    }
    must(sfu__gpu_open(&gpu, 0));
    for (; i < count; i++) {
        setting of = {0};
        char nets[512], *left = nets;
        const char *base = strrchr(words[i], '/') != NULL ? strrchr(words[i], '/') + 1 : words[i];
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
        snprintf(nets, sizeof nets, "%s", options.nets);
        setting_open(&of, words[i], options.size != NULL ? "random:0" : NULL, options.size);
        for (char *net = strtok_r(left, ",", &left); net != NULL; net = strtok_r(left, ",", &left)) {
            measure(&options, name, &of, net, gpu);
        }
        setting_close(&of);
    }
    sfu__gpu_close(gpu);
    return 0;
}
