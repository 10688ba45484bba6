"""The interface of libsfumato for ctypes. Written by generate_abi.py from include/sfumato.h; do not edit."""

from ctypes import (CFUNCTYPE, POINTER, Structure, c_bool, c_char, c_char_p, c_double, c_float, c_int, c_int32, c_int64,
                    c_size_t, c_uint32, c_uint64, c_void_p)
from typing import Any

VERSION = "0.2.0"
SFU_OK = 0
SFU_ERR_MEMORY = 1
SFU_ERR_ARGUMENT = 2
SFU_ERR_FORMAT = 3
SFU_ERR_IO = 4
SFU_ERR_NOT_FOUND = 5
SFU_ERR_UNSUPPORTED = 6
SFU_ERR_CANCELLED = 7
SFU_ERR_DIVERGED = 8
SFU_ERR_DEVICE = 9
SFU_LOG_NOTE = 0
SFU_LOG_WARNING = 1
SFU_NO_LABEL = -1
SFU_TRAIN = 0
SFU_VAL = 1
SFU_TEST = 2
SFU_PARTS = 3
SFU_SCALE_UNIT = 0
SFU_SCALE_SUM = 1
SFU_SCALE_NONE = 2
SFU_SCALE_AUTO = 3
SFU_SCALE_QUANTILE = 4
SFU_LABEL_AUTO = 0
SFU_LABEL_CLASS = 1
SFU_DUPLICATES_MAX = 0
SFU_DUPLICATES_SUM = 1
SFU_DUPLICATES_FIRST = 2
SFU_HEADER_AUTO = 0
SFU_HEADER_YES = 1
SFU_HEADER_NO = 2
SFU_NORM_AUTO = -1
SFU_NORM_SYM = 0
SFU_NORM_ROW = 1
SFU_NORM_COL = 2
SFU_NORM_NONE = 3
SFU_NORM_SYM_ROW = 4
SFU_LAYER_SMOOTH = 0
SFU_LAYER_DENSE = 1
SFU_LAYER_SOFTMAX = 2
SFU_ACT_IDENTITY = 0
SFU_ACT_RELU = 1
SFU_ACT_TANH = 2
SFU_ACT_SIGMOID = 3
SFU_ACT_ELU = 4
SFU_ACT_LEAKY_RELU = 5
SFU_LEARN_SELF = 1
SFU_LEARN_NEIGHBOUR = 2
SFU_LEARN_LEFT = 4
SFU_LEARN_RIGHT = 8
SFU_PASS_TRAIN = 0
SFU_PASS_EVALUATE = 1
SFU_PASS_PREDICT = 2
SFU_PASSES = 3
SFU_LOSS_MEAN = 0
SFU_LOSS_SUM = 1
SFU_LOSS_OF_SPACE = 2
SFU_KEEP_BEST = 0
SFU_KEEP_LAST = 1
SFU_METRIC_ACCURACY = 0
SFU_METRIC_MACRO_F1 = 1
SFU_METRIC_BALANCED_ACCURACY = 2
SFU_METRIC_AUC = 3
SFU_METRIC_AVERAGE_PRECISION = 4
SFU_TRIAL_RUNNING = 0
SFU_TRIAL_COMPLETE = 1
SFU_TRIAL_PRUNED = 2
SFU_TRIAL_FAIL = 3
SFU_TRIAL_WAITING = 4


class sfu_allocator(Structure):
    _fields_ = [
        ("resize", c_void_p),
        ("release", c_void_p),
        ("user", c_void_p),
    ]


class sfu_progress(Structure):
    _fields_ = [
        ("what", c_char_p),
        ("unit", c_char_p),
        ("done", c_double),
        ("total", c_double),
    ]


class sfu_csv_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("top", c_int32),
        ("only_unlabelled", c_bool),
        ("write", c_void_p),
        ("write_user", c_void_p),
        ("spreadsheet", c_bool),
        ("nodes", c_void_p),
        ("node_count", c_int32),
        ("sets", c_bool),
        ("set_threshold", c_double),
    ]


class sfu_csr(Structure):
    _fields_ = [
        ("rows", c_int32),
        ("cols", c_int32),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
    ]


class sfu_info(Structure):
    _fields_ = [
        ("nodes", c_int32),
        ("features", c_int32),
        ("classes", c_int32),
        ("edges", c_int64),
        ("self_loops", c_int64),
        ("self_loops_dropped", c_int64),
        ("duplicates_dropped", c_int64),
        ("feature_nonzeros", c_int64),
        ("unlabelled", c_int32),
        ("isolated", c_int32),
        ("featureless", c_int32),
        ("components", c_int32),
        ("largest_component", c_int32),
        ("homophily", c_double),
        ("mean_degree", c_double),
        ("max_degree", c_int32),
        ("directed", c_bool),
        ("weighted", c_bool),
        ("has_standard", c_bool),
        ("standard", c_int32 * SFU_PARTS),
        ("source", c_char_p),
        ("standard_splits", c_int32),
    ]


class sfu_import_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("source", c_char_p),
        ("format", c_char_p),
        ("name", c_char_p),
        ("edges", c_char_p),
        ("nodes", c_char_p),
        ("label", c_char_p),
        ("features", c_char_p),
        ("feature_names", c_char_p),
        ("labels", c_char_p),
        ("columns", c_char_p),
        ("split", c_char_p),
        ("class_names", c_void_p),
        ("class_name_count", c_int32),
        ("header", c_int),
        ("strict", c_bool),
        ("directed", c_bool),
        ("keep_loops", c_bool),
        ("largest", c_bool),
        ("duplicates", c_int),
        ("scale", c_int),
        ("knn", c_int),
        ("threads", c_int),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("source_column", c_char_p),
        ("target_column", c_char_p),
        ("weight_column", c_char_p),
        ("id", c_char_p),
        ("numeric", c_char_p),
        ("categorical", c_char_p),
        ("text", c_char_p),
        ("ignore", c_char_p),
        ("missing", c_char_p),
        ("decimal", c_char),
        ("label_type", c_int),
        ("like", c_char_p),
        ("memory", c_uint64),
        ("scratch", c_char_p),
    ]


class sfu_arrays(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("nodes", c_int64),
        ("edges", c_int64),
        ("edge_from", c_void_p),
        ("edge_to", c_void_p),
        ("edge_weight", c_void_p),
        ("features", c_int32),
        ("dense", c_void_p),
        ("indptr", c_void_p),
        ("indices", c_void_p),
        ("values", c_void_p),
        ("labels", c_void_p),
        ("classes", c_int32),
        ("class_names", c_void_p),
        ("node_names", c_void_p),
        ("standard", c_void_p * SFU_PARTS),
        ("standard_count", c_int32 * SFU_PARTS),
        ("column_count", c_int),
        ("column_names", c_void_p),
        ("columns", c_void_p),
        ("feature_names", c_void_p),
        ("edge_indptr", c_void_p),
    ]


class sfu_make_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("seed", c_uint64),
        ("nodes", c_int32),
        ("classes", c_int32),
        ("vocabulary", c_int32),
        ("degree", c_double),
        ("power", c_double),
        ("homophily", c_double),
        ("words", c_double),
        ("noise", c_double),
        ("threads", c_int),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("memory", c_uint64),
        ("scratch", c_char_p),
        ("dense", c_int32),
    ]


class sfu_noise_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("remove", c_double),
        ("rewire", c_double),
        ("seed", c_uint64),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
    ]


class sfu_order_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("parts", c_int32),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
    ]


class sfu_get_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("folder", c_char_p),
        ("via", c_char_p),
        ("again", c_bool),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("keep_loops", c_bool),
    ]


class sfu_smoothing_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("norm", c_int),
        ("self", c_double),
        ("neighbour", c_double),
        ("self_column", c_void_p),
        ("neighbour_column", c_void_p),
        ("exponents", c_bool),
        ("left", c_double),
        ("right", c_double),
        ("probabilities", c_bool),
        ("threads", c_int),
        ("unweighted", c_bool),
    ]


class sfu_net_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("hidden", c_int32),
        ("k", c_int32),
    ]


class sfu_layer(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("kind", c_int),
        ("act", c_int),
        ("times", c_int32),
        ("norm", c_int),
        ("self", c_double),
        ("neighbour", c_double),
        ("self_column", c_char_p),
        ("neighbour_column", c_char_p),
        ("exponents", c_bool),
        ("left", c_double),
        ("right", c_double),
        ("teleport", c_double),
        ("learn", c_uint32),
        ("width", c_int32),
        ("linear", c_bool),
        ("bias", c_bool),
        ("dropout", c_double),
        ("unweighted", c_bool),
    ]


class sfu_plan_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("dropout", c_double),
        ("plain", c_bool),
        ("threads", c_int),
        ("device", c_char_p),
        ("memory", c_uint64),
    ]


class sfu_step(Structure):
    _fields_ = [
        ("op", c_char_p),
        ("text", c_char_p),
        ("why", c_char_p),
        ("rows", c_int32),
        ("cols", c_int32),
        ("flops", c_double),
        ("bytes", c_double),
        ("predicted_s", c_double),
        ("measured_s", c_double),
        ("depth", c_int),
    ]


class sfu_pass_cost(Structure):
    _fields_ = [
        ("predicted_s", c_double),
        ("measured_s", c_double),
        ("memory_bytes", c_int64),
    ]


class sfu_spread(Structure):
    _fields_ = [
        ("low_s", c_double),
        ("median_s", c_double),
        ("high_s", c_double),
    ]


class sfu_epoch(Structure):
    _fields_ = [
        ("epoch", c_int32),
        ("train_loss", c_double),
        ("val_loss", c_double),
        ("val_accuracy", c_double),
        ("best_val_accuracy", c_double),
        ("best_epoch", c_int32),
        ("seconds", c_double),
    ]


class sfu_train_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("lr", c_double),
        ("weight_decay", c_double),
        ("dropout", c_double),
        ("loss", c_int),
        ("balanced", c_bool),
        ("epochs", c_int32),
        ("patience", c_int32),
        ("keep", c_int),
        ("seed", c_uint64),
        ("init", c_void_p),
        ("device", c_char_p),
        ("threads", c_int),
        ("on_epoch", c_void_p),
        ("on_epoch_user", c_void_p),
        ("metric", c_int),
        ("allow_leak", c_bool),
        ("temperature", c_double),
        ("memory", c_uint64),
        ("on_stopped", c_void_p),
    ]


class sfu_class_score(Structure):
    _fields_ = [
        ("precision", c_double),
        ("recall", c_double),
        ("f1", c_double),
        ("support", c_int32),
    ]


class sfu_scores(Structure):
    _fields_ = [
        ("epochs", c_int32),
        ("best_epoch", c_int32),
        ("train_accuracy", c_double),
        ("val_accuracy", c_double),
        ("val_loss", c_double),
        ("test_accuracy", c_double),
        ("test_macro_f1", c_double),
        ("seconds", c_double),
        ("interrupted", c_bool),
        ("seed", c_uint64),
        ("split_digest", c_char * 65),
        ("val_score", c_double),
        ("test_score", c_double),
        ("temperature", c_double),
        ("test_log_loss", c_double),
        ("test_calibration_error", c_double),
        ("raw_test_log_loss", c_double),
        ("raw_test_calibration_error", c_double),
        ("leaked", c_int32),
    ]


class sfu_parameter(Structure):
    _fields_ = [
        ("name", c_char * 32),
        ("rows", c_int32),
        ("cols", c_int32),
        ("stride", c_int64),
        ("values", c_void_p),
    ]


class sfu_predict_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("raw", c_bool),
        ("threads", c_int),
        ("ignore_unknown_features", c_bool),
        ("nodes", c_void_p),
        ("node_count", c_int32),
        ("device", c_char_p),
        ("memory", c_uint64),
        ("scratch", c_char_p),
    ]


class sfu_evaluate_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("nodes", c_void_p),
        ("node_count", c_int32),
        ("ignore_unknown_features", c_bool),
        ("threads", c_int),
        ("device", c_char_p),
        ("memory", c_uint64),
        ("scratch", c_char_p),
    ]


class sfu_evaluation_summary(Structure):
    _fields_ = [
        ("nodes", c_int32),
        ("correct", c_int32),
        ("unlabelled", c_int32),
        ("unknown_class", c_int32),
        ("fitted_known", c_bool),
        ("fitted", c_int32),
        ("accuracy", c_double),
        ("low", c_double),
        ("high", c_double),
        ("macro_f1", c_double),
        ("balanced_accuracy", c_double),
        ("auc", c_double),
        ("average_precision", c_double),
        ("log_loss", c_double),
        ("calibration_error", c_double),
    ]


class sfu_trial(Structure):
    _fields_ = [
        ("number", c_int32),
        ("state", c_int),
        ("val_accuracy", c_double),
        ("val_loss", c_double),
        ("epochs", c_int32),
        ("best_epoch", c_int32),
        ("seed", c_uint64),
        ("params", c_char_p),
        ("val_score", c_double),
        ("added", c_bool),
    ]


class sfu_tune_progress(Structure):
    _fields_ = [
        ("done", c_int32),
        ("total", c_int32),
        ("failed", c_int32),
        ("here", c_int32),
        ("best", c_void_p),
        ("unsaved", c_int32),
    ]


class sfu_tune_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("space", c_char_p),
        ("space_is_shared", c_bool),
        ("sampler", c_char_p),
        ("trials", c_int32),
        ("wave", c_int32),
        ("jobs", c_int),
        ("seed", c_uint64),
        ("enqueue", c_void_p),
        ("enqueue_count", c_int),
        ("study", c_char_p),
        ("study_name", c_char_p),
        ("old_optuna", c_bool),
        ("train", c_void_p),
        ("loss_is_set", c_bool),
        ("on_progress", c_void_p),
        ("on_progress_user", c_void_p),
        ("remedy", c_char_p),
        ("lazy_sync", c_bool),
    ]


class sfu_compare_progress(Structure):
    _fields_ = [
        ("done", c_int32),
        ("total", c_int32),
        ("trials", c_int64),
        ("all", c_int64),
        ("seconds_left", c_double),
        ("what", c_char_p),
        ("cells_done", c_int32),
        ("cells", c_int32),
        ("finished", c_char_p),
    ]


class sfu_compare_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("datasets", c_void_p),
        ("dataset_count", c_int),
        ("nets", c_void_p),
        ("net_count", c_int),
        ("sizes", c_void_p),
        ("size_count", c_int),
        ("splits", c_int32),
        ("trials", c_int32),
        ("lpnn_trials", c_int32),
        ("space", c_char_p),
        ("seed", c_uint64),
        ("jobs", c_int),
        ("folder", c_char_p),
        ("feature_norm", c_char_p),
        ("loss", c_int),
        ("keep_loops", c_bool),
        ("lpnn", c_char_p),
        ("on_progress", c_void_p),
        ("on_progress_user", c_void_p),
        ("metric", c_int),
        ("balanced", c_bool),
        ("device", c_char_p),
        ("drop_studies", c_bool),
        ("part", c_int),
        ("parts", c_int),
        ("share", c_char_p),
        ("sampler", c_char_p),
        ("memory", c_uint64),
        ("label_norm", c_char_p),
    ]


class sfu_left_out(Structure):
    _fields_ = [
        ("dataset", c_char_p),
        ("net", c_char_p),
        ("size", c_char_p),
        ("needs", c_char_p),
    ]


class sfu_entry(Structure):
    _fields_ = [
        ("dataset", c_char_p),
        ("net", c_char_p),
        ("size", c_char_p),
        ("split", c_char_p),
        ("k", c_int32),
        ("alpha", c_double),
        ("beta", c_double),
        ("exponents", c_bool),
        ("trials", c_int32),
        ("failed", c_int32),
        ("best_trial", c_int32),
        ("val_accuracy", c_double),
        ("val_loss", c_double),
        ("test_accuracy", c_double),
        ("test_macro_f1", c_double),
        ("seconds", c_double),
        ("epoch_s", c_double),
        ("epochs", c_int64),
        ("split_digest", c_char_p),
        ("val_score", c_double),
        ("test_score", c_double),
        ("configuration", c_char_p),
        ("trials_digest", c_char_p),
    ]


class sfu_cell(Structure):
    _fields_ = [
        ("dataset", c_char_p),
        ("net", c_char_p),
        ("size", c_char_p),
        ("k", c_int32),
        ("alpha", c_double),
        ("beta", c_double),
        ("measure", c_char_p),
        ("splits", c_int32),
        ("trials", c_int32),
        ("mean", c_double),
        ("std", c_double),
        ("ci_low", c_double),
        ("ci_high", c_double),
        ("rank", c_double),
        ("p", c_double),
        ("same_as", c_char_p),
        ("exponents", c_bool),
        ("published", c_void_p),
        ("beyond", c_bool),
    ]


class sfu_rank(Structure):
    _fields_ = [
        ("size", c_char_p),
        ("net", c_char_p),
        ("rank", c_double),
        ("critical", c_double),
        ("datasets", c_int32),
        ("published", c_void_p),
        ("low", c_double),
        ("high", c_double),
    ]


class sfu_rank_pair(Structure):
    _fields_ = [
        ("size", c_char_p),
        ("one", c_char_p),
        ("other", c_char_p),
        ("difference", c_double),
        ("low", c_double),
        ("high", c_double),
    ]


class sfu_pair(Structure):
    _fields_ = [
        ("title", c_char_p),
        ("one", c_char_p),
        ("other", c_char_p),
        ("dataset", c_char_p),
        ("size", c_char_p),
        ("one_mean", c_double),
        ("other_mean", c_double),
        ("difference", c_double),
        ("p", c_double),
    ]


class sfu_label_progress(Structure):
    _fields_ = [
        ("step", c_int32),
        ("steps", c_int32),
        ("seconds", c_double),
        ("budget", c_double),
        ("net", c_char_p),
    ]


class sfu_label_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("seconds", c_double),
        ("steps", c_int32),
        ("seed", c_uint64),
        ("jobs", c_int),
        ("on_progress", c_void_p),
        ("on_progress_user", c_void_p),
        ("metric", c_int),
        ("balanced", c_bool),
        ("coverage", c_double),
        ("nets", c_char_p),
        ("device", c_char_p),
        ("share", c_char_p),
        ("memory", c_uint64),
    ]


class sfu_label_summary(Structure):
    _fields_ = [
        ("labelled", c_int32),
        ("unlabelled", c_int32),
        ("folds", c_int32),
        ("held_out", c_int32),
        ("right", c_int32),
        ("accuracy", c_double),
        ("low", c_double),
        ("high", c_double),
        ("frequent", c_double),
        ("frequent_class", c_int32),
        ("no_graph", c_double),
        ("graph_wins", c_int32),
        ("graph_loses", c_int32),
        ("graph_helps", c_bool),
        ("net", c_char_p),
        ("params", c_char_p),
        ("val_accuracy", c_double),
        ("train", c_int32),
        ("val", c_int32),
        ("steps", c_int32),
        ("all_steps", c_int32),
        ("trainings", c_int64),
        ("interrupted", c_bool),
        ("cut", c_bool),
        ("seconds", c_double),
        ("metric", c_int),
        ("score", c_double),
        ("score_low", c_double),
        ("score_high", c_double),
        ("no_graph_score", c_double),
        ("val_score", c_double),
        ("epochs", c_int32),
        ("temperature", c_double),
        ("calibration_error", c_double),
        ("coverage", c_double),
        ("set_coverage", c_double),
        ("set_threshold", c_double),
        ("set_size", c_double),
        ("unweighted", c_bool),
        ("ranks_per_trial", c_int32),
        ("graph_tried", c_bool),
    ]


class sfu_label_candidate(Structure):
    _fields_ = [
        ("net", c_char_p),
        ("trials", c_int32),
        ("val_accuracy", c_double),
        ("accuracy", c_double),
        ("chosen", c_int32),
        ("val_score", c_double),
        ("score", c_double),
        ("needs", c_char_p),
    ]


class sfu_label_calibration(Structure):
    _fields_ = [
        ("from", c_double),
        ("below", c_double),
        ("held_out", c_int32),
        ("right", c_int32),
        ("unlabelled", c_int32),
    ]


class sfu_rate(Structure):
    _fields_ = [
        ("what", c_char_p),
        ("unit", c_char_p),
        ("value", c_double),
    ]


class sfu_bench_options(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("keep", c_bool),
        ("progress", c_void_p),
        ("progress_user", c_void_p),
        ("device", c_char_p),
    ]


sfu_log_fn = CFUNCTYPE(None, c_void_p, c_int, c_char_p)
sfu_progress_fn = CFUNCTYPE(c_bool, c_void_p, POINTER(sfu_progress))
sfu_write_fn = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)
sfu_epoch_fn = CFUNCTYPE(c_bool, c_void_p, POINTER(sfu_epoch))
sfu_tune_fn = CFUNCTYPE(c_bool, c_void_p, POINTER(sfu_tune_progress))
sfu_compare_fn = CFUNCTYPE(c_bool, c_void_p, POINTER(sfu_compare_progress))
sfu_label_fn = CFUNCTYPE(c_bool, c_void_p, POINTER(sfu_label_progress))

STRUCTS: dict[str, Any] = {
    "sfu_allocator": sfu_allocator,
    "sfu_progress": sfu_progress,
    "sfu_csv_options": sfu_csv_options,
    "sfu_csr": sfu_csr,
    "sfu_info": sfu_info,
    "sfu_import_options": sfu_import_options,
    "sfu_arrays": sfu_arrays,
    "sfu_make_options": sfu_make_options,
    "sfu_noise_options": sfu_noise_options,
    "sfu_order_options": sfu_order_options,
    "sfu_get_options": sfu_get_options,
    "sfu_smoothing_options": sfu_smoothing_options,
    "sfu_net_options": sfu_net_options,
    "sfu_layer": sfu_layer,
    "sfu_plan_options": sfu_plan_options,
    "sfu_step": sfu_step,
    "sfu_pass_cost": sfu_pass_cost,
    "sfu_spread": sfu_spread,
    "sfu_epoch": sfu_epoch,
    "sfu_train_options": sfu_train_options,
    "sfu_class_score": sfu_class_score,
    "sfu_scores": sfu_scores,
    "sfu_parameter": sfu_parameter,
    "sfu_predict_options": sfu_predict_options,
    "sfu_evaluate_options": sfu_evaluate_options,
    "sfu_evaluation_summary": sfu_evaluation_summary,
    "sfu_trial": sfu_trial,
    "sfu_tune_progress": sfu_tune_progress,
    "sfu_tune_options": sfu_tune_options,
    "sfu_compare_progress": sfu_compare_progress,
    "sfu_compare_options": sfu_compare_options,
    "sfu_left_out": sfu_left_out,
    "sfu_entry": sfu_entry,
    "sfu_cell": sfu_cell,
    "sfu_rank": sfu_rank,
    "sfu_rank_pair": sfu_rank_pair,
    "sfu_pair": sfu_pair,
    "sfu_label_progress": sfu_label_progress,
    "sfu_label_options": sfu_label_options,
    "sfu_label_summary": sfu_label_summary,
    "sfu_label_candidate": sfu_label_candidate,
    "sfu_label_calibration": sfu_label_calibration,
    "sfu_rate": sfu_rate,
    "sfu_bench_options": sfu_bench_options,
}

# Name: (type of the result, types of the arguments).
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "sfu_version": (c_char_p, []),
    "sfu_version_part": (c_char_p, [c_int]),
    "sfu_status_text": (c_char_p, [c_int]),
    "sfu_message": (c_char_p, []),
    "sfu_escape": (c_size_t, [c_void_p, c_size_t, c_char_p, c_size_t]),
    "sfu_set_allocator": (None, [POINTER(sfu_allocator)]),
    "sfu_set_log": (None, [sfu_log_fn, c_void_p]),
    "sfu_set_progress": (None, [sfu_progress_fn, c_void_p]),
    "sfu_ranks_launched": (c_int, []),
    "sfu_ranks_number": (c_int, []),
    "sfu_ranks_join": (c_int, [c_int, c_void_p]),
    "sfu_ranks_agree": (c_int, [c_char_p, c_void_p, c_size_t]),
    "sfu_ranks_leave": (c_bool, [c_void_p, c_double]),
    "sfu_ranks_abort": (None, [c_int]),
    "sfu_mapped_file": (c_char_p, [c_void_p]),
    "sfu_output_check": (c_int, [c_char_p]),
    "sfu_same_file": (c_bool, [c_char_p, c_char_p]),
    "sfu_csv_options_init_sized": (None, [POINTER(sfu_csv_options), c_size_t]),
    "sfu_dataset_open": (c_int, [c_void_p, c_char_p]),
    "sfu_dataset_open_within": (c_int, [c_void_p, c_char_p, c_uint64]),
    "sfu_dataset_path": (c_int, [c_void_p, c_char_p]),
    "sfu_dataset_check": (c_int, [c_void_p]),
    "sfu_dataset_free": (None, [c_void_p]),
    "sfu_dataset_name": (c_char_p, [c_void_p]),
    "sfu_dataset_nodes": (c_int32, [c_void_p]),
    "sfu_dataset_features": (c_int32, [c_void_p]),
    "sfu_dataset_classes": (c_int32, [c_void_p]),
    "sfu_dataset_graph": (sfu_csr, [c_void_p]),
    "sfu_dataset_sparse": (sfu_csr, [c_void_p]),
    "sfu_dataset_dense": (c_void_p, [c_void_p]),
    "sfu_dataset_labels": (c_void_p, [c_void_p]),
    "sfu_dataset_class_name": (c_char_p, [c_void_p, c_int32]),
    "sfu_dataset_feature_name": (c_char_p, [c_void_p, c_int32]),
    "sfu_dataset_node_name": (c_void_p, [c_void_p, c_int32, c_void_p]),
    "sfu_dataset_column": (c_void_p, [c_void_p, c_char_p]),
    "sfu_dataset_column_name": (c_char_p, [c_void_p, c_int]),
    "sfu_dataset_standard": (c_void_p, [c_void_p, c_int, c_void_p]),
    "sfu_dataset_standard_splits": (c_int32, [c_void_p]),
    "sfu_dataset_standard_split": (c_void_p, [c_void_p, c_int32, c_int, c_void_p]),
    "sfu_dataset_digest": (c_int, [c_void_p, c_void_p]),
    "sfu_dataset_save": (c_int, [c_void_p, c_char_p]),
    "sfu_dataset_export": (c_int, [c_void_p, c_char_p, POINTER(sfu_csv_options), c_void_p]),
    "sfu_text_free": (None, [c_void_p]),
    "sfu_export_file": (c_char_p, [c_int]),
    "sfu_export_check": (c_int, [c_char_p]),
    "sfu_dataset_info": (c_int, [c_void_p, c_void_p]),
    "sfu_dataset_class_counts": (c_int, [c_void_p, c_void_p]),
    "sfu_dataset_warning": (c_int, [c_void_p, c_size_t, c_void_p, c_int]),
    "sfu_dataset_import_note": (c_int, [c_void_p, c_size_t, c_void_p, c_int]),
    "sfu_import_options_init_sized": (None, [POINTER(sfu_import_options), c_size_t]),
    "sfu_import_format": (c_char_p, [c_int, c_void_p]),
    "sfu_dataset_import": (c_int, [c_void_p, POINTER(sfu_import_options)]),
    "sfu_arrays_init_sized": (None, [POINTER(sfu_arrays), c_size_t]),
    "sfu_dataset_from_arrays": (c_int, [c_void_p, POINTER(sfu_arrays), POINTER(sfu_import_options)]),
    "sfu_make_options_init_sized": (None, [POINTER(sfu_make_options), c_size_t]),
    "sfu_dataset_make": (c_int, [c_void_p, POINTER(sfu_make_options)]),
    "sfu_noise_options_init_sized": (None, [POINTER(sfu_noise_options), c_size_t]),
    "sfu_dataset_noise": (c_int, [c_void_p, c_void_p, POINTER(sfu_noise_options)]),
    "sfu_order_options_init_sized": (None, [POINTER(sfu_order_options), c_size_t]),
    "sfu_dataset_order": (c_int, [c_void_p, c_void_p, POINTER(sfu_order_options)]),
    "sfu_get_options_init_sized": (None, [POINTER(sfu_get_options), c_size_t]),
    "sfu_get_name": (c_char_p, [c_int, c_void_p]),
    "sfu_dataset_get": (c_int, [c_void_p, c_char_p, POINTER(sfu_get_options)]),
    "sfu_cache_folder": (c_void_p, []),
    "sfu_dataset_list": (c_int, [c_void_p, c_void_p]),
    "sfu_split_new": (c_int, [c_void_p, c_void_p, c_char_p, c_char_p]),
    "sfu_split_from_nodes": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sfu_split_free": (None, [c_void_p]),
    "sfu_split_part": (c_void_p, [c_void_p, c_int, c_void_p]),
    "sfu_split_digest": (c_char_p, [c_void_p]),
    "sfu_split_text": (c_char_p, [c_void_p]),
    "sfu_split_save": (c_int, [c_void_p, c_void_p, c_char_p, POINTER(sfu_csv_options)]),
    "sfu_smoothing_options_init_sized": (None, [POINTER(sfu_smoothing_options), c_size_t]),
    "sfu_smoothing_new": (c_int, [c_void_p, c_void_p, POINTER(sfu_smoothing_options)]),
    "sfu_matrix_csr": (sfu_csr, [c_void_p]),
    "sfu_matrix_free": (None, [c_void_p]),
    "sfu_net_options_init_sized": (None, [POINTER(sfu_net_options), c_size_t]),
    "sfu_net_parse": (c_int, [c_void_p, c_char_p, POINTER(sfu_net_options)]),
    "sfu_net_free": (None, [c_void_p]),
    "sfu_layer_init_sized": (None, [POINTER(sfu_layer), c_size_t, c_int]),
    "sfu_net_from_layers": (c_int, [c_void_p, POINTER(sfu_layer), c_int]),
    "sfu_net_layer": (c_bool, [POINTER(sfu_layer), c_void_p, c_int]),
    "sfu_net_text": (c_char_p, [c_void_p]),
    "sfu_net_name": (c_char_p, [c_int, c_void_p]),
    "sfu_net_draw": (c_int, [c_void_p, c_char_p]),
    "sfu_plan_options_init_sized": (None, [POINTER(sfu_plan_options), c_size_t]),
    "sfu_plan_new": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_plan_options)]),
    "sfu_plan_free": (None, [c_void_p]),
    "sfu_plan_step": (POINTER(sfu_step), [c_void_p, c_int, c_int]),
    "sfu_plan_cost": (POINTER(sfu_pass_cost), [c_void_p, c_int]),
    "sfu_plan_is_nominal": (c_bool, [c_void_p]),
    "sfu_plan_measure": (c_int, [c_void_p]),
    "sfu_plan_spread": (sfu_spread, [c_void_p, c_int]),
    "sfu_metric_name": (c_char_p, [c_int, c_void_p]),
    "sfu_train_options_init_sized": (None, [POINTER(sfu_train_options), c_size_t]),
    "sfu_train": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_train_options)]),
    "sfu_curve_save_sized": (c_int, [c_char_p, POINTER(sfu_epoch), c_int64, c_size_t]),
    "sfu_model_scores": (POINTER(sfu_scores), [c_void_p]),
    "sfu_model_class_score": (sfu_class_score, [c_void_p, c_int32]),
    "sfu_model_confusion": (c_int32, [c_void_p, c_int32, c_int32]),
    "sfu_model_open": (c_int, [c_void_p, c_char_p]),
    "sfu_model_save": (c_int, [c_void_p, c_char_p]),
    "sfu_model_from_net": (c_int, [c_void_p, c_void_p, c_void_p, c_uint64]),
    "sfu_model_free": (None, [c_void_p]),
    "sfu_model_net": (c_void_p, [c_void_p]),
    "sfu_model_classes": (c_int32, [c_void_p]),
    "sfu_model_features": (c_int32, [c_void_p]),
    "sfu_model_class_name": (c_char_p, [c_void_p, c_int32]),
    "sfu_model_has_transform": (c_bool, [c_void_p]),
    "sfu_model_embedding_width": (c_int32, [c_void_p]),
    "sfu_model_parameter": (POINTER(sfu_parameter), [c_void_p, c_int]),
    "sfu_model_set_parameter": (c_int, [c_void_p, c_int, c_void_p]),
    "sfu_predict": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_int]),
    "sfu_predict_options_init_sized": (None, [POINTER(sfu_predict_options), c_size_t]),
    "sfu_predict_with": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_predict_options)]),
    "sfu_changed_nodes": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p]),
    "sfu_embed": (c_int, [c_void_p, c_void_p, c_void_p, c_int]),
    "sfu_embed_with": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(sfu_predict_options)]),
    "sfu_predict_save": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_predict_options),
        POINTER(sfu_csv_options)]),
    "sfu_predictions_save": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_csv_options)]),
    "sfu_embedding_save": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, POINTER(sfu_csv_options)]),
    "sfu_nodes_read": (c_int, [c_void_p, c_void_p, c_void_p, c_char_p]),
    "sfu_evaluate_options_init_sized": (None, [POINTER(sfu_evaluate_options), c_size_t]),
    "sfu_evaluate": (c_int, [c_void_p, c_void_p, c_void_p, POINTER(sfu_evaluate_options)]),
    "sfu_evaluation_free": (None, [c_void_p]),
    "sfu_evaluation_scores": (POINTER(sfu_evaluation_summary), [c_void_p]),
    "sfu_evaluation_class_score": (sfu_class_score, [c_void_p, c_int32]),
    "sfu_evaluation_confusion": (c_int32, [c_void_p, c_int32, c_int32]),
    "sfu_tune_options_init_sized": (None, [POINTER(sfu_tune_options), c_size_t]),
    "sfu_tune": (c_int, [c_void_p, c_void_p, c_char_p, POINTER(sfu_net_options), c_void_p, POINTER(sfu_tune_options)]),
    "sfu_study_free": (None, [c_void_p]),
    "sfu_study_name": (c_char_p, [c_void_p]),
    "sfu_study_location": (c_char_p, [c_void_p]),
    "sfu_study_location_text": (c_char_p, [c_void_p, c_size_t, c_char_p]),
    "sfu_study_location_is_memory": (c_bool, [c_char_p]),
    "sfu_study_file": (c_int, [c_void_p, c_char_p]),
    "sfu_hide_passwords": (None, [c_void_p]),
    "sfu_study_space": (c_char_p, [c_void_p]),
    "sfu_study_trials": (c_int32, [c_void_p]),
    "sfu_study_trial": (POINTER(sfu_trial), [c_void_p, c_int32]),
    "sfu_study_ranked": (POINTER(sfu_trial), [c_void_p, c_int32]),
    "sfu_study_observed": (c_int32, [c_void_p]),
    "sfu_study_skipped": (c_int32, [c_void_p, c_void_p]),
    "sfu_study_parameter": (c_char_p, [c_void_p, c_int]),
    "sfu_study_importance": (c_double, [c_void_p, c_int]),
    "sfu_study_value": (c_char_p, [c_void_p, c_int32, c_int]),
    "sfu_study_value_number": (c_double, [c_void_p, c_int32, c_int]),
    "sfu_study_model": (c_void_p, [c_void_p]),
    "sfu_study_winner_options": (None, [POINTER(sfu_train_options), c_void_p]),
    "sfu_study_export": (c_int, [c_void_p, c_char_p, POINTER(sfu_csv_options)]),
    "sfu_study_plot": (c_int, [c_void_p, c_char_p]),
    "sfu_compare_options_init_sized": (None, [POINTER(sfu_compare_options), c_size_t]),
    "sfu_compare": (c_int, [c_void_p, POINTER(sfu_compare_options)]),
    "sfu_results_left_out": (POINTER(sfu_left_out), [c_void_p, c_int]),
    "sfu_results_open": (c_int, [c_void_p, c_char_p]),
    "sfu_results_free": (None, [c_void_p]),
    "sfu_results_merge": (c_int, [c_void_p, c_void_p, c_int, c_char_p]),
    "sfu_results_missing": (c_int, [c_void_p]),
    "sfu_results_entry": (POINTER(sfu_entry), [c_void_p, c_int]),
    "sfu_results_epoch": (POINTER(sfu_epoch), [c_void_p, c_int, c_int]),
    "sfu_results_cell": (POINTER(sfu_cell), [c_void_p, c_int]),
    "sfu_results_rank": (POINTER(sfu_rank), [c_void_p, c_int]),
    "sfu_results_rank_pair": (POINTER(sfu_rank_pair), [c_void_p, c_int]),
    "sfu_results_pair": (POINTER(sfu_pair), [c_void_p, c_int]),
    "sfu_results_text": (c_char_p, [c_void_p]),
    "sfu_results_folder": (c_char_p, [c_void_p]),
    "sfu_results_metric": (c_int, [c_void_p]),
    "sfu_results_report": (c_int, [c_void_p]),
    "sfu_results_file": (c_char_p, [c_int]),
    "sfu_results_check": (c_int, [c_char_p]),
    "sfu_label_options_init_sized": (None, [POINTER(sfu_label_options), c_size_t]),
    "sfu_label": (c_int, [c_void_p, c_void_p, POINTER(sfu_label_options)]),
    "sfu_labelling_free": (None, [c_void_p]),
    "sfu_labelling_summary": (POINTER(sfu_label_summary), [c_void_p]),
    "sfu_labelling_candidate": (POINTER(sfu_label_candidate), [c_void_p, c_int]),
    "sfu_labelling_confusion": (c_int32, [c_void_p, c_int32, c_int32]),
    "sfu_labelling_calibration": (POINTER(sfu_label_calibration), [c_void_p, c_int]),
    "sfu_labelling_model": (c_void_p, [c_void_p]),
    "sfu_labelling_probabilities": (c_void_p, [c_void_p]),
    "sfu_labelling_page": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, c_int32]),
    "sfu_labelling_ask": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "sfu_bench_new": (c_int, [c_void_p, c_bool, sfu_progress_fn, c_void_p]),
    "sfu_bench_options_init_sized": (None, [POINTER(sfu_bench_options), c_size_t]),
    "sfu_bench_new_with": (c_int, [c_void_p, POINTER(sfu_bench_options)]),
    "sfu_bench_kept": (c_int, [c_void_p]),
    "sfu_bench_free": (None, [c_void_p]),
    "sfu_bench_rate": (POINTER(sfu_rate), [c_void_p, c_int]),
    "sfu_bench_device": (c_char_p, [c_void_p]),
    "sfu_bench_floor": (c_double, [c_void_p, c_void_p, c_int]),
}
