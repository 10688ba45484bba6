/* rank_halo.c - which rank has which rows of a matrix, and the rows that a step gets from others. */
#include "rank_division.h"

#include <stdlib.h>
#include <string.h>

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static sfu__layout_of_ranks *layout_of(const sfu__division *self, const sfu__operand *at) {
    for (size_t i = 0; i < self->layout_count; i++) {
        if (self->layouts[i].space == at->space && self->layouts[i].offset == at->offset) {
            return &self->layouts[i];
        }
    }
    return NULL;
}

const int64_t *sfu__bounds_of(const sfu__division *self, const sfu__operand *at) {
    const sfu__layout_of_ranks *found = layout_of(self, at);
    return found != NULL ? found->bounds : NULL;
}

static size_t bounds_bytes(const sfu__division *self) { return ((size_t)self->ranks->count + 1) * sizeof(int64_t); }

sfu_status sfu__copy_bounds(int64_t **copy, const sfu__division *self, const int64_t *bounds) {
    sfu_status status = SFU_OK;
    if (bounds != NULL) {
        SFU_ALLOC(*copy, self->ranks->count + 1);
        memcpy(*copy, bounds, bounds_bytes(self));
    }
done:
    return status;
}

/* The current step writes rows of `at`: `bounds` of each rank, NULL: all on every rank. */
sfu_status sfu__set_layout(sfu__division *self, const sfu__operand *at, const int64_t *bounds) {
    sfu_status status = SFU_OK;
    sfu__layout_of_ranks *found = layout_of(self, at);
    if (found == NULL && bounds != NULL) {
        SFU__APPEND(self->layouts, self->layout_count, self->layout_capacity,
                    ((sfu__layout_of_ranks){.space = at->space, .offset = at->offset}));
        found = &self->layouts[self->layout_count - 1];
    }
    if (found == NULL) {
        goto done;
    }
    if (bounds == NULL) {
        sfu__free(found->bounds);
        const sfu__layout_of_ranks last = self->layouts[--self->layout_count];
        *found = last;
    } else {
        if (found->bounds == NULL) {
            SFU_ALLOC(found->bounds, self->ranks->count + 1);
        }
        memcpy(found->bounds, bounds, bounds_bytes(self));
    }
done:
    return status;
}

/* ---- halos ------------------------------------------------------------------------------------------------------- */

static sfu_status add_halo(sfu__division *self, sfu__halo *halo) {
    sfu_status status = SFU_OK;
    SFU__APPEND(self->step->halos, self->step->halo_count, self->step->halo_capacity, *halo);
    *halo = (sfu__halo){0};
done:
    return status;
}

void sfu__halo_clear(sfu__halo *halo, const sfu__rank_group *ranks) {
    ranks->mpi->exchange_free(halo->exchange);
    sfu__free(halo->bounds);
    sfu__free(halo->send);
    sfu__free(halo->receive);
    *halo = (sfu__halo){0};
}

/* Every rank reads all rows. */
sfu_status sfu__need_all(sfu__division *self, const sfu__operand *at) {
    sfu_status status = SFU_OK;
    const int64_t *bounds = sfu__bounds_of(self, at);
    sfu__halo halo = {.at = *at};
    if (bounds != NULL) {
        SFU_TRY(sfu__copy_bounds(&halo.bounds, self, bounds));
        SFU_TRY(add_halo(self, &halo));
        SFU_TRY(sfu__set_layout(self, at, NULL));
    }
done:
    sfu__halo_clear(&halo, self->ranks);
    return status;
}

/* Agrees on who sends which rows; halo->receive are ascending. */
static sfu_status make_exchange(sfu__halo *halo, const sfu__rank_group *ranks, const int64_t *bounds) {
    sfu_status status = SFU_OK;
    const sfu__mpi *mpi = ranks->mpi;
    const int64_t count = halo->receive_count;
    int32_t *asked = NULL;
    int64_t *starts = NULL;
    SFU_ALLOC(starts, 2 * (ranks->count + 1));
    int64_t *asked_starts = starts + ranks->count + 1;
    for (int64_t i = 0, r = 0; r <= ranks->count; r++) {
        for (; i < count && r < ranks->count && halo->receive[i] < bounds[r]; i++) {
        }
        starts[r] = r == ranks->count ? count : i;
    }
    if (!mpi->ask(&asked, asked_starts, halo->receive, starts)) {
        status = SFU_ERR_MEMORY;
        goto done;
    }
    if (!mpi->any(count > 0 || asked_starts[ranks->count] > 0)) {
        goto done;
    }
    halo->send_count = asked_starts[ranks->count];
    SFU_ALLOC(halo->send, halo->send_count);
    memcpy(halo->send, asked, (size_t)halo->send_count * sizeof *asked);
    halo->exchange = mpi->exchange_new(asked_starts, starts, halo->at.ld);
    status = halo->exchange != NULL ? SFU_OK : SFU_ERR_MEMORY;
done:
    free(asked); /* from the module */
    sfu__free(starts);
    return status;
}

sfu_status sfu__halo_make(sfu__halo *halo, const sfu__rank_group *ranks, const sfu__operand *at, const uint8_t *marked,
                          const int64_t *bounds) {
    sfu_status status = SFU_OK;
    const int64_t begin = bounds[ranks->rank], end = bounds[ranks->rank + 1];
    int64_t count = 0;
    *halo = (sfu__halo){.at = *at};
    for (int32_t i = 0; i < at->rows; i++) {
        count += (i < begin || i >= end) && marked[i] != 0;
    }
    SFU_ALLOC(halo->receive, count);
    for (int32_t i = 0; i < at->rows; i++) {
        if ((i < begin || i >= end) && marked[i] != 0) {
            halo->receive[halo->receive_count++] = i;
        }
    }
    SFU_TRY(make_exchange(halo, ranks, bounds));
done:
    return status;
}

/* Rows without an entry outside [begin, end) need nobody. Short runs of them wait with the others. */
static sfu_status find_early(sfu__division *self, const sfu__prepared *matrix, int64_t begin, int64_t end) {
    sfu_status status = SFU_OK;
    const int32_t *indices = self->plan->backend->columns(matrix);
    sfu__rank_step *step = self->step;
    const int64_t first = self->bounds[self->ranks->rank], last = self->bounds[self->ranks->rank + 1];
    int64_t waiting = first, run = first;
    for (int64_t i = first; i <= last; i++) {
        bool early = i < last;
        for (int64_t e = i < last ? matrix->indptr[i] : 0; early && e < matrix->indptr[i + 1]; e++) {
            early = indices[e] >= begin && indices[e] < end;
        }
        if (early) {
            continue;
        }
        if (i - run >= SFU__EARLY_ROWS) {
            SFU__APPEND(step->early, step->early_count, step->early_capacity, ((sfu__range){run, i}));
            SFU__APPEND(step->late, step->late_count, step->late_capacity, ((sfu__range){waiting, run}));
            waiting = i;
        }
        run = i + 1;
    }
    SFU__APPEND(step->late, step->late_count, step->late_capacity, ((sfu__range){waiting, last}));
done:
    return status;
}

/* Marks the rows that this rank reads. */
typedef void (*mark_fn)(uint8_t *marked, const sfu__division *self, const void *context);

static sfu_status need_marked(sfu__division *self, const sfu__operand *at, mark_fn mark, const void *context) {
    sfu_status status = SFU_OK;
    sfu__halo halo = {0};
    uint8_t *marked = NULL;
    SFU_ALLOC_ZERO(marked, at->rows);
    mark(marked, self, context);
    SFU_TRY(sfu__halo_make(&halo, self->ranks, at, marked, sfu__bounds_of(self, at)));
    SFU_TRY(halo.exchange != NULL ? add_halo(self, &halo) : SFU_OK);
done:
    sfu__halo_clear(&halo, self->ranks);
    sfu__free(marked);
    return status;
}

static void mark_rows(uint8_t *marked, const sfu__division *self, const void *context) {
    const int64_t *want = context, begin = want[self->ranks->rank], end = want[self->ranks->rank + 1];
    memset(marked + begin, 1, (size_t)(end - begin));
}

sfu_status sfu__need_rows(sfu__division *self, const sfu__operand *at, const int64_t *want) {
    const int64_t *have = sfu__bounds_of(self, at);
    const bool enough = have == NULL || memcmp(have, want, bounds_bytes(self)) == 0;
    return enough ? SFU_OK : need_marked(self, at, mark_rows, want);
}

sfu_status sfu__need_own(sfu__division *self, const sfu__operand *at) {
    return self->repeated ? sfu__need_all(self, at) : sfu__need_rows(self, at, self->bounds);
}

static void mark_columns(uint8_t *marked, const sfu__division *self, const void *context) {
    const sfu__prepared *matrix = context;
    const int32_t *indices = self->plan->backend->columns(matrix);
    const int64_t *own = self->bounds + self->ranks->rank;
    for (int64_t e = matrix->indptr[own[0]]; e < matrix->indptr[own[1]]; e++) {
        marked[indices[e]] = 1;
    }
}

sfu_status sfu__need_columns(sfu__division *self, const sfu__operand *at, const sfu__prepared *matrix) {
    sfu_status status = SFU_OK;
    const int64_t *have = sfu__bounds_of(self, at);
    const size_t before = self->step->halo_count;
    if (have == NULL) {
        return SFU_OK;
    }
    SFU_TRY(need_marked(self, at, mark_columns, matrix));
    if (before == 0 && self->step->halo_count == 1) { /* it can wait for one matrix while it computes */
        SFU_TRY(find_early(self, matrix, have[self->ranks->rank], have[self->ranks->rank + 1]));
    }
done:
    return status;
}

static void mark_mapped(uint8_t *marked, const sfu__division *self, const void *context) {
    const int32_t *map = context;
    const int64_t *own = self->bounds + self->ranks->rank;
    for (int64_t i = own[0]; i < own[1]; i++) {
        marked[map != NULL ? map[i] : i] = 1;
    }
}

sfu_status sfu__need_mapped(sfu__division *self, const sfu__operand *at, const int32_t *map) {
    return sfu__bounds_of(self, at) == NULL ? SFU_OK : need_marked(self, at, mark_mapped, map);
}

/* The rows of the blocks of each rank. */
void sfu__rows_of_blocks(int64_t *rows, const sfu__division *self, int64_t count) {
    const int64_t size = sfu__block_rows(count);
    for (int r = 0; r <= self->ranks->count; r++) {
        rows[r] = self->bounds[r] * size < count ? self->bounds[r] * size : count;
    }
}

sfu_status sfu__need_blocks(sfu__division *self, const sfu__operand *at) {
    sfu_status status = SFU_OK;
    int64_t *rows = NULL;
    if (self->repeated) {
        return sfu__need_all(self, at);
    }
    SFU_ALLOC(rows, self->ranks->count + 1);
    sfu__rows_of_blocks(rows, self, at->rows);
    SFU_TRY(sfu__need_rows(self, at, rows));
done:
    sfu__free(rows);
    return status;
}
