/* Lists datasets: found in the search path, built in, or available for download. */
#include "cmd.h"

#include "output.h"
#include "report.h"
#include "table.h"

#include <stdlib.h>
#include <string.h>

static struct { bool names; } settings;

/* ---- search path ------------------------------------------------------------------------------------------------ */

typedef struct cli_entry {
    char *path, *name;
    bool hidden; /* an earlier entry has the same name */
} cli_entry;

typedef struct cli_listing {
    cli_entry *entries;
    size_t count, capacity;
    bool no_memory;
} cli_listing;

static bool has_name(const cli_listing *listing, const char *name) {
    for (size_t i = 0; i < listing->count; i++) {
        if (strcmp(listing->entries[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

static void found(void *user, const char *path) {
    cli_listing *listing = user;
    if (listing->count == listing->capacity) {
        const size_t capacity = listing->capacity ? 2 * listing->capacity : 16;
        cli_entry *grown = realloc(listing->entries, capacity * sizeof *grown);
        if (!grown) {
            listing->no_memory = true;
            return;
        }
        listing->entries = grown;
        listing->capacity = capacity;
    }
    cli_entry entry = {strdup(path), report_name(path), false};
    if (!entry.path || !entry.name) {
        free(entry.path);
        free(entry.name);
        listing->no_memory = true;
        return;
    }
    entry.hidden = has_name(listing, entry.name);
    listing->entries[listing->count++] = entry;
}

static void listing_clear(cli_listing *listing) {
    for (size_t i = 0; i < listing->count; i++) {
        free(listing->entries[i].path);
        free(listing->entries[i].name);
    }
    free(listing->entries);
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static const char embedded[] = "citation", hidden[] = " (hidden by the first one)";

static int print_names(const cli_listing *listing) {
    for (size_t i = 0; i < listing->count; i++) {
        if (!listing->entries[i].hidden) {
            printf("%s\n", printable(listing->entries[i].name));
        }
    }
    if (!has_name(listing, embedded)) {
        printf("%s\n", embedded);
    }
    return DONE;
}

static json_t *entry_json(const cli_entry *entry) {
    json_t *object = json_pack("{s:o, s:o, s:b}", "name", json_bytes(entry->name), "path", json_bytes(entry->path),
                               "hidden", (int)entry->hidden);
    sfu_dataset *dataset = NULL;
    if (sfu_dataset_open(&dataset, entry->path) == SFU_OK) {
        json_set(&object, "nodes", json_integer(sfu_dataset_nodes(dataset)));
        json_set(&object, "features", json_integer(sfu_dataset_features(dataset)));
        json_set(&object, "classes", json_integer(sfu_dataset_classes(dataset)));
    } else {
        json_set(&object, "error", json_bytes(sfu_message()));
    }
    sfu_dataset_free(dataset);
    return object;
}

static int print_json(const cli_listing *listing) {
    json_t *datasets = json_array(), *get = json_array();
    for (size_t i = 0; i < listing->count; i++) {
        json_append(&datasets, entry_json(&listing->entries[i]));
    }
    const char *name, *text;
    for (int i = 0; (name = sfu_get_name(i, &text)) != NULL; i++) {
        json_append(&get,
                    json_pack("{s:s, s:s, s:b}", "name", name, "about", text, "here", (int)has_name(listing, name)));
    }
    return put_json(json_pack("{s:o, s:[s], s:o}", "datasets", datasets, "embedded", embedded, "get", get));
}

static void add_entry(cli_table *table, const cli_entry *entry) {
    sfu_dataset *dataset = NULL;
    if (sfu_dataset_open(&dataset, entry->path) == SFU_OK) {
        char where[4096];
        snprintf(where, sizeof where, "%s%s", entry->path, entry->hidden ? hidden : "");
        TABLE_CELLS(table, entry->name, grouped(sfu_dataset_nodes(dataset)), grouped(sfu_dataset_features(dataset)),
                    grouped(sfu_dataset_classes(dataset)), where);
    } else {
        /* The message starts with the path. */
        TABLE_CELLS(table, entry->name, "-", "-", "-", sfu_message());
    }
    sfu_dataset_free(dataset);
}

static void add_embedded(cli_table *table, const cli_listing *listing) {
    char where[64];
    sfu_make_options make;
    sfu_make_options_init(&make);
    snprintf(where, sizeof where, "built in%s", has_name(listing, embedded) ? hidden : "");
    TABLE_CELLS(table, embedded, grouped(make.nodes), grouped(make.vocabulary), grouped(make.classes), where);
}

static void print_fetchable(const cli_listing *listing) {
    cli_table table = {.align = "lll"};
    const char *name, *text;
    for (int i = 0; (name = sfu_get_name(i, &text)) != NULL; i++) {
        TABLE_CELLS(&table, name, has_name(listing, name) ? "installed" : "", text);
    }
    putchar('\n');
    put_heading(stdout, "Public datasets (download with sfumato data get NAME):");
    table_print(&table, stdout, 2);
}

static int print(const cli_listing *listing) {
    cli_table table = {.align = "lrrrl"};
    TABLE_CELLS(&table, "name", "nodes", "features", "classes", "path");
    for (size_t i = 0; i < listing->count; i++) {
        add_entry(&table, &listing->entries[i]);
    }
    add_embedded(&table, listing);
    table_print(&table, stdout, 0);
    print_fetchable(listing);
    return DONE;
}

static int run(int count, char **operands) {
    (void)count;
    (void)operands;
    cli_listing listing = {0};
    const sfu_status status = sfu_dataset_list(found, &listing);
    int code;
    if (status != SFU_OK || listing.no_memory) {
        code = status == SFU_OK ? fail("out of memory") : fail_status(status);
    } else {
        code = common.json ? print_json(&listing) : settings.names ? print_names(&listing) : print(&listing);
    }
    listing_clear(&listing);
    return code;
}

static const cli_option options[] = {OPTION_FLAG("names", settings.names, "print only the names, one per line"), {0}};

const cli_command cmd_data_list = {
    .name = "data list",
    .summary = "list installed and downloadable datasets",
    .description = "Lists the search path of every command: the folders of SFUMATO_DATA, separated by colons, then "
                   "./data, then the user's cache folder. If two datasets have the same name, the first one is used.",
    .options = options,
    .examples =
        (const cli_example[]){{"sfumato data list", "All datasets:"},
                              {"SFUMATO_DATA=/srv/graphs sfumato data list --names", "Only the names, for a script:"},
                              {0}},
    .reports = true,
    .run = run};
