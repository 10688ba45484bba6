/* request.c - the request of a comparison: made from options, written to and read from JSON. */
#include "request.h"

#include "beyond.h"
#include "file.h"
#include "results.h"
#include "sampler.h"
#include "space.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

void sfu__request_clear(sfu__request *request) {
    sfu__string_list_clear(&request->datasets);
    sfu__string_list_clear(&request->paths);
    sfu__string_list_clear(&request->nets);
    sfu__string_list_clear(&request->sizes);
    sfu__free(request->kind);
    sfu__free(request->space);
    sfu__free(request->sampler);
    sfu__free(request->feature_norm);
    sfu__free(request->label_norm);
    sfu__free(request->lpnn);
    sfu__free(request->version);
    *request = (sfu__request){0};
}

/* ---- from options ------------------------------------------------------------------------------------------------ */

static sfu_status copy(char **to, const char *from) {
    *to = sfu__copy_string(from);
    return *to != NULL ? SFU_OK : SFU_ERR_MEMORY;
}

static sfu_status copy_list(sfu__string_list *to, const char *const *from, int count) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < count && status == SFU_OK; i++) {
        status = sfu__string_list_add(to, from[i]);
    }
    return status;
}

/* "data/Cora.safetensors" is cora. */
static sfu_status add_paper_names(sfu__string_list *names, const sfu__string_list *paths) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < paths->count && status == SFU_OK; i++) {
        char *name = sfu__path_stem(paths->items[i]);
        for (char *c = name; c != NULL && *c != '\0'; c++) {
            *c = (char)tolower((unsigned char)*c);
        }
        status = name != NULL ? sfu__string_list_add(names, name) : SFU_ERR_MEMORY;
        sfu__free(name);
    }
    return status;
}

/* The networks of the paper's tables, in their order; for a comparison also those without the graph, and for tables
 * that have them those beyond the paper. */
static sfu_status add_default_nets(sfu__string_list *nets, const char *kind) {
    static const char *const names[] = {"gcn",       "sgcn",   "fp+mlp", "sgcn+lp", "gcn+lp",
                                        "linear+lp", "mlp+lp", "lpnn",   "mlp",     "linear"};
    enum { ALL = sizeof names / sizeof names[0], OF_PAPER = 8 };
    const bool compare = strcmp(kind, "compare") == 0;
    const bool beyond = strcmp(kind, "all") == 0 || strcmp(kind, "extras") == 0 || strcmp(kind, "noise") == 0;
    sfu_status status = copy_list(nets, names, compare ? ALL : OF_PAPER);
    for (int i = 0; beyond && sfu__extra_net(i) != NULL && status == SFU_OK; i++) {
        status = sfu__string_list_add(nets, sfu__extra_net(i));
    }
    return status;
}

/* The space if the options have none. */
static const char *default_space(bool compare) { return compare ? SFU__SPACE_DEFAULT : "paper"; }

/* The paper's figures are accuracies of unweighted trainings. */
static sfu_status check_metric(const sfu__request *request, bool compare) {
    if (sfu_metric_name((int)request->metric, NULL) == NULL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "unknown metric %d", (int)request->metric);
    }
    if (!compare && (request->metric != SFU_METRIC_ACCURACY || request->balanced)) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a table of the paper has the metric accuracy and no class weights");
    }
    return SFU_OK;
}

static sfu_status check_nets(const sfu__request *request, bool compare) {
    sfu_status status = SFU_OK;
    for (int i = 0; i < request->nets.count; i++) {
        sfu_net *net = NULL;
        if (compare || !sfu__is_extra_net(request->nets.items[i])) {
            SFU_TRY(sfu_net_parse(&net, request->nets.items[i], NULL));
        }
        sfu_net_free(net);
    }
done:
    return status;
}

/* Checks the options of lpnn before any study needs them. */
static sfu_status check_lpnn(const sfu__request *request) {
    sfu_status status = SFU_OK;
    sfu_net *net = NULL;
    sfu__text text = {0};
    if (*request->lpnn != '\0') {
        SFU_TRY(sfu__text_format(&text, "lpnn(%s)", request->lpnn));
        SFU_TRY(sfu_net_parse(&net, text.bytes, NULL));
    }
done:
    sfu_net_free(net);
    sfu__text_clear(&text);
    return status;
}

static sfu_status check_sizes(const sfu__request *request) {
    char quoted[SFU__QUOTE_MAX];
    for (int i = 0; i < request->sizes.count; i++) {
        const char *size = request->sizes.items[i];
        int64_t number = 0;
        if (strcmp(size, "standard") != 0 && (!sfu__parse_int64_string(&number, size) || number < 1)) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "size %s; expected 1 to 5 (as the paper's label sets), a count above 5, or standard",
                             sfu__quote(quoted, size, strlen(size)));
        }
    }
    return SFU_OK;
}

static sfu_status check_norms(const sfu__request *request) {
    static const char *const norms[] = {"sym", "sym+row", "sym+row-with-lp"};
    char quoted[SFU__QUOTE_MAX];
    bool known = false;
    for (size_t i = 0; i < sizeof norms / sizeof norms[0]; i++) {
        known = known || strcmp(request->feature_norm, norms[i]) == 0;
    }
    if (!known) {
        return sfu__fail(SFU_ERR_ARGUMENT, "feature norm %s; expected sym, sym+row or sym+row-with-lp",
                         sfu__quote(quoted, request->feature_norm, strlen(request->feature_norm)));
    }
    return strcmp(request->label_norm, "sym+row") == 0 || strcmp(request->label_norm, "row") == 0
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "label norm %s; expected sym+row or row",
                           sfu__quote(quoted, request->label_norm, strlen(request->label_norm)));
}

static sfu_status check_sampler(const sfu__request *request) {
    char quoted[SFU__QUOTE_MAX];
    sfu__sampler_kind kind;
    return strcmp(request->sampler, "auto") == 0 || sfu__sampler_kind_of(&kind, request->sampler)
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "sampler %s; expected auto, tpe, tpe-independent or random",
                           sfu__quote(quoted, request->sampler, strlen(request->sampler)));
}

const char *sfu__usual_label_norm(const char *kind) { return strcmp(kind, "compare") == 0 ? "sym+row" : "row"; }

sfu_loss sfu__space_loss(const char *space) { return strncmp(space, "paper", 5) == 0 ? SFU_LOSS_SUM : SFU_LOSS_MEAN; }

sfu_status sfu__request_make(sfu__request *request, const char *kind, const sfu_compare_options *options) {
    sfu_status status = SFU_OK;
    const bool compare = strcmp(kind, "compare") == 0;
    request->metric = options->metric;
    request->balanced = options->balanced;
    request->splits = options->splits;
    request->trials = options->trials;
    request->lpnn_trials = options->lpnn_trials > 0 ? options->lpnn_trials : options->trials;
    request->seed = options->seed;
    request->keep_loops = options->keep_loops;
    request->drop_studies = options->drop_studies;
    SFU_TRY(copy(&request->kind, kind));
    SFU_TRY(copy(&request->sampler, options->sampler != NULL ? options->sampler : "auto"));
    SFU_TRY(copy(&request->space, options->space != NULL ? options->space : default_space(compare)));
    request->loss = options->loss != SFU_LOSS_OF_SPACE ? options->loss : sfu__space_loss(request->space);
    SFU_TRY(copy(&request->feature_norm, options->feature_norm));
    SFU_TRY(
        copy(&request->label_norm, options->label_norm != NULL ? options->label_norm : sfu__usual_label_norm(kind)));
    SFU_TRY(copy(&request->lpnn, options->lpnn != NULL ? options->lpnn : ""));
    SFU_TRY(copy_list(&request->paths, options->datasets, options->dataset_count));
    SFU_TRY(compare ? copy_list(&request->datasets, options->datasets, options->dataset_count)
                    : add_paper_names(&request->datasets, &request->paths));
    SFU_TRY(copy_list(&request->nets, options->nets, options->net_count));
    SFU_TRY(copy_list(&request->sizes, options->sizes, options->size_count));
    if (options->net_count == 0) {
        SFU_TRY(add_default_nets(&request->nets, kind));
    }
    if (options->size_count == 0) {
        SFU_TRY(sfu__string_list_add(&request->sizes, "1"));
    }
    if (request->splits < 1 || request->trials < 1) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "expected at least 1 split and 1 trial");
        goto done;
    }
    SFU_TRY(check_metric(request, compare));
    SFU_TRY(check_norms(request));
    SFU_TRY(check_sampler(request));
    SFU_TRY(check_sizes(request));
    SFU_TRY(check_nets(request, compare));
    SFU_TRY(check_lpnn(request));
done:
    return status;
}

sfu_status sfu__request_difference(sfu__text *text, const sfu__request *before, const sfu__request *now) {
    const struct {
        const char *option, *before, *now;
    } words[] = {
        {"space", before->space, now->space},
        {"sampler", before->sampler, now->sampler},
        {"feature-norm", before->feature_norm, now->feature_norm},
        {"label-norm", before->label_norm, now->label_norm},
        {"lpnn", before->lpnn, now->lpnn},
        {"loss", before->loss == SFU_LOSS_SUM ? "sum" : "mean", now->loss == SFU_LOSS_SUM ? "sum" : "mean"},
        {"metric", sfu_metric_name((int)before->metric, NULL), sfu_metric_name((int)now->metric, NULL)},
        {"class-weight", before->balanced ? "balanced" : "none", now->balanced ? "balanced" : "none"},
        {"self-loops", before->keep_loops ? "keep" : "drop", now->keep_loops ? "keep" : "drop"},
    };
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(words[i].before, words[i].now) != 0) {
            char quoted[SFU__QUOTE_MAX];
            return sfu__text_format(text, " with --%s %s", words[i].option,
                                    sfu__quote(quoted, words[i].before, strlen(words[i].before)));
        }
    }
    return before->seed == now->seed ? sfu__text_add(text, "", 0)
                                     : sfu__text_format(text, " with --seed %" PRIu64, before->seed);
}

/* ---- as JSON ----------------------------------------------------------------------------------------------------- */

static sfu_status put_list(sfu__text *json, const char *key, const sfu__string_list *list) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "\"%s\": [", key));
    for (int i = 0; i < list->count; i++) {
        SFU_TRY(sfu__text_format(json, i > 0 ? ", " : ""));
        SFU_TRY(sfu__text_json(json, list->items[i]));
    }
    SFU_TRY(sfu__text_format(json, "], "));
done:
    return status;
}

static sfu_status put_text(sfu__text *json, const char *key, const char *text) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "\"%s\": ", key));
    SFU_TRY(sfu__text_json(json, text));
    SFU_TRY(sfu__text_format(json, ", "));
done:
    return status;
}

sfu_status sfu__request_print(sfu__text *json, const sfu__request *request) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__text_format(json, "{"));
    SFU_TRY(put_text(json, "kind", request->kind));
    SFU_TRY(put_list(json, "datasets", &request->datasets));
    SFU_TRY(put_list(json, "nets", &request->nets));
    SFU_TRY(put_list(json, "sizes", &request->sizes));
    SFU_TRY(put_text(json, "space", request->space));
    SFU_TRY(put_text(json, "sampler", request->sampler));
    SFU_TRY(put_text(json, "feature_norm", request->feature_norm));
    SFU_TRY(put_text(json, "label_norm", request->label_norm));
    SFU_TRY(put_text(json, "lpnn", request->lpnn));
    SFU_TRY(put_text(json, "loss", request->loss == SFU_LOSS_SUM ? "sum" : "mean"));
    if (request->metric != SFU_METRIC_ACCURACY) {
        SFU_TRY(put_text(json, "metric", sfu_metric_name((int)request->metric, NULL)));
    }
    if (request->balanced) {
        SFU_TRY(put_text(json, "class_weight", "balanced"));
    }
    if (request->drop_studies) {
        SFU_TRY(put_text(json, "studies", "removed"));
    }
    SFU_TRY(sfu__text_format(json,
                             "\"self_loops\": \"%s\", \"splits\": %d, \"trials\": %d, \"lpnn_trials\": %d, "
                             "\"seed\": \"%" PRIu64 "\"}",
                             request->keep_loops ? "keep" : "drop", request->splits, request->trials,
                             request->lpnn_trials, request->seed));
done:
    return status;
}

static sfu_status take_text(char **to, const sfu__json *json, const char *key) {
    const char *text = sfu__json_string(sfu__json_get(json, key));
    return copy(to, text != NULL ? text : "");
}

static sfu_status take_list(sfu__string_list *to, const sfu__json *json, const char *key) {
    sfu_status status = SFU_OK;
    for (const sfu__json *item = sfu__json_items(sfu__json_get(json, key)); item != NULL && status == SFU_OK;
         item = item->next) {
        const char *text = sfu__json_string(item);
        status = sfu__string_list_add(to, text != NULL ? text : "");
    }
    return status;
}

static int32_t count_of(const sfu__json *json, const char *key) {
    const int64_t value = sfu__json_whole(sfu__json_get(json, key));
    return value > 0 && value < INT32_MAX ? (int32_t)value : 1;
}

static bool is_word(const sfu__json *json, const char *key, const char *word) {
    const char *text = sfu__json_string(sfu__json_get(json, key));
    return text != NULL && strcmp(text, word) == 0;
}

/* Without a metric, and with one that this version does not know, it is the accuracy. */
static sfu_metric metric_of(const sfu__json *json) {
    int metric = SFU_METRIC_ACCURACY;
    for (int i = 0; sfu_metric_name(i, NULL) != NULL; i++) {
        metric = is_word(json, "metric", sfu_metric_name(i, NULL)) ? i : metric;
    }
    return (sfu_metric)metric;
}

/* Earlier versions had tpe for all networks; only lpnn has another now. */
static sfu_status take_sampler(char **to, const sfu__json *json, const sfu__string_list *nets) {
    const char *text = sfu__json_string(sfu__json_get(json, "sampler"));
    bool lpnn = false;
    for (int i = 0; i < nets->count; i++) {
        lpnn = lpnn || sfu__is_lpnn(nets->items[i]);
    }
    return copy(to, text != NULL ? text : lpnn ? "tpe" : "auto");
}

sfu_status sfu__request_read(sfu__request *request, const sfu__json *json, const char *path) {
    sfu_status status = SFU_OK;
    int64_t seed = 0;
    if (sfu__json_string(sfu__json_get(json, "kind")) == NULL) {
        return sfu__fail(SFU_ERR_FORMAT, "%s: the key \"request\" of a comparison is missing", path);
    }
    SFU_TRY(take_text(&request->kind, json, "kind"));
    SFU_TRY(take_list(&request->datasets, json, "datasets"));
    SFU_TRY(take_list(&request->nets, json, "nets"));
    SFU_TRY(take_list(&request->sizes, json, "sizes"));
    SFU_TRY(take_text(&request->space, json, "space"));
    SFU_TRY(take_sampler(&request->sampler, json, &request->nets));
    SFU_TRY(take_text(&request->feature_norm, json, "feature_norm"));
    const char *label_norm = sfu__json_string(sfu__json_get(json, "label_norm"));
    SFU_TRY(copy(&request->label_norm, label_norm != NULL ? label_norm : "sym+row")); /* that of earlier versions */
    SFU_TRY(take_text(&request->lpnn, json, "lpnn"));
    request->loss = is_word(json, "loss", "mean") ? SFU_LOSS_MEAN : SFU_LOSS_SUM;
    request->keep_loops = is_word(json, "self_loops", "keep");
    request->metric = metric_of(json);
    request->balanced = is_word(json, "class_weight", "balanced");
    request->drop_studies = is_word(json, "studies", "removed");
    request->splits = count_of(json, "splits");
    request->trials = count_of(json, "trials");
    request->lpnn_trials = count_of(json, "lpnn_trials");
    const char *digits = sfu__json_string(sfu__json_get(json, "seed"));
    if (digits != NULL && sfu__parse_int64_string(&seed, digits)) {
        request->seed = (uint64_t)seed;
    }
done:
    return status;
}
