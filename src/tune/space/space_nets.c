/* space_nets.c - which network uses which parameter. */
#include "space_int.h"
#include "word_list.h"

#include <string.h>

/* Hyperparameters of every training. */
static const char *const settings[] = {"lr", "dropout", "weight_decay", NULL};

static bool is_word(const char *name, const char *const *words) {
    for (int i = 0; words[i] != NULL; i++) {
        if (strcmp(name, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool sfu__net_has_variable(const char *net, const char *name) {
    sfu__variable variable;
    for (const char *p = net; sfu__variable_next(&variable, p); p = variable.name + variable.size) {
        if (variable.size == strlen(name) && memcmp(variable.name, name, variable.size) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_lpnn_number(const char *name) {
    for (int i = 0; sfu__lpnn_number(i) != NULL; i++) {
        if (strcmp(name, sfu__lpnn_number(i)) == 0) {
            return true;
        }
    }
    return false;
}

bool sfu__net_uses(const char *net, const char *name, int32_t k) {
    sfu__net_given given;
    if (is_word(name, settings) || sfu__net_has_variable(net, name)) {
        return true;
    }
    if (!sfu__net_named(&given, net, k)) {
        return false;
    }
    return (given.hidden && strcmp(name, "hidden") == 0) || (given.k && strcmp(name, "k") == 0) ||
           (given.lpnn && is_lpnn_number(name) && !sfu__lpnn_gives(net, name));
}

/* ---- suggestions in messages ------------------------------------------------------------------------------------- */

/* Names that a message may suggest; includes the $names of the networks. */
typedef struct suggestions {
    const char *words[SFU__SPACE_PARAMETERS];
    char names[SFU__SPACE_PARAMETERS][SFU__SPACE_NAME + 1];
    int count;
} suggestions;

static void suggest(suggestions *self, const char *name, size_t size) {
    for (int i = 0; i < self->count; i++) {
        if (strlen(self->words[i]) == size && memcmp(self->words[i], name, size) == 0) {
            return;
        }
    }
    if (self->count + 1 < SFU__SPACE_PARAMETERS && size <= SFU__SPACE_NAME) {
        char *copy = self->names[self->count];
        memcpy(copy, name, size);
        copy[size] = '\0';
        self->words[self->count++] = copy;
    }
}

static void suggest_for_net(suggestions *self, const char *net, int32_t k) {
    static const char *const of_names[] = {"hidden", "k", NULL};
    sfu__variable variable;
    for (const char *p = net; sfu__variable_next(&variable, p); p = variable.name + variable.size) {
        suggest(self, variable.name, variable.size);
    }
    for (int i = 0; of_names[i] != NULL; i++) {
        if (sfu__net_uses(net, of_names[i], k)) {
            suggest(self, of_names[i], strlen(of_names[i]));
        }
    }
    for (int i = 0; sfu__lpnn_number(i) != NULL; i++) {
        if (sfu__net_uses(net, sfu__lpnn_number(i), k)) {
            suggest(self, sfu__lpnn_number(i), strlen(sfu__lpnn_number(i)));
        }
    }
}

sfu_status sfu__refuse_unused(const sfu__space *space, const char *text, const sfu__list_item *item, int32_t k) {
    suggestions self = {.count = 0};
    char list[SFU__LIST_MAX];
    char quoted[SFU__QUOTE_MAX];
    for (int i = 0; settings[i] != NULL; i++) {
        suggest(&self, settings[i], strlen(settings[i]));
    }
    for (int i = 0; i < space->net_count; i++) {
        suggest_for_net(&self, space->nets[i], k);
    }
    const char *near = sfu__nearest_word(item->name, strlen(item->name), self.words);
    const char *net = space->nets[0];
    return sfu__fail_parse(text, item->position, "%s %s %s; expected %s%s",
                           space->net_count > 1 ? "no network" : sfu__quote(quoted, net, strlen(net)),
                           space->net_count > 1 ? "uses" : "does not use", item->name,
                           near != NULL ? near : sfu__list_words(list, self.words, " or "),
                           near == NULL && space->net_count == 1 ? ", or a $name of the network" : "");
}
