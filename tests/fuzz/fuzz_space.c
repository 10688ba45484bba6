/* Search spaces: the first line is a network, the rest a space. Any input gives a space whose text parses to the same
 * space and whose values can be printed and parsed, or a message of three lines. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "space.h"

static void demand(int holds) {
    if (!holds) {
        abort();
    }
}

static int lines_of(const char *message) {
    int lines = 1;
    for (; *message != '\0'; message++) {
        lines += *message == '\n';
    }
    return lines;
}

/* The point at one end of all ranges, without the parameters that its network does not use. */
static void go_to_end(const sfu__space *space, int high) {
    double values[SFU__SPACE_PARAMETERS];
    double again[SFU__SPACE_PARAMETERS];
    sfu__text point = {0};
    sfu__text json = {0};
    sfu__candidate candidate = {0};
    sfu_train_options usual;
    sfu_train_options_init(&usual);
    for (int i = 0; i < space->count; i++) {
        const sfu__domain *range = &space->items[i].range;
        values[i] = high ? range->high : range->low;
    }
    const int net = sfu__space_net(space, values);
    for (int i = 0; i < space->count; i++) {
        demand(sfu__space_distribution(&json, space, i) == SFU_OK);
        values[i] = sfu__space_has(space, net, i) ? values[i] : (double)NAN;
        if (!isnan(values[i])) {
            demand(sfu__text_format(&point, " %s=", space->items[i].name) == SFU_OK);
            demand(sfu__space_print(&point, space, i, values[i]) == SFU_OK);
        }
    }
    if (sfu__space_point(again, space, point.bytes) == SFU_OK) { /* not for lr=0 and dropout=1 */
        for (int i = 0; i < space->count; i++) {
            demand(isnan(values[i]) ? isnan(again[i]) : values[i] == again[i]);
        }
    }
    demand(sfu__candidate_make(&candidate, space, values, &usual) != SFU_OK || candidate.net != NULL);
    sfu__candidate_clear(&candidate);
    sfu__text_clear(&point);
    sfu__text_clear(&json);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
    char *text = malloc(size + 1);
    if (text == NULL) {
        return 0;
    }
    if (size > 0) {
        memcpy(text, bytes, size);
    }
    text[size] = '\0';
    char *newline = strchr(text, '\n');
    const char *ranges = newline != NULL ? newline + 1 : NULL;
    if (newline != NULL) {
        *newline = '\0';
    }
    sfu__space *space = NULL;
    sfu__space *again = NULL;
    if (sfu__space_new(&space, ranges, text, NULL) != SFU_OK) {
        demand(lines_of(sfu_message()) == 3 && space == NULL);
    } else {
        demand(sfu__space_new(&again, space->text, text, NULL) == SFU_OK);
        demand(strcmp(space->text, again->text) == 0);
        go_to_end(space, 0);
        go_to_end(space, 1);
    }
    sfu__space_free(space);
    sfu__space_free(again);
    free(text);
    return 0;
}
