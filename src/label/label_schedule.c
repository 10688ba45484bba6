/* label_schedule.c - the order of the trials, and the ranking of the networks.
 *
 *   round 0   every candidate, one trial with default hyperparameters
 *   round 1   the better half and the best network without a graph, 2 trials each, the best first
 *   round 2   the best three, 4 trials
 *   round 3+  the two best, 8 trials, then 16, 32, 64
 */
#include "label.h"

#include "memory.h"
#include "sampler.h"

enum { ROUNDS = 7, HALF = 4 };

static const struct {
    int slots;
    int32_t trials;
    int32_t labelled; /* fewer labels cannot distinguish this many trials */
} rounds[ROUNDS] = {
    {SFU__LABEL_NETS, 1, 0}, {HALF + 1, 2, 0}, {3, 4, 40}, {2, 8, 100}, {2, 16, 250}, {2, 32, 500}, {2, 64, 1000}};

static int slots(int round, int nets) { return rounds[round].slots < nets ? rounds[round].slots : nets; }

int sfu__label_steps(int nets, int32_t labelled) {
    int steps = 0;
    for (int round = 0; round < ROUNDS && labelled >= rounds[round].labelled; round++) {
        steps += slots(round, nets);
    }
    return steps;
}

sfu__label_step sfu__label_step_at(int nets, int number) {
    int round = 0;
    while (round + 1 < ROUNDS && number >= slots(round, nets)) {
        number -= slots(round++, nets);
    }
    return (sfu__label_step){round, number, rounds[round].trials};
}

/* ---- ranking ----------------------------------------------------------------------------------------------------- */

static bool beats(const sfu__label_problem *problem, int net, int other) {
    return sfu__label_is_better(&problem->nets[net].best, &problem->nets[other].best);
}

int sfu__label_choice(const sfu__label_problem *problem) {
    int best = 0;
    for (int net = 1; net < SFU__LABEL_NETS; net++) {
        best = beats(problem, net, best) ? net : best;
    }
    return best;
}

int sfu__label_choice_without_graph(const sfu__label_problem *problem) {
    int best = -1;
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        if (sfu__label_ignores_graph(net) && (best < 0 || beats(problem, net, best))) {
            best = net;
        }
    }
    return best;
}

/* Moves the best network without a graph up to the better half. */
static void keep_control(int order[SFU__LABEL_NETS], int count) {
    int control = 0;
    while (control < count && !sfu__label_ignores_graph(order[control])) {
        control++;
    }
    if (control > HALF && control < count) {
        const int net = order[control];
        order[control] = order[HALF];
        order[HALF] = net;
    }
}

/* Insertion sort, which is stable. */
void sfu__label_rank(sfu__label_problem *problem, const sfu__label_nets *nets, int round) {
    int *order = problem->order;
    for (int i = 0; i < nets->count; i++) {
        int at = i;
        while (round > 0 && at > 0 && beats(problem, nets->net[i], order[at - 1])) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = nets->net[i];
    }
    if (round > 0) {
        keep_control(order, nets->count);
    }
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

void sfu__label_take(sfu__label_item *item) {
    sfu__label_problem *problem = item->problem;
    sfu__label_search *search = &problem->nets[problem->order[item->step.slot]];
    if (sfu__label_is_better(&item->best, &search->best)) {
        sfu__label_trial_clear(&search->best);
        search->best = item->best;
        item->best = (sfu__label_trial){0};
    }
    if (item->number == 0) {
        problem->unweighted = search->best.unweighted;
    }
    search->trials += item->step.trials;
    search->trial_s = item->trial_s;
    problem->trainings += item->trainings;
}

void sfu__label_item_clear(sfu__label_item *item) {
    sfu__label_trial_clear(&item->best);
    sfu__free(item->made);
    *item = (sfu__label_item){0};
}

void sfu__label_trial_clear(sfu__label_trial *trial) {
    sfu__free(trial->params);
    sfu_model_free(trial->model);
    *trial = (sfu__label_trial){0};
}

void sfu__label_problem_clear(sfu__label_problem *problem) {
    for (int net = 0; net < SFU__LABEL_NETS; net++) {
        sfu__label_trial_clear(&problem->nets[net].best);
        sfu__sampler_free(problem->nets[net].sampler);
        sfu__space_free(problem->nets[net].space);
    }
    for (int i = 0; i < SFU__LABEL_FOLDS; i++) {
        sfu_split_free(problem->inner[i]);
    }
    sfu_split_free(problem->all);
    sfu__free(problem->labels);
    sfu__free(problem->counts);
    *problem = (sfu__label_problem){0};
}
