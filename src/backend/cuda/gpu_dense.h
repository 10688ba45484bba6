/* gpu_dense.h - products of dense matrices on a GPU: bitwise those of the reference kernels.
 *
 * Where a result has enough rows and columns, a thread computes four rows at four columns. The terms of one chain go
 * through the memory of the block: those of the next chain are copied while this one is summed.
 */
#ifndef SFU_GPU_DENSE_H
#define SFU_GPU_DENSE_H

#include "gpu_lanes.h"

SFU__DEVICE_FN int gpu_chains(int64_t terms) { return (int)((terms + SFU__CHAIN_TERMS - 1) / SFU__CHAIN_TERMS); }

/* The strides of a dense matrix. */
typedef struct sfu__gpu_strides {
    int64_t row, column;
} sfu__gpu_strides;

SFU__DEVICE_FN sfu__gpu_strides gpu_strides(const sfu__gpu_operand *A) {
    const sfu__gpu_strides strides = {A->by_columns ? 1 : A->ld, A->by_columns ? A->ld : 1};
    return strides;
}

/* One chain of a sum: terms [begin, end) of a row or column of A (NULL: ones), `a_step` apart, times four columns of
 * B. */
SFU__DEVICE_FN sfu__f4 gpu_dense_chain(const float *a, int64_t a_step, const sfu__f4 *b, int64_t quads, int64_t begin,
                                       int64_t end) {
    enum { AT_ONCE = 4 };
    sfu__f4 chain = gpu_zero();
    int64_t k = begin;
    SFU__NO_UNROLL for (; k + AT_ONCE <= end; k += AT_ONCE) {
        float x[AT_ONCE];
        sfu__f4 y[AT_ONCE];
        SFU__UNROLL for (int j = 0; j < AT_ONCE; j++) {
            x[j] = a != NULL ? a[(k + j) * a_step] : 1.0F;
            y[j] = b[(k + j) * quads];
        }
        SFU__UNROLL for (int j = 0; j < AT_ONCE; j++) { chain = gpu_fma(x[j], y[j], chain); }
    }
    for (; k < end; k++) {
        chain = gpu_fma(a != NULL ? a[k * a_step] : 1.0F, b[k * quads], chain);
    }
    return chain;
}

/* Four rows of a product, at four columns. */
typedef struct sfu__gpu_tile {
    sfu__f4 row[4];
} sfu__gpu_tile;

/* The same chain of four rows. `a`: their first terms, `rows` apart; if by columns, the rows lie together and the terms
 * `rows` apart. Rows after the last are read from it. */
SFU__DEVICE_FN sfu__gpu_tile gpu_tile_chain(const float *a, int64_t rows, int last, const int by_columns,
                                            const sfu__f4 *b, int64_t quads, int begin, int end) {
    sfu__gpu_tile sum = {{gpu_zero(), gpu_zero(), gpu_zero(), gpu_zero()}};
    SFU__NO_UNROLL for (int k = begin; k < end; k += 4) {
        sfu__f4 x[4], y[4];
        SFU__UNROLL for (int j = 0; j < 4; j++) {
            const int term = k + j < end ? k + j : end - 1;
            x[j] = by_columns ? *gpu_quads(a + term * rows) : *gpu_quads(a + (j < last ? j : last) * rows + k);
            y[j] = b[term * quads];
        }
        SFU__UNROLL for (int j = 0; j < 4; j++) {
            SFU__UNROLL for (int i = 0; i < 4; i++) {
                if (k + j < end) {
                    sum.row[i] = gpu_fma(by_columns ? gpu_part(&x[j], i) : gpu_part(&x[i], j), y[j], sum.row[i]);
                }
            }
        }
    }
    return sum;
}

/* C = A B: four rows at four columns per thread. The chains of a sum meet in C. The last rows may be fewer than four.
 */
SFU__DEVICE_FN void gpu_gemm_tiles(const sfu__gpu_run *run, const sfu__gpu_step *step, const int by_columns) {
    const float *A = gpu_data(run, &step->a);
    const sfu__f4 *B = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c));
    const int inner = step->a.cols, quads = step->c.ld / 4;
    const int64_t ld = step->a.ld, lanes = gpu_lanes(run);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    const int64_t tiles = (rows.end - rows.begin + 3) / 4 * quads;
    for (int64_t i = gpu_lane(run); i < tiles; i += lanes) {
        const int64_t four = gpu_divide(i, quads), quad = i - four * quads, row = rows.begin + 4 * four;
        const float *a = by_columns ? A + row : A + row * ld;
        const int last = (int)(rows.end - 1 - row);
        for (int begin = 0; begin < inner; begin += SFU__CHAIN_TERMS) {
            const int end = begin + SFU__CHAIN_TERMS < inner ? begin + SFU__CHAIN_TERMS : inner;
            const sfu__gpu_tile sum = gpu_tile_chain(a, ld, last, by_columns, B + quad, quads, begin, end);
            SFU__UNROLL for (int k = 0; k < 4; k++) {
                sfu__f4 *c = &C[(row + k) * quads + quad];
                if (row + k < rows.end) {
                    *c = begin > 0 ? gpu_add(*c, sum.row[k]) : sum.row[k];
                }
            }
        }
    }
}

SFU__DEVICE_FN int gpu_fewer(int64_t a, int64_t b) { return (int)(a < b ? a : b); }

/* Copies `count` rows of `width` quads to the memory of the block, and does not wait for them. Strides in quads. */
SFU__DEVICE_FN void gpu_stage(const sfu__gpu_run *run, sfu__f4 *to, int to_stride, const sfu__f4 *from,
                              int64_t from_stride, int count, int width) {
    for (int i = gpu_thread(run); i < count * width; i += run->lanes) {
        const int row = i / width, quad = i - row * width;
        gpu_copy_quad(&to[row * to_stride + quad], from + row * from_stride + quad);
    }
}

/* Waits for the copies of all threads of the block. */
SFU__DEVICE_FN void gpu_staged(void) {
    gpu_copies_wait();
    gpu_block_barrier();
}

/* One chain of a row of A, in quads. */
SFU__DEVICE_FN sfu__f4 gpu_row_chain(const sfu__f4 *a, const sfu__f4 *b, int quads, int begin, int end) {
    sfu__f4 sum = gpu_zero();
    SFU__UNROLL2 for (int k = begin; k < end; k += 4) {
        const sfu__f4 x = a[k / 4];
        SFU__UNROLL for (int j = 0; j < 4; j++) {
            if (k + j < end) {
                sum = gpu_fma(gpu_part(&x, j), b[(k + j) * quads], sum);
            }
        }
    }
    return sum;
}

/* Quads between the rows of A in the memory of the block: odd, so that threads of neighbouring rows use all banks. */
SFU__DEVICE_FN int gpu_staged_stride(const sfu__gpu_step *step) { return step->a.ld / 4 | 1; }

/* C = A B with few columns. The rows of A go through the memory of the block, since a thread reads a whole row. */
SFU__DEVICE_FN void gpu_gemm_staged(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__f4 *A = gpu_quads(gpu_data(run, &step->a)), *B = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c)), *own = gpu_shared(run);
    const int inner = step->a.cols, quads = step->c.ld / 4, width = step->a.ld / 4, stride = gpu_staged_stride(step);
    const int64_t most = run->shared_bytes / (stride * (int)sizeof *own);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    for (int64_t first = rows.begin + run->block * most; first < rows.end; first += run->blocks * most) {
        const int count = gpu_fewer(rows.end - first, most);
        gpu_block_barrier();
        gpu_stage(run, own, stride, A + first * width, width, count, width);
        gpu_staged();
        for (int i = gpu_thread(run); i < count * quads; i += run->lanes) {
            const sfu__f4 *a = own + i / quads * stride, *b = B + i % quads;
            sfu__f4 sum = gpu_zero();
            for (int begin = 0; begin < inner; begin += SFU__CHAIN_TERMS) {
                const int end = begin + SFU__CHAIN_TERMS < inner ? begin + SFU__CHAIN_TERMS : inner;
                const sfu__f4 chain = gpu_row_chain(a, b, quads, begin, end);
                sum = begin > 0 ? gpu_add(sum, chain) : chain;
            }
            C[first * quads + i] = sum;
        }
    }
}

SFU__DEVICE_FN int gpu_is_staged(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const int64_t row = gpu_staged_stride(step) * (int64_t)sizeof(sfu__f4);
    return !step->split && !step->a.by_columns && step->a.fixed == NULL && step->a.ld % 4 == 0 && step->c.ld <= 16 &&
           run->shared_bytes >= 128 * row;
}

/* Whether tiles can be read, four floats at a time, and are not too few. */
SFU__DEVICE_FN int gpu_has_tiles(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    const int aligned = step->a.ld % 4 == 0 && (!step->a.by_columns || rows.begin % 4 == 0);
    return aligned && !step->split && (rows.end - rows.begin) * (step->c.ld / 4) >= gpu_lanes(run);
}

/* C = A B, four columns of a row per thread; if the sums are split, of a chain. */
SFU__DEVICE_FN void gpu_gemm_elements(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const float *A = gpu_data(run, &step->a);
    const sfu__f4 *B = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c)), *parts = gpu_quads(run->memory + step->scratch);
    const int inner = step->a.cols, chains = gpu_chains(inner), split = step->split ? chains : 1;
    const int64_t quads = step->c.ld / 4, lanes = gpu_lanes(run);
    const sfu__gpu_strides strides = gpu_strides(&step->a);
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    const int64_t elements = (rows.end - rows.begin) * quads, first = rows.begin * quads;
    if (phase == 1) {
        for (int64_t i = gpu_lane(run); i < elements; i += lanes) {
            C[first + i] = gpu_sum_parts(parts + i, elements, chains);
        }
        return;
    }
    for (int64_t i = gpu_lane(run); i < elements * split; i += lanes) {
        const int part = (int)gpu_divide(i, elements);
        const int64_t at = i - part * elements, row = gpu_divide(at, quads), quad = at - row * quads;
        const float *a = A + (rows.begin + row) * strides.row;
        const int begin = part * SFU__CHAIN_TERMS, chain_end = begin + SFU__CHAIN_TERMS;
        sfu__f4 sum = gpu_dense_chain(a, strides.column, B + quad, quads, begin, chain_end < inner ? chain_end : inner);
        for (int k = SFU__CHAIN_TERMS; split == 1 && k < inner; k += SFU__CHAIN_TERMS) {
            const int end = k + SFU__CHAIN_TERMS < inner ? k + SFU__CHAIN_TERMS : inner;
            sum = gpu_add(sum, gpu_dense_chain(a, strides.column, B + quad, quads, k, end));
        }
        if (split > 1) {
            parts[i] = sum;
        } else {
            C[first + at] = sum;
        }
    }
}

/* ---- panels ----------------------------------------------------------------------------------------------------- */

/* A panel: `fours` times four rows of a result at all of its `quads` times four columns, a tile per thread. */
typedef struct sfu__gpu_panel {
    int quads, fours;
    int fixed;  /* quads of the memory of the block that are loaded once */
    int buffer; /* quads of the terms of a chain, twice: of this one and of the next */
} sfu__gpu_panel;

enum { GPU_CHAIN_QUADS = SFU__CHAIN_TERMS / 4, GPU_ROW_QUADS = GPU_CHAIN_QUADS + 1 /* odd: all banks are used */ };

/* As many rows as there are threads and memory for; `each`, `other`: quads of a buffer per four rows, and besides them.
 * No rows: less than half of the threads would have a tile. */
SFU__DEVICE_FN sfu__gpu_panel gpu_panel(const sfu__gpu_run *run, int quads, int64_t fixed, int each, int other) {
    sfu__gpu_panel panel = {quads, run->lanes > quads ? run->lanes / quads : 1, (int)fixed, 0};
    const int64_t room = (run->shared_bytes / (int)sizeof(sfu__f4) - fixed) / 2 - other;
    panel.fours = (int64_t)panel.fours * each > room ? (int)(room / each) : panel.fours;
    panel.fours = room < each || 2 * panel.fours * quads < run->lanes ? 0 : panel.fours;
    panel.buffer = panel.fours * each + other;
    return panel;
}

SFU__DEVICE_FN void gpu_add_tile(sfu__gpu_tile *sum, const sfu__gpu_tile *chain, int first) {
    SFU__UNROLL for (int i = 0; i < 4; i++) {
        sum->row[i] = first ? chain->row[i] : gpu_add(sum->row[i], chain->row[i]);
    }
}

/* B is in the memory of the block as a whole. */
SFU__DEVICE_FN sfu__gpu_panel gpu_gemm_panel(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const int quads = step->c.ld / 4;
    return gpu_panel(run, quads, (int64_t)step->a.cols * quads, 4 * GPU_ROW_QUADS, 0);
}

/* The terms of A from `begin` on, of a chain, at the rows from `first` on. */
SFU__DEVICE_FN void gpu_stage_terms(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel,
                                    sfu__f4 *to, int64_t first, int64_t end, int begin, const int by_columns) {
    const float *A = gpu_data(run, &step->a);
    const int64_t ld = step->a.ld;
    const int terms = gpu_fewer(step->a.cols - begin, SFU__CHAIN_TERMS);
    if (by_columns) {
        gpu_stage(run, to, panel->fours, gpu_quads(A + begin * ld + first), ld / 4, terms,
                  gpu_fewer((ld - first) / 4, panel->fours));
    } else {
        gpu_stage(run, to, GPU_ROW_QUADS, gpu_quads(A + first * ld + begin), ld / 4,
                  gpu_fewer(end - first, 4 * panel->fours), (terms + 3) / 4);
    }
}

/* C = A B at the rows of a panel. */
SFU__DEVICE_FN void gpu_gemm_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel,
                                  int64_t first, sfu__gpu_range rows, const int by_columns) {
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c)), *own = gpu_shared(run);
    const int inner = step->a.cols, quads = panel->quads, tiles = panel->fours * quads;
    for (int tile = gpu_thread(run); tile - gpu_thread(run) < tiles; tile += run->lanes) { /* once on a GPU */
        const int four = tile / quads, quad = tile - four * quads, works = tile < tiles && first + 4 * four < rows.end;
        sfu__gpu_tile sum = {{gpu_zero(), gpu_zero(), gpu_zero(), gpu_zero()}};
        gpu_stage_terms(run, step, panel, own + panel->fixed, first, rows.end, 0, by_columns);
        gpu_staged();
        SFU__NO_UNROLL for (int begin = 0, turn = 0; begin < inner; begin += SFU__CHAIN_TERMS, turn = !turn) {
            const sfu__f4 *terms = own + panel->fixed + turn * panel->buffer;
            if (begin + SFU__CHAIN_TERMS < inner) {
                gpu_stage_terms(run, step, panel, own + panel->fixed + !turn * panel->buffer, first, rows.end,
                                begin + SFU__CHAIN_TERMS, by_columns);
            }
            if (works) {
                const float *a = (const float *)(terms + (by_columns ? four : 4 * four * GPU_ROW_QUADS));
                const sfu__gpu_tile chain =
                    gpu_tile_chain(a, 4 * (by_columns ? panel->fours : GPU_ROW_QUADS), 3, by_columns,
                                   own + begin * quads + quad, quads, 0, gpu_fewer(inner - begin, SFU__CHAIN_TERMS));
                gpu_add_tile(&sum, &chain, begin == 0);
            }
            gpu_staged();
        }
        SFU__UNROLL for (int i = 0; i < 4; i++) {
            const int64_t row = first + 4 * four + i;
            if (works && row >= rows.begin && row < rows.end) {
                C[row * quads + quad] = sum.row[i];
            }
        }
    }
}

/* The rows of a stage may start within four. */
SFU__DEVICE_FN void gpu_gemm_panels(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel,
                                    const int by_columns) {
    const sfu__gpu_range rows = gpu_stage_range(step->stage_ends, run->stage);
    const int64_t each = 4 * panel->fours;
    if (rows.begin == rows.end) { /* a stage without rows */
        return;
    }
    gpu_stage(run, gpu_shared(run), panel->quads, gpu_quads(gpu_data(run, &step->b)), panel->quads, step->a.cols,
              panel->quads);
    for (int64_t first = rows.begin / 4 * 4 + run->block * each; first < rows.end; first += run->blocks * each) {
        gpu_gemm_rows(run, step, panel, first, rows, by_columns);
    }
    gpu_copies_wait(); /* of B, in a block without a panel */
}

/* Short sums do not pay for the copies. */
SFU__DEVICE_FN int gpu_has_panels(const sfu__gpu_step *step, const sfu__gpu_panel *panel, int64_t terms) {
    enum { ENOUGH = 16 };
    return panel->fours > 0 && !step->split && step->a.ld % 4 == 0 && terms >= ENOUGH;
}

/* Columns of A are the rows of the result; both operands go through the memory of the block. */
SFU__DEVICE_FN sfu__gpu_panel gpu_gemm_t_panel(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const int quads = step->b.ld / 4;
    return gpu_panel(run, quads, 0, SFU__CHAIN_TERMS, SFU__CHAIN_TERMS * quads);
}

/* Columns of A from quad `four` on, and all of G, at the rows of a chain. */
SFU__DEVICE_FN void gpu_stage_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel,
                                   sfu__f4 *to, int four, int64_t begin, int64_t end) {
    const sfu__f4 *A = gpu_quads(gpu_data(run, &step->a)), *G = gpu_quads(gpu_data(run, &step->b));
    const int rows = gpu_fewer(end - begin, SFU__CHAIN_TERMS), width = step->a.ld / 4;
    gpu_stage(run, to, panel->fours, A + begin * width + four, width, rows, gpu_fewer(width - four, panel->fours));
    gpu_stage(run, to + panel->fours * SFU__CHAIN_TERMS, panel->quads, G + begin * panel->quads, panel->quads, rows,
              panel->quads);
}

/* A part of A^T G: rows [begin, end) of both, and the panel of columns of A from quad `first` on. */
SFU__DEVICE_FN void gpu_gemm_t_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel,
                                    sfu__f4 *C, int first, sfu__gpu_range rows) {
    sfu__f4 *own = gpu_shared(run);
    const int quads = panel->quads, tiles = panel->fours * quads, cols = step->a.cols;
    for (int tile = gpu_thread(run); tile - gpu_thread(run) < tiles; tile += run->lanes) { /* once on a GPU */
        const int four = tile / quads, quad = tile - four * quads, works = tile < tiles && 4 * (first + four) < cols;
        sfu__gpu_tile sum = {{gpu_zero(), gpu_zero(), gpu_zero(), gpu_zero()}};
        gpu_stage_rows(run, step, panel, own, first, rows.begin, rows.end);
        gpu_staged();
        int turn = 0;
        SFU__NO_UNROLL for (int64_t begin = rows.begin; begin < rows.end; begin += SFU__CHAIN_TERMS, turn = !turn) {
            const sfu__f4 *terms = own + turn * panel->buffer;
            if (begin + SFU__CHAIN_TERMS < rows.end) {
                gpu_stage_rows(run, step, panel, own + !turn * panel->buffer, first, begin + SFU__CHAIN_TERMS,
                               rows.end);
            }
            if (works) {
                const sfu__gpu_tile chain = gpu_tile_chain((const float *)(terms + four), 4 * panel->fours, 3, 1,
                                                           terms + panel->fours * SFU__CHAIN_TERMS + quad, quads, 0,
                                                           gpu_fewer(rows.end - begin, SFU__CHAIN_TERMS));
                gpu_add_tile(&sum, &chain, begin == rows.begin);
            }
            gpu_staged();
        }
        SFU__UNROLL for (int i = 0; i < 4; i++) {
            if (works && 4 * (first + four) + i < cols) {
                C[(4 * (first + four) + i) * quads + quad] = sum.row[i];
            }
        }
    }
}

SFU__DEVICE_FN void gpu_gemm_t_panels(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_panel *panel) {
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c));
    const int64_t rows = step->b.rows, size = sfu__block_rows(rows), blocks = sfu__block_count(rows);
    const int cols = step->a.cols, fours = (cols + 3) / 4, panels = (fours + panel->fours - 1) / panel->fours;
    for (int64_t i = run->block; i < blocks * panels; i += run->blocks) {
        const int64_t block = gpu_divide(i, panels);
        const sfu__gpu_range range = {block * size, gpu_fewer((block + 1) * size, rows)};
        gpu_gemm_t_rows(run, step, panel, C + block * cols * panel->quads, (int)(i - block * panels) * panel->fours,
                        range);
    }
}

SFU__DEVICE_FN void gpu_gemm(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_panel panel = gpu_gemm_panel(run, step);
    if (gpu_is_staged(run, step)) {
        gpu_gemm_staged(run, step);
    } else if (gpu_has_panels(step, &panel, step->a.cols) && step->a.by_columns) {
        gpu_gemm_panels(run, step, &panel, 1);
    } else if (gpu_has_panels(step, &panel, step->a.cols)) {
        gpu_gemm_panels(run, step, &panel, 0);
    } else if (!gpu_has_tiles(run, step)) {
        gpu_gemm_elements(run, step, phase);
    } else if (step->a.by_columns) {
        gpu_gemm_tiles(run, step, 1);
    } else {
        gpu_gemm_tiles(run, step, 0);
    }
}

/* Four columns of a row of a part per thread; if the sums are split, of a chain. */
SFU__DEVICE_FN void gpu_gemm_t_elements(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const float *A = step->a.offset >= 0 || step->a.fixed != NULL ? gpu_data(run, &step->a) : NULL;
    const sfu__f4 *G = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *C = gpu_quads(gpu_data(run, &step->c)), *parts = gpu_quads(run->memory + step->scratch);
    const int64_t quads = step->b.ld / 4, cols = A != NULL ? step->a.cols : 1, rows = step->b.rows;
    const sfu__gpu_strides strides = gpu_strides(&step->a);
    const int64_t size = sfu__block_rows(rows), elements = sfu__block_count(rows) * cols * quads;
    const int chains = gpu_chains(rows < size ? rows : size), split = step->split ? chains : 1;
    const int64_t lanes = gpu_lanes(run);
    for (int64_t i = gpu_lane(run); i < (phase == 1 ? elements : elements * split); i += lanes) {
        const int part = (int)gpu_divide(i, elements);
        const int64_t at = i - part * elements, pair = gpu_divide(at, quads), quad = at - pair * quads;
        const int64_t block = gpu_divide(pair, cols), k = pair - block * cols;
        const int64_t first = block * size, last = first + size < rows ? first + size : rows;
        if (phase == 1) {
            C[i] = gpu_sum_parts(parts + i, elements, gpu_chains(last - first));
            continue;
        }
        const float *a = A != NULL ? A + k * strides.column : NULL;
        int64_t begin = first + (int64_t)part * SFU__CHAIN_TERMS;
        int64_t end = begin + SFU__CHAIN_TERMS < last ? begin + SFU__CHAIN_TERMS : last;
        sfu__f4 sum = gpu_dense_chain(a, strides.row, G + quad, quads, begin, end);
        for (begin = end; split == 1 && begin < last; begin = end) {
            end = begin + SFU__CHAIN_TERMS < last ? begin + SFU__CHAIN_TERMS : last;
            sum = gpu_add(sum, gpu_dense_chain(a, strides.row, G + quad, quads, begin, end));
        }
        if (split > 1) {
            parts[i] = sum;
        } else {
            C[i] = sum;
        }
    }
}

/* parts[b] = A_b^T G_b. */
SFU__DEVICE_FN void gpu_gemm_t(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_panel panel = gpu_gemm_t_panel(run, step);
    const int by_rows = (step->a.offset >= 0 || step->a.fixed != NULL) && !step->a.by_columns;
    if (by_rows && gpu_has_panels(step, &panel, step->b.rows)) {
        gpu_gemm_t_panels(run, step, &panel);
    } else {
        gpu_gemm_t_elements(run, step, phase);
    }
}

#endif
