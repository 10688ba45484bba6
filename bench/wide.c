/* wide.c - what trainings of linear networks would gain from running side by side.
 *
 * Products with matrices that all trainings of a plan share (smoothing there and back, X W in validation) could be one
 * product over B trainings: rows of B times the padded classes. This times, for each such product of a plan, B products
 * one after the other, each with operands of its own, against the one product, on the plan's own matrices; and says
 * what the whole epoch would take if every other step stayed as it is.
 *
 *   usage: wide [DATASET...]
 */
#define _POSIX_C_SOURCE 200809L
#include "memory.h"
#include "timing.h"
#include "cpu_matrix.h"
#include "trained.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8, ROUNDS = 60, EPOCHS = 4 };

/* ---- operands ---- */

/* Rows in their own order: what spmm wants of rows wider than 16 floats. */
static sfu__sparse unturned(sfu_matrix *own, const sfu__sparse *of) {
    sfu_status status = SFU_OK;
    const int64_t entries = of->indptr[of->rows];
    int32_t *at = NULL;
    *own = (sfu_matrix){.rows = of->rows, .cols = of->cols};
    SFU_ALLOC(own->indptr, of->rows + 1);
    SFU_ALLOC(own->indices, entries + 16);
    SFU_ALLOC(own->values, entries);
    SFU_ALLOC(at, of->rows);
    for (int32_t i = 0; i < of->rows; i++) {
        at[of->row_perm[i]] = i;
    }
    own->indptr[0] = 0;
    for (int32_t i = 0; i < of->rows; i++) {
        const int64_t from = of->indptr[at[i]], count = of->indptr[at[i] + 1] - from;
        memcpy(own->indices + own->indptr[i], of->indices + from, (size_t)count * sizeof(int32_t));
        memcpy(own->values + own->indptr[i], of->values + from, (size_t)count * sizeof(float));
        own->indptr[i + 1] = own->indptr[i] + count;
    }
done:
    must(status);
    sfu__free(at);
    return (sfu__sparse){
        .rows = of->rows, .cols = of->cols, .indptr = own->indptr, .indices = own->indices, .values = own->values};
}

/* One product, or several, over operands in `memory`, which is used up. */
typedef struct product {
    const sfu__backend *backend;
    sfu__sparse A;
    sfu__dense B[MOST], C[MOST];
    int count;
} product;

static void run_products(void *context) {
    const product *self = context;
    for (int i = 0; i < self->count; i++) {
        self->backend->spmm(&self->C[i], &self->A, &self->B[i], false, (sfu__range){0, self->A.rows});
    }
}

static sfu__dense take(float **memory, int32_t rows, int32_t width) {
    const sfu__dense taken = {*memory, rows, width, sfu__ld(width)};
    *memory += ((int64_t)rows * taken.ld + 15) / 16 * 16;
    return taken;
}

static product products_of(const sfu__backend *backend, const sfu__sparse *A, int count, int32_t width, float *memory) {
    product made = {.backend = backend, .A = *A, .count = count};
    for (int i = 0; i < count; i++) {
        made.B[i] = take(&memory, A->cols, width);
        made.C[i] = take(&memory, A->rows, width);
    }
    return made;
}

/* ---- one product ---- */

/* Seconds a training: [0] one after the other, [1] side by side. They take turns, so that both see the same machine. */
static void time_both(double seconds[2], const sfu__backend *backend, const sfu__sparse *A, const sfu__sparse *in_order,
                      int32_t ld, int trainings, float *memory) {
    const int32_t wide = ld * trainings;
    product both[2] = {products_of(backend, A, trainings, ld, memory),
                       products_of(backend, wide <= 16 ? A : in_order, 1, wide, memory)};
    int64_t calls[2];
    for (int i = 0; i < 2; i++) {
        calls[i] = calls_of_a_try(run_products, &both[i]);
        seconds[i] = INFINITY;
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < 2; i++) {
            const double took = seconds_for(run_products, &both[i], calls[i]) / (double)(calls[i] * trainings);
            seconds[i] = took < seconds[i] ? took : seconds[i];
        }
    }
}

/* Prints a line, and adds what an epoch saves to saved[], for 2, 4 and 8 trainings. */
static void measure_product(double saved[3], const sfu__plan_step *step, const sfu__sparse *A, double in_epoch) {
    const sfu__backend *backend;
    sfu_matrix own = {0};
    const int64_t floats = MOST * ((int64_t)A->rows + A->cols + 8) * step->b.ld + 64;
    float *memory = sfu__alloc_zero((size_t)floats, sizeof *memory);
    must(memory != NULL ? SFU_OK : SFU_ERR_MEMORY);
    must(sfu__backend_cpu(&backend));
    float *aligned = (float *)(((uintptr_t)memory + 63) / 64 * 64);
    const sfu__sparse in_order = A->row_perm != NULL ? unturned(&own, A) : *A;
    printf("  %-22s %6d x %-6d %7lld %6.1f", step->text, (int)A->rows, (int)A->cols, (long long)A->indptr[A->rows],
           1e6 * in_epoch);
    for (int i = 0; i < 3; i++) {
        double seconds[2];
        time_both(seconds, backend, A, &in_order, step->b.ld, 2 << i, aligned);
        printf("   %6.1f %6.1f %4.2fx", 1e6 * seconds[0], 1e6 * seconds[1], seconds[0] / seconds[1]);
        saved[i] += in_epoch * (1.0 - seconds[1] / seconds[0]);
    }
    printf("\n");
    sfu__matrix_clear(&own);
    sfu__free(memory);
}

/* ---- a whole epoch ---- */

/* What each step takes inside an epoch: the best round of many. */
static double step_seconds(double *times, trained *self) {
    double best = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0.0;
        size_t at = 0;
        must(sfu__executor_measure(self->worker, false));
        must(sfu__executor_measure(self->worker, true));
        for (int i = 0; i < EPOCHS; i++) {
            trained_epoch(self);
        }
        for (int i = 0; i < 2; i++) {
            for (size_t s = 0; s < self->plan->passes[i].step_count; s++) {
                sum += sfu__executor_seconds(self->worker, (sfu_pass)i, s) / EPOCHS;
            }
        }
        for (int i = 0; sum < best && i < 2; i++) {
            for (size_t s = 0; s < self->plan->passes[i].step_count; s++) {
                times[at++] = sfu__executor_seconds(self->worker, (sfu_pass)i, s) / EPOCHS;
            }
        }
        best = sum < best ? sum : best;
    }
    return best;
}

static void measure_net(const setting *of, const char *name, const char *net) {
    trained self;
    double times[128], saved[3] = {0, 0, 0}, shared = 0.0;
    size_t at = 0;
    trained_start(&self, of, net, 64, SFU_PASS_TRAIN, NULL);
    const double epoch = step_seconds(times, &self);
    printf("%s, %s: an epoch takes %.1f us\n", name, net, 1e6 * epoch);
    for (int i = 0; i < 2; i++) {
        const sfu__pass *pass = &self.plan->passes[i];
        for (size_t s = 0; s < pass->step_count; s++, at++) {
            const sfu__plan_step *step = &pass->steps[s];
            if (step->kernel == SFU__KERNEL_SPMM && pass->blocks[step->block].where == SFU__VALUES_FIXED) {
                measure_product(saved, step,
                                &((const sfu__cpu_matrix *)(const void *)pass->blocks[step->block].matrix)->view,
                                times[at]);
                shared += times[at];
            }
        }
    }
    printf("  these are %.0f %% of the epoch; side by side it would take at best %.3f, %.3f, %.3f of what it takes\n\n",
           100 * shared / epoch, 1 - saved[0] / epoch, 1 - saved[1] / epoch, 1 - saved[2] / epoch);
    trained_stop(&self);
}

int main(int argc, char **argv) {
    static const char *const usual[] = {"cora", "pubmed"};
    static const char *const nets[] = {"sgcn", "sgcn+lp", "linear+lp"};
    const int count = argc > 1 ? argc - 1 : 2;
    const uint64_t before = sfu__float_guard();
    printf("us a training; one core; for 2, 4 and 8 trainings: one after the other, side by side, ratio\n");
    for (int i = 0; i < count; i++) {
        const char *name = argc > 1 ? argv[i + 1] : usual[i];
        setting of;
        setting_open(&of, name, NULL, NULL);
        for (size_t n = 0; n < sizeof nets / sizeof nets[0]; n++) {
            measure_net(&of, name, nets[n]);
        }
        setting_close(&of);
    }
    sfu__float_restore(before);
    return 0;
}
