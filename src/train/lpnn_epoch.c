/* lpnn_epoch.c - one epoch of LPNN: a training step and its validation, in one parallel region.
 *
 *     f = softmax(logits) or the rows of theta themselves                          all rows
 *     h0 = drop(relu(drop(x) Wx + f Wf + b0)), h1 = drop(relu(h0 W1 + b1)), g = softmax(h1 W2 + b2)
 *     J of f, S f and g; backward pass to the weights and to f                     block by block
 *     Adam updates f in place, and the weights once every block has added to their gradient
 *     the output of the validation rows with the new parameters
 *
 * Apart from S f, the forward and backward pass of a row need no other row. So a thread takes one block of rows from
 * the features to the gradients while it is in its cache, and three barriers are enough; a fourth is needed where the
 * validation output depends on f. Ranks divide the blocks further, and exchange what they have computed (lpnn_ranks.c).
 */
#include "lpnn_int.h"
#include "model.h"

#include <assert.h>

/* ---- work of each thread ----------------------------------------------------------------------------------------- */

static int64_t min_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* This thread's range of `count` items, in whole grains. */
static sfu__range thread_range(int64_t count, int64_t grain, int thread, int threads) {
    const int64_t grains = (count + grain - 1) / grain;
    return (sfu__range){min_of(grains * thread / threads * grain, count),
                        min_of(grains * (thread + 1) / threads * grain, count)};
}

/* This thread's blocks of those that all ranks have. */
static sfu__range thread_blocks(const sfu__lpnn_executor *executor, int64_t rows, int thread) {
    const sfu__lpnn_share share = sfu__lpnn_share_of(executor, thread);
    return thread_range(sfu__block_count(rows), 1, share.index, share.count);
}

static sfu__range thread_range_nonzeros(const sfu__prepared *A, int thread, int threads) {
    return (sfu__range){sfu__row_at(A->indptr, A->rows, (double)thread / threads),
                        sfu__row_at(A->indptr, A->rows, (double)(thread + 1) / threads)};
}

static sfu__range rows_of_block(int64_t rows, int64_t block) {
    const int64_t step = sfu__block_rows(rows);
    return (sfu__range){block * step, min_of((block + 1) * step, rows)};
}

static sfu__range elements_of(const sfu__dense *A, sfu__range rows) {
    return (sfu__range){rows.begin * A->ld, rows.end * A->ld};
}

typedef struct job {
    sfu__lpnn_executor *executor;
    const sfu__epoch *epoch;           /* NULL: run the pass only */
    sfu__mask masks[SFU__LPNN_LAYERS]; /* [i]: applied before the weights of layer i */
    sfu__target target;                /* for every node */
    sfu__adam adam;
    sfu_pass pass;                 /* the pass after the step; SFU_PASS_TRAIN: none */
    const sfu__target *validation; /* NULL: no scores */
} job;

/* ---- forward ---------------------------------------------------------------------------------------------------- */

/* F = f as a distribution, for these rows. */
static void make_f(const sfu__lpnn_executor *executor, sfu__range rows) {
    const float *from = executor->theta + executor->f->offset;
    executor->backend->reduce_blocks(executor->F.data, from, 1, 0,
                                     elements_of(&executor->F, rows)); /* one block: a copy */
    if (executor->net->lpnn.f == SFU__LPNN_SOFTMAX) {
        executor->backend->softmax(&executor->F, NULL, rows);
    }
}

static const float *bias_of(const sfu__lpnn_executor *executor, int layer) {
    return executor->bias[layer] != NULL ? executor->theta + executor->bias[layer]->offset : NULL;
}

/* h = the layers of g for the rows of x and f. */
static void forward(const sfu__lpnn_executor *executor, const sfu__dense *h, const sfu__sparse *x, const sfu__dense *f,
                    const int32_t *nodes, const sfu__mask *masks, sfu__range rows) {
    const sfu__backend *backend = executor->backend;
    const bool with_f = executor->net->lpnn.input_f;
    if (with_f) {
        const sfu__dense wf = sfu__lpnn_rows_of_f(executor, executor->theta);
        backend->gemm(&h[0], f, &wf, rows);
    }
    const sfu__dense wx = sfu__lpnn_rows_of_x(executor, executor->theta);
    backend->spmm(&h[0], x, &wx, with_f, rows);
    for (int i = 1; i < SFU__LPNN_LAYERS; i++) {
        const sfu__dense w = sfu__lpnn_view(executor->theta, executor->weight[i]);
        backend->activate(&h[i - 1], bias_of(executor, i - 1), executor->net->layers[i - 1].act, nodes, &masks[i],
                          rows);
        backend->gemm(&h[i], &h[i - 1], &w, rows);
    }
    backend->softmax(&h[SFU__LPNN_LAYERS - 1], bias_of(executor, SFU__LPNN_LAYERS - 1), rows);
}

/* ---- backward --------------------------------------------------------------------------------------------------- */

/* The features, or their transpose, with this epoch's dropout. */
static const sfu__sparse *dropped(const sfu__lpnn_matrix *x, const sfu__mask *mask) {
    return mask->threshold != 0 ? x->dropped : x->bound;
}

/* From dh of the last layer to dh of the first, and this block's part of every gradient that is a sum over rows. */
static void backward(const sfu__lpnn_executor *executor, const sfu__mask *masks, int64_t block, sfu__range rows) {
    const sfu__backend *backend = executor->backend;
    const sfu__lpnn_step *step = &executor->step;
    const sfu__range blocks = {block, block + 1};
    for (int i = SFU__LPNN_LAYERS - 1; i >= 0; i--) {
        const bool first = i == 0;
        if (executor->bias[i] != NULL) {
            backend->gemm_t(step->bias_parts[i], NULL, &step->dh[i], blocks);
        }
        if (!first) {
            backend->gemm_t(step->weight_parts[i], &step->h[i - 1], &step->dh[i], blocks);
            backend->gemm(&step->dh[i - 1], &step->dh[i], &step->wt[i], rows);
            backend->activate_backward(&step->dh[i - 1], &step->h[i - 1], executor->net->layers[i - 1].act, NULL,
                                       &masks[i], rows);
        }
    }
    if (executor->net->lpnn.input_f) {
        backend->gemm_t(step->weight_parts[0], &executor->F, &step->dh[0], blocks);
        backend->gemm(&step->flow, &step->dh[0], &step->wt[0], rows);
    }
}

static sfu__adam adam_of(const job *job, const sfu__parameter *parameter) {
    sfu__adam adam = job->adam;
    adam.decay = parameter->decays ? adam.decay : 0.0F;
    return adam;
}

/* Adam step of these rows of f, whose gradient is complete. */
static void update_f(const job *job, const sfu__dense *df, sfu__range rows) {
    const sfu__lpnn_executor *executor = job->executor;
    const bool clamped = executor->net->lpnn.f == SFU__LPNN_CLAMP;
    const int64_t at = executor->f->offset;
    sfu__adam adam = adam_of(job, executor->f);
    adam.low = clamped ? 0.0F : adam.low;
    executor->backend->adam(executor->theta + at, executor->m + at, executor->v + at, df->data, &adam,
                            elements_of(df, rows));
    if (clamped) {
        const sfu__dense f = sfu__lpnn_view(executor->theta, executor->f);
        executor->backend->normalise(&f, rows);
    }
}

static void drop_features(const job *job, sfu__range rows) {
    const sfu__lpnn_executor *executor = job->executor;
    if (job->masks[0].threshold != 0) {
        executor->backend->dropout_sparse(executor->step.dropped, executor->x.bound, NULL, &job->masks[0], rows);
    }
}

/* One block of rows, from the features to the gradients. */
static void step_block(const job *job, int64_t block) {
    const sfu__lpnn_executor *executor = job->executor;
    const sfu__backend *backend = executor->backend;
    const sfu__lpnn_step *step = &executor->step;
    const sfu__range rows = rows_of_block(executor->nodes, block);
    const sfu__sparse *x = dropped(&executor->x, &job->masks[0]);
    drop_features(job, rows);
    forward(executor, step->h, x, &executor->F, NULL, job->masks, rows);

    const sfu__dense df = sfu__lpnn_view(executor->gradient, executor->f);
    const sfu__lpnn_terms terms = sfu__lpnn_terms_of(executor->net);
    const int last = SFU__LPNN_LAYERS - 1;
    backend->spmm(&df, step->S.bound, &executor->F, false, rows);
    if (step->directed) {
        backend->spmm(&df, step->St.bound, &executor->F, true, rows);
    }
    backend->lpnn(step->losses, &df, &step->dh[last], &executor->F, &step->h[last], &job->target, &terms,
                  (sfu__range){block, block + 1});

    backward(executor, job->masks, block, rows);
    if (executor->net->lpnn.input_f) {
        backend->axpy_rows(&df, &step->flow, NULL, 1.0F, rows);
    }
    if (executor->net->lpnn.f == SFU__LPNN_SOFTMAX) {
        backend->softmax_backward(&df, &executor->F, rows);
    }
    update_f(job, &df, rows);
}

/* Sums the blocks' parts of a gradient and applies Adam to the parameter: this thread's range of `count` floats at
 * `offset`. */
static void update_summed(const job *job, const sfu__parameter *parameter, const float *parts, int64_t count,
                          int thread) {
    const sfu__lpnn_executor *executor = job->executor;
    const int64_t at = parameter->offset;
    const sfu__range mine = thread_range(count, 16, thread, sfu__team_size(executor->team));
    const sfu__adam adam = adam_of(job, parameter);
    executor->backend->reduce_blocks(executor->gradient + at, parts, sfu__block_count(executor->nodes), count, mine);
    executor->backend->adam(executor->theta + at, executor->m + at, executor->v + at, executor->gradient + at, &adam,
                            mine);
}

/* Adam step of the weights that multiply the features: dWx = x^T dh0; the threads split its rows by non-zeros. */
static void update_first_weights(const job *job, int thread) {
    sfu__lpnn_executor *executor = job->executor;
    const sfu__sparse *xt = dropped(&executor->step.xt, &job->masks[0]);
    const int threads = sfu__team_size(executor->team);
    const sfu__range rows = thread_range_nonzeros(executor->step.xt.prepared, thread, threads);
    const sfu__dense w = sfu__lpnn_rows_of_x(executor, executor->theta),
                     dw = sfu__lpnn_rows_of_x(executor, executor->gradient);
    const int64_t at = w.data - executor->theta;
    const sfu__adam adam = adam_of(job, executor->weight[0]);
    if (executor->ranks != NULL) {
        sfu__lpnn_relay_weights(executor, xt, thread);
    } else {
        executor->backend->spmm(&dw, xt, &executor->step.dh[0], false, rows);
    }
    executor->backend->adam(w.data, executor->m + at, executor->v + at, dw.data, &adam, elements_of(&w, rows));
}

static void update_weights(const job *job, int thread) {
    const sfu__lpnn_executor *executor = job->executor;
    const sfu__lpnn_step *step = &executor->step;
    update_first_weights(job, thread);
    if (executor->net->lpnn.input_f) {
        update_summed(job, executor->weight[0], step->weight_parts[0],
                      (int64_t)executor->classes * executor->weight[0]->ld, thread);
    }
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        if (i > 0) {
            const sfu__parameter *weight = executor->weight[i];
            update_summed(job, weight, step->weight_parts[i], (int64_t)weight->rows * weight->ld, thread);
        }
        if (executor->bias[i] != NULL) {
            update_summed(job, executor->bias[i], step->bias_parts[i], executor->bias[i]->ld, thread);
        }
    }
}

/* ---- the parallel region ----------------------------------------------------------------------------------------- */

static void prepare(const job *job, int thread) {
    sfu__lpnn_executor *executor = job->executor;
    const int threads = sfu__team_size(executor->team);
    make_f(executor, thread_range(executor->nodes, 64, thread, threads));
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        if (i > 0 || executor->net->lpnn.input_f) {
            const sfu__dense w = i > 0 ? sfu__lpnn_view(executor->theta, executor->weight[i])
                                       : sfu__lpnn_rows_of_f(executor, executor->theta);
            const sfu__dense *wt = &executor->step.wt[i];
            executor->backend->transpose(wt, &w, thread_range(wt->rows, 1, thread, threads));
        }
    }
}

static void run_step(const job *job, int thread) {
    sfu__lpnn_executor *executor = job->executor;
    prepare(job, thread);
    sfu__team_barrier(executor->team);
    const sfu__range mine = thread_blocks(executor, executor->nodes, thread);
    for (int64_t block = mine.begin; block < mine.end; block++) {
        step_block(job, block);
    }
    sfu__team_barrier(executor->team);
    if (executor->ranks != NULL) {
        if (thread == 0) {
            sfu__lpnn_exchange_blocks(executor);
        }
        sfu__team_barrier(executor->team);
    }
    update_weights(job, thread);
    sfu__team_barrier(executor->team);
}

static void run_pass(const job *job, int thread) {
    const sfu__lpnn_executor *executor = job->executor;
    const sfu__lpnn_pass *pass = &executor->passes[job->pass];
    const int threads = sfu__team_size(executor->team);
    const sfu__mask none[SFU__LPNN_LAYERS] = {{0}};
    if (sfu__model_needs_f(executor->net)) {
        make_f(executor, thread_range(executor->nodes, 64, thread, threads));
        sfu__team_barrier(executor->team);
    }
    const sfu__range mine = thread_blocks(executor, pass->count, thread);
    for (int64_t block = mine.begin; block < mine.end; block++) {
        const sfu__range rows = rows_of_block(pass->count, block);
        if (pass->pick.prepared != NULL) {
            executor->backend->spmm(&pass->f, pass->pick.bound, &executor->F, false, rows);
        }
        if (pass->runs_g) {
            const sfu__sparse *x = pass->nodes != NULL ? pass->x.bound : executor->x.bound;
            forward(executor, pass->h, x, &pass->f, pass->nodes, none, rows);
        }
    }
    if (job->validation != NULL) {
        const sfu__dense P = sfu__lpnn_output(executor, job->pass);
        executor->backend->cross_entropy(pass->scores, NULL, false, &P, job->validation, mine);
    }
}

static void run_region(void *context, int thread) {
    const job *job = context;
    const uint64_t before = sfu__float_guard();
    if (job->epoch != NULL) {
        run_step(job, thread);
    }
    if (job->pass != SFU_PASS_TRAIN) {
        run_pass(job, thread);
    }
    sfu__float_restore(before);
}

/* ---- interface --------------------------------------------------------------------------------------------------- */

/* Scatters the labels and weights of the training nodes into arrays over all nodes. */
static sfu__target scatter_target(const sfu__lpnn_executor *executor, const sfu__target *target) {
    const sfu__lpnn_step *step = &executor->step;
    for (int32_t i = 0; i < step->count; i++) {
        const int32_t node = step->nodes != NULL ? step->nodes[i] : i;
        step->labels[node] = target->labels[i];
        step->weights[node] = target->weights != NULL ? target->weights[i] : 1.0F;
    }
    return (sfu__target){step->labels, step->weights};
}

static void set_epoch(job *job, const sfu__epoch *epoch) {
    const sfu__lpnn_executor *executor = job->executor;
    job->epoch = epoch;
    job->target = scatter_target(executor, &epoch->target);
    for (int i = 0; i < SFU__LPNN_LAYERS; i++) {
        const double own = executor->net->layers[i].dropout, rate = own < 0.0 ? epoch->dropout : own;
        job->masks[i] = (sfu__mask){epoch->seed, epoch->number, (uint32_t)i, sfu__dropout_threshold(rate)};
    }
    assert(job->masks[0].threshold == 0 || executor->step.dropped != NULL);
    job->adam = sfu__adam_at(epoch->lr, epoch->decay, epoch->number);
}

void sfu__lpnn_epoch(sfu__lpnn_executor *executor, const sfu__epoch *epoch, sfu__score *training,
                     sfu__score *validation) {
    const sfu__lpnn_pass *pass = &executor->passes[SFU_PASS_EVALUATE];
    const bool evaluate = epoch->evaluate && pass->count > 0;
    job job = {.executor = executor,
               .pass = evaluate ? SFU_PASS_EVALUATE : SFU_PASS_TRAIN,
               .validation = evaluate ? &epoch->validation : NULL};
    assert(executor->step.count > 0);
    set_epoch(&job, epoch);
    (void)sfu__team_gather(executor->team); /* run_region reads the size of the team where it splits the work */
    sfu__team_run(executor->team, run_region, &job);
    if (evaluate) {
        sfu__lpnn_exchange_pass(executor, SFU_PASS_EVALUATE);
    }
    *training = (sfu__score){0};
    for (int64_t block = 0; block < sfu__block_count(executor->nodes); block++) {
        training->loss += executor->step.losses[block];
    }
    if (evaluate) {
        *validation = (sfu__score){0};
        for (int64_t block = 0; block < sfu__block_count(pass->count); block++) {
            validation->loss += pass->scores[block].loss;
            validation->correct += pass->scores[block].correct;
        }
    }
}

void sfu__lpnn_forward(sfu__lpnn_executor *executor, sfu_pass pass) {
    assert(pass != SFU_PASS_TRAIN && executor->passes[pass].count > 0);
    job job = {.executor = executor, .pass = pass};
    sfu__team_run(executor->team, run_region, &job);
    sfu__lpnn_exchange_pass(executor, pass);
}

sfu__dense sfu__lpnn_output(const sfu__lpnn_executor *executor, sfu_pass pass) {
    const sfu__lpnn_pass *at = &executor->passes[pass];
    return executor->net->lpnn.output_g ? at->h[SFU__LPNN_LAYERS - 1] : at->f;
}

sfu__dense sfu__lpnn_embedding(const sfu__lpnn_executor *executor, sfu_pass pass) {
    assert(executor->passes[pass].runs_g);
    return executor->passes[pass].h[SFU__LPNN_LAYERS - 2];
}
