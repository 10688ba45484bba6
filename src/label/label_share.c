/* label_share.c - machines that share the items of a labelling (shared_work.h).
 *
 * The steps of a round train different networks, and the problems are independent, so a round of a problem needs
 * nothing but the earlier rounds of this problem. What is stored is the cross-validation of the trials, a few numbers
 * each. From these every machine repeats the suggestions of the sampler and the ranking, and trains the models of the
 * best trials itself: one training where the cross-validation took five.
 */
#include "label.h"

#include "json.h"
#include "memory.h"
#include "protocol.h"
#include "shared_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

struct sfu__label_share {
    sfu__shared_work *work; /* item: step * problem_count + problem */
    sfu__label_problem *problems;
    int problem_count, steps, left;
    const sfu__label_work *settings;
    bool *done, *running;            /* [steps * problem_count] */
    int ranked[SFU__LABEL_PROBLEMS]; /* rounds that are ranked */
};

/* ---- keys -------------------------------------------------------------------------------------------------------- */

sfu_status sfu__label_identity(sfu__text *text, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    char dataset[SFU__DIGEST_TEXT];
    SFU_TRY(sfu_dataset_digest(dataset, work->dataset));
    SFU_TRY(sfu__text_format(text, "label\n%d\n%s\n%" PRIu64 "\n%d\n%d\n", SFU__PROTOCOL, dataset, work->seed,
                             (int)work->metric, work->balanced));
    for (int i = 0; i < work->nets.count; i++) {
        SFU_TRY(sfu__text_format(text, "%s\n", sfu__label_net_names[work->nets.net[i]]));
    }
done:
    return status;
}

static sfu_status make_keys(sfu__work_key *keys, const sfu__label_share *self) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    SFU_TRY(sfu__label_identity(&text, self->settings));
    const size_t common = text.size;
    for (int i = 0; i < self->steps * self->problem_count; i++) {
        text.size = common;
        SFU_TRY(sfu__text_format(&text, "%d\n%d\n", i / self->problem_count, i % self->problem_count));
        SFU_TRY(sfu__digest_of(keys[i].text, text.bytes, text.size));
    }
done:
    sfu__text_clear(&text);
    return status;
}

static bool keep_waiting(void *user) {
    const sfu__label_work *work = user;
    return work->should_continue(work->user);
}

sfu_status sfu__label_share_open(sfu__label_share **share, const char *url, sfu__label_problem *problems,
                                 int problem_count, int steps, const sfu__label_work *work) {
    sfu_status status = SFU_OK;
    const int count = steps * problem_count;
    const sfu__db_wait wait = {keep_waiting, (void *)(uintptr_t)work};
    sfu__label_share *self = NULL;
    sfu__work_key *keys = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->problems = problems;
    self->problem_count = problem_count;
    self->steps = steps;
    self->left = count;
    self->settings = work;
    SFU_ALLOC_ZERO(self->done, count);
    SFU_ALLOC_ZERO(self->running, count);
    SFU_ALLOC_ZERO(keys, count);
    SFU_TRY(make_keys(keys, self));
    SFU_TRY(sfu__shared_work_open(&self->work, url, keys, count, &wait));
    *share = self;
    self = NULL;
done:
    sfu__free(keys);
    sfu__label_share_close(self);
    return status;
}

void sfu__label_share_close(sfu__label_share *self) {
    if (self != NULL) {
        sfu__shared_work_close(self->work);
        sfu__free(self->done);
        sfu__free(self->running);
        sfu__free(self);
    }
}

/* ---- the order of the items -------------------------------------------------------------------------------------- */

static int round_of(const sfu__label_share *self, int step) {
    return sfu__label_step_at(self->settings->nets.count, step).round;
}

/* The first item of a problem decides about the weights of edges; the earlier rounds rank the networks. */
static bool is_ready(const sfu__label_share *self, int item) {
    const int step = item / self->problem_count, problem = item % self->problem_count;
    bool ready = !self->done[item] && !self->running[item];
    for (int other = 0; other < step && ready; other++) {
        const bool needed = other == 0 || round_of(self, other) < round_of(self, step);
        ready = !needed || self->done[other * self->problem_count + problem];
    }
    return ready;
}

static sfu_status start_item(sfu__label_share *self, int item, sfu__label_item *started) {
    const int step = item / self->problem_count, p = item % self->problem_count, round = round_of(self, step);
    if (self->ranked[p] <= round) {
        sfu__label_rank(&self->problems[p], &self->settings->nets, round);
        self->ranked[p] = round + 1;
    }
    return sfu__label_item_start(started, &self->problems[p], step, self->settings);
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

enum { NUMBERS = 6 };

static void list_numbers(double *numbers[NUMBERS], double *epochs, sfu__label_trial *trial) {
    double *const all[NUMBERS] = {epochs,        &trial->accuracy, &trial->score,
                                  &trial->error, &trial->loss,     &trial->temperature};
    memcpy(numbers, all, sizeof all);
}

/* [[epochs, accuracy, score, error, loss, temperature], ...]; a trial that diverged has zeros. */
static sfu_status print_item(sfu__text *text, const sfu__label_item *item) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < item->made_count; i++) {
        sfu__label_trial trial = item->made[i].epochs > 0 ? item->made[i] : (sfu__label_trial){0};
        double epochs = trial.epochs, *numbers[NUMBERS];
        list_numbers(numbers, &epochs, &trial);
        for (int n = 0; n < NUMBERS; n++) {
            SFU_TRY(sfu__text_format(text, n > 0 ? ", " : i > 0 ? ", [" : "[["));
            SFU_TRY(sfu__text_number(text, *numbers[n]));
        }
        SFU_TRY(sfu__text_format(text, "]"));
    }
    SFU_TRY(sfu__text_format(text, "]"));
done:
    return status;
}

/* False if it has not as many numbers. */
static bool read_trial(sfu__label_trial *trial, const sfu__json *row) {
    double epochs = 0, *numbers[NUMBERS];
    const sfu__json *value = sfu__json_items(row);
    bool valid = true;
    list_numbers(numbers, &epochs, trial);
    for (int n = 0; n < NUMBERS; n++) {
        valid = valid && sfu__json_is_number(value);
        *numbers[n] = sfu__json_number(value);
        value = value != NULL ? value->next : NULL;
    }
    valid = valid && value == NULL && epochs >= 0 && epochs <= 1e9;
    trial->epochs = valid ? (int32_t)epochs : 0;
    return valid;
}

typedef struct taking {
    const sfu__label_share *self;
    sfu__label_item *item;
} taking;

static sfu_status read_item(void *user, const char *text) {
    const taking *taking = user;
    sfu__label_item *item = taking->item;
    const char *shown = sfu__shared_work_shown(taking->self->work);
    sfu_status status = SFU_OK;
    sfu__json_text json = {0};
    SFU_TRY(sfu__json_read(&json, text, strlen(text), shown));
    const sfu__json *row = sfu__json_items(json.root);
    bool valid = sfu__json_is(json.root, SFU__JSON_ARRAY) && (int)json.root->count == item->made_count;
    for (int i = 0; i < item->made_count && valid; i++, row = row->next) {
        valid = read_trial(&item->made[i], row);
    }
    if (!valid) {
        status = sfu__fail(SFU_ERR_FORMAT, "%s: expected the results of %d trials of label in sfumato_studies", shown,
                           item->made_count);
    }
done:
    sfu__json_clear(&json);
    return status;
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static void title_of(char *title, size_t size, const sfu__label_share *self, int item) {
    char quoted[SFU__QUOTE_MAX];
    const char *name = sfu_dataset_name(self->settings->dataset);
    snprintf(title, size, "label %s, step %d, part %d of %d", sfu__quote(quoted, name, strlen(name)),
             item / self->problem_count + 1, item % self->problem_count + 1, self->problem_count);
}

/* Adds the item if its result is known, or if this machine may train it. */
static sfu_status take_item(sfu__label_share *self, int i, int *own, sfu__label_item *items, int *count) {
    sfu_status status = SFU_OK;
    const bool finished = sfu__shared_work_state(self->work, i) == SFU__WORK_FINISHED;
    sfu__label_item *item = &items[*count];
    bool taken = false;
    if (!finished && *own > 0) {
        char title[SFU__QUOTE_MAX + 100];
        title_of(title, sizeof title, self, i);
        SFU_TRY(sfu__shared_work_claim(self->work, i, title, &taken));
        *own -= taken;
    }
    if (finished || taken) {
        ++*count; /* from here on the caller clears it */
        SFU_TRY(start_item(self, i, item));
        self->running[i] = true;
    }
    if (finished) {
        taking taking = {self, item};
        SFU_TRY(sfu__shared_work_fetch(self->work, i, read_item, &taking, &item->known));
        if (!item->known) { /* removed from the table meanwhile */
            self->running[i] = false;
            sfu__label_item_clear(item);
            --*count;
        }
    }
done:
    return status;
}

sfu_status sfu__label_share_next(sfu__label_share *self, int own, sfu__label_item items[SFU__LABEL_ITEMS], int *count) {
    sfu_status status = SFU_OK;
    *count = 0;
    SFU_TRY(sfu__shared_work_update(self->work));
    for (int i = 0; i < self->steps * self->problem_count && *count < SFU__LABEL_ITEMS; i++) {
        SFU_TRY(is_ready(self, i) ? take_item(self, i, &own, items, count) : SFU_OK);
    }
done:
    return status;
}

sfu_status sfu__label_share_done(sfu__label_share *self, const sfu__label_item *item) {
    const int i = item->number * self->problem_count + (int)(item->problem - self->problems);
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    if (!item->known) {
        SFU_TRY(print_item(&text, item));
        SFU_TRY(sfu__shared_work_publish(self->work, i, text.bytes));
    }
    self->running[i] = false;
    self->done[i] = true;
    self->left--;
done:
    sfu__text_clear(&text);
    return status;
}

int sfu__label_share_left(const sfu__label_share *self) { return self->left; }

sfu_status sfu__label_share_beat(sfu__label_share *self) { return sfu__shared_work_beat(self->work); }
