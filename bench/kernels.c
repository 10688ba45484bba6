/* kernels.c - how fast the kernels are, beside what this machine can do: plain and fast in one run, one core.
 *
 *   usage: kernels [NAME]       only the lines whose name contains NAME; always the ceilings
 */
#define _POSIX_C_SOURCE 200809L
#include "cpu_matrix.h"
#include "memory.h"
#include "random.h"
#include "timing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw(uint64_t i) { return sfu__random_bits(1, 1, i); }

static void *get(int64_t count, size_t size) {
    void *block = sfu__alloc_zero((size_t)count + 64, size); /* which may begin up to 63 bytes further on */
    if (block == NULL) {
        fprintf(stderr, "kernels: %s\n", sfu_message());
        exit(1);
    }
    return (void *)(((uintptr_t)block + 63) / 64 * 64);
}

/* ---- ceilings ---- */

typedef float f4 __attribute__((vector_size(16)));

typedef struct memory {
    const float *data;
    const int32_t *rows; /* of 64 floats, NULL: all in order */
    int64_t count;
    float sum;
} memory;

static void read_all(void *context) {
    memory *m = context;
    f4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (int64_t i = 0; i < m->count; i += 32) {
        const f4 *p = (const f4 *)(const void *)(m->data + i);
        s0 += p[0], s1 += p[1], s2 += p[2], s3 += p[3];
        s4 += p[4], s5 += p[5], s6 += p[6], s7 += p[7];
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    m->sum += s0[0] + s0[1] + s0[2] + s0[3];
}

static void gather_rows(void *context) {
    memory *m = context;
    f4 s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0}, s4 = {0}, s5 = {0}, s6 = {0}, s7 = {0};
    for (int64_t i = 0; i < m->count; i++) {
        const float *later = m->data + (int64_t)m->rows[i + 16] * 64;
        for (int64_t line = 0; line < 4; line++) {
            __builtin_prefetch(later + 16 * line);
        }
        const f4 *p = (const f4 *)(const void *)(m->data + (int64_t)m->rows[i] * 64);
        s0 += p[0], s1 += p[1], s2 += p[2], s3 += p[3];
        s4 += p[4], s5 += p[5], s6 += p[6], s7 += p[7];
        s0 += p[8], s1 += p[9], s2 += p[10], s3 += p[11];
        s4 += p[12], s5 += p[13], s6 += p[14], s7 += p[15];
    }
    s0 += s1 + s2 + s3 + s4 + s5 + s6 + s7;
    m->sum += s0[0] + s0[1] + s0[2] + s0[3];
}

/* GB/s by size of what is read: for the share that a kernel reaches. */
static struct ceiling {
    const char *name;
    int64_t bytes;
    double read, gather;
} ceilings[] = {{"L1, 32 KiB", 1 << 15, 0, 0},
                {"L2, 512 KiB", 1 << 19, 0, 0},
                {"L3, 8 MiB", 1 << 23, 0, 0},
                {"memory, 512 MiB", 1 << 29, 0, 0}};

static void measure_ceilings(void) {
    enum { GATHERS = 1 << 16 };
    float *data = get(ceilings[3].bytes / 4, 4);
    int32_t *rows = get(GATHERS + 16, 4);
    printf("%-34s %10s %10s\n", "one core", "read GB/s", "rows GB/s");
    for (int level = 0; level < 4; level++) {
        for (int64_t i = 0; i < GATHERS + 16; i++) {
            rows[i] = (int32_t)(draw((uint64_t)i) % (uint64_t)(ceilings[level].bytes / 256));
        }
        memory all = {data, NULL, ceilings[level].bytes / 4, 0}, some = {data, rows, GATHERS, 0};
        ceilings[level].read = (double)ceilings[level].bytes / seconds_of(read_all, &all) * 1e-9;
        ceilings[level].gather = GATHERS * 256.0 / seconds_of(gather_rows, &some) * 1e-9;
        printf("%-34s %10.1f %10.1f\n", ceilings[level].name, ceilings[level].read, ceilings[level].gather);
    }
}

/* The level that an operand of so many bytes comes from. */
static const struct ceiling *level_of(int64_t bytes) {
    return &ceilings[bytes <= 48 << 10 ? 0 : bytes <= 1 << 20 ? 1 : bytes <= 24 << 20 ? 2 : 3];
}

/* ---- operands ---- */

static sfu__dense dense(int32_t rows, int32_t cols) {
    sfu__dense M = {.rows = rows, .cols = cols, .ld = sfu__ld(cols)};
    M.data = get((int64_t)rows * M.ld, 4);
    for (int64_t i = 0; i < (int64_t)rows * M.ld; i++) {
        M.data[i] = i % M.ld < cols ? (float)(draw((uint64_t)i) >> 40) * 0x1p-23F - 1 : 0;
    }
    return M;
}

/* Rows of between half and one and a half times the mean length, columns uniform. */
static sfu__sparse sparse(int32_t rows, int32_t cols, int64_t mean, bool ordered) {
    int64_t *indptr = get(rows + 1, 8);
    for (int32_t i = 0; i < rows; i++) {
        indptr[i + 1] = indptr[i] + mean / 2 + (int64_t)(draw((uint64_t)i) % (uint64_t)(mean + 1));
    }
    int32_t *indices = get(indptr[rows], 4), *order = get(indptr[rows], 4);
    float *values = get(indptr[rows], 4);
    for (int64_t e = 0; e < indptr[rows]; e++) {
        indices[e] = (int32_t)(draw((uint64_t)e) % (uint64_t)cols);
        order[e] = (int32_t)(draw((uint64_t)e + 7) % (uint64_t)indptr[rows]);
        values[e] = 0.5F;
    }
    return (sfu__sparse){.rows = rows,
                         .cols = cols,
                         .indptr = indptr,
                         .indices = indices,
                         .values = values,
                         .value_perm = ordered ? order : NULL};
}

/* ---- a line a kernel ---- */

typedef struct call {
    const sfu__backend *backend;
    sfu__sparse S;
    sfu__dense A, B, C;
    float *floats[4];
    sfu__activation act;
    sfu__mask mask;
    sfu__target target;
    sfu__score *scores;
} call;

static const char *only = "";

typedef enum unit { GATHER, FLOPS, EACH } unit;

/* `amount`: bytes gathered out of `operand` bytes, flops, or how many values are worked on. */
static void line(const char *name, void (*work)(void *), call c, unit unit, double amount, int64_t operand) {
    if (strstr(name, only) == NULL) {
        return;
    }
    double seconds[2] = {0, 0};
    const sfu__backend *fast = NULL;
    if (sfu__backend_cpu(&fast) != SFU_OK) {
        fprintf(stderr, "kernels: %s\n", sfu_message());
        exit(1);
    }
    for (int set = 0; set < 2; set++) {
        c.backend = set == 0 ? sfu__backend_cpu_set(0) : fast;
        seconds[set] = seconds_of(work, &c);
    }
    printf("%-34s %10.1f %10.1f %6.1fx", name, seconds[0] * 1e6, seconds[1] * 1e6, seconds[0] / seconds[1]);
    const double rate = amount / seconds[1] * 1e-9;
    if (unit == GATHER) {
        const struct ceiling *level = level_of(operand);
        printf("  %8.1f GB/s, %3.0f %% of %s", rate, 100 * rate / (level == &ceilings[3] ? level->gather : level->read),
               level->name);
        printf(", %.2f ns a non-zero", seconds[1] * 1e9 / (double)c.S.indptr[c.S.rows]);
    } else if (unit == FLOPS) {
        printf("  %8.1f GF/s", rate);
    } else {
        printf("  %8.2f ns each", seconds[1] * 1e9 / amount);
    }
    printf("\n");
    fflush(stdout);
}

static void do_spmm(void *context) {
    const call *c = context;
    c->backend->spmm(&c->C, &c->S, &c->B, false, (sfu__range){0, c->S.rows});
}
static void do_gemm(void *context) {
    const call *c = context;
    c->backend->gemm(&c->C, &c->A, &c->B, (sfu__range){0, c->A.rows});
}
static void do_gemm_t(void *context) {
    const call *c = context;
    c->backend->gemm_t(c->floats[0], &c->A, &c->B, (sfu__range){0, sfu__block_count(c->A.rows)});
}
static void do_drop(void *context) {
    const call *c = context;
    c->backend->dropout_sparse(c->floats[0], &c->S, NULL, &c->mask, (sfu__range){0, c->S.rows});
}
static void do_drop_kept(void *context) {
    const call *c = context;
    c->backend->dropout_mask((uint8_t *)c->floats[0], &c->S, NULL, &c->mask, (sfu__range){0, c->S.rows});
}
static void do_finish(void *context) {
    const call *c = context;
    c->backend->activate(&c->C, c->floats[0], c->act, NULL, &c->mask, (sfu__range){0, c->C.rows});
}
static void do_finish_back(void *context) {
    const call *c = context;
    c->backend->activate_backward(&c->C, &c->A, c->act, NULL, &c->mask, (sfu__range){0, c->C.rows});
}
static void do_softmax(void *context) {
    const call *c = context;
    c->backend->softmax(&c->C, c->floats[0], (sfu__range){0, c->C.rows});
}
static void do_softmax_back(void *context) {
    const call *c = context;
    c->backend->softmax_backward(&c->C, &c->A, (sfu__range){0, c->C.rows});
}
static void do_score(void *context) {
    const call *c = context;
    c->backend->cross_entropy(c->scores, &c->C, true, &c->A, &c->target, (sfu__range){0, sfu__block_count(c->A.rows)});
}
static void do_adam(void *context) {
    const call *c = context;
    const sfu__adam adam = {1e-6F, 5e-4F, 1, 1, -INFINITY, INFINITY};
    c->backend->adam(c->floats[0], c->floats[1], c->floats[2], c->floats[3], &adam,
                     (sfu__range){0, (int64_t)c->A.rows * c->A.ld});
}
static void do_sddmm(void *context) {
    const call *c = context;
    c->backend->sddmm(c->floats[0], &c->S, &c->C, &c->B, (sfu__range){0, c->S.rows});
}

static void spmm_line(const char *name, int32_t rows, int32_t cols, int64_t mean, int32_t width, bool ordered) {
    if (strstr(name, only) == NULL) {
        return;
    }
    const call c = {.S = sparse(rows, cols, mean, ordered), .B = dense(cols, width), .C = dense(rows, width)};
    line(name, do_spmm, c, GATHER, (double)c.S.indptr[rows] * c.B.ld * 4, (int64_t)cols * c.B.ld * 4);
}

/* Over what a mask leaves, every other entry; the bytes are those of rows that are fetched. */
static void kept_line(const char *name, int32_t rows, int32_t cols, int64_t mean, int32_t width, bool ordered) {
    static const sfu__mask mask = {.seed = 1, .epoch = 1, .threshold = 32768};
    if (strstr(name, only) == NULL) {
        return;
    }
    call c = {.S = sparse(rows, cols, mean, false), .B = dense(cols, width), .C = dense(rows, width)};
    const int64_t count = c.S.indptr[rows];
    uint8_t *kept = get(count, 1);
    sfu__backend_cpu_set(0)->dropout_mask(kept, &c.S, NULL, &mask, (sfu__range){0, rows});
    c.S = sparse(rows, cols, mean, ordered);
    c.S.keep_mask = kept;
    c.S.mask = &mask;
    double left = 0;
    for (int64_t e = 0; e < count; e++) {
        left += kept[ordered ? c.S.value_perm[e] : e];
    }
    line(name, do_spmm, c, GATHER, left * c.B.ld * 4, (int64_t)cols * c.B.ld * 4);
}

static void gemm_line(const char *name, int32_t rows, int32_t inner, int32_t width) {
    const call c = {.A = dense(rows, inner), .B = dense(inner, width), .C = dense(rows, width)};
    line(name, do_gemm, c, FLOPS, 2.0 * rows * inner * c.B.ld, 0);
}

static void gemm_t_line(const char *name, int32_t rows, int32_t inner, int32_t width) {
    call c = {.A = dense(rows, inner), .B = dense(rows, width)};
    c.floats[0] = get(sfu__block_count(rows) * inner * c.B.ld, 4);
    line(name, do_gemm_t, c, FLOPS, 2.0 * rows * inner * c.B.ld, 0);
}

static void row_lines(int32_t rows, int32_t classes) {
    call c = {.A = dense(rows, classes), .C = dense(rows, classes), .floats = {dense(1, classes).data}};
    int32_t *labels = get(rows, 4);
    for (int32_t i = 0; i < rows; i++) {
        labels[i] = (int32_t)(draw((uint64_t)i) % (uint64_t)classes);
        c.A.data[(int64_t)i * c.A.ld + labels[i]] = 0.5F;
    }
    c.target.labels = labels;
    c.scores = get(sfu__block_count(rows), sizeof *c.scores);
    char name[64];
    snprintf(name, sizeof name, "softmax %d x %d (rows)", (int)rows, (int)classes);
    line(name, do_softmax, c, EACH, rows, 0);
    snprintf(name, sizeof name, "softmax_backward %d x %d (rows)", (int)rows, (int)classes);
    line(name, do_softmax_back, c, EACH, rows, 0);
    snprintf(name, sizeof name, "score %d x %d (rows)", (int)rows, (int)classes);
    line(name, do_score, c, EACH, rows, 0);
}

static void hidden_lines(int32_t rows, int32_t width) {
    static const char *const names[] = {"identity", "relu", "tanh", "sigmoid", "elu", "leaky_relu"};
    for (int act = 0; act < 6; act++) {
        call c = {.A = dense(rows, width), .C = dense(rows, width), .act = (sfu__activation)act};
        c.mask = (sfu__mask){.seed = 1, .epoch = 1, .threshold = 32768};
        c.floats[0] = dense(1, width).data;
        char name[64];
        snprintf(name, sizeof name, "finish %s, dropped (values)", names[act]);
        line(name, do_finish, c, EACH, (double)rows * width, 0);
        snprintf(name, sizeof name, "activate_backward %s (values)", names[act]);
        line(name, do_finish_back, c, EACH, (double)rows * width, 0);
    }
}

static void drop_line(const char *name, int32_t rows, int64_t mean, void (*work)(void *)) {
    call c = {.S = sparse(rows, 1000, mean, false), .mask = {.seed = 1, .epoch = 1, .threshold = 32768}};
    c.floats[0] = get(c.S.indptr[rows], 4);
    line(name, work, c, EACH, (double)c.S.indptr[rows], 0);
}

static void adam_line(const char *name, int32_t rows, int32_t cols) {
    call c = {.A = dense(rows, cols)};
    for (int i = 0; i < 4; i++) {
        c.floats[i] = dense(rows, cols).data;
        for (int64_t k = 0; k < (int64_t)rows * c.A.ld; k++) {
            c.floats[i][k] = c.floats[i][k] < 0 ? -c.floats[i][k] : c.floats[i][k];
        }
    }
    line(name, do_adam, c, EACH, (double)rows * c.A.ld, 0);
}

static void sddmm_line(const char *name, int32_t rows, int64_t mean, int32_t width) {
    call c = {.S = sparse(rows, rows, mean, false), .B = dense(rows, width), .C = dense(rows, width)};
    c.floats[0] = get(c.S.indptr[rows], 4);
    line(name, do_sddmm, c, GATHER, (double)c.S.indptr[rows] * c.B.ld * 4, (int64_t)rows * c.B.ld * 4);
}

int main(int argc, char **argv) {
    only = argc > 1 ? argv[1] : "";
    const uint64_t before = sfu__float_guard();
    measure_ceilings();
    printf("\n%-34s %10s %10s %7s\n", "", "plain us", "fast us", "faster");
    spmm_line("spmm Cora S, 64", 2708, 2708, 5, 64, false);
    spmm_line("spmm Cora S, 7", 2708, 2708, 5, 7, false);
    spmm_line("spmm Cora X, 64", 2708, 1433, 18, 64, false);
    spmm_line("spmm Cora X, 16", 2708, 1433, 18, 16, false);
    spmm_line("spmm Cora X, 7", 2708, 1433, 18, 7, false);
    spmm_line("spmm Cora X^T, 64, ordered", 1433, 2708, 34, 64, true);
    spmm_line("spmm Cora X^T, 7, ordered", 1433, 2708, 34, 7, true);
    kept_line("spmm drop Cora X, 64", 2708, 1433, 18, 64, false);
    kept_line("spmm drop Cora X, 32", 2708, 1433, 18, 32, false);
    kept_line("spmm drop Cora X^T, 64, ordered", 1433, 2708, 34, 64, true);
    kept_line("spmm drop Cora X^T, 32, ordered", 1433, 2708, 34, 32, true);
    spmm_line("spmm Pubmed S, 64", 19717, 19717, 5, 64, false);
    spmm_line("spmm Pubmed S, 3", 19717, 19717, 5, 3, false);
    spmm_line("spmm Pubmed X, 64", 19717, 500, 50, 64, false);
    spmm_line("spmm Pubmed X, 32", 19717, 500, 50, 32, false);
    spmm_line("spmm Pubmed X, 3", 19717, 500, 50, 3, false);
    spmm_line("spmm 2^20 nodes, 64", 1 << 20, 1 << 20, 16, 64, false);
    spmm_line("spmm 2^20 nodes, 8", 1 << 20, 1 << 20, 16, 8, false);
    gemm_line("gemm 2708 x 64 x 64", 2708, 64, 64);
    gemm_line("gemm 2708 x 64 x 7", 2708, 64, 7);
    gemm_line("gemm 2708 x 7 x 64", 2708, 7, 64);
    gemm_line("gemm 1664 x 7 x 64", 1664, 7, 64);
    gemm_line("gemm 2798 x 3 x 64", 2798, 3, 64);
    gemm_line("gemm 2335 x 64 x 7", 2335, 64, 7);
    gemm_line("gemm 640 x 64 x 7", 640, 64, 7);
    gemm_line("gemm 19717 x 64 x 3", 19717, 64, 3);
    gemm_line("gemm 2708 x 500 x 64", 2708, 500, 64);
    gemm_t_line("gemm_t 2708 x 64 x 64", 2708, 64, 64);
    gemm_t_line("gemm_t 2708 x 64 x 7", 2708, 64, 7);
    gemm_t_line("gemm_t 1664 x 64 x 7", 1664, 64, 7);
    gemm_t_line("gemm_t 140 x 64 x 7", 140, 64, 7);
    gemm_t_line("gemm_t 19717 x 64 x 3", 19717, 64, 3);
    drop_line("dropout_sparse Cora X (values)", 2708, 18, do_drop);
    drop_line("dropout_sparse Pubmed X (values)", 3685, 50, do_drop);
    drop_line("dropout_mask Cora X (values)", 2708, 18, do_drop_kept);
    drop_line("dropout_mask Pubmed X (values)", 3685, 50, do_drop_kept);
    hidden_lines(2708, 64);
    adam_line("adam 1433 x 64 (parameters)", 1433, 64);
    adam_line("adam 500 x 16 (parameters)", 500, 16);
    row_lines(2708, 7);
    row_lines(19717, 3);
    row_lines(2708, 40);
    sddmm_line("sddmm Cora S, 64", 2708, 5, 64);
    sddmm_line("sddmm Cora S, 7", 2708, 5, 7);
    sfu__float_restore(before);
    return 0;
}
