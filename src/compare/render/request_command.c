/* request_command.c - the command line that repeats a request. */
#include "html_page.h"

#include <inttypes.h>
#include <string.h>

static sfu_status add_word(sfu__text *command, const char *word) {
    const sfu_status status = sfu__text_add(command, " ", 1);
    return status == SFU_OK ? sfu__text_shell(command, word) : status;
}

static sfu_status add_option(sfu__text *command, const char *name, const char *value) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(command, " %s", name));
    SFU_TRY(add_word(command, value));
done:
    return status;
}

/* --name a,b,c */
static sfu_status add_list(sfu__text *command, const char *name, const sfu__string_list *list) {
    sfu_status status = SFU_OK;
    sfu__text joined = {0};
    for (int i = 0; i < list->count; i++) {
        SFU_TRY(sfu__text_format(&joined, "%s%s", i > 0 ? "," : "", list->items[i]));
    }
    if (joined.size > 0) {
        SFU_TRY(add_option(command, name, joined.bytes));
    }
done:
    sfu__text_clear(&joined);
    return status;
}

sfu_status sfu__request_command(sfu__text *command, const sfu__request *request) {
    sfu_status status = SFU_OK;
    const bool compare = strcmp(request->kind, "compare") == 0;
    SFU_TRY(sfu__text_format(command, compare ? "sfumato compare" : "sfumato reproduce"));
    if (!compare) {
        SFU_TRY(add_word(command, request->kind));
    }
    for (int i = 0; compare && i < request->datasets.count; i++) {
        SFU_TRY(add_word(command, request->datasets.items[i]));
    }
    if (!compare) {
        SFU_TRY(add_list(command, "--datasets", &request->datasets));
    }
    SFU_TRY(add_list(command, "--nets", &request->nets));
    if (compare) {
        SFU_TRY(add_list(command, "--sizes", &request->sizes));
    }
    SFU_TRY(sfu__text_format(command, " --splits %d --trials %d", request->splits, request->trials));
    if (request->lpnn_trials != request->trials) {
        SFU_TRY(sfu__text_format(command, " --lpnn-trials %d", request->lpnn_trials));
    }
    if (compare) {
        SFU_TRY(add_option(command, "--space", request->space));
    }
    if (strcmp(request->sampler, "auto") != 0) {
        SFU_TRY(add_option(command, "--sampler", request->sampler));
    }
    SFU_TRY(sfu__text_format(command, " --seed %" PRIu64, request->seed));
    SFU_TRY(add_option(command, "--feature-norm", request->feature_norm));
    if (strcmp(request->label_norm, sfu__usual_label_norm(request->kind)) != 0) {
        SFU_TRY(add_option(command, "--label-norm", request->label_norm));
    }
    SFU_TRY(sfu__text_format(command, " --loss %s%s", request->loss == SFU_LOSS_SUM ? "sum" : "mean",
                             request->keep_loops ? " --self-loops keep" : ""));
    if (request->metric != SFU_METRIC_ACCURACY) {
        SFU_TRY(add_option(command, "--metric", sfu_metric_name((int)request->metric, NULL)));
    }
    SFU_TRY(sfu__text_format(command, request->balanced ? " --class-weight balanced" : ""));
    if (request->lpnn[0] != '\0') {
        SFU_TRY(add_option(command, "--lpnn", request->lpnn));
    }
    SFU_TRY(sfu__text_format(command, " -o FOLDER"));
done:
    return status;
}
