/* task_net.c - the network of a task, as text for sfu_tune.
 *
 * A named network stays a name if the task changes nothing of it: its hidden width is then searched by name. Otherwise
 * it is written layer by layer, with $hidden for the width, which the space searches in the same way:
 *
 *   k of a sweep          gcn, k 3     smooth | dense $hidden relu | smooth | dense $hidden relu | smooth | softmax
 *   self and neighbour    mlp+lp       dense $hidden relu | softmax | smooth^2(self=0.25, neighbour=0.75)
 *   exponents             mlp+lp       dense $hidden relu | softmax | smooth^2(right=0.75)
 *   feature norm          sgcn         smooth^2(norm=sym+row) | softmax
 *   label norm            mlp+lp       dense $hidden relu | softmax | smooth^2(norm=row)
 */
#include "beyond.h"

#include "net.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* What the norms of a request change: rows of smoothed features are scaled to sum to 1, labels are smoothed with
 * norm=row. */
typedef struct changes {
    bool feature_rows, label_row;
} changes;

static bool smooths(const sfu_net *net, bool labels) {
    bool found = false;
    for (int i = 0; i < net->count; i++) {
        found = found || (net->layers[i].kind == SFU__LAYER_SMOOTH && net->layers[i].labels == labels);
    }
    return found;
}

static changes changes_of(const sfu_net *net, const sfu__request *request) {
    const bool labels = smooths(net, true);
    const bool scaled = strcmp(request->feature_norm, "sym+row") == 0 ||
                        (strcmp(request->feature_norm, "sym+row-with-lp") == 0 && labels);
    return (changes){smooths(net, false) && scaled, labels && strcmp(request->label_norm, "row") == 0};
}

/* (self=0.25, neighbour=0.75), or (right=0.75), instead of a norm: left cancels because rows are scaled to sum to 1, so
 * cells with equal beta have the same text. */
static sfu_status print_sweep(sfu__text *text, const sfu__task *task, bool row) {
    sfu_status status = SFU_OK;
    if (!task->exponents) {
        SFU_TRY(sfu__text_format(text, "(self="));
        SFU_TRY(sfu__text_number(text, task->alpha));
        SFU_TRY(sfu__text_format(text, ", "));
    }
    SFU_TRY(sfu__text_format(text, task->exponents ? "(right=" : "neighbour="));
    SFU_TRY(sfu__text_number(text, task->beta));
    SFU_TRY(sfu__text_format(text, row && !task->exponents ? ", norm=row)" : ")"));
done:
    return status;
}

static sfu_status print_smooth(sfu__text *text, const sfu__layer *layer, const sfu__task *task, changes norms) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(text, "smooth"));
    if (layer->times > 1) {
        SFU_TRY(sfu__text_format(text, "^%d", layer->times));
    }
    if (layer->labels && !isnan(task->alpha)) {
        SFU_TRY(print_sweep(text, task, norms.label_row));
    } else if (layer->labels ? norms.label_row : norms.feature_rows) {
        SFU_TRY(sfu__text_format(text, layer->labels ? "(norm=row)" : "(norm=sym+row)"));
    }
done:
    return status;
}

/* Named networks have no other options than those printed here. */
static sfu_status print_layers(sfu__text *text, const sfu_net *net, const sfu__task *task, changes norms) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < net->count; i++) {
        const sfu__layer *layer = &net->layers[i];
        SFU_TRY(sfu__text_format(text, i > 0 ? " | " : ""));
        if (layer->kind == SFU__LAYER_SMOOTH) {
            SFU_TRY(print_smooth(text, layer, task, norms));
        } else {
            SFU_TRY(sfu__text_format(text, layer->kind == SFU__LAYER_DENSE ? "dense $hidden relu" : "softmax"));
        }
    }
done:
    return status;
}

static sfu_status print_named(sfu__text *text, const sfu__task *task, const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    sfu_net_options options;
    sfu_net_options_init(&options);
    const int32_t defaults = options.k;
    options.k = task->k > 0 ? task->k : defaults;
    SFU_TRY(sfu__net_read(&net, task->net, &options));
    const changes norms = changes_of(net, request);
    if (options.k == defaults && isnan(task->alpha) && !norms.feature_rows && !norms.label_row) {
        SFU_TRY(sfu__text_format(text, "%s", task->net));
    } else {
        SFU_TRY(print_layers(text, net, task, norms));
    }
done:
    sfu_net_free(net);
    return status;
}

/* k is 2 by default; after the softmax self and neighbour are 1, and the normalization sym+row equals right=0.5, row
 * equals right=0: the same matrix bit for bit. */
sfu__task sfu__task_usual(const sfu__task *task, const sfu__request *request) {
    sfu__task defaults = *task;
    sfu_net_options options;
    sfu_net_options_init(&options);
    defaults.k = task->k == options.k ? 0 : task->k;
    const double right = strcmp(request->label_norm, "row") == 0 ? 0.0 : 0.5;
    if (task->exponents ? task->beta == right : task->alpha == 1.0 && task->beta == 1.0) {
        defaults.alpha = defaults.beta = NAN;
        defaults.exponents = false;
    }
    return defaults;
}

sfu_status sfu__task_net(sfu__text *net, const sfu__task *task, const sfu__request *request) {
    sfu__net_given given = {0};
    if (strcasecmp(task->net, "lpnn") == 0) {
        return *request->lpnn != '\0' ? sfu__text_format(net, "lpnn(%s)", request->lpnn)
                                      : sfu__text_format(net, "lpnn");
    }
    if (sfu__is_extra_net(task->net)) {
        return sfu__text_format(net, "%s", sfu__extra_net_text(task->net));
    }
    /* A composition, or lpnn with options, is complete. */
    if (!sfu__net_named(&given, task->net, 2) || given.lpnn) {
        return sfu__text_format(net, "%s", task->net);
    }
    return print_named(net, task, request);
}

sfu_status sfu__task_space(sfu__text *space, const sfu__task *task, const sfu__request *request) {
    const char *ranges = sfu__extra_net_ranges(task->net);
    return sfu__text_format(space, "%s%s%s", request->space, *ranges != '\0' ? " " : "", ranges);
}

const char *sfu__task_sampler(const sfu__task *task, const sfu__request *request) {
    const char *chosen = sfu__is_lpnn(task->net) ? "tpe-independent" : "tpe";
    return strcmp(request->sampler, "auto") == 0 ? chosen : request->sampler;
}
