/* result_files.c - CSV output of training and prediction: learning curves, predictions, embeddings. */
#include "csv_write.h"
#include "dataset.h"
#include "metrics.h"
#include "predict.h"
#include "sized_struct.h"

#include <math.h>
#include <string.h>

void sfu_csv_options_init_sized(sfu_csv_options *options, size_t size) {
    const sfu_csv_options defaults = {.size = sizeof defaults};
    sfu__sized_init(options, size, &defaults, sizeof defaults);
}

static sfu_status put_text(sfu__writer *out, const char *text) { return sfu__writer_add(out, text, strlen(text)); }

/* ---- learning curves --------------------------------------------------------------------------------------------- */

/* ",NUMBER", or "," if the score is NaN. */
static sfu_status put_score(sfu__writer *out, double score) {
    return isfinite(score) ? sfu__writer_format(out, ",%.9g", score) : put_text(out, ",");
}

/* The fields that are written are older than any header, so that each epoch has them. */
sfu_status sfu_curve_save_sized(const char *path, const sfu_epoch *epochs, int64_t count, size_t epoch_size) {
    sfu_status status = SFU_OK;
    sfu__writer *out = NULL;
    SFU_TRY(sfu__writer_open(&out, path));
    SFU_TRY(put_text(out, "epoch,train_loss,val_loss,val_accuracy\n"));
    for (int64_t i = 0; i < count; i++) {
        const sfu_epoch *epoch = (const sfu_epoch *)(const void *)((const char *)epochs + (size_t)i * epoch_size);
        SFU_TRY(sfu__writer_format(out, "%d", epoch->epoch));
        SFU_TRY(put_score(out, epoch->train_loss));
        SFU_TRY(put_score(out, epoch->val_loss));
        SFU_TRY(put_score(out, epoch->val_accuracy));
        SFU_TRY(put_text(out, "\n"));
    }
    SFU_TRY(sfu__writer_commit(out));
done:
    sfu__writer_close(out);
    return status;
}

/* ---- tables with one row per node -------------------------------------------------------------------------------- */

typedef struct csv_table {
    sfu__writer *out;
    const int32_t *nodes; /* of the rows, or NULL: all of them */
    int32_t rows;
    const sfu_dataset *dataset;
    const sfu_model *model;
    const float *values; /* [rows][width], or those of a piece */
    int32_t first;       /* row of `values` */
    /* NULL, or: gives the values from `row`, the end of the last ones, on; *end is their end. */
    sfu_status (*next)(struct csv_table *csv_output, int32_t row, int32_t *end);
    void *user;
    int32_t *counts; /* NULL, or [width]: written nodes per predicted class */
    int32_t width, top;
    float *left; /* [width]: scratch for selecting the most probable classes */
} csv_table;

typedef sfu_status (*put_fn)(const csv_table *csv_output, int32_t row);

static const float *row_of(const csv_table *csv_output, int32_t row) {
    return csv_output->values + (int64_t)(row - csv_output->first) * csv_output->width;
}

/* The model's name of a class, else the dataset's, else NULL. */
static const char *class_name(const csv_table *csv_output, int32_t class_index) {
    const char *name = sfu_model_class_name(csv_output->model, class_index);
    return name == NULL && class_index < csv_output->dataset->classes
               ? sfu_dataset_class_name(csv_output->dataset, class_index)
               : name;
}

/* Its name, else its number. */
static sfu_status put_class(const csv_table *csv_output, int32_t class_index) {
    const char *name = class_name(csv_output, class_index);
    return name != NULL ? sfu__csv_put(csv_output->out, name, strlen(name))
                        : sfu__writer_format(csv_output->out, "%d", class_index);
}

/* ",CLASS|CLASS": the classes with at least the probability of the threshold, and the most probable one. */
static sfu_status put_set(const csv_table *csv_output, int32_t node, double threshold) {
    sfu_status status = SFU_OK;
    sfu__text set = {0};
    const float *row = row_of(csv_output, node);
    const int32_t guess = sfu__largest(row, csv_output->width);
    for (int32_t c = 0; c < csv_output->width; c++) {
        const char *name = class_name(csv_output, c);
        if (c == guess || (double)row[c] >= threshold) {
            SFU_TRY(sfu__text_format(&set, set.size > 0 ? "|" : ""));
            SFU_TRY(name != NULL ? sfu__text_format(&set, "%s", name) : sfu__text_format(&set, "%d", c));
        }
    }
    SFU_TRY(put_text(csv_output->out, ","));
    SFU_TRY(sfu__csv_put(csv_output->out, set.bytes, set.size));
done:
    sfu__text_clear(&set);
    return status;
}

/* Writes the header, then one row per requested node. */
static sfu_status put_lines(csv_table *csv_output, const char *path, const sfu_csv_options *options,
                            sfu_status (*put_header)(const csv_table *csv_output), put_fn put_rest) {
    sfu_status status = SFU_OK;
    int32_t end = csv_output->next != NULL ? 0 : csv_output->rows;
    SFU_TRY(sfu__dataset_check_nodes(csv_output->dataset));
    const int32_t *labels = csv_output->dataset->labels;
    SFU_TRY(path != NULL ? sfu__writer_open(&csv_output->out, path)
                         : sfu__writer_open_sink(&csv_output->out, options->write, options->write_user));
    sfu__writer_set_spreadsheet(csv_output->out, options->spreadsheet);
    SFU_TRY(put_header(csv_output));
    SFU_TRY(put_text(csv_output->out, options->sets ? ",set\n" : "\n"));
    for (int32_t row = 0; row < csv_output->rows; row++) {
        const int32_t node = csv_output->nodes != NULL ? csv_output->nodes[row] : row;
        SFU_TRY(row == end ? csv_output->next(csv_output, row, &end) : SFU_OK);
        if (options->only_unlabelled && labels != NULL && labels[node] != SFU_NO_LABEL) {
            continue;
        }
        if (csv_output->counts != NULL) {
            csv_output->counts[sfu__largest(row_of(csv_output, row), csv_output->width)]++;
        }
        SFU_TRY(sfu__csv_put_node(csv_output->out, csv_output->dataset, node));
        SFU_TRY(put_rest(csv_output, row));
        SFU_TRY(options->sets ? put_set(csv_output, row, options->set_threshold) : SFU_OK);
        SFU_TRY(put_text(csv_output->out, "\n"));
    }
    SFU_TRY(sfu__writer_commit(csv_output->out));
done:
    sfu__writer_close(csv_output->out);
    return status;
}

static sfu_status check_destination(const char *path, const sfu_csv_options *options) {
    return path != NULL || options->write != NULL
               ? SFU_OK
               : sfu__fail(SFU_ERR_ARGUMENT, "a CSV file needs a path, or a function that gets its bytes");
}

static sfu_status check_rows(const csv_table *csv_output) {
    for (int32_t row = 0; row < csv_output->rows && csv_output->nodes != NULL; row++) {
        const int32_t node = csv_output->nodes[row];
        if (node < 0 || node >= csv_output->dataset->nodes) {
            return sfu__fail(SFU_ERR_ARGUMENT, "node %d of the list is %d; expected a number below %d", row, node,
                             csv_output->dataset->nodes);
        }
    }
    return SFU_OK;
}

/* ---- predictions ----------------------------------------------------------------------------------------------- */

/* ",CLASS,PROBABILITY" */
static sfu_status put_prediction(const csv_table *csv_output, int32_t class_index, float probability) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(csv_output->out, ","));
    SFU_TRY(put_class(csv_output, class_index));
    SFU_TRY(sfu__writer_format(csv_output->out, ",%.6g", (double)probability));
done:
    return status;
}

static sfu_status put_class_header(const csv_table *csv_output) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(csv_output->out, "node,label,probability"));
    for (int32_t c = 0; c < csv_output->width; c++) {
        SFU_TRY(put_text(csv_output->out, ","));
        SFU_TRY(put_class(csv_output, c));
    }
done:
    return status;
}

static sfu_status put_class_row(const csv_table *csv_output, int32_t number) {
    sfu_status status = SFU_OK;
    const float *row = row_of(csv_output, number);
    const int32_t guess = sfu__largest(row, csv_output->width);
    SFU_TRY(put_prediction(csv_output, guess, row[guess]));
    for (int32_t c = 0; c < csv_output->width; c++) {
        SFU_TRY(sfu__writer_format(csv_output->out, ",%.6g", (double)row[c]));
    }
done:
    return status;
}

static sfu_status put_top_header(const csv_table *csv_output) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(csv_output->out, "node"));
    for (int32_t i = 1; i <= csv_output->top; i++) {
        SFU_TRY(sfu__writer_format(csv_output->out, ",label_%d,probability_%d", i, i));
    }
done:
    return status;
}

/* Classes in descending order of probability; ties go to the lower class. */
static sfu_status put_top_row(const csv_table *csv_output, int32_t number) {
    sfu_status status = SFU_OK;
    memcpy(csv_output->left, row_of(csv_output, number), (size_t)csv_output->width * sizeof *csv_output->left);
    for (int32_t i = 0; i < csv_output->top; i++) {
        const int32_t guess = sfu__largest(csv_output->left, csv_output->width);
        SFU_TRY(put_prediction(csv_output, guess, csv_output->left[guess]));
        csv_output->left[guess] = -1.0F;
    }
done:
    return status;
}

static sfu_status put_predictions(csv_table *all, const char *path, const sfu_csv_options *options) {
    sfu_status status = SFU_OK;
    SFU_TRY(check_destination(path, options));
    if (options->top < 0) {
        status = sfu__fail(SFU_ERR_ARGUMENT, "top %d: it must be at least 0 (0: one column per class)", options->top);
        goto done;
    }
    SFU_TRY(check_rows(all));
    all->top = options->top < all->width ? options->top : all->width;
    SFU_ALLOC(all->left, all->width);
    SFU_TRY(put_lines(all, path, options, all->top > 0 ? put_top_header : put_class_header,
                      all->top > 0 ? put_top_row : put_class_row));
done:
    sfu__free(all->left);
    return status;
}

sfu_status sfu_predictions_save(const char *path, const sfu_dataset *dataset, const sfu_model *model,
                                const float *probabilities, const sfu_csv_options *given) {
    sfu_csv_options options;
    sfu_status status = SFU_OK;
    csv_table all = {.dataset = dataset, .model = model, .values = probabilities, .width = sfu_model_classes(model)};
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_csv_options));
    all.nodes = options.nodes;
    all.rows = options.nodes != NULL ? options.node_count : dataset->nodes;
    SFU_TRY(put_predictions(&all, path, &options));
done:
    return status;
}

/* ---- predictions in pieces --------------------------------------------------------------------------------------- */

typedef struct piece_source {
    sfu__pieces pieces;
    float *rows; /* [pieces.rows][classes] */
} piece_source;

static sfu_status next_piece(csv_table *csv_output, int32_t row, int32_t *end) {
    sfu_status status = SFU_OK;
    piece_source *from = csv_output->user;
    const sfu__pieces *pieces = &from->pieces;
    sfu__dense output;
    SFU_TRY(sfu__pieces_run(&output, &from->pieces, row));
    const sfu__dense rows = {from->rows, output.rows, output.cols, output.cols};
    for (int64_t i = 0; i < output.rows; i++) {
        memcpy(from->rows + i * output.cols, output.data + i * output.ld, (size_t)output.cols * sizeof *from->rows);
    }
    SFU_TRY(pieces->options->raw ? SFU_OK : sfu__calibrate(&rows, pieces->model, pieces->options->threads));
    csv_output->values = from->rows;
    csv_output->first = row;
    *end = row + output.rows;
done:
    return status;
}

sfu_status sfu_predict_save(const char *path, int32_t *counts, const sfu_dataset *dataset, const sfu_model *model,
                            const sfu_predict_options *given, const sfu_csv_options *given_csv) {
    sfu_status status = SFU_OK;
    sfu_predict_options options;
    sfu_csv_options csv;
    piece_source source = {0};
    csv_table all = {.dataset = dataset,
                     .model = model,
                     .next = next_piece,
                     .user = &source,
                     .counts = counts,
                     .width = sfu_model_classes(model)};
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_predict_options));
    SFU_TRY(SFU__READ_OPTIONS(&csv, given_csv, sfu_csv_options));
    for (int32_t c = 0; counts != NULL && c < all.width; c++) {
        counts[c] = 0;
    }
    all.nodes = options.nodes;
    all.rows = options.nodes != NULL ? options.node_count : dataset->nodes;
    SFU_TRY(check_destination(path, &csv));
    if (all.rows > 0) {
        SFU_TRY(sfu__pieces_start(&source.pieces, dataset, model, &options));
        SFU_ALLOC(source.rows, (int64_t)source.pieces.rows * all.width);
    }
    SFU_TRY(put_predictions(&all, path, &csv));
done:
    sfu__free(source.rows);
    sfu__pieces_clear(&source.pieces);
    return status;
}

/* ---- embeddings ------------------------------------------------------------------------------------------------ */

static sfu_status put_hidden_header(const csv_table *csv_output) {
    sfu_status status = SFU_OK;
    SFU_TRY(put_text(csv_output->out, "node"));
    for (int32_t i = 0; i < csv_output->width; i++) {
        SFU_TRY(sfu__writer_format(csv_output->out, ",h%d", i));
    }
done:
    return status;
}

/* Nine significant digits reproduce every float exactly. */
static sfu_status put_hidden_row(const csv_table *csv_output, int32_t number) {
    sfu_status status = SFU_OK;
    const float *row = row_of(csv_output, number);
    for (int32_t i = 0; i < csv_output->width; i++) {
        SFU_TRY(sfu__writer_format(csv_output->out, ",%.9g", (double)row[i]));
    }
done:
    return status;
}

sfu_status sfu_embedding_save(const char *path, const sfu_dataset *dataset, const sfu_model *model,
                              const float *embedding, const sfu_csv_options *given) {
    sfu_csv_options options;
    sfu_status status = SFU__READ_OPTIONS(&options, given, sfu_csv_options);
    status = status != SFU_OK ? status : check_destination(path, &options);
    csv_table all = {.dataset = dataset,
                     .model = model,
                     .values = embedding,
                     .rows = dataset->nodes,
                     .width = sfu_model_embedding_width(model)};
    return status != SFU_OK ? status : put_lines(&all, path, &options, put_hidden_header, put_hidden_row);
}
