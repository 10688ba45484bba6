/* Measures the throughput of one core or of a GPU and compares the epochs of a network with the lower bound that it
 * implies. */
#include "cmd.h"

#include "output.h"
#include "plan_report.h"
#include "command_input.h"
#include "progress_bar.h"
#include "table.h"
#include "training_options.h"

#include <string.h>

static struct {
    cli_input_settings input;
    sfu_plan_options plan;
    bool no_save, use_saved;
} settings;

static void defaults(void) {
    sfu_train_options train;
    sfu_train_options_init(&train);
    sfu_net_options_init(&settings.input.net);
    sfu_plan_options_init(&settings.plan);
    settings.plan.dropout = train.dropout;
    settings.plan.threads = 1;
}

/* The lower bound, predicted and measured time of a pass; an epoch is a training step and a validation. */
typedef struct comparison {
    double floor_s, predicted_s, measured_s;
} comparison;

typedef struct session {
    sfu_bench *bench;
    cli_input input;
    sfu_plan *plan; /* NULL: only the rates were asked for */
} session;

static comparison compare(const session *state, sfu_pass pass) {
    const sfu_pass_cost cost = *sfu_plan_cost(state->plan, pass);
    return (comparison){sfu_bench_floor(state->bench, state->plan, pass), cost.predicted_s, cost.measured_s};
}

static comparison compare_epoch(const session *state) {
    const comparison train = compare(state, SFU_PASS_TRAIN), evaluate = compare(state, SFU_PASS_EVALUATE);
    return (comparison){train.floor_s + evaluate.floor_s, train.predicted_s + evaluate.predicted_s,
                        train.measured_s + evaluate.measured_s};
}

/* The rates of a GPU are not saved. */
static bool on_gpu(void) { return strncmp(settings.plan.device, "cuda", strlen("cuda")) == 0; }

static sfu_status open_rates(sfu_bench **bench) {
    sfu_status status = settings.use_saved && !on_gpu() ? sfu_bench_kept(bench) : SFU_ERR_NOT_FOUND;
    if (status == SFU_ERR_NOT_FOUND) {
        sfu_bench_options options;
        sfu_bench_options_init(&options);
        options.keep = !settings.no_save;
        options.progress = progress_report;
        options.device = settings.plan.device;
        status = sfu_bench_new_with(bench, &options);
    }
    return status;
}

static sfu_status measure(session *state, int count, char **operands) {
    sfu_status status = SFU_OK;
    if (count > 0) { /* first, so that errors are reported before anything is measured */
        status = input_open(&state->input, &settings.input, operands);
    }
    if (status == SFU_OK) {
        status = open_rates(&state->bench);
    }
    if (status == SFU_OK && count > 0) {
        status = sfu_plan_new(&state->plan, state->input.dataset, state->input.net, state->input.split, &settings.plan);
    }
    if (status == SFU_OK && count > 0) {
        status = sfu_plan_measure(state->plan);
    }
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static json_t *rates_json(const sfu_bench *bench) {
    json_t *array = json_array();
    const sfu_rate *rate;
    for (int i = 0; (rate = sfu_bench_rate(bench, i)) != NULL; i++) {
        json_t *row = json_pack("{s:s, s:s, s:o}", "what", rate->what, "unit", rate->unit, "value",
                                json_number_or_null(rate->value));
        if (json_array_append_new(array, row) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *comparison_json(comparison result) {
    return json_pack("{s:o, s:o, s:o}", "floor_s", json_number_or_null(result.floor_s), "predicted_s",
                     json_number_or_null(result.predicted_s), "measured_s", json_number_or_null(result.measured_s));
}

/* With the lowest, median and highest time over the rounds. */
static json_t *spread_json(comparison result, sfu_spread spread) {
    json_t *object = comparison_json(result);
    const bool ok = object && json_put(object, "low_s", json_number_or_null(spread.low_s)) &&
                    json_put(object, "median_s", json_number_or_null(spread.median_s)) &&
                    json_put(object, "high_s", json_number_or_null(spread.high_s));
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *to_json(const session *state) {
    json_t *object = json_pack("{s:o, s:s, s:s}", "rates", rates_json(state->bench), "device", settings.plan.device,
                               "measured_on", sfu_bench_device(state->bench));
    if (!object || !state->plan) {
        return object;
    }
    const bool ok =
        json_put(object, "dataset", json_bytes(sfu_dataset_name(state->input.dataset))) &&
        json_put(object, "net", json_bytes(sfu_net_text(state->input.net))) &&
        json_put(object, "split", json_bytes(sfu_split_text(state->input.split))) &&
        json_put(object, "threads", json_integer(settings.plan.threads)) &&
        json_put(object, "epoch", spread_json(compare_epoch(state), sfu_plan_spread(state->plan, SFU_PASS_TRAIN))) &&
        json_put(object, pass_keys[SFU_PASS_TRAIN], comparison_json(compare(state, SFU_PASS_TRAIN))) &&
        json_put(object, pass_keys[SFU_PASS_EVALUATE], comparison_json(compare(state, SFU_PASS_EVALUATE))) &&
        json_put(object, pass_keys[SFU_PASS_PREDICT],
                 spread_json(compare(state, SFU_PASS_PREDICT), sfu_plan_spread(state->plan, SFU_PASS_PREDICT)));
    if (!ok) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_rates(const sfu_bench *bench) {
    cli_table table = {.align = "lrl"};
    const sfu_rate *rate;
    for (int i = 0; (rate = sfu_bench_rate(bench, i)) != NULL; i++) {
        char value[32];
        snprintf(value, sizeof value, rate->value < 10 ? "%.2f" : "%.1f", rate->value);
        TABLE_CELLS(&table, rate->what, value, rate->unit);
    }
    put_heading(stdout, on_gpu() ? "Throughput of %s" : "Throughput of one core (%s)", sfu_bench_device(bench));
    table_print(&table, stdout, 2);
}

static void compare_row(cli_table *table, const char *what, comparison result) {
    char per_bound[16], per_predicted[16];
    snprintf(per_bound, sizeof per_bound, "%.2f", result.measured_s / result.floor_s);
    snprintf(per_predicted, sizeof per_predicted, "%.2f", result.measured_s / result.predicted_s);
    TABLE_CELLS(table, what, scaled(result.floor_s, "s"), scaled(result.predicted_s, "s"),
                scaled(result.measured_s, "s"), per_bound, per_predicted);
}

static void print_plan(const session *state) {
    putchar('\n');
    put_clean(stdout, sfu_dataset_name(state->input.dataset));
    printf(": ");
    put_clean(stdout, sfu_net_text(state->input.net));
    printf(" on %s\n", sfu_bench_device(state->bench));
    cli_table table = {.align = "lrrrrr"};
    TABLE_CELLS(&table, "", "lower bound", "predicted", "measured", "measured/bound", "measured/predicted");
    compare_row(&table, pass_titles[SFU_PASS_TRAIN], compare(state, SFU_PASS_TRAIN));
    compare_row(&table, pass_titles[SFU_PASS_EVALUATE], compare(state, SFU_PASS_EVALUATE));
    compare_row(&table, "epoch", compare_epoch(state));
    compare_row(&table, pass_titles[SFU_PASS_PREDICT], compare(state, SFU_PASS_PREDICT));
    table_print(&table, stdout, 2);
}

static void print(const session *state) {
    print_rates(state->bench);
    if (state->plan) {
        print_plan(state);
    }
}

static int run(int count, char **operands) {
    if (count == 1) {
        return usage_error(&cmd_bench, "NET is missing: a network, by name or as layers separated by |");
    }
    session state = {NULL, {0}, NULL};
    progress_start();
    const sfu_status status = measure(&state, count, operands);
    progress_end();
    int code = DONE;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        code = put_json(to_json(&state));
    } else {
        print(&state);
    }
    sfu_plan_free(state.plan);
    input_close(&state.input);
    sfu_bench_free(state.bench);
    return code;
}

static const cli_option options[] = {
    OPTION_FLAG("kept", settings.use_saved, "use the saved rates of an earlier run if there are any"),
    OPTION_FLAG("no-keep", settings.no_save, "do not save the rates for explain"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("dropout", settings.plan.dropout, 0, 0.999, "dropout rate of the training step"),
    OPTION_COUNT("threads", "N", settings.plan.threads, 0, 1024, "one per core",
                 "number of threads of the measured epochs on the CPU"),
    OPTION_DEVICE_MEASURED(settings.plan.device),
    {0}};

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "measure the speed of this machine and of a network",
    .description =
        "Measures the throughput of one core: bandwidth of each level of the memory hierarchy, random row gathers, and "
        "the steps of a few small networks, compared with their nominal times. This takes a few seconds and needs an "
        "otherwise idle machine. The rates are saved in the cache folder; explain uses them for its predictions.\n\n"
        "With a dataset and a network, it also measures the passes of the network and compares them with a lower bound "
        "(roofline): gathered rows at the bandwidth of the memory level that holds them, and at most at the L1 rate "
        "for short rows; dense products at peak rate; random numbers; and Adam. An epoch is a training step and a "
        "validation.\n\n"
        "With --device cuda it measures a GPU instead: the time of a launch, copies, gathered rows from L2 and from "
        "memory, and large single operations. One network runs on the whole device. These rates are not saved.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET", .optional = true, .kind = VALUE_DATASET, .help = "name or path of a dataset"},
            {.name = "NET",
             .optional = true,
             .kind = VALUE_NAME,
             .names = sfu_net_name,
             .help = "a network, by name or as layers separated by |"},
            {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato bench", "Measure this machine:"},
                                      {"sfumato bench citation gcn",
                                       "Compare an epoch with its lower bound and its prediction:"},
                                      {"sfumato bench citation gcn --threads 2 --json", "On two cores, as JSON:"},
                                      {"sfumato bench citation gcn --device cuda", "On the first GPU:"},
                                      {0}},
    .reports = true,
    .defaults = defaults,
    .run = run};
