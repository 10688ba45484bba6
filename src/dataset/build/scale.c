/* scale.c - scales the features of each node to unit L2 or L1 norm. */
#include "scale.h"
#include "dense_rows.h"
#include "parallel.h"
#include "progress.h"
#include "scratch_file.h"

#include <assert.h>
#include <math.h>
#include <string.h>

const char *sfu__scale_name(sfu_scale scale) {
    static const char *const names[] = {"unit", "sum", "none", "auto", "quantile"};
    return names[scale];
}

/* Accumulates in double, in column order, and rounds the quotient once. */
static void scale_row(float *values, int64_t count, sfu_scale scale) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const double value = (double)values[i];
        sum += scale == SFU_SCALE_UNIT ? value * value : fabs(value);
    }
    const double by = scale == SFU_SCALE_UNIT ? sqrt(sum) : sum;
    for (int64_t i = 0; i < count && by > 0; i++) {
        values[i] = (float)((double)values[i] / by);
    }
}

/* ---- features in memory ----------------------------------------------------------------------------------------- */

static sfu_status scale_dense(sfu__raw *raw, sfu_scale scale) {
    sfu_status status = SFU_OK;
    for (int64_t node = 0; node < raw->nodes; node++) {
        SFU_TRY(sfu__poll_at(node));
        scale_row(raw->dense + node * raw->features, raw->features, scale);
    }
done:
    return status;
}

static sfu_status scale_sparse(sfu_matrix *x, sfu_scale scale) {
    sfu_status status = SFU_OK;
    if (x->values == NULL) {
        const int64_t nonzeros = x->indptr[x->rows];
        SFU_ALLOC(x->values, nonzeros);
        for (int64_t i = 0; i < nonzeros; i++) {
            x->values[i] = 1;
        }
    }
    for (int32_t node = 0; node < x->rows; node++) {
        SFU_TRY(sfu__poll_at(node));
        scale_row(x->values + x->indptr[node], x->indptr[node + 1] - x->indptr[node], scale);
    }
done:
    return status;
}

/* ---- features in a scratch file --------------------------------------------------------------------------------- */

typedef struct scale_job {
    sfu__raw *raw;
    sfu_scale scale;
    int64_t values_at; /* in the file of the sparse features */
} scale_job;

/* Replaces rows in the file. */
static sfu_status scale_dense_piece(void *context, int64_t first, int64_t count, float *buffer) {
    const scale_job *self = context;
    const int64_t width = self->raw->features;
    const size_t bytes = (size_t)(count * width) * sizeof *buffer;
    memcpy(buffer, self->raw->dense + first * width, bytes);
    for (int64_t row = 0; row < count; row++) {
        scale_row(buffer + row * width, width, self->scale);
    }
    return sfu__scratch_write(self->raw->dense_scratch, first * width * (int64_t)sizeof *buffer, buffer,
                              (int64_t)bytes);
}

/* Writes the values of rows of ones. The buffer is for the widest row. */
static sfu_status scale_ones_piece(void *context, int64_t first, int64_t count, float *buffer) {
    const scale_job *self = context;
    const sfu_matrix *x = &self->raw->sparse;
    float *end = buffer;
    for (int64_t row = first; row < first + count; row++) {
        const int64_t width = x->indptr[row + 1] - x->indptr[row];
        for (int64_t i = 0; i < width; i++) {
            end[i] = 1;
        }
        scale_row(end, width, self->scale);
        end += width;
    }
    const int64_t size = (int64_t)sizeof *buffer;
    return sfu__scratch_write(x->scratch, self->values_at + size * x->indptr[first], buffer, size * (end - buffer));
}

static sfu_status scale_ones(scale_job *self, int threads) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &self->raw->sparse;
    const int64_t bytes = (int64_t)sizeof *x->values * x->indptr[x->rows];
    int64_t widest = 1;
    for (int64_t row = 0; row < x->rows; row++) {
        const int64_t width = x->indptr[row + 1] - x->indptr[row];
        widest = width > widest ? width : widest;
    }
    self->values_at = sfu__scratch_reserve(x->scratch, bytes);
    SFU_TRY(sfu__each_piece(scale_ones_piece, self, x->rows, widest, threads, "scaling features"));
    const void *data;
    SFU_TRY(sfu__scratch_map(&data, x->scratch, self->values_at, bytes));
    x->values = (float *)(uintptr_t)data; /* read-only */
done:
    return status;
}

sfu_status sfu__scale(sfu__raw *raw, sfu_scale scale) {
    scale_job self = {.raw = raw, .scale = scale};
    const int threads = sfu__thread_count(raw->threads);
    if (scale == SFU_SCALE_NONE) {
        return SFU_OK;
    }
    if (raw->dense != NULL) {
        return raw->dense_scratch == NULL
                   ? scale_dense(raw, scale)
                   : sfu__each_piece(scale_dense_piece, &self, raw->nodes, raw->features, threads, "scaling features");
    }
    assert(raw->sparse.scratch == NULL || raw->sparse.values == NULL);
    return raw->sparse.scratch == NULL ? scale_sparse(&raw->sparse, scale) : scale_ones(&self, threads);
}
