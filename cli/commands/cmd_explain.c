/* Prints the execution plan of a network on a dataset: the steps, the reasons for choosing them, and their cost. */
#include "cmd.h"

#include "output.h"
#include "plan_report.h"
#include "command_input.h"
#include "progress_bar.h"
#include "table.h"
#include "training_options.h"

static struct {
    cli_input_settings input;
    sfu_plan_options plan;
    bool measure, plain;
    const char *svg;
} settings;

static void defaults(void) {
    sfu_train_options train;
    sfu_train_options_init(&train);
    sfu_net_options_init(&settings.input.net);
    sfu_plan_options_init(&settings.plan);
    settings.plan.dropout = train.dropout;
}

/* The plan, and the plan without optimizations. Starts as {0}. */
typedef struct explanation {
    cli_input input;
    sfu_plan *plan, *plain;
} explanation;

static sfu_status make_plan(sfu_plan **plan, const cli_input *input, bool plain) {
    sfu_plan_options options = settings.plan;
    options.plain = plain;
    sfu_status status = sfu_plan_new(plan, input->dataset, input->net, input->split, &options);
    if (status == SFU_OK && settings.measure) {
        status = sfu_plan_measure(*plan);
    }
    return status;
}

static sfu_status explain(explanation *state, char **operands) {
    settings.plan.memory = settings.input.memory;
    sfu_status status = input_open(&state->input, &settings.input, operands);
    if (status == SFU_OK) {
        status = make_plan(&state->plan, &state->input, false);
    }
    if (status == SFU_OK && sfu_plan_is_nominal(state->plan)) {
        print_note("predicted times are for a nominal machine; run sfumato bench to measure this one");
    }
    if (status == SFU_OK && settings.plain) {
        status = make_plan(&state->plain, &state->input, true);
    }
    if (status == SFU_OK && settings.svg) {
        status = sfu_net_draw(state->input.net, settings.svg);
    }
    return status;
}

/* ---- JSON ------------------------------------------------------------------------------------------------------- */

static bool put_passes(json_t *object, const sfu_plan *plan) {
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        if (!json_put(object, pass_keys[pass], plan_pass_json(plan, (sfu_pass)pass))) {
            return false;
        }
    }
    return true;
}

static json_t *to_json(const explanation *state) {
    const sfu_paper_cost paper = sfu_plan_paper_cost(state->plan);
    json_t *object = json_pack("{s:s, s:o, s:s, s:f}", "net", sfu_net_text(state->input.net), "dataset",
                               json_bytes(sfu_dataset_name(state->input.dataset)), "split",
                               sfu_split_text(state->input.split), "dropout", settings.plan.dropout);
    json_t *plain = state->plain ? json_object() : NULL;
    if (!object || !put_passes(object, state->plan) || !json_put(object, "paper_cost", plan_paper_json(&paper)) ||
        (state->plain && (!put_passes(plain, state->plain) || !json_put(object, "plain", json_incref(plain)))) ||
        !json_put(object, "device", json_bytes(settings.plan.device))) {
        json_decref(object);
        object = NULL;
    }
    json_decref(plain);
    return object;
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

static void print_head(const cli_input *input) {
    put_clean(stdout, sfu_dataset_name(input->dataset));
    printf(": ");
    put_clean(stdout, sfu_net_text(input->net));
    printf("\n%s: %s, %s; dropout %g\n\n", printable(sfu_split_text(input->split)),
           counted(input_part(input, SFU_TRAIN), "training node"),
           counted(input_part(input, SFU_VAL), "validation node"), settings.plan.dropout);
}

/* The reduction factor, such as "4.2x". */
static const char *reduction(char text[16], double plain, double planned) {
    if (planned > 0) {
        snprintf(text, 16, "%.1fx", plain / planned);
    } else {
        snprintf(text, 16, "-");
    }
    return text;
}

static void reduction_row(cli_table *table, const char *what, const char *unit, double plain, double planned) {
    char ratio[16];
    TABLE_CELLS(table, what, scaled(plain, unit), scaled(planned, unit), reduction(ratio, plain, planned));
}

static void print_reductions(const explanation *state) {
    put_heading(stdout, "Savings of the optimized plan");
    cli_table table = {.align = "lrrr"};
    TABLE_CELLS(&table, "", "plain", "optimized", "factor");
    for (int pass = 0; pass < SFU_PASSES; pass++) {
        const pass_total plain = plan_total(state->plain, (sfu_pass)pass),
                         planned = plan_total(state->plan, (sfu_pass)pass);
        if (sfu_plan_step(state->plan, (sfu_pass)pass, 0) == NULL) {
            continue;
        }
        TABLE_CELLS(&table, pass_titles[pass], "", "", "");
        reduction_row(&table, "  operations", "FLOP", plain.flops, planned.flops);
        reduction_row(&table, "  memory traffic", "B", plain.bytes, planned.bytes);
        reduction_row(&table, "  predicted", "s", plain.cost.predicted_s, planned.cost.predicted_s);
        if (settings.measure) {
            reduction_row(&table, "  measured", "s", plain.cost.measured_s, planned.cost.measured_s);
        }
        reduction_row(&table, "  memory", "B", (double)plain.cost.memory_bytes, (double)planned.cost.memory_bytes);
    }
    table_print(&table, stdout, 2);
    putchar('\n');
}

static void print(const explanation *state) {
    print_head(&state->input);
    const int32_t nodes = sfu_dataset_nodes(state->input.dataset);
    plan_print(stdout, state->plan, settings.measure, nodes);
    if (state->plain) {
        put_heading(stdout, "Plan without optimizations");
        putchar('\n');
        plan_print(stdout, state->plain, settings.measure, nodes);
        print_reductions(state);
    }
    const sfu_paper_cost paper = sfu_plan_paper_cost(state->plan);
    plan_paper_print(stdout, &paper);
    if (settings.svg) {
        printf("Drawing written to %s\n", printable(settings.svg));
    }
}

static int run(int count, char **operands) {
    (void)count;
    cli_files files = {0};
    files_write(&files, "--svg", settings.svg, &network_drawing);
    input_files(&files, &settings.input, operands[0]);
    const int checked = files_check(&files, &cmd_explain);
    if (checked != DONE) {
        return checked;
    }
    explanation state = {{0}, NULL, NULL};
    progress_start();
    const sfu_status status = explain(&state, operands);
    progress_end();
    int code = DONE;
    if (status != SFU_OK) {
        code = fail_status(status);
    } else if (common.json) {
        code = put_json(to_json(&state));
    } else {
        print(&state);
    }
    sfu_plan_free(state.plain);
    sfu_plan_free(state.plan);
    input_close(&state.input);
    return code;
}

static const cli_option options[] = {
    OPTION_FLAG("measure", settings.measure, "run the plan and print the measured time of each step"),
    OPTION_FLAG("plain", settings.plain, "also print the plan without optimizations, and the savings"),
    OPTION_TEXT("svg", VALUE_FILE, "FILE", settings.svg, NULL, "draw the network as SVG"),
    INPUT_OPTIONS(settings.input),
    OPTION_NUMBER("dropout", settings.plan.dropout, 0, 0.999, "dropout rate of training; 0 allows more precomputation"),
    OPTION_COUNT("threads", "N", settings.plan.threads, 0, 1024, "one per core",
                 "number of threads of the measurement"),
    OPTION_DEVICE_MEASURED(settings.plan.device),
    OPTION_MEMORY(settings.input.memory, "shows the plan of such a limit"),
    {0}};

const cli_command cmd_explain = {
    .name = "explain",
    .summary = "print the execution plan of a network and its cost",
    .description =
        "The planner optimizes a network before it runs. Each of these optimizations applies where it is cheaper: "
        "smoothing that precedes all weights is computed once (fold); layers compute only the rows that are needed "
        "(prune); matrix products are reordered (order); several smoothings are merged into one matrix (collapse); "
        "features stay sparse (sparse).\n\n"
        "The plans of a training step, a validation and a prediction are printed as trees: layers, and below each "
        "layer its steps with output shape, floating-point operations, memory traffic, predicted time and, if there "
        "was an alternative, the reason for the choice. Predictions are for one core, from the rates measured by "
        "sfumato bench or else those of a nominal machine. The last lines give the cost formula of the paper's Table 1 "
        "for this dataset.",
    .operands = (const cli_operand[]){INPUT_OPERANDS, {0}},
    .options = options,
    .examples =
        (const cli_example[]){
            {"sfumato explain citation gcn", "The plan of a named network:"},
            {"sfumato explain citation 'smooth^2 | dense 32 relu | softmax' --plain", "What the optimizations save:"},
            {"sfumato explain citation sgcn --measure --threads 1", "Predicted and measured times:"},
            {"sfumato explain citation gcn+lp --svg network.svg", "A drawing of the network:"},
            {0}},
    .reports = true,
    .writes = true,
    .defaults = defaults,
    .run = run};
