#include "offers.h"

#include <stddef.h>

#define OFFER(name, ...)                                                                                               \
    const char *name(int i, const char **text) {                                                                       \
        static const char *const values[] = {__VA_ARGS__};                                                             \
        (void)text;                                                                                                    \
        return i < (int)(sizeof values / sizeof values[0]) ? values[i] : NULL;                                         \
    }

OFFER(offer_splits, "standard", "standard:1", "holdout:0", "random:0", "cv:5:0:0", "file:")
OFFER(offer_size, "1", "2", "3", "4", "5")
OFFER(offer_sizes, "1", "2", "3", "4", "5", "1..5", "standard")
OFFER(offer_spaces, "paper", "practical")
OFFER(offer_budgets, "60s", "5m", "1h", "steps:20")
OFFER(offer_label_nets, "sgcn", "linear", "mlp", "linear+lp", "sgcn+lp", "fp+mlp", "gcn", "mlp+lp", "gcn+lp")
OFFER(offer_devices, "auto", "cpu", "cuda", "cuda:0")
OFFER(offer_studies, "memory")
