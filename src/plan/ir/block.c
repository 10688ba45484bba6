/* block.c - the sparse matrices of a pass: submatrices of S and their transposes, prepared by the backend. */
#include "plan_int.h"
#include "submatrix.h"
#include "text.h"

void sfu__block_clear(sfu__block *block, const sfu__plan *plan) {
    if (!block->borrowed && block->matrix != NULL) {
        plan->backend->prepared_free(block->matrix);
    }
    *block = (sfu__block){0};
}

static sfu__matrix_source source_of(sfu_matrix *own, int32_t **own_perm) {
    return (sfu__matrix_source){own->rows,    own->cols,   own->indptr,
                                own->indices, own->values, own_perm != NULL ? *own_perm : NULL,
                                own,          own_perm};
}

sfu_status sfu__block_take(sfu__block *block, const sfu__plan *plan, sfu_matrix *matrix, const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    SFU_TRY(sfu__matrix_fill_ones(matrix)); /* kernels need explicit values */
    const sfu__matrix_source source = source_of(matrix, NULL);
    SFU_TRY(plan->backend->prepare(&block->matrix, &source, use));
done:
    return status;
}

/* ---- sharing ---------------------------------------------------------------------------------------------------- */

sfu_status sfu__pass_share(const sfu__shared **held, sfu__pass *pass, const char *key, sfu__shared_fn make,
                           void *context) {
    sfu_status status = SFU_OK;
    sfu__shared *entry = NULL;
    SFU_TRY(sfu__shared_get(&entry, key, make, context));
    *held = entry;
    for (size_t i = 0; i < pass->shared_count; i++) {
        if (pass->shared[i] == entry) {
            goto done; /* already held by this pass */
        }
    }
    SFU__APPEND(pass->shared, pass->shared_count, pass->shared_capacity, entry);
    pass->fixed_bytes += entry->bytes;
    entry = NULL;
done:
    sfu__shared_release(entry);
    return status;
}

typedef struct form_job {
    const sfu__backend *backend;
    const sfu__matrix_source *source;
    const sfu__matrix_use *use;
} form_job;

static sfu_status make_form(void *context, sfu__shared *entry) {
    const form_job *job = context;
    const sfu_status status = job->backend->prepare(&entry->prepared, job->source, job->use);
    entry->backend = job->backend;
    entry->bytes = status == SFU_OK ? entry->prepared->bytes : 0;
    return status;
}

/* The whole of S; its prepared form is shared by all plans. */
static sfu_status whole_smoothing(sfu__block *block, sfu__plan *plan, sfu__pass *pass, const sfu__smoother *smoother,
                                  const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    const sfu_csr *S = &smoother->csr;
    const sfu__shared *shared = NULL;
    const sfu__matrix_source source = {S->rows, S->cols, S->indptr, S->indices, S->values, NULL, NULL, NULL};
    const char *form = plan->backend->form(S->cols, S->values != NULL, use);
    if (form == NULL) {
        return plan->backend->prepare(&block->matrix, &source, use);
    }
    form_job job = {plan->backend, &source, use};
    SFU_TRY(sfu__text_format(&key, "%s %s", smoother->shared->key, form));
    SFU_TRY(sfu__pass_share(&shared, pass, key.bytes, make_form, &job));
    block->matrix = shared->prepared;
    block->borrowed = true;
done:
    sfu__text_clear(&key);
    return status;
}

/* ---- rows of a rank ---------------------------------------------------------------------------------------------- */

typedef struct part_job {
    sfu__plan *plan;
    const sfu__smoother *smoother;
    const sfu__row_set *out, *in;
    const sfu__matrix_use *use;
    bool transposed;
} part_job;

static sfu_status make_part(void *context, sfu__shared *entry) {
    sfu_status status = SFU_OK;
    const part_job *job = context;
    sfu_matrix part = {0};
    SFU_TRY(job->transposed ? sfu__rank_transpose(&part, job->plan, job->smoother, job->out, job->in)
                            : sfu__rank_smoothing(&part, job->plan, job->smoother, job->out, job->in));
    const sfu__matrix_source source = source_of(&part, NULL);
    const form_job form = {job->plan->backend, &source, job->use};
    SFU_TRY(make_form((void *)(uintptr_t)&form, entry));
done:
    sfu__matrix_clear(&part);
    return status;
}

/* Of all nodes it is shared by all plans. */
static sfu_status part_of_smoothing(sfu__block *block, part_job job, sfu__pass *pass) {
    sfu_status status = SFU_OK;
    sfu__text key = {0};
    sfu__shared alone = {0};
    const sfu__shared *made = &alone;
    const bool all = job.out->nodes == NULL && job.in->nodes == NULL;
    *block = (sfu__block){.part = true, .borrowed = all};
    if (all) {
        const char *form = job.plan->backend->form(job.in->count, true, job.use);
        SFU_TRY(sfu__text_format(&key, "%s %s%s", job.smoother->shared->key, form != NULL ? form : "rows",
                                 job.transposed ? " transposed" : ""));
        SFU_TRY(sfu__pass_share(&made, pass, key.bytes, make_part, &job));
    } else {
        SFU_TRY(make_part(&job, &alone));
    }
    block->matrix = made->prepared;
done:
    sfu__text_clear(&key);
    return status;
}

sfu_status sfu__block_of_learned(sfu__block *block, const sfu__plan *plan, const sfu__smoother *smoother,
                                 const sfu__row_set *out, const sfu__row_set *in, const sfu__matrix_use *use,
                                 bool others) {
    sfu_status status = SFU_OK;
    sfu_matrix part = {0};
    int32_t *value_perm = NULL;
    *block = (sfu__block){.where = SFU__VALUES_LEARNED, .offset = smoother->values_offset, .part = true};
    SFU_TRY(sfu__rank_learned_transpose(&part, &value_perm, plan, smoother->learned, out, in, others));
    const sfu__matrix_source source = source_of(&part, &value_perm);
    SFU_TRY(plan->backend->prepare(&block->matrix, &source, use));
done:
    sfu__free(value_perm);
    sfu__matrix_clear(&part);
    return status;
}

sfu_status sfu__block_of_transpose(sfu__block *block, sfu__plan *plan, sfu__pass *pass, const sfu__smoother *smoother,
                                   const sfu__row_set *out, const sfu__row_set *in, const sfu__matrix_use *use) {
    if (smoother->learned != NULL) {
        return sfu__block_of_learned(block, plan, smoother, out, in, use, false);
    }
    return part_of_smoothing(block, (part_job){plan, smoother, out, in, use, true}, pass);
}

/* ---- submatrices of S ------------------------------------------------------------------------------------------- */

sfu_status sfu__block_of(sfu__block *block, sfu__plan *plan, sfu__pass *pass, const sfu__smoother *smoother,
                         const sfu__row_set *out, const sfu__row_set *in, const sfu__matrix_use *use) {
    sfu_status status = SFU_OK;
    const bool learned = smoother->learned != NULL;
    const sfu__rows_of rows = {out->nodes, out->count};
    sfu_matrix part = {0};
    int32_t *column_of = NULL, *value_perm = NULL;
    if (smoother->stream != NULL && !learned) {
        return part_of_smoothing(block, (part_job){plan, smoother, out, in, use, false}, pass);
    }
    *block = (sfu__block){.where = learned ? SFU__VALUES_LEARNED : SFU__VALUES_FIXED,
                          .offset = smoother->values_offset,
                          .part = smoother->stream != NULL};
    if (out->nodes == NULL && in->nodes == NULL) {
        return whole_smoothing(block, plan, pass, smoother, use);
    }
    SFU_TRY(sfu__row_set_index(&column_of, in, plan->nodes));
    SFU_TRY(sfu__submatrix(&part, learned ? &value_perm : NULL, &smoother->csr, &rows, column_of, in->count));
    const sfu__matrix_source source = source_of(&part, learned ? &value_perm : NULL);
    SFU_TRY(plan->backend->prepare(&block->matrix, &source, use));
done:
    sfu__free(column_of);
    sfu__free(value_perm);
    sfu__matrix_clear(&part);
    return status;
}

sfu_status sfu__block_transpose(sfu__block *block, const sfu__plan *plan, const sfu__block *of, sfu__range rows,
                                const sfu__matrix_use *use) {
    *block = (sfu__block){
        .where = of->where, .offset = of->offset, .dropped = of->dropped, .keep_mask_offset = of->keep_mask_offset};
    sfu__matrix_use prepared_use = *use;
    prepared_use.threads = plan->threads;
    return plan->backend->prepare_transpose(&block->matrix, of->matrix, rows, of->dropped > 0, &prepared_use);
}
