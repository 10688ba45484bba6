/* space.c - construction of a search space from parsed ranges and networks: which network uses which parameter, and
 * which parameters are sampled jointly. */
#include "space_int.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* ---- lookup ------------------------------------------------------------------------------------------------------ */

typedef struct builder {
    sfu__space *space;
    sfu__range_list list;
    const char *text, *net;
    bool any;
    uint64_t *unused; /* out: parameters that the network does not use; NULL: refuse them */
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

const char *sfu__space_net_text(const sfu__space *space) { return space->net_count > 1 ? "any" : space->nets[0]; }

int sfu__space_net(const sfu__space *space, const double *values) {
    if (space->net_count == 1) {
        return 0;
    }
    return sfu__domain_holds(&space->items[0].range, values[0]) ? (int)values[0] : -1;
}

bool sfu__space_has(const sfu__space *space, int net, int i) {
    return net >= 0 && net < space->net_count && (space->has[net] >> i & 1U) != 0;
}

/* ---- networks ---------------------------------------------------------------------------------------------------- */

static bool is_any(const char *net) {
    const size_t blanks = strspn(net, " \t\n\r");
    return strncasecmp(net + blanks, "any", 3) == 0 && strspn(net + blanks + 3, " \t\n\r") == strlen(net + blanks + 3);
}

/* A network that is only a name gets its canonical spelling, so that GCN and gcn are the same. */
static sfu_status canonical_name(sfu__choice *choice, int32_t k) {
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

static sfu_status canonical_names(builder *self, sfu__list_item *net) {
    sfu_status status = SFU_OK;
    sfu__domain *range = &net->range;
    if (range->kind != SFU__RANGE_CHOICE) {
        return sfu__fail_parse(self->text, net->position,
                               "net must be a choice of networks; expected e.g. net={gcn,sgcn}");
    }
    for (int i = 0; i < range->count; i++) {
        SFU_TRY(canonical_name(&range->choices[i], self->space->net_options.k));
        for (int j = 0; j < i; j++) {
            if (strcmp(range->choices[i].text, range->choices[j].text) == 0) {
                return sfu__fail_parse(self->text, net->position, "net has the choice %s twice",
                                       range->choices[i].text);
            }
        }
    }
done:
    return status;
}

/* Removes an item from the list. */
static void drop_item(sfu__range_list *list, int at) {
    sfu__free(list->items[at].name);
    sfu__domain_clear(&list->items[at].range);
    list->count--;
    memmove(&list->items[at], &list->items[at + 1], (size_t)(list->count - at) * sizeof list->items[0]);
}

/* Keeps `net`, the first item of a preset, if it is searched; else removes it. */
static sfu_status resolve_nets(builder *self) {
    sfu_status status = SFU_OK;
    sfu__space *space = self->space;
    sfu__list_item *net = &self->list.items[0];
    if (self->any) {
        SFU_TRY(canonical_names(self, net));
    } else if (net->position == NULL) {
        drop_item(&self->list, 0);
    } else if (!sfu__net_uses(self->net, "net", space->net_options.k)) {
        return sfu__fail_parse(self->text, net->position, "net can only be searched if the network is \"any\"");
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

/* ---- parameters that the networks use ---------------------------------------------------------------------------- */

/* The largest number of smoothings that a named network may get. */
static int32_t max_smoothings(const builder *self) {
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

/* Removes a preset's parameters that this network does not use. A parameter that the user gave must be used, unless
 * several networks share the space. */
static sfu_status drop_unused(builder *self, int32_t k) {
    int given = 0;
    for (int i = 0; i < self->list.count;) {
        const sfu__list_item *item = &self->list.items[i];
        const bool asked = item->position != NULL, used = is_used(self, i, k);
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
    if (self->list.count > SFU__SPACE_PARAMETERS) { /* a preset's parameters come first, so this item is the user's */
        return sfu__fail_parse(self->text, self->list.items[SFU__SPACE_PARAMETERS].position,
                               "too many parameters: at most %d are allowed", SFU__SPACE_PARAMETERS);
    }
    return self->list.count > 0
               ? SFU_OK
               : sfu__fail_parse(
                     self->text, self->text,
                     "nothing is searched; expected paper, practical, or ranges such as lr=(0,1) hidden={16,64}");
}

/* Every $name of a network must have a range. */
static sfu_status check_variables(const sfu__range_list *list, const char *net) {
    sfu__variable variable;
    char quoted[SFU__QUOTE_MAX];
    for (const char *p = net; sfu__variable_next(&variable, p); p = variable.name + variable.size) {
        const sfu__scanner name = {net, variable.name};
        const char *shown = sfu__quote(quoted, variable.place, variable.size + 1);
        if (variable.size == 0 || sfu__scan_name(&name) != variable.size || variable.size > SFU__SPACE_NAME) {
            return sfu__fail_parse(net, variable.place, "%s is not a name; expected $ and letters, digits and _",
                                   shown);
        }
        if (sfu__list_find(list, variable.name, variable.size) < 0) {
            return sfu__fail_parse(net, variable.place, "%s has no range; expected e.g. %.*s={1,2} in the space", shown,
                                   (int)variable.size, variable.name);
        }
    }
    return SFU_OK;
}

static void find_uses(builder *self, int32_t k) {
    for (int n = 0; n < self->space->net_count; n++) {
        for (int i = 0; i < self->list.count; i++) {
            const bool used = is_net(self, i) || sfu__net_uses(self->space->nets[n], self->list.items[i].name, k);
            self->space->has[n] |= (uint64_t)used << i;
        }
    }
}

/* Adds a $name to lpnn's options for each of them that is searched. */
static sfu_status add_lpnn_variables(char **net, const sfu__range_list *list) {
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

/* ---- groups of parameters ---------------------------------------------------------------------------------------- */

static bool same_nets(const sfu__space *space, int i, int j) {
    for (int n = 0; n < space->net_count; n++) {
        if (sfu__space_has(space, n, i) != sfu__space_has(space, n, j)) {
            return false;
        }
    }
    return true;
}

static void make_groups(sfu__space *space) {
    for (int i = 0; i < space->count; i++) {
        int first = 0;
        while (!same_nets(space, first, i)) {
            first++;
        }
        space->items[i].group = first < i ? space->items[first].group : space->groups++;
    }
}

/* ---- construction ------------------------------------------------------------------------------------------------ */

/* Moves the ranges from the list to the space. */
static sfu_status take_items(builder *self) {
    sfu_status status = SFU_OK;
    sfu__space *space = self->space;
    SFU_ALLOC_ZERO(space->items, self->list.count);
    for (int i = 0; i < self->list.count; i++) {
        sfu__list_item *item = &self->list.items[i];
        space->items[i] = (sfu__parameter_range){.name = item->name, .range = item->range};
        self->source.positions[i] = item->position;
        *item = (sfu__list_item){0};
    }
    space->count = self->list.count;
    space->paper = self->list.paper;
    self->list.count = 0;
done:
    return status;
}

/* The canonical text: every range, after "paper" if it was made from that preset. */
static sfu_status print_space(builder *self) {
    sfu_status status = SFU_OK;
    sfu__text text = {0};
    const sfu__space *space = self->space;
    SFU_TRY(sfu__text_format(&text, space->paper ? "paper" : ""));
    for (int i = 0; i < space->count; i++) {
        SFU_TRY(sfu__text_format(&text, "%s%s=", text.size > 0 ? " " : "", space->items[i].name));
        SFU_TRY(sfu__domain_print(&text, &space->items[i].range));
    }
    if (text.size > SFU__SPACE_BYTES) { /* it could not be parsed again */
        status = sfu__fail_parse(self->text, self->text, "the space is longer than %d bytes once it is written out",
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
    SFU_TRY(resolve_nets(self));
    const int32_t k = max_smoothings(self);
    SFU_TRY(drop_unused(self, k));
    find_uses(self, k);
    for (int n = 0; n < space->net_count; n++) {
        SFU_TRY(check_variables(&self->list, space->nets[n]));
        SFU_TRY(add_lpnn_variables(&space->nets[n], &self->list));
    }
    SFU_TRY(take_items(self));
    make_groups(space);
    SFU_TRY(sfu__space_check(space, &self->source));
    SFU_TRY(print_space(self));
done:
    return status;
}

static sfu_status make(sfu__space **space, const char *text, const char *net, const sfu_net_options *options,
                       uint64_t *unused) {
    sfu_status status = SFU_OK;
    builder self = {.text = text != NULL ? text : SFU__SPACE_DEFAULT, .net = net, .any = is_any(net)};
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
