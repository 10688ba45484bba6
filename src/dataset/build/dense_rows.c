/* dense_rows.c - fills dense features piece by piece; within a memory limit they lie in a scratch file. */
#include "dense_rows.h"
#include "parallel.h"
#include "scratch_file.h"

#include <math.h>
#include <stdatomic.h>

/* ---- pieces ----------------------------------------------------------------------------------------------------- */

typedef struct piece_job {
    sfu__piece_fn work;
    void *context;
    int64_t rows, width, step; /* rows in all, and per piece */
    float **buffers;           /* one per thread */
    sfu__ticker ticker;
    atomic_int_least64_t done;
} piece_job;

static sfu_status run_piece(void *context, int64_t item, int thread) {
    piece_job *self = context;
    const int64_t first = item * self->step;
    const int64_t left = self->rows - first;
    const int64_t count = left < self->step ? left : self->step;
    const sfu_status status = self->work(self->context, first, count, self->buffers[thread]);
    const int64_t done = atomic_fetch_add(&self->done, count) + count;
    return status == SFU_OK && thread == 0 ? sfu__tick(&self->ticker, (double)done) : status;
}

sfu_status sfu__each_piece(sfu__piece_fn work, void *context, int64_t rows, int64_t width, int threads,
                           const char *what) {
    enum { PIECE_FLOATS = 1 << 18 };
    sfu_status status = SFU_OK;
    piece_job self = {.work = work, .context = context, .rows = rows, .width = width};
    self.ticker = (sfu__ticker){NULL, NULL, what, "nodes", (double)rows, 0};
    self.step = width < PIECE_FLOATS ? PIECE_FLOATS / width : 1;
    SFU_ALLOC_ZERO(self.buffers, threads);
    for (int thread = 0; thread < threads; thread++) {
        SFU_ALLOC(self.buffers[thread], (self.step < rows ? self.step : rows) * width);
    }
    SFU_TRY(sfu__parallel(run_piece, &self, (rows + self.step - 1) / self.step, threads));
done:
    for (int thread = 0; self.buffers != NULL && thread < threads; thread++) {
        sfu__free(self.buffers[thread]);
    }
    sfu__free(self.buffers);
    return status;
}

/* ---- dense features --------------------------------------------------------------------------------------------- */

typedef struct fill_job {
    sfu__raw *raw;
    sfu__rows_fn rows;
    const void *context;
    atomic_int_least64_t nonzeros;
    atomic_bool infinite;
} fill_job;

static sfu_status fill_piece(void *context, int64_t first, int64_t count, float *buffer) {
    fill_job *self = context;
    const sfu__raw *raw = self->raw;
    const int64_t values = count * raw->features;
    float *out = raw->dense_scratch != NULL ? buffer : raw->dense + first * raw->features;
    int64_t nonzeros = 0;
    bool finite = true;
    self->rows(self->context, first, count, out);
    for (int64_t i = 0; i < values; i++) {
        nonzeros += out[i] != 0;
        finite = finite && isfinite(out[i]);
    }
    atomic_fetch_add(&self->nonzeros, nonzeros);
    if (!finite) {
        atomic_store(&self->infinite, true);
    }
    const int64_t bytes = (int64_t)sizeof *out;
    return raw->dense_scratch != NULL
               ? sfu__scratch_write(raw->dense_scratch, bytes * first * raw->features, out, bytes * values)
               : SFU_OK;
}

sfu_status sfu__raw_fill_dense(sfu__raw *raw, int64_t features, sfu__rows_fn rows, const void *context,
                               const char *what) {
    sfu_status status = SFU_OK;
    fill_job self = {.raw = raw, .rows = rows, .context = context};
    const int64_t bytes = (int64_t)sizeof *raw->dense * raw->nodes * features;
    atomic_init(&self.nonzeros, 0);
    atomic_init(&self.infinite, false);
    raw->features = features;
    if (raw->pairs.folder != NULL) {
        SFU_TRY(sfu__scratch_new(&raw->dense_scratch, raw->pairs.folder));
        (void)sfu__scratch_reserve(raw->dense_scratch, bytes);
    } else {
        SFU_ALLOC(raw->dense, raw->nodes * features);
    }
    SFU_TRY(sfu__each_piece(fill_piece, &self, raw->nodes, features, sfu__thread_count(raw->threads), what));
    if (raw->dense_scratch != NULL) {
        const void *data;
        SFU_TRY(sfu__scratch_map(&data, raw->dense_scratch, 0, bytes));
        raw->dense = (float *)(uintptr_t)data; /* read-only */
    }
    /* Not finite: left to the check of the values, which names the node. */
    raw->dense_nonzeros = atomic_load(&self.infinite) ? 0 : atomic_load(&self.nonzeros);
    raw->has_features = true;
done:
    return status;
}

void sfu__raw_free_dense(sfu__raw *raw) {
    if (raw->dense_scratch == NULL) {
        sfu__free(raw->dense);
    }
    sfu__scratch_free(raw->dense_scratch);
    raw->dense = NULL;
    raw->dense_scratch = NULL;
}
