/* Measures what a core of this machine can do and, for a network on a dataset, how near to that its epochs come. */
#include "cmd.h"

#include "output.h"
#include "plan_report.h"
#include "command_input.h"
#include "progress_bar.h"
#include "table.h"

static struct {
    cli_input_settings input;
    sfu_plan_options plan;
    bool keep_not, kept;
} settings;

static void defaults(void) {
    sfu_train_options train;
    sfu_train_options_init(&train);
    sfu_net_options_init(&settings.input.net);
    sfu_plan_options_init(&settings.plan);
    settings.plan.dropout = train.dropout;
    settings.plan.threads = 1;
}

/* A pass against its floor; an epoch is a training step and a validation. */
typedef struct comparison {
    double floor_s, predicted_s, measured_s;
} comparison;

typedef struct session {
    sfu_bench *bench;
    cli_input input;
    sfu_plan *plan; /* NULL: rates alone */
} session;

static comparison compare(const session *all, sfu_pass pass) {
    const sfu_pass_cost cost = *sfu_plan_cost(all->plan, pass);
    return (comparison){sfu_bench_floor(all->bench, all->plan, pass), cost.predicted_s, cost.measured_s};
}

static comparison compare_epoch(const session *all) {
    const comparison train = compare(all, SFU_PASS_TRAIN), evaluate = compare(all, SFU_PASS_EVALUATE);
    return (comparison){train.floor_s + evaluate.floor_s, train.predicted_s + evaluate.predicted_s,
                        train.measured_s + evaluate.measured_s};
}

static sfu_status rates(sfu_bench **bench) {
    sfu_status status = settings.kept ? sfu_bench_kept(bench) : SFU_ERR_NOT_FOUND;
    if (status == SFU_ERR_NOT_FOUND) {
        status = sfu_bench_new(bench, !settings.keep_not, progress_report, NULL);
    }
    return status;
}

static sfu_status measure(session *all, int count, char **operands) {
    sfu_status status = SFU_OK;
    if (count > 0) { /* what can be wrong with it is said before anything is measured */
        status = input_open(&all->input, &settings.input, operands);
    }
    if (status == SFU_OK) {
        status = rates(&all->bench);
    }
    if (status == SFU_OK && count > 0) {
        status = sfu_plan_new(&all->plan, all->input.dataset, all->input.net, all->input.split, &settings.plan);
    }
    if (status == SFU_OK && count > 0) {
        status = sfu_plan_measure(all->plan);
    }
    return status;
}

/* ---- for a script ----------------------------------------------------------------------------------------------- */

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

/* What is measured as a whole has its spread over the rounds as well. */
static json_t *spread_json(comparison result, sfu_spread spread) {
    json_t *object = comparison_json(result);
    const bool fine = object && json_put(object, "low_s", json_number_or_null(spread.low_s)) &&
                      json_put(object, "median_s", json_number_or_null(spread.median_s)) &&
                      json_put(object, "high_s", json_number_or_null(spread.high_s));
    if (!fine) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *to_json(const session *all) {
    json_t *object = json_pack("{s:o}", "rates", rates_json(all->bench));
    if (!object || !all->plan) {
        return object;
    }
    const bool fine =
        json_put(object, "dataset", json_bytes(sfu_dataset_name(all->input.dataset))) &&
        json_put(object, "net", json_bytes(sfu_net_text(all->input.net))) &&
        json_put(object, "split", json_bytes(sfu_split_text(all->input.split))) &&
        json_put(object, "threads", json_integer(settings.plan.threads)) &&
        json_put(object, "epoch", spread_json(compare_epoch(all), sfu_plan_spread(all->plan, SFU_PASS_TRAIN))) &&
        json_put(object, pass_keys[SFU_PASS_TRAIN], comparison_json(compare(all, SFU_PASS_TRAIN))) &&
        json_put(object, pass_keys[SFU_PASS_EVALUATE], comparison_json(compare(all, SFU_PASS_EVALUATE))) &&
        json_put(object, pass_keys[SFU_PASS_PREDICT],
                 spread_json(compare(all, SFU_PASS_PREDICT), sfu_plan_spread(all->plan, SFU_PASS_PREDICT)));
    if (!fine) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- for people ------------------------------------------------------------------------------------------------- */

static void print_rates(const sfu_bench *bench) {
    cli_table table = {.align = "lrl"};
    const sfu_rate *rate;
    for (int i = 0; (rate = sfu_bench_rate(bench, i)) != NULL; i++) {
        char value[32];
        snprintf(value, sizeof value, rate->value < 10 ? "%.2f" : "%.1f", rate->value);
        TABLE_CELLS(&table, rate->what, value, rate->unit);
    }
    printf("one core of this machine\n");
    table_print(&table, stdout, 2);
}

static void compare_row(cli_table *table, const char *what, comparison result) {
    char over_floor[16], over_predicted[16];
    snprintf(over_floor, sizeof over_floor, "%.2f", result.measured_s / result.floor_s);
    snprintf(over_predicted, sizeof over_predicted, "%.2f", result.measured_s / result.predicted_s);
    TABLE_CELLS(table, what, scaled(result.floor_s, "s"), scaled(result.predicted_s, "s"),
                scaled(result.measured_s, "s"), over_floor, over_predicted);
}

static void print_plan(const session *all) {
    putchar('\n');
    put_clean(stdout, sfu_dataset_name(all->input.dataset));
    printf(": ");
    put_clean(stdout, sfu_net_text(all->input.net));
    printf("\n");
    cli_table table = {.align = "lrrrrr"};
    TABLE_CELLS(&table, "", "floor", "predicted", "measured", "over floor", "over predicted");
    compare_row(&table, pass_titles[SFU_PASS_TRAIN], compare(all, SFU_PASS_TRAIN));
    compare_row(&table, pass_titles[SFU_PASS_EVALUATE], compare(all, SFU_PASS_EVALUATE));
    compare_row(&table, "epoch", compare_epoch(all));
    compare_row(&table, pass_titles[SFU_PASS_PREDICT], compare(all, SFU_PASS_PREDICT));
    table_print(&table, stdout, 2);
}

static void print(const session *all) {
    print_rates(all->bench);
    if (all->plan) {
        print_plan(all);
    }
}

static int run(int count, char **operands) {
    if (count == 1) {
        return misuse(&cmd_bench, "NET is missing: a network: a name, or layers with | between");
    }
    session all = {NULL, {0}, NULL};
    progress_start();
    const sfu_status status = measure(&all, count, operands);
    progress_end();
    int code = DONE;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        code = put_json(to_json(&all));
    } else {
        print(&all);
    }
    sfu_plan_free(all.plan);
    input_close(&all.input);
    sfu_bench_free(all.bench);
    return code;
}

static const cli_option options[] = {
    OPTION_FLAG("kept", settings.kept, "take the rates that an earlier bench kept, where there are any"),
    OPTION_FLAG("no-keep", settings.keep_not, "do not keep the rates for explain"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("dropout", settings.plan.dropout, 0, 0.999, "the rate that training will have"),
    OPTION_COUNT("threads", "N", settings.plan.threads, 0, 1024, "one a core", "of the epochs that are measured"),
    {0}};

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "measure this machine's rates, and how near a network comes",
    .description =
        "Measures what one core can do: reading from each level of memory, gathering rows at random, random numbers, "
        "the kernels. That takes a few seconds, on a machine that is otherwise idle. The rates are kept in the cache "
        "folder, where explain finds them for its predictions.\n\n"
        "With a dataset and a network, its passes are run as well. The floor of a pass is the least that it could "
        "take: the rows that it gathers, at the rate of the level that they lie in and no faster than rows so wide "
        "come out of L1, its dense products at the best rate, its random numbers, and Adam. An epoch is a training "
        "step and a validation.",
    .operands =
        (const cli_operand[]){
            {.name = "DATASET", .optional = true, .kind = VALUE_DATASET, .help = "name or path of a dataset"},
            {.name = "NET",
             .optional = true,
             .kind = VALUE_NAME,
             .names = sfu_net_name,
             .help = "a network: a name, or layers with | between"},
            {0}},
    .options = options,
    .examples = (const cli_example[]){{"sfumato bench", "This machine:"},
                                      {"sfumato bench citation gcn", "An epoch against its floor and its prediction:"},
                                      {"sfumato bench citation gcn --threads 2 --json", "On two cores, for a script:"},
                                      {0}},
    .reports = true,
    .defaults = defaults,
    .run = run};
