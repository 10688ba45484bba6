#include "training_options.h"

const char *const metric_choices[] = {"accuracy", "macro-f1", "balanced-accuracy", "auc", "average-precision", NULL};
const char *const class_weight_choices[] = {"none", "balanced", NULL};
