/* kernel_rates.c - the rates of sfu__rates, by timing the kernels that they stand for.
 *
 * Each kernel runs on operands made for it, with widths and sizes of the points of the tables. What a kernel does
 * depends on shapes and indices, not on values, so the values are all alike.
 */
#include "memory.h"
#include "plan_int.h"
#include "random.h"
#include "rates.h"

#include <math.h>
#include <string.h>

enum { ALIGN = 64, ENTRIES = 1 << 15, ENTRIES_FAR = 1 << 20, ENTRIES_A_ROW = 16, ENTRIES_A_SHORT_ROW = 4 };
enum { ROWS = 512, INNER = 64, INNER_SHORT = 8, LABELS = 1 << 15 };
enum { HALF = 32768 }; /* a mask that drops every other value */

/* All that the kernels are given. */
typedef struct bench_room {
    const sfu__backend *backend;
    float *memory;              /* what the dense matrices lie in */
    float *a, *b, *c;           /* room in it: a and c for the widest result, b for the largest operand */
    int64_t b_floats;           /* */
    int64_t *indptr;            /* of A: rows of ENTRIES_A_ROW entries, or of ENTRIES_A_SHORT_ROW */
    int32_t *indices;           /* [ENTRIES_FAR + 16] */
    int32_t *order;             /* [ENTRIES] */
    float *values;              /* [ENTRIES_FAR] */
    int32_t *labels;            /* [LABELS] */
    sfu__score scores[64];      /* */
    sfu__sparse A;              /* what the job at hand works on */
    sfu__dense left, right, to; /* */
    sfu__mask mask;             /* */
    sfu__adam adam;             /* */
} bench_room;

static void room_clear(bench_room *room) {
    sfu__free(room->memory);
    sfu__free(room->indptr);
    sfu__free(room->indices);
    sfu__free(room->order);
    sfu__free(room->values);
    sfu__free(room->labels);
}

static sfu_status room_make(bench_room *room, const sfu__backend *backend, double largest_operand) {
    sfu_status status = SFU_OK;
    const int64_t side = (int64_t)ENTRIES_FAR / ENTRIES_A_ROW * 64; /* what the far spmm makes */
    *room = (bench_room){.backend = backend, .b_floats = (int64_t)(largest_operand / sizeof(float))};
    const int64_t floats = 2 * side + room->b_floats + ALIGN;
    SFU_ALLOC(room->memory, floats);
    SFU_ALLOC(room->indptr, ENTRIES_FAR / ENTRIES_A_SHORT_ROW + 1);
    SFU_ALLOC_ZERO(room->indices, ENTRIES_FAR + 16);
    SFU_ALLOC(room->order, ENTRIES);
    SFU_ALLOC(room->values, ENTRIES_FAR);
    SFU_ALLOC(room->labels, LABELS);
    room->a = room->memory + (ALIGN - (uintptr_t)room->memory % ALIGN) % ALIGN / sizeof(float);
    room->c = room->a + side;
    room->b = room->c + side;
    for (int64_t i = 0; i < floats; i++) {
        room->memory[i] = 0.125F;
    }
    for (int64_t e = 0; e < ENTRIES_FAR; e++) {
        room->values[e] = 0.125F;
    }
    for (int32_t i = 0; i < LABELS; i++) {
        room->labels[i] = i % 3;
    }
    room->adam = (sfu__adam){0.01F, 5e-4F, 1.0F, 1.0F, -INFINITY, INFINITY}; /* as for weights */
done:
    if (status != SFU_OK) {
        room_clear(room);
        *room = (bench_room){0};
    }
    return status;
}

static sfu__dense dense_at(float *data, int64_t rows, int32_t width) {
    return (sfu__dense){data, (int32_t)rows, width, sfu__ld(width)};
}

/* A sparse matrix of `entries`, `a_row` in each row, columns drawn as words and neighbours are: some much more often
 * than others (the share below x grows as the root of x). */
static void make_sparse(bench_room *room, int64_t entries, int64_t a_row, int64_t cols) {
    const int64_t rows = entries / a_row;
    sfu__random random = sfu__random_start(2, sfu__stream_of(SFU__STREAM_MAKE, 0));
    for (int64_t i = 0; i <= rows; i++) {
        room->indptr[i] = i * a_row;
    }
    for (int64_t e = 0; e < entries; e++) {
        const double unit = sfu__random_unit(&random);
        room->indices[e] = (int32_t)((double)cols * unit * unit);
    }
    room->A = (sfu__sparse){.rows = (int32_t)rows,
                            .cols = (int32_t)cols,
                            .indptr = room->indptr,
                            .indices = room->indices,
                            .values = room->values};
}

/* ---- jobs ------------------------------------------------------------------------------------------------------- */

static sfu__range all_rows(const sfu__dense *matrix) { return (sfu__range){0, matrix->rows}; }

static void job_spmm(void *context) {
    bench_room *room = context;
    room->backend->spmm(&room->to, &room->A, &room->right, false, (sfu__range){0, room->A.rows});
}

static void job_gemm(void *context) {
    bench_room *room = context;
    room->backend->gemm(&room->to, &room->left, &room->right, all_rows(&room->left));
}

static void job_gemm_t(void *context) {
    bench_room *room = context;
    room->backend->gemm_t(room->c, &room->left, &room->right, (sfu__range){0, sfu__block_count(room->left.rows)});
}

static void job_block_sum(void *context) {
    bench_room *room = context;
    const int64_t count = (int64_t)room->to.rows * room->to.ld;
    room->backend->block_sum(room->c, room->a, 4, count, (sfu__range){0, count});
}

static void job_transpose(void *context) {
    bench_room *room = context;
    const sfu__dense turned = dense_at(room->a, room->to.cols, room->to.rows);
    room->backend->transpose(&turned, &room->to, all_rows(&turned));
}

static void job_drop_sparse(void *context) {
    bench_room *room = context;
    room->backend->drop_sparse(room->c, &room->A, NULL, &room->mask, (sfu__range){0, room->A.rows});
}

static void job_drop_kept(void *context) {
    bench_room *room = context;
    room->backend->drop_kept((uint8_t *)room->c, &room->A, NULL, &room->mask, (sfu__range){0, room->A.rows});
}

static void job_finish(void *context) {
    bench_room *room = context;
    room->backend->finish(&room->to, room->b, SFU__RELU, NULL, &room->mask, all_rows(&room->to));
}

static void job_finish_back(void *context) {
    bench_room *room = context;
    room->backend->finish_back(&room->to, &room->left, SFU__RELU, NULL, &room->mask, all_rows(&room->to));
}

static void job_softmax(void *context) {
    bench_room *room = context;
    room->backend->softmax(&room->to, room->b, all_rows(&room->to));
}

static void job_softmax_back(void *context) {
    bench_room *room = context;
    room->backend->softmax_back(&room->to, &room->left, all_rows(&room->to));
}

static void job_score(void *context) {
    bench_room *room = context;
    const sfu__target target = {room->labels, NULL};
    room->backend->score(room->scores, &room->to, false, &room->left, &target,
                         (sfu__range){0, sfu__block_count(room->left.rows)});
}

static void job_mix(void *context) {
    bench_room *room = context;
    room->backend->mix(&room->to, &room->left, NULL, 0.1F, all_rows(&room->to));
}

static void job_adam(void *context) {
    bench_room *room = context;
    float *m = room->c + ENTRIES, *v = m + ENTRIES;
    room->backend->adam(room->c, m, v, room->a, &room->adam, (sfu__range){0, ENTRIES});
}

/* ---- tables ----------------------------------------------------------------------------------------------------- */

/* A non-zero, in nanoseconds, of spmm with these operands. */
static double spmm_ns(bench_room *room, int64_t entries, int64_t a_row, double operand, int32_t width) {
    make_sparse(room, entries, a_row, (int64_t)(operand / sizeof(float)) / width);
    room->right = dense_at(room->b, room->A.cols, width);
    room->to = dense_at(room->c, room->A.rows, width);
    return 1e9 * sfu__best_seconds(job_spmm, room) / (double)entries;
}

/* A non-zero alone, of which a row has `a_row`. On a busy machine a row may seem to cost all there is, but a non-zero
 * is never free. */
static double without_row(double all, double row, double a_row) {
    const double each = all - row / a_row;
    return each > all / 4 ? each : all / 4;
}

/* spmm over what a mask has left, which is every other value. */
static void measure_gaps(sfu__rates *rates, bench_room *room) {
    const int32_t width = sfu__rate_widths[SFU__WIDTHS - 1];
    room->mask = (sfu__mask){.seed = 2, .epoch = 1, .threshold = HALF};
    for (int s = 0; s < SFU__SIZES; s++) {
        const int64_t entries = s == SFU__SIZES - 1 ? ENTRIES_FAR : ENTRIES;
        make_sparse(room, entries, ENTRIES_A_ROW, (int64_t)(rates->size_bytes[s] / sizeof(float)) / width);
        room->backend->drop_kept((uint8_t *)room->a, &room->A, NULL, &room->mask, (sfu__range){0, room->A.rows});
        room->A.kept = (const uint8_t *)room->a;
        room->A.mask = &room->mask;
        room->right = dense_at(room->b, room->A.cols, width);
        room->to = dense_at(room->c, room->A.rows, width);
        const double all = 1e9 * sfu__best_seconds(job_spmm, room) / (double)entries;
        rates->gaps_ns[s] = without_row(all, rates->gather_row_ns[SFU__WIDTHS - 1], ENTRIES_A_ROW);
    }
}

/* spmm through an order, its values all over an array of each size, against values as they stand. From what is larger
 * than L2 they come a line at a time, for the columns of a transpose that are neighbours share lines of long rows. */
static void measure_order(sfu__rates *rates, bench_room *room) {
    enum { WIDTH = 16, MEASURED = SFU__SIZE_L2 + 1 };
    sfu__random random = sfu__random_start(3, sfu__stream_of(SFU__STREAM_MAKE, 0));
    make_sparse(room, ENTRIES, ENTRIES_A_ROW, ROWS);
    room->right = dense_at(room->a, ROWS, WIDTH);
    room->to = dense_at(room->c, room->A.rows, WIDTH);
    const double plain = sfu__best_seconds(job_spmm, room);
    room->A.values = room->b;
    room->A.order = room->order;
    for (int s = 0; s < SFU__SIZES; s++) {
        if (s < MEASURED) {
            const double values = rates->size_bytes[s] / sizeof(float);
            for (int64_t e = 0; e < ENTRIES; e++) {
                room->order[e] = (int32_t)(values * sfu__random_unit(&random));
            }
            const double ordered = sfu__best_seconds(job_spmm, room);
            rates->order_ns[s] = ordered > plain ? 1e9 * (ordered - plain) / ENTRIES : 0.0;
        } else {
            rates->order_ns[s] = rates->order_ns[MEASURED - 1];
        }
    }
}

/* spmm along columns: the rows that were made are taken for the columns of a transpose, with a sum for each of its
 * rows. There is none for wider rows. */
static void measure_columns(sfu__rates *rates, bench_room *room) {
    enum { COLUMNS = ENTRIES / ENTRIES_A_ROW };
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w], near = (int32_t)(rates->size_bytes[0] / sizeof(float)) / width;
        const int32_t sums = near < COLUMNS ? near : COLUMNS;
        make_sparse(room, ENTRIES, ENTRIES_A_ROW, sums);
        for (int32_t i = 0; i < COLUMNS; i++) {
            room->order[i] = ENTRIES_A_ROW;
        }
        uint16_t *numbers = (uint16_t *)(room->order + COLUMNS); /* behind the counts, where there is room */
        for (int64_t e = 0; e < ENTRIES; e++) {
            numbers[e] = (uint16_t)room->indices[e];
        }
        const sfu__columns columns = {
            .end = COLUMNS, .values = room->indptr, .counts = room->order, .sums = numbers, .sum_count = sums};
        room->A.rows = sums;
        room->A.cols = COLUMNS;
        room->A.columns = &columns;
        room->A.room = room->c + (int64_t)sums * width;
        room->right = dense_at(room->b, COLUMNS, width);
        room->to = dense_at(room->c, sums, width);
        if (width <= SFU__NARROW) {
            const double all = 1e9 * sfu__best_seconds(job_spmm, room) / ENTRIES;
            rates->columns_ns[w] = without_row(all, rates->gather_row_ns[w], (double)ENTRIES / sums);
        } else {
            rates->columns_ns[w] = 2.0 * rates->columns_ns[w - 1];
        }
    }
}

/* spmm of rows by length: all have one, so that they may stand as they do. As a matrix whose values differ. */
static double turn_ns(bench_room *room, int64_t a_row, double operand, int32_t width) {
    uint16_t *short_indices = (uint16_t *)(room->order + ENTRIES / ENTRIES_A_SHORT_ROW); /* behind the turn */
    make_sparse(room, ENTRIES, a_row, (int64_t)(operand / sizeof(float)) / width);
    for (int32_t i = 0; i < room->A.rows; i++) {
        room->order[i] = i;
    }
    for (int64_t e = 0; e < ENTRIES; e++) {
        short_indices[e] = (uint16_t)room->indices[e];
    }
    room->A.turn = room->order;
    room->A.short_indices = short_indices;
    room->right = dense_at(room->b, room->A.cols, width);
    room->to = dense_at(room->c, room->A.rows, width);
    return 1e9 * sfu__best_seconds(job_spmm, room) / ENTRIES;
}

static void measure_turns(sfu__rates *rates, bench_room *room) {
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w];
        rates->turn_ns[w] = rates->gather_ns[0][w];
        rates->turn_row_ns[w] = rates->gather_row_ns[w];
        if (width <= SFU__NARROW) {
            const double long_rows = turn_ns(room, ENTRIES_A_ROW, rates->size_bytes[0], width);
            const double short_rows = turn_ns(room, ENTRIES_A_SHORT_ROW, rates->size_bytes[0], width);
            const double row = (short_rows - long_rows) / (1.0 / ENTRIES_A_SHORT_ROW - 1.0 / ENTRIES_A_ROW);
            rates->turn_row_ns[w] = row > 0.0 ? row : 0.0;
            rates->turn_ns[w] = without_row(long_rows, rates->turn_row_ns[w], ENTRIES_A_ROW);
        }
    }
}

/* spmm takes so much a non-zero and so much a row: two lengths of rows tell them apart. */
static sfu_status measure_gathers(sfu__rates *rates, bench_room *room, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    for (int w = 0; w < SFU__WIDTHS; w++) {
        const int32_t width = sfu__rate_widths[w];
        SFU_TRY(sfu__tick(ticker, SFU__MEMORY_LEVELS + w));
        const double middle = rates->size_bytes[SFU__SIZE_L2];
        const double long_rows = spmm_ns(room, ENTRIES, ENTRIES_A_ROW, middle, width);
        const double short_rows = spmm_ns(room, ENTRIES, ENTRIES_A_SHORT_ROW, middle, width);
        const double row = (short_rows - long_rows) / (1.0 / ENTRIES_A_SHORT_ROW - 1.0 / ENTRIES_A_ROW);
        rates->gather_row_ns[w] = row > 0.0 ? row : 0.0;
        for (int s = 0; s < SFU__SIZES; s++) {
            const int64_t entries = s == SFU__SIZES - 1 ? ENTRIES_FAR : ENTRIES;
            const double all =
                s == SFU__SIZE_L2 ? long_rows : spmm_ns(room, entries, ENTRIES_A_ROW, rates->size_bytes[s], width);
            rates->gather_ns[s][w] = without_row(all, rates->gather_row_ns[w], ENTRIES_A_ROW);
        }
    }
    measure_gaps(rates, room);
    measure_order(rates, room);
    measure_columns(rates, room);
    measure_turns(rates, room);
done:
    return status;
}

/* A row of gemm and, at the same time, a place of the inner dimension: two inner dimensions tell them apart. */
static void measure_products(sfu__rates *rates, bench_room *room, int w) {
    const int32_t width = sfu__rate_widths[w];
    room->to = dense_at(room->c, ROWS, width);
    room->left = dense_at(room->a, ROWS, INNER);
    room->right = dense_at(room->b, INNER, width);
    const double deep = 1e9 * sfu__best_seconds(job_gemm, room) / ROWS;
    room->left = dense_at(room->a, ROWS, INNER_SHORT);
    room->right = dense_at(room->b, INNER_SHORT, width);
    const double shallow = 1e9 * sfu__best_seconds(job_gemm, room) / ROWS;
    const double each = (deep - shallow) / (INNER - INNER_SHORT);
    rates->unit_ns[SFU__OP_GEMM][w] = each > 0.0 ? each : deep / INNER;
    const double row = deep - INNER * rates->unit_ns[SFU__OP_GEMM][w];
    rates->gemm_row_ns[w] = row > 0.0 ? row : 0.0;
    room->left = dense_at(room->a, ROWS, INNER);
    room->right = dense_at(room->b, ROWS, width);
    rates->unit_ns[SFU__OP_GEMM_T][w] = 1e9 * sfu__best_seconds(job_gemm_t, room) / (ROWS * (double)INNER);
}

/* The operations whose unit is a row. */
static void measure_rows(sfu__rates *rates, bench_room *room, int w) {
    static const struct {
        sfu__op op;
        void (*job)(void *context);
        double units; /* a row of one job */
    } jobs[] = {{SFU__OP_BLOCK_SUM, job_block_sum, 4},
                {SFU__OP_TRANSPOSE, job_transpose, 1},
                {SFU__OP_FINISH, job_finish, 1},
                {SFU__OP_SOFTMAX, job_softmax, 1},
                {SFU__OP_SOFTMAX_BACK, job_softmax_back, 1},
                {SFU__OP_SCORE, job_score, 1},
                {SFU__OP_MIX, job_mix, 1}};
    const int32_t width = sfu__rate_widths[w];
    const int64_t rows = ENTRIES / width;
    room->mask = (sfu__mask){.seed = 1, .epoch = 1};
    room->to = dense_at(room->c, rows, width);
    room->left = dense_at(room->a, rows, width);
    for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++) {
        const double seconds = sfu__best_seconds(jobs[i].job, room);
        rates->unit_ns[jobs[i].op][w] = 1e9 * seconds / ((double)rows * jobs[i].units);
    }
    rates->unit_ns[SFU__OP_MIX_BACK][w] = rates->unit_ns[SFU__OP_MIX][w];
    room->mask.threshold = HALF; /* the way back of a layer that drops, as most do */
    rates->unit_ns[SFU__OP_FINISH_BACK][w] = 1e9 * sfu__best_seconds(job_finish_back, room) / (double)rows;
}

/* What does not depend on the width of rows. Groups of sparse rows are listed, as a plan lists them. */
static sfu_status measure_singles(sfu__rates *rates, bench_room *room) {
    sfu_status status = SFU_OK;
    sfu__block listed = {0};
    int64_t bytes;
    room->mask = (sfu__mask){.seed = 1, .epoch = 1};
    room->to = dense_at(room->c, ROWS, INNER);
    const double plain = sfu__best_seconds(job_finish, room);
    room->mask.threshold = HALF;
    const double drawn = sfu__best_seconds(job_finish, room);
    rates->draw_ns = drawn > plain ? 1e9 * (drawn - plain) / (ROWS * INNER) : 0.0;
    make_sparse(room, ENTRIES, ENTRIES_A_ROW, ROWS);
    listed.view = room->A;
    SFU_TRY(sfu__block_groups(&listed, NULL, &bytes));
    room->A.groups = listed.view.groups;
    rates->unit_ns[SFU__OP_DROP_SPARSE][0] = 1e9 * sfu__best_seconds(job_drop_sparse, room) / ENTRIES;
    rates->unit_ns[SFU__OP_DROP_KEPT][0] = 1e9 * sfu__best_seconds(job_drop_kept, room) / ENTRIES;
    for (int64_t i = 0; i < 3 * (int64_t)ENTRIES; i++) {
        room->c[i] = 0.125F;
    }
    rates->unit_ns[SFU__OP_ADAM][0] = 1e9 * sfu__best_seconds(job_adam, room) / ENTRIES;
done:
    sfu__block_clear(&listed);
    room->A = (sfu__sparse){0};
    return status;
}

static void choose_sizes(sfu__rates *rates, const sfu__machine *machine, const sfu__memory_rates *memory) {
    const double *cache = machine->cache_bytes;
    double *size = rates->size_bytes;
    size[0] = cache[SFU__L1] / 2;
    size[2] = cache[SFU__L2] / 2;
    size[1] = cache[SFU__L1] * 2 < size[2] ? cache[SFU__L1] * 2 : sqrt(size[0] * size[2]);
    size[3] = cache[SFU__L2] * 2 < cache[SFU__L3] / 2 ? cache[SFU__L2] * 2 : cache[SFU__L2];
    size[4] = cache[SFU__L3] / 2 > size[3] ? cache[SFU__L3] / 2 : 1.5 * size[3];
    size[5] = memory->bytes[SFU__RAM] > size[4] ? memory->bytes[SFU__RAM] : 2 * size[4];
    static const int level[SFU__SIZES] = {SFU__L1, SFU__L2, SFU__L2, SFU__L3, SFU__L3, SFU__RAM};
    for (int i = 0; i < SFU__SIZES; i++) {
        rates->stream_ns[i] = sizeof(float) / memory->read[level[i]];
    }
}

/* `memory` was measured before. */
static sfu_status measure_kernels(sfu__rates *rates, const sfu__backend *backend, const sfu__machine *machine,
                                  const sfu__memory_rates *memory, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    bench_room room = {0};
    *rates = sfu__nominal_rates; /* of what is not measured: learned smoothings, the cost of a step */
    choose_sizes(rates, machine, memory);
    SFU_TRY(room_make(&room, backend, rates->size_bytes[SFU__SIZES - 1]));
    SFU_TRY(measure_gathers(rates, &room, ticker));
    for (int w = 0; w < SFU__WIDTHS; w++) {
        SFU_TRY(sfu__tick(ticker, SFU__MEMORY_LEVELS + SFU__WIDTHS + w));
        measure_products(rates, &room, w);
        measure_rows(rates, &room, w);
    }
    SFU_TRY(measure_singles(rates, &room));
done:
    room_clear(&room);
    return status;
}

sfu_status sfu__measure_machine(sfu__measured *measured, const sfu__backend *backend, sfu__ticker *ticker) {
    sfu_status status = SFU_OK;
    *measured = (sfu__measured){0};
    sfu__machine_look(&measured->machine);
    strncpy(measured->kernels, backend->name, sizeof measured->kernels - 1);
    ticker->total = SFU__MEMORY_LEVELS + 2 * SFU__WIDTHS;
    const uint64_t before = sfu__float_guard();
    SFU_TRY(sfu__memory_rates_measure(&measured->memory, &measured->machine, ticker));
    SFU_TRY(measure_kernels(&measured->rates, backend, &measured->machine, &measured->memory, ticker));
    SFU_TRY(sfu__tick(ticker, ticker->total));
done:
    sfu__float_restore(before);
    return status;
}
