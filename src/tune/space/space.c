/* space.c - a list of ranges and the networks become a space: what each network has use for, and what belongs together.
 */
#include "space_int.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- parts ------------------------------------------------------------------------------------------------------ */

typedef struct builder {
    sfu__space *space;
    sfu__range_list list;
    const char *text, *net;
    bool any;
    uint64_t *unused; /* what the network has no use for, or NULL: that is refused */
    sfu__space_source source;
} builder;

void sfu__space_free(sfu__space *space) {
    if (space == NULL) {
        return;
    }
    for (int i = 0; i < space->count; i++) {
        sfu__free(space->items[i].name);
        sfu__domain_clear(&space->items[i].range);
    }
    for (int i = 0; i < space->net_count; i++) {
        sfu__free(space->nets[i]);
    }
    sfu__free(space->items);
    sfu__free(space->nets);
    sfu__free(space->has);
    sfu__free(space->text);
    sfu__free(space);
}

int sfu__space_find(const sfu__space *space, const char *name) {
    for (int i = 0; i < space->count; i++) {
        if (strcmp(space->items[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

int sfu__space_net(const sfu__space *space, const double *values) {
    if (space->net_count == 1) {
        return 0;
    }
    return sfu__domain_holds(&space->items[0].range, values[0]) ? (int)values[0] : -1;
}

bool sfu__space_has(const sfu__space *space, int net, int i) {
    return net >= 0 && net < space->net_count && (space->has[net] >> i & 1U) != 0;
}

/* ---- the networks ----------------------------------------------------------------------------------------------- */

static bool is_any(const char *net) {
    const size_t blanks = strspn(net, " \t\n\r");
    return strncasecmp(net + blanks, "any", 3) == 0 && strspn(net + blanks + 3, " \t\n\r") == strlen(net + blanks + 3);
}

/* A network that is a name alone is called by it, so that GCN and gcn are one. */
static sfu_status settle_name(sfu__choice *choice, int32_t k) {
    sfu__net_given given;
    if (!sfu__net_named(&given, choice->text, k) || strchr(choice->text, '(') != NULL) {
        return SFU_OK;
    }
    char *name = sfu__copy_string(given.name);
    if (name == NULL) {
        return SFU_ERR_MEMORY;
    }
    sfu__free(choice->text);
    choice->text = name;
    return SFU_OK;
}

static sfu_status settle_names(builder *self, sfu__list_item *net) {
    sfu_status status = SFU_OK;
    sfu__domain *range = &net->range;
    if (range->kind != SFU__RANGE_CHOICE) {
        return sfu__fail_parse(self->text, net->place, "net is a choice of networks; net={gcn,sgcn} would be right");
    }
    for (int i = 0; i < range->count; i++) {
        SFU_TRY(settle_name(&range->choices[i], self->space->net_options.k));
        for (int j = 0; j < i; j++) {
            if (strcmp(range->choices[i].text, range->choices[j].text) == 0) {
                return sfu__fail_parse(self->text, net->place, "net has %s twice", range->choices[i].text);
            }
        }
    }
done:
    return status;
}

/* Leaves one item out, closing the gap. */
static void drop_item(sfu__range_list *list, int at) {
    sfu__free(list->items[at].name);
    sfu__domain_clear(&list->items[at].range);
    list->count--;
    memmove(&list->items[at], &list->items[at + 1], (size_t)(list->count - at) * sizeof list->items[0]);
}

/* `net`, which a preset has put at the beginning of the list, is searched or left out. */
static sfu_status settle_nets(builder *self) {
    sfu_status status = SFU_OK;
    sfu__space *space = self->space;
    sfu__list_item *net = &self->list.items[0];
    if (self->any) {
        SFU_TRY(settle_names(self, net));
    } else if (net->place == NULL) {
        drop_item(&self->list, 0);
    } else if (!sfu__net_uses(self->net, "net", space->net_options.k)) {
        return sfu__fail_parse(self->text, net->place,
                               "net is searched where the network is \"any\", and here it is not");
    }
    const int count = self->any ? net->range.count : 1;
    SFU_ALLOC_ZERO(space->nets, count);
    SFU_ALLOC_ZERO(space->has, count);
    for (; space->net_count < count; space->net_count++) {
        char *copy = sfu__copy_string(self->any ? net->range.choices[space->net_count].text : self->net);
        if (copy == NULL) {
            return SFU_ERR_MEMORY;
        }
        space->nets[space->net_count] = copy;
    }
done:
    return status;
}

/* ---- what they use ---------------------------------------------------------------------------------------------- */

/* The most smoothings that a network by name may get. */
static int32_t most_k(const builder *self) {
    const int at = sfu__list_find(&self->list, "k", 1);
    double most = at < 0 ? (double)self->space->net_options.k : 1.0;
    for (int i = 0; at >= 0 && i < sfu__domain_ends(&self->list.items[at].range); i++) {
        const sfu__domain *range = &self->list.items[at].range;
        most = fmax(most, sfu__domain_number(range, sfu__domain_end(range, i)));
    }
    return (int32_t)fmax(1.0, fmin(most, 1e6));
}

static bool is_net(const builder *self, int item) { return self->any && item == 0; }

static bool is_used(const builder *self, int item, int32_t k) {
    for (int n = 0; n < self->space->net_count; n++) {
        if (is_net(self, item) || sfu__net_uses(self->space->nets[n], self->list.items[item].name, k)) {
            return true;
        }
    }
    return false;
}

/* What a preset has for other networks is left out; what the user asks for must be of use, unless the space is one of
 * several networks'. */
static sfu_status drop_unused(builder *self, int32_t k) {
    int given = 0;
    for (int i = 0; i < self->list.count;) {
        const sfu__list_item *item = &self->list.items[i];
        const bool asked = item->place != NULL, used = is_used(self, i, k);
        if (!used && asked && self->unused == NULL) {
            return sfu__refuse_unused(self->space, self->text, item, k);
        }
        if (!used && asked && given < 64) {
            *self->unused |= UINT64_C(1) << given;
        }
        given += asked;
        if (used) {
            i++;
        } else {
            drop_item(&self->list, i);
        }
    }
    if (self->list.count > SFU__SPACE_PARAMETERS) { /* a preset's come first, so that this one has a place */
        return sfu__fail_parse(self->text, self->list.items[SFU__SPACE_PARAMETERS].place, "more than %d parameters",
                               SFU__SPACE_PARAMETERS);
    }
    return self->list.count > 0
               ? SFU_OK
               : sfu__fail_parse(
                     self->text, self->text,
                     "nothing is searched; paper, practical, or ranges such as lr=(0,1) hidden={16,64} would be right");
}

/* Every $name of a network has a range. */
static sfu_status check_variables(const sfu__range_list *list, const char *net) {
    sfu__variable variable;
    char quoted[SFU__QUOTE_MAX];
    for (const char *p = net; sfu__variable_next(&variable, p); p = variable.name + variable.size) {
        const sfu__scanner name = {net, variable.name};
        const char *shown = sfu__quote(quoted, variable.place, variable.size + 1);
        if (variable.size == 0 || sfu__scan_name(&name) != variable.size || variable.size > SFU__SPACE_NAME) {
            return sfu__fail_parse(net, variable.place, "%s is no name; $ and letters, digits and _ would be right",
                                   shown);
        }
        if (sfu__list_find(list, variable.name, variable.size) < 0) {
            return sfu__fail_parse(net, variable.place,
                                   "%s has no range; %.*s={1,2} or the like in the space would be right", shown,
                                   (int)variable.size, variable.name);
        }
    }
    return SFU_OK;
}

static void settle_uses(builder *self, int32_t k) {
    for (int n = 0; n < self->space->net_count; n++) {
        for (int i = 0; i < self->list.count; i++) {
            const bool used = is_net(self, i) || sfu__net_uses(self->space->nets[n], self->list.items[i].name, k);
            self->space->has[n] |= (uint64_t)used << i;
        }
    }
}

/* lpnn gets a $name in its brackets for each of its numbers that is searched. */
static sfu_status open_numbers(char **net, const sfu__range_list *list) {
    sfu_status status = SFU_OK;
    for (int i = 0; sfu__lpnn_number(i) != NULL; i++) {
        const char *name = sfu__lpnn_number(i);
        sfu__text opened = {0};
        sfu__net_given given;
        if (!sfu__net_named(&given, *net, 1) || !given.lpnn || sfu__lpnn_gives(*net, name) ||
            sfu__list_find(list, name, strlen(name)) < 0) {
            continue;
        }
        SFU_TRY(sfu__lpnn_open(&opened, *net, name));
        sfu__free(*net);
        *net = opened.bytes;
    }
done:
    return status;
}

/* ---- groups ----------------------------------------------------------------------------------------------------- */

static bool same_nets(const sfu__space *space, int i, int j) {
    for (int n = 0; n < space->net_count; n++) {
        if (sfu__space_has(space, n, i) != sfu__space_has(space, n, j)) {
            return false;
        }
    }
    return true;
}

static void settle_groups(sfu__space *space) {
    for (int i = 0; i < space->count; i++) {
        int first = 0;
        while (!same_nets(space, first, i)) {
            first++;
        }
        space->items[i].group = first < i ? space->items[first].group : space->groups++;
    }
}

/* ---- the whole -------------------------------------------------------------------------------------------------- */

/* The ranges move from the list to the space. */
static sfu_status take_items(builder *self) {
    sfu_status status = SFU_OK;
    sfu__space *space = self->space;
    SFU_ALLOC_ZERO(space->items, self->list.count);
    for (int i = 0; i < self->list.count; i++) {
        sfu__list_item *item = &self->list.items[i];
        space->items[i] = (sfu__parameter_range){.name = item->name, .range = item->range};
        self->source.places[i] = item->place;
        *item = (sfu__list_item){0};
    }
    space->count = self->list.count;
    space->paper = self->list.paper;
    self->list.count = 0;
done:
    return status;
}

/* The canonical text: every range, and "paper" before them where that is what it was made from. */
static sfu_status print_space(builder *self) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    const sfu__space *space = self->space;
    SFU_TRY(sfu__text_format(&text, space->paper ? "paper" : ""));
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(sfu__text_format(&text, "%s%s=", text.size > 0 ? " " : "", space->items[i].name));
        SFU_TRY(sfu__domain_print(&text, &space->items[i].range));
    }
    if (text.size > SFU__SPACE_BYTES) { /* else it could not be read again */
        status = sfu__fail_parse(self->text, self->text, "a space of more than %d bytes, once it is written out",
                                 SFU__SPACE_BYTES);
        goto done;
    }
    self->space->text = text.bytes;
    text = (sfu__text){0};
done:
    sfu__text_clear(&text);
    return status;
}

static sfu_status build(builder *self) {
    sfu_status status = SFU_OK;
    sfu__space *space = self->space;
    SFU_TRY(sfu__list_make(&self->list, self->text));
    SFU_TRY(settle_nets(self));
    const int32_t k = most_k(self);
    SFU_TRY(drop_unused(self, k));
    settle_uses(self, k);
    for (int n = 0; n < space->net_count; n++) {
        SFU_TRY(check_variables(&self->list, space->nets[n]));
        SFU_TRY(open_numbers(&space->nets[n], &self->list));
    }
    SFU_TRY(take_items(self));
    settle_groups(space);
    SFU_TRY(sfu__space_check(space, &self->source));
    SFU_TRY(print_space(self));
done:
    return status;
}

static sfu_status make(sfu__space **space, const char *text, const char *net, const sfu_net_options *options,
                       uint64_t *unused) {
    sfu_status status = SFU_OK;
    builder self = {.text = text != NULL ? text : "paper", .net = net, .any = is_any(net)};
    self.unused = unused;
    self.source.text = self.text;
    *space = NULL;
    SFU_ALLOC_ZERO(self.space, 1);
    sfu_net_options_init(&self.space->net_options);
    if (options != NULL) {
        self.space->net_options = *options;
    }
    SFU_TRY(build(&self));
    *space = self.space;
    self.space = NULL;
done:
    sfu__list_clear(&self.list);
    sfu__space_free(self.space);
    return status;
}

sfu_status sfu__space_new(sfu__space **space, const char *text, const char *net, const sfu_net_options *options) {
    return make(space, text, net, options, NULL);
}

sfu_status sfu__space_new_among(sfu__space **space, const char *text, const char *net, const sfu_net_options *options,
                                uint64_t *unused) {
    *unused = 0;
    return make(space, text, net, options, unused);
}
