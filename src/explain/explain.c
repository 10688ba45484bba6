/* explain.c - the public view of a plan: its steps with predicted and measured costs, and the complexity that the paper
 * gives for the network. */
#include "plan_int.h"
#include "clock.h"
#include "gpu_executor.h"
#include "progress.h"
#include "parallel.h"
#include "rates.h"
#include "runner.h"
#include "sfumato_paper.h"
#include "sized_struct.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADING = 256 };

typedef struct listed {
    sfu_step step;
    char heading[HEADING]; /* text of a heading */
    int from;              /* index in the plan; -1: a heading */
} listed;

struct sfu_plan {
    sfu__plan *plan;
    sfu_net *net;
    listed *steps[SFU_PASSES];
    int counts[SFU_PASSES];
    sfu_pass_cost costs[SFU_PASSES];
    sfu_spread spreads[SFU_PASSES]; /* both passes of an epoch have the same */
    int32_t *labels[SFU_PASSES];    /* targets of the training and the evaluation pass */
    double dropout;
    int threads;
    sfu__device device; /* of the measurement */
    bool nominal;       /* predicted times are at the nominal rates */
};

void sfu_plan_options_init_sized(sfu_plan_options *options, size_t size) {
    const sfu_plan_options defaults = {.size = sizeof defaults, .dropout = 0.5, .device = "auto"};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

/* ---- steps ------------------------------------------------------------------------------------------------------ */

/* "dense 64 relu" of "smooth | dense 64 relu | softmax": layer `index` of the canonical text. */
static void layer_text(char *text, size_t size, const sfu_net *net, int index) {
    const char *at = net->text;
    for (int i = 0; i < index && at != NULL; i++) {
        at = strchr(at, '|');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL) {
        snprintf(text, size, "layer %d", index);
        return;
    }
    while (*at == ' ') {
        at++;
    }
    const char *end = strchr(at, '|');
    size_t length = end != NULL ? (size_t)(end - at) : strlen(at);
    while (length > 0 && at[length - 1] == ' ') {
        length--;
    }
    snprintf(text, size, "%.*s", (int)length, at);
}

static void make_heading(listed *to, const sfu_plan *self, const sfu__plan_step *step, sfu_pass pass) {
    char layer[HEADING / 2];
    *to = (listed){.from = -1, .step = {.op = "layer", .why = "", .measured_s = NAN}};
    if (step->layer < 0) {
        const bool update = step->kernel == SFU__KERNEL_ADAM;
        snprintf(to->heading, sizeof to->heading, "%s", update ? "update" : pass == SFU_PASS_TRAIN ? "loss" : "score");
        return;
    }
    layer_text(layer, sizeof layer, self->net, step->layer);
    snprintf(to->heading, sizeof to->heading, "%d: %s%s", step->layer, layer, step->backward ? ", back" : "");
}

/* On the device that the plan is for; auto: on the CPU. */
static double predicted_seconds(const sfu_plan *self, const sfu__work *work, const sfu__measured *measured) {
    return self->device.kind == SFU__DEVICE_CUDA ? sfu__gpu_step_seconds(work) : sfu__predicted_seconds(work, measured);
}

static void make_listed(listed *to, const sfu_plan *self, const sfu__plan_step *step, int from,
                        const sfu__measured *measured) {
    const bool shaped = step->c.rows > 0;
    *to =
        (listed){.from = from,
                 .step = {.op = sfu__kernel_name(step->kernel),
                          .text = step->text,
                          .why = step->why,
                          .rows = shaped ? step->c.rows : (int32_t)(step->work.rows < INT32_MAX ? step->work.rows : 0),
                          .cols = shaped ? step->c.cols : step->work.width,
                          .flops = sfu__work_flops(&step->work),
                          .bytes = sfu__work_bytes(&step->work),
                          .predicted_s = predicted_seconds(self, &step->work, measured),
                          .measured_s = NAN,
                          .depth = 1}};
}

static sfu_status list_pass(sfu_plan *self, sfu_pass pass, const sfu__measured *measured) {
    sfu_status status = SFU_OK;
    const sfu__pass *from = &self->plan->passes[pass];
    int layer = -2;
    bool backward = false;
    SFU_ALLOC(self->steps[pass], 2 * from->step_count);
    sfu_pass_cost *cost = &self->costs[pass];
    *cost = (sfu_pass_cost){.measured_s = NAN};
    self->spreads[pass] = (sfu_spread){NAN, NAN, NAN};
    for (size_t i = 0; i < from->step_count; i++) {
        const sfu__plan_step *step = &from->steps[i];
        if (step->layer != layer || step->backward != backward || step->kernel == SFU__KERNEL_CROSS_ENTROPY) {
            make_heading(&self->steps[pass][self->counts[pass]++], self, step, pass);
        }
        layer = step->layer;
        backward = step->backward;
        listed *to = &self->steps[pass][self->counts[pass]++];
        make_listed(to, self, step, (int)i, measured);
        cost->predicted_s += to->step.predicted_s;
    }
    for (int i = 0; i < self->counts[pass]; i++) {
        listed *at = &self->steps[pass][i];
        at->step.text = at->from < 0 ? at->heading : at->step.text;
    }
    const int64_t floats =
        from->arena + (from->exists ? (pass == SFU_PASS_TRAIN ? 4 : 1) * self->plan->parameters.size : 0);
    cost->memory_bytes = floats * (int64_t)sizeof(float) + from->fixed_bytes;
done:
    return status;
}

/* ---- construction ----------------------------------------------------------------------------------------------- */

static sfu_status copy_labels(int32_t **labels, const sfu_dataset *dataset, const int32_t *nodes, int32_t count) {
    sfu_status status = SFU_OK;
    const int32_t *all = sfu_dataset_labels(dataset);
    SFU_ALLOC(*labels, count);
    for (int32_t i = 0; i < count; i++) {
        (*labels)[i] = all != NULL ? all[nodes[i]] : SFU_NO_LABEL;
    }
done:
    return status;
}

/* A prediction that streams runs in pieces of rows: the plan shows one of them. */
static sfu_status shorten_prediction(int32_t **piece, sfu__plan_request *request, const sfu_dataset *dataset,
                                     const sfu_net *net) {
    enum { PIECE = 1 << 14 };
    sfu_status status = SFU_OK;
    if (sfu__plan_decide(dataset, net, request) && request->count[SFU_PASS_PREDICT] > PIECE) {
        SFU_ALLOC(*piece, PIECE);
        for (int32_t i = 0; i < PIECE; i++) {
            (*piece)[i] = i;
        }
        request->nodes[SFU_PASS_PREDICT] = *piece;
        request->count[SFU_PASS_PREDICT] = PIECE;
        request->as_all = true;
    }
done:
    return status;
}

sfu_status sfu__plan_predict(sfu_plan **plan, const sfu_dataset *dataset, const sfu_net *net, const sfu_split *split,
                             const sfu_plan_options *given, const sfu__measured *measured) {
    sfu_status status = SFU_OK;
    sfu_plan_options full, *options = &full;
    sfu_plan *self = NULL;
    int32_t *piece = NULL;
    *plan = NULL;
    SFU_TRY(SFU__READ_OPTIONS(&full, given, sfu_plan_options));
    if (!(options->dropout >= 0.0 && options->dropout < 1.0)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "dropout is %g; expected a rate of at least 0 and below 1",
                         options->dropout);
    }
    SFU_ALLOC_ZERO(self, 1);
    self->dropout = options->dropout;
    self->threads = sfu__thread_count(options->threads);
    SFU_TRY(sfu__device_parse(&self->device, options->device, options->memory));
    SFU_TRY(sfu__net_copy(&self->net, net));
    sfu__plan_request request = {.dropout = options->dropout > 0.0,
                                 .rewrites = options->plain ? 0 : SFU__ALL_REWRITES,
                                 .threads = options->threads,
                                 .memory = sfu__limit_of(options->memory),
                                 .device = self->device};
    for (int i = 0; i < 2; i++) {
        request.nodes[i] = sfu_split_part(split, i == 0 ? SFU_TRAIN : SFU_VAL, &request.count[i]);
        SFU_TRY(copy_labels(&self->labels[i], dataset, request.nodes[i], request.count[i]));
    }
    request.count[SFU_PASS_PREDICT] = sfu_dataset_nodes(dataset);
    SFU_TRY(shorten_prediction(&piece, &request, dataset, self->net));
    SFU_TRY(sfu__plan_make(&self->plan, dataset, self->net, &request));
    self->nominal = measured == NULL && self->device.kind != SFU__DEVICE_CUDA;
    for (int i = 0; i < SFU_PASSES; i++) {
        SFU_TRY(list_pass(self, (sfu_pass)i, measured));
    }
    *plan = self;
    self = NULL;
done:
    sfu_plan_free(self);
    sfu__free(piece);
    return status;
}

sfu_status sfu_plan_new(sfu_plan **plan, const sfu_dataset *dataset, const sfu_net *net, const sfu_split *split,
                        const sfu_plan_options *given) {
    sfu__measured measured;
    return sfu__plan_predict(plan, dataset, net, split, given, sfu__measured_load_here(&measured) ? &measured : NULL);
}

void sfu_plan_free(sfu_plan *plan) {
    if (plan == NULL) {
        return;
    }
    for (int i = 0; i < SFU_PASSES; i++) {
        sfu__free(plan->steps[i]);
        sfu__free(plan->labels[i]);
    }
    sfu__plan_release(plan->plan);
    sfu_net_free(plan->net);
    sfu__free(plan);
}

const sfu_step *sfu_plan_step(const sfu_plan *plan, sfu_pass pass, int i) {
    return i >= 0 && i < plan->counts[pass] ? &plan->steps[pass][i].step : NULL;
}

const sfu_pass_cost *sfu_plan_cost(const sfu_plan *plan, sfu_pass pass) { return &plan->costs[pass]; }

sfu_spread sfu_plan_spread(const sfu_plan *plan, sfu_pass pass) { return plan->spreads[pass]; }

bool sfu_plan_is_nominal(const sfu_plan *plan) { return plan->nominal; }

/* Work of each step, for the lower bound of a machine. */
const sfu__work *sfu__plan_work(const sfu_plan *plan, sfu_pass pass, int i) {
    const sfu__pass *from = &plan->plan->passes[pass];
    return i >= 0 && (size_t)i < from->step_count ? &from->steps[i].work : NULL;
}

/* ---- timing ----------------------------------------------------------------------------------------------------- */

/* Many short rounds: on a busy machine some of them run undisturbed. */
enum { ROUNDS_LEAST = 2, ROUNDS_MOST = 400 };
#define ROUND_SECONDS 0.0005
#define ALL_SECONDS 0.5

static void run_once(const sfu_plan *self, const sfu__runner *runner, sfu_pass pass, uint32_t number) {
    if (pass == SFU_PASS_PREDICT) {
        sfu__runner_forward(runner, pass);
        return;
    }
    sfu__score training, validation;
    const sfu__epoch epoch = {.seed = 1,
                              .number = number,
                              .dropout = self->dropout,
                              .lr = 0.01F,
                              .decay = 5e-4F,
                              .target = {.labels = self->labels[SFU_PASS_TRAIN]},
                              .validation = {.labels = self->labels[SFU_PASS_EVALUATE]},
                              .evaluate = self->plan->passes[SFU_PASS_EVALUATE].exists};
    sfu__runner_epoch(runner, &epoch, &training, &validation);
}

/* Runs a round and returns its seconds per run. */
static double measure_round(const sfu_plan *self, const sfu__runner *runner, sfu_pass first, sfu_pass last,
                            int repeats) {
    double sum = 0.0;
    for (int i = 0; i < repeats; i++) {
        run_once(self, runner, first, (uint32_t)i + 1);
    }
    for (int pass = (int)first; pass <= (int)last; pass++) {
        for (size_t i = 0; i < self->plan->passes[pass].step_count; i++) {
            sum += sfu__runner_seconds(runner, (sfu_pass)pass, i) / repeats;
        }
    }
    return sum;
}

/* Adds the times of the round to the list: those of steps, and the sum of a pass. */
static void take_round(sfu_plan *self, const sfu__runner *runner, sfu_pass first, sfu_pass last, int repeats) {
    for (int pass = (int)first; pass <= (int)last; pass++) {
        self->costs[pass].measured_s = 0.0;
        for (int i = 0; i < self->counts[pass]; i++) {
            listed *to = &self->steps[pass][i];
            if (to->from >= 0) {
                to->step.measured_s = sfu__runner_seconds(runner, (sfu_pass)pass, (size_t)to->from) / repeats;
                self->costs[pass].measured_s += to->step.measured_s;
            }
        }
    }
}

static int compare_seconds(const void *a, const void *b) {
    const double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of the sums of the rounds, which are sorted in place. */
static sfu_spread spread_of(double *sums, int rounds) {
    qsort(sums, (size_t)rounds, sizeof *sums, compare_seconds);
    const double median = 0.5 * (sums[(rounds - 1) / 2] + sums[rounds / 2]);
    return (sfu_spread){sums[(rounds - 1) / 4], median, sums[rounds - 1 - (rounds - 1) / 4]};
}

/* The best of several rounds, which is least affected by other load, and their spread; the two passes of an epoch are
 * timed together. */
static sfu_status measure_passes(sfu_plan *self, const sfu__runner *runner, sfu_pass first, sfu_pass last) {
    sfu_status status = SFU_OK;
    double sums[ROUNDS_MOST] = {0}, best = INFINITY;
    run_once(self, runner, first, 1);
    const double start = sfu__now();
    run_once(self, runner, first, 1);
    const double one = sfu__now() - start;
    const int repeats = one > ROUND_SECONDS ? 1 : (int)(ROUND_SECONDS / (one + 1e-7));
    const double fit = ALL_SECONDS / (one * repeats + 1e-7);
    const int rounds = fit > ROUNDS_MOST ? ROUNDS_MOST : fit < ROUNDS_LEAST ? ROUNDS_LEAST : (int)fit;
    for (int round = 0; round < rounds; round++) {
        SFU_TRY(sfu__poll());
        SFU_TRY(sfu__runner_measure(runner, false));
        SFU_TRY(sfu__runner_measure(runner, true));
        SFU_TRY(sfu__runner_check(runner));
        sums[round] = measure_round(self, runner, first, last, repeats);
        if (sums[round] < best) {
            best = sums[round];
            take_round(self, runner, first, last, repeats);
        }
    }
    SFU_TRY(sfu__runner_check(runner));
    self->spreads[first] = self->spreads[last] = spread_of(sums, rounds);
done:
    return status;
}

/* Without a device of its own a plan is measured where its predicted times hold: on the CPU. */
static sfu_status measure_plan(sfu_plan *plan, bool epoch_only) {
    sfu_status status = SFU_OK;
    sfu__runner runner = {0};
    sfu__team *team = NULL;
    sfu__plan_request request = {.device = plan->device};
    request.device.kind = plan->device.kind == SFU__DEVICE_CUDA ? SFU__DEVICE_CUDA : SFU__DEVICE_CPU;
    SFU_TRY(sfu__team_new(&team, plan->threads));
    SFU_TRY(sfu__runner_make_of(&runner, plan->plan->dataset, plan->net, &request, plan->plan, team));
    sfu__parameters_start(runner.theta, &plan->plan->parameters, plan->net, NULL, 1);
    sfu__runner_reset(&runner);
    if (plan->plan->passes[SFU_PASS_TRAIN].exists) {
        SFU_TRY(measure_passes(plan, &runner, SFU_PASS_TRAIN, SFU_PASS_EVALUATE));
    }
    if (!epoch_only) {
        SFU_TRY(measure_passes(plan, &runner, SFU_PASS_PREDICT, SFU_PASS_PREDICT));
    }
done:
    sfu__runner_clear(&runner);
    sfu__team_free(team);
    return status;
}

sfu_status sfu__plan_measure_epoch(sfu_plan *plan) { return measure_plan(plan, true); }

sfu_status sfu_plan_measure(sfu_plan *plan) {
    const sfu__watch before = sfu__watch_start(NULL, NULL, "measuring the plan");
    const sfu_status status = measure_plan(plan, false);
    sfu__watch_end(before);
    return status;
}

/* ---- the paper's complexity ------------------------------------------------------------------------------------- */

/* The networks of Table 1 differ in their layers: F feature smoothings and dense layers in some order, then L label
 * smoothings. */
typedef struct shape {
    int features_first; /* smoothings before any weights */
    int between;        /* smoothings between weights */
    int dense, labels;
    bool odd; /* a layer that no network of the table has */
} shape;

static shape shape_of(const sfu_net *net) {
    shape found = {0};
    bool weights = false;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        if (layer->kind == SFU__LAYER_SMOOTH) {
            int *to = layer->labels ? &found.labels : weights ? &found.between : &found.features_first;
            *to += layer->times;
            found.odd = found.odd || layer->teleport > 0.0 || layer->learn != 0 || layer->act != SFU__IDENTITY;
        } else if (layer->kind == SFU__LAYER_DENSE) {
            found.dense++;
            weights = true;
            found.odd = found.odd || layer->act == SFU__IDENTITY;
        } else {
            found.odd = found.odd || !layer->linear;
        }
    }
    return found;
}

static const char *paper_name(const shape *net) {
    if (net->odd) {
        return NULL;
    }
    if (net->labels > 0) {
        return net->features_first == 0 && net->between == 0 ? (net->dense > 0 ? "MLP+LP" : "Linear+LP")
               : net->dense == 0                             ? "SGCN+LP"
               : net->between == net->dense - 1              ? "GCN+LP"
                                                             : NULL;
    }
    if (net->features_first == 0 || (net->dense > 0 && net->between != net->dense && net->between > 0)) {
        return NULL;
    }
    return net->dense == 0 ? "SGCN" : net->between > 0 ? "GCN" : "FP+MLP";
}

sfu_paper_cost sfu_plan_paper_cost(const sfu_plan *plan) {
    static const struct {
        const char *name, *formula;
        bool smooth, transform, labels;
    } table[] = {
        {"GCN", "L N_E d + L n d^2 + n d M", true, true, false},
        {"SGCN", "n d M", false, false, false},
        {"FP+MLP", "L n d^2 + n d M", false, true, false},
        {"SGCN+LP", "L_l N_E M + n d M", false, false, true},
        {"GCN+LP", "L N_E d + L n d^2 + n d M + L_l N_E M", true, true, true},
        {"Linear+LP", "L_l N_E M + n d M", false, false, true},
        {"MLP+LP", "L n d^2 + L_l N_E M + n d M", false, true, true},
    };
    const shape net = shape_of(plan->net);
    const char *name = paper_name(&net);
    sfu_paper_cost cost = {0};
    for (size_t i = 0; name != NULL && i < sizeof table / sizeof table[0]; i++) {
        if (strcmp(table[i].name, name) == 0) {
            const sfu__smoother *smoother = &plan->plan->smoothers[0];
            const sfu_csr *S = &smoother->csr;
            /* L counts the layers of the GCN or MLP including the softmax, as the paper's experiments do. */
            cost = (sfu_paper_cost){.name = table[i].name,
                                    .formula = table[i].formula,
                                    .L = net.dense + 1,
                                    .L_l = net.labels,
                                    .n = plan->plan->nodes,
                                    .N_E = smoother->stream != NULL ? (double)smoother->stream->nonzeros
                                                                    : (double)S->indptr[S->rows],
                                    .d = plan->plan->features,
                                    .M = plan->plan->classes};
            cost.value = (table[i].smooth ? cost.L * cost.N_E * cost.d : 0.0) +
                         (table[i].transform ? cost.L * cost.n * cost.d * cost.d : 0.0) + cost.n * cost.d * cost.M +
                         (table[i].labels ? cost.L_l * cost.N_E * cost.M : 0.0);
        }
    }
    return cost;
}
