/* hand_made_space.h - hand-made search spaces for tests of samplers. */
#ifndef SFU_HAND_MADE_SPACE_H
#define SFU_HAND_MADE_SPACE_H

#include "space.h"

#include <string.h>

static inline sfu__parameter_range float_range(const char *name, double low, double high) {
    sfu__parameter_range item = {.range = {.kind = SFU__RANGE_FLOAT, .low = low, .high = high}};
    memcpy(&item.name, &name, sizeof name);
    return item;
}

static inline sfu__parameter_range log_range(const char *name, double low, double high) {
    sfu__parameter_range item = float_range(name, low, high);
    item.range.log = true;
    return item;
}

static inline sfu__parameter_range step_range(const char *name, double low, double high, double step) {
    sfu__parameter_range item = float_range(name, low, high);
    item.range.step = step;
    return item;
}

static inline sfu__parameter_range int_range(const char *name, int low, int high) {
    sfu__parameter_range item = step_range(name, low, high, 1);
    item.range.kind = SFU__RANGE_INT;
    return item;
}

static inline sfu__parameter_range log_int_range(const char *name, int low, int high) {
    sfu__parameter_range item = int_range(name, low, high);
    item.range.log = true;
    return item;
}

static inline sfu__parameter_range choice_range(const char *name, int count) {
    sfu__parameter_range item = float_range(name, 0, count - 1);
    item.range.kind = SFU__RANGE_CHOICE;
    item.range.count = count;
    return item;
}

/* A space of one network that uses all parameters. */
static inline sfu__space hand_made_space(sfu__parameter_range *items, int count) {
    static uint64_t all = ~(uint64_t)0;
    return (sfu__space){.items = items, .count = count, .groups = 1, .net_count = 1, .has = &all};
}

#endif
