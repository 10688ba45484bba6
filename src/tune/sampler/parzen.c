/* parzen.c - insertion and removal of kernels: the arrays in the order of the trials, and the sorted centres. */
#include "parzen_int.h"

#include "memory.h"
#include "special.h"
#include "truncated_normal.h"

#include <assert.h>
#include <limits.h>
#include <string.h>

sfu_status sfu__parzen_new(sfu__parzen **parzen, const sfu__axis *const *axes, int count) {
    sfu_status status = SFU_OK;
    sfu__parzen *made = NULL;
    assert(count <= SFU__MIXTURE_AXES);
    SFU_ALLOC_ZERO(made, 1);
    SFU_ALLOC_ZERO(made->at, count);
    made->axes = count;
    made->weighted = -1;
    made->set = sfu__mixture_best();
    for (int j = 0; j < count; j++) {
        sfu__coordinate *at = &made->at[j];
        at->axis = axes[j];
        at->prior = sfu__ln(at->axis->H - at->axis->L) + sfu__normal_log_mass(-0.5, 0.5);
        at->prior_tail = sfu__normal_tail(-0.5);
        if (at->axis->grid > 0) {
            at->column_count = at->axis->grid < SFU__PARZEN_COLUMNS ? (int)at->axis->grid : SFU__PARZEN_COLUMNS;
            SFU_ALLOC_ZERO(at->columns, at->column_count);
        }
    }
    *parzen = made;
    made = NULL;
done:
    sfu__parzen_free(made);
    return status;
}

static void coordinate_clear(sfu__coordinate *at) {
    for (int i = 0; at->columns != NULL && i < at->column_count; i++) {
        sfu__free(at->columns[i].cells);
    }
    sfu__free(at->columns);
    sfu__free(at->centre);
    sfu__free(at->sigma);
    sfu__free(at->scale);
    sfu__free(at->left);
    sfu__free(at->right);
    sfu__free(at->log_share);
    sfu__free(at->changed);
    sfu__free(at->sorted);
    sfu__free(at->order);
    sfu__free(at->stale);
}

void sfu__parzen_free(sfu__parzen *parzen) {
    if (parzen == NULL) {
        return;
    }
    for (int j = 0; parzen->at != NULL && j < parzen->axes; j++) {
        coordinate_clear(&parzen->at[j]);
    }
    sfu__free(parzen->at);
    sfu__free(parzen->number);
    sfu__free(parzen->weight);
    sfu__free(parzen->base);
    sfu__free(parzen->touched);
    sfu__free(parzen);
}

int sfu__parzen_count(const sfu__parzen *parzen) { return parzen->count; }

/* ---- capacity ---------------------------------------------------------------------------------------------------- */

/* Grows `*array` to `now` items and zeroes those from `before` on: a sum reads to the end of its last lanes. */
static sfu_status grow(void *array, int before, int now, size_t size) {
    void *old;
    memcpy(&old, array, sizeof old);
    char *grown = sfu__resize(old, (size_t)now, size);
    if (grown == NULL) {
        return SFU_ERR_MEMORY;
    }
    memset(grown + (size_t)before * size, 0, (size_t)(now - before) * size);
    memcpy(array, &grown, sizeof grown);
    return SFU_OK;
}

#define WIDEN(array) SFU_TRY(grow(&(array), before, now, sizeof *(array)))

static sfu_status coordinate_grow(sfu__coordinate *at, int before, int now) {
    sfu_status status = SFU_OK;
    WIDEN(at->centre);
    WIDEN(at->sigma);
    WIDEN(at->scale);
    WIDEN(at->left);
    WIDEN(at->right);
    WIDEN(at->log_share);
    WIDEN(at->changed);
    WIDEN(at->sorted);
    WIDEN(at->order);
    WIDEN(at->stale);
    for (int i = 0; i < at->column_count; i++) {
        if (at->columns[i].cells != NULL) {
            WIDEN(at->columns[i].cells);
        }
    }
done:
    return status;
}

enum { FIRST_CAPACITY = 4 * SFU__MIXTURE_LANES };

sfu_status sfu__parzen_reserve(sfu__parzen *parzen, int count) {
    sfu_status status = SFU_OK;
    if (count <= parzen->capacity) {
        return SFU_OK;
    }
    const int before = parzen->capacity;
    int now = before > 0 ? before : FIRST_CAPACITY;
    while (now < count) {
        if (now > INT_MAX / 2) {
            return sfu__fail(SFU_ERR_MEMORY, "%d trials are too many for one estimate", count);
        }
        now *= 2;
    }
    WIDEN(parzen->number);
    WIDEN(parzen->weight);
    WIDEN(parzen->base);
    WIDEN(parzen->touched);
    for (int j = 0; j < parzen->axes; j++) {
        SFU_TRY(coordinate_grow(&parzen->at[j], before, now));
    }
    parzen->capacity = now;
done:
    return status;
}

/* ---- insertion and removal --------------------------------------------------------------------------------------- */

/* The slot of a number, or the slot where it would be inserted. */
static int slot_of(const sfu__parzen *parzen, int64_t number) {
    int from = 0, to = parzen->count;
    if (to > 0 && parzen->number[to - 1] < number) {
        return to; /* the usual case */
    }
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (parzen->number[middle] < number) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* The rank of (z, slot) among the sorted centres, or the rank where it would be inserted. */
static int rank_of(const sfu__coordinate *at, int count, double z, int slot) {
    int from = 0, to = count;
    while (from < to) {
        const int middle = from + (to - from) / 2;
        if (at->sorted[middle] < z || (at->sorted[middle] == z && at->order[middle] < slot)) {
            from = middle + 1;
        } else {
            to = middle;
        }
    }
    return from;
}

/* Shift items [slot, count) up by one, or [slot + 1, count) down. */
static void open_slot(void *array, size_t size, int slot, int count) {
    char *at = (char *)array + (size_t)slot * size;
    memmove(at + size, at, (size_t)(count - slot) * size);
}

static void close_slot(void *array, size_t size, int slot, int count) {
    char *at = (char *)array + (size_t)slot * size;
    memmove(at, at + size, (size_t)(count - slot - 1) * size);
}

#define OPEN(array, slot) open_slot((array), sizeof *(array), (slot), count)
#define CLOSE(array, slot) close_slot((array), sizeof *(array), (slot), count)

static void coordinate_open(sfu__coordinate *at, int slot, int count) {
    OPEN(at->centre, slot);
    OPEN(at->sigma, slot);
    OPEN(at->scale, slot);
    OPEN(at->left, slot);
    OPEN(at->right, slot);
    OPEN(at->log_share, slot);
    OPEN(at->changed, slot);
    for (int i = 0; i < at->column_count && slot < count; i++) {
        if (at->columns[i].cells != NULL) {
            OPEN(at->columns[i].cells, slot);
        }
    }
    for (int i = 0; i < count && slot < count; i++) {
        at->order[i] += at->order[i] >= slot;
    }
}

/* Marks the widths of these ranks, as far as they exist, for recomputation. */
static void mark_stale(sfu__coordinate *at, int first, int last, int count) {
    for (int rank = first < 0 ? 0 : first; rank <= last && rank < count; rank++) {
        at->stale[rank] = 1;
    }
}

static void coordinate_insert(sfu__coordinate *at, int slot, int count, double value) {
    const double z = at->axis->is_choice ? value : sfu__axis_inner(at->axis, value);
    coordinate_open(at, slot, count);
    at->centre[slot] = z;
    at->sigma[slot] = 0;
    at->version++;
    if (!at->axis->is_choice) {
        const int rank = rank_of(at, count, z, slot);
        OPEN(at->sorted, rank);
        OPEN(at->order, rank);
        OPEN(at->stale, rank);
        at->sorted[rank] = z;
        at->order[rank] = slot;
        mark_stale(at, rank - 1, rank + 1, count + 1);
    }
}

void sfu__parzen_insert(sfu__parzen *parzen, int64_t number, const double *values) {
    const int count = parzen->count, slot = slot_of(parzen, number);
    assert(count < parzen->capacity && (slot == count || parzen->number[slot] != number));
    OPEN(parzen->number, slot);
    OPEN(parzen->base, slot);
    OPEN(parzen->touched, slot);
    parzen->number[slot] = number;
    for (int j = 0; j < parzen->axes; j++) {
        coordinate_insert(&parzen->at[j], slot, count, values[j]);
    }
    parzen->touched[slot] = true;
    parzen->count++;
    parzen->settled = false;
}

static void coordinate_remove(sfu__coordinate *at, int slot, int count) {
    if (!at->axis->is_choice) {
        const int rank = rank_of(at, count, at->centre[slot], slot);
        assert(at->order[rank] == slot);
        CLOSE(at->sorted, rank);
        CLOSE(at->order, rank);
        CLOSE(at->stale, rank);
        mark_stale(at, rank - 1, rank, count - 1);
    }
    for (int i = 0; i < count - 1 && slot < count - 1; i++) {
        at->order[i] -= at->order[i] > slot;
    }
    CLOSE(at->centre, slot);
    CLOSE(at->sigma, slot);
    CLOSE(at->scale, slot);
    CLOSE(at->left, slot);
    CLOSE(at->right, slot);
    CLOSE(at->log_share, slot);
    CLOSE(at->changed, slot);
    for (int i = 0; i < at->column_count; i++) {
        if (at->columns[i].cells != NULL) {
            CLOSE(at->columns[i].cells, slot);
        }
    }
    at->version++;
}

void sfu__parzen_remove(sfu__parzen *parzen, int64_t number) {
    const int count = parzen->count, slot = slot_of(parzen, number);
    assert(slot < count && parzen->number[slot] == number);
    CLOSE(parzen->number, slot);
    CLOSE(parzen->base, slot);
    CLOSE(parzen->touched, slot);
    for (int j = 0; j < parzen->axes; j++) {
        coordinate_remove(&parzen->at[j], slot, count);
    }
    parzen->count--;
    parzen->settled = false;
}
