#include "store_case.h"

#include "random.h"

#include <math.h>
#include <string.h>

enum { NETS, LR, DROPOUT, HIDDEN, K };

const sfu__space *case_space(void) {
    static char gcn[] = "gcn", mlp[] = "mlp", eight[] = "8", sixteen[] = "16", thirty_two[] = "32", net[] = "net",
                lr[] = "lr", dropout[] = "dropout", hidden_name[] = "hidden", k[] = "k", text[] = "a space";
    static sfu__choice nets[] = {{gcn, false, 0}, {mlp, false, 0}};
    static sfu__choice hidden[] = {{eight, true, 8}, {sixteen, true, 16}, {thirty_two, true, 32}};
    static sfu__parameter_range items[CASE_PARAMETERS] = {
        [NETS] = {net, {SFU__RANGE_CHOICE, 0, 1, 0, false, nets, 2}, 0},
        [LR] = {lr, {SFU__RANGE_FLOAT, 1e-5, 0.1, 0, true, NULL, 0}, 0},
        [DROPOUT] = {dropout, {SFU__RANGE_FLOAT, 0, 1, 0, false, NULL, 0}, 0},
        [HIDDEN] = {hidden_name, {SFU__RANGE_CHOICE, 0, 2, 0, false, hidden, 3}, 0},
        [K] = {k, {SFU__RANGE_INT, 1, 5, 2, false, NULL, 0}, 1},
    };
    static char *net_texts[] = {gcn, mlp};
    static uint64_t has[] = {0x1f, 0x0f};
    static const sfu__space space = {.items = items,
                                     .count = CASE_PARAMETERS,
                                     .groups = 2,
                                     .nets = net_texts,
                                     .net_count = 2,
                                     .has = has,
                                     .text = text};
    return &space;
}

sfu__store_options case_options(const char *location) {
    static const sfu__store_attribute facts[] = {
        {.key = "sfumato:seed", .json = "0", .text = "the seed"},
        {.key = "sfumato:dataset", .json = "\"abc\"", .text = "the dataset"},
        {.key = "sfumato:space", .json = "\"a space\"", .text = "the search space"}};
    return (sfu__store_options){.location = location,
                                .name = "s",
                                .space = case_space(),
                                .fingerprint = facts,
                                .fingerprint_count = 3,
                                .metric = "val_accuracy"};
}

sfu__trial case_trial(int32_t number, double *values) {
    sfu__random random = sfu__random_start(1, (uint64_t)number);
    values[NETS] = number % 3 == 2;
    values[LR] = 1e-5 + 0.09 * sfu__random_unit(&random);
    values[DROPOUT] = sfu__random_unit(&random);
    values[HIDDEN] = (double)sfu__random_below(&random, 3);
    values[K] = values[NETS] == 0 ? 1.0 + 2.0 * (double)sfu__random_below(&random, 3) : (double)NAN;
    return (sfu__trial){.number = number,
                        .state = SFU__TRIAL_WAITING,
                        .enqueued = number % 7 == 3,
                        .seed = sfu__random_next(&random) >> 11,
                        .values = values};
}

sfu__outcome case_outcome(int32_t number) {
    sfu__random random = sfu__random_start(2, (uint64_t)number);
    if (number % 10 == 7) {
        return (sfu__outcome){.failed = true};
    }
    return (sfu__outcome){.val_score = sfu__random_unit(&random),
                          .val_loss = 1.0 / (0.1 + sfu__random_unit(&random)),
                          .epochs = 100 + number % 17,
                          .best_epoch = 1 + number % 17};
}

sfu_status case_ask(sfu__store *store, int32_t first, int count, bool *before) {
    enum { MOST = 64 };
    double values[MOST][CASE_PARAMETERS];
    sfu__trial trials[MOST];
    for (int i = 0; i < count; i++) {
        trials[i] = case_trial(first + i, values[i]);
    }
    sfu__transaction turn = {.asked = trials, .asked_count = count};
    const sfu_status status = sfu__store_transaction(store, &turn);
    if (before != NULL) {
        *before = turn.asked_before;
    }
    return status;
}

sfu_status case_claim(sfu__store *store, int want, int32_t *claimed, int *count) {
    sfu__transaction turn = {.want = want};
    turn.claimed = claimed;
    const sfu_status status = sfu__store_transaction(store, &turn);
    *count = turn.claimed_count;
    return status;
}

sfu_status case_finish(sfu__store *store, int32_t number, bool *refused) {
    sfu__finished finished = {number, case_outcome(number), false};
    const sfu_status status =
        sfu__store_transaction(store, &(sfu__transaction){.finished = &finished, .finished_count = 1});
    *refused = finished.refused;
    return status;
}

static uint64_t bits(double number) {
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits;
}

static bool same_number(double one, double other) { return bits(one) == bits(other); }

bool case_same(const sfu__trial *one, const sfu__trial *other) {
    const sfu__outcome *a = &one->outcome, *b = &other->outcome;
    bool same = one->number == other->number && one->state == other->state && one->enqueued == other->enqueued &&
                one->seed == other->seed && a->failed == b->failed && same_number(a->val_score, b->val_score) &&
                same_number(a->val_loss, b->val_loss) && a->epochs == b->epochs && a->best_epoch == b->best_epoch;
    for (int i = 0; i < CASE_PARAMETERS; i++) {
        same = same &&
               (same_number(one->values[i], other->values[i]) || (isnan(one->values[i]) && isnan(other->values[i])));
    }
    return same;
}
