/* gpu_spmm.h - C = A B with a sparse A on a GPU.
 *
 * A thread computes up to 16 columns of one accumulation chain. The columns of B go through the memory of the block in
 * slices, if they fit there: rows are then gathered from it. The blocks of a training divide the slices, and the chains
 * of a slice, among themselves. Phases: what the mask of its source leaves of a transpose; the chains; the rows of
 * several chains.
 */
#ifndef SFU_GPU_SPMM_H
#define SFU_GPU_SPMM_H

#include "gpu_lanes.h"

enum { GPU_QUADS = 4 }; /* most quads of a row per thread */

/* Where a thread gathers from: its quads of each row of B. */
typedef struct sfu__gpu_gather {
    const sfu__f4 *rows;
    int64_t stride;           /* between rows, in quads */
    uint32_t quad[GPU_QUADS]; /* in the slice */
} sfu__gpu_gather;

SFU__DEVICE_FN sfu__f4 gpu_gathered(const sfu__gpu_gather *B, uint32_t column, int i, const int in_shared) {
#ifdef __CUDACC__
    if (in_shared) { /* 32 bits are enough to address it */
        return B->rows[column * (uint32_t)B->stride + B->quad[i]];
    }
#endif
    (void)in_shared;
    return B->rows[(int64_t)column * B->stride + B->quad[i]];
}

/* Four entries. */
typedef struct sfu__gpu_four {
    sfu__u4 one, two;
} sfu__gpu_four;

/* Pairs k / 2 and k / 2 + 1; what lies beyond the chain is read, but not used. Entries that a mask left change with
 * every epoch: they do not go through the cache for constants. */
SFU__DEVICE_FN sfu__gpu_four gpu_four_at(const sfu__u4 *pairs, int k, const int values) {
    const sfu__u4 *at = pairs + k / 2 * SFU__GPU_GROUP;
#ifdef __CUDACC__
    if (values == SFU__GPU_VALUES_KEPT) {
        const sfu__gpu_four four = {__ldcg(at), __ldcg(at + SFU__GPU_GROUP)};
        return four;
    }
#endif
    (void)values;
    const sfu__gpu_four four = {SFU__READ_ONLY(at), SFU__READ_ONLY(at + SFU__GPU_GROUP)};
    return four;
}

/* Adds the first `left` of four entries, at most four, at `quads` quads each. Four rows are in flight at a time. */
SFU__DEVICE_FN void gpu_add_four(sfu__f4 sum[GPU_QUADS], const sfu__gpu_four *four, int left, const sfu__gpu_gather *B,
                                 const float *learned, const int quads, const int in_shared) {
    const uint32_t column[4] = {four->one.x, four->one.z, four->two.x, four->two.z};
    const uint32_t value[4] = {four->one.y, four->one.w, four->two.y, four->two.w};
    SFU__UNROLL for (int first = 0; first < 4; first += GPU_QUADS / quads) {
        sfu__f4 row[GPU_QUADS];
        SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) {
            const int k = first + i / quads;
            if (k < left) {
                row[i] = gpu_gathered(B, column[k], i % quads, in_shared);
            }
        }
        SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) {
            const int k = first + i / quads;
            if (k < left) {
                const float by = learned != NULL ? learned[value[k]] : v_float_of_bits((int32_t)value[k]);
                sum[i % quads] = gpu_fma(by, row[i], sum[i % quads]);
            }
        }
    }
}

/* The sum of a chain. The next entries are loaded before the last ones are used. */
SFU__DEVICE_FN void gpu_chain_sum(sfu__f4 sum[GPU_QUADS], const sfu__u4 *pairs, int count, const sfu__gpu_gather *B,
                                  const float *learned, const int values, const int quads, const int in_shared) {
    SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) { sum[i] = gpu_zero(); }
    sfu__gpu_four four = gpu_four_at(pairs, 0, values);
    SFU__NO_UNROLL for (int k = 0; k < count; k += 4) {
        const sfu__gpu_four next = gpu_four_at(pairs, k + 4, values);
        gpu_add_four(sum, &four, count - k, B, learned, quads, in_shared);
        four = next;
    }
}

/* ---- a slice of columns ----------------------------------------------------------------------------------------- */

/* The columns of a slice: 4 << shift of them from quad `first` on, and the chains of this block. */
typedef struct sfu__gpu_slice {
    int64_t first;   /* quad of B and C */
    int shift;       /* log2 of the quads */
    int part, parts; /* this block's share of the chains */
} sfu__gpu_slice;

/* Where the results of a product go. Kept in registers: a store might change what is in memory. */
typedef struct sfu__gpu_target {
    sfu__f4 *rows;  /* of C */
    sfu__f4 *parts; /* sums of long rows */
    int quads;      /* of a row */
    int add, narrow;
} sfu__gpu_target;

SFU__DEVICE_FN sfu__gpu_target gpu_target(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_target to = {gpu_quads(gpu_data(run, &step->c)), gpu_quads(run->memory + step->scratch),
                                step->c.ld / 4, step->add, step->c.ld <= SFU__NARROW};
    return to;
}

SFU__DEVICE_FN void gpu_store(const sfu__gpu_target *to, int64_t row, int quad, sfu__f4 sum) {
    sfu__f4 *c = to->rows + row * to->quads + quad;
    const sfu__f4 result = to->add ? gpu_add(*c, sum) : sum;
    *c = to->narrow ? gpu_flush(result) : result;
}

/* The chains of a thread: every `stride`-th from `at` on. */
typedef struct sfu__gpu_chains {
    int at, end, stride;
} sfu__gpu_chains;

SFU__DEVICE_FN void gpu_chains_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                  sfu__gpu_chains chains, int first, const sfu__gpu_gather *B, const int values,
                                  const int quads, const int in_shared) {
    const int masked = values == SFU__GPU_VALUES_KEPT;
    const sfu__u4 *pairs = masked ? gpu_stream(run, step) : (const sfu__u4 *)(const void *)A->entries;
    const uint8_t *counts = masked ? gpu_stream_counts(run, step) : NULL;
    const float *learned = values == SFU__GPU_VALUES_LEARNED ? run->memory + step->learned_values : NULL;
    const sfu__gpu_target to = gpu_target(run, step);
    const sfu__gpu_chain *all = A->chains;
    const int end = chains.end, stride = chains.stride;
    int at = chains.at;
    if (at >= end) {
        return;
    }
    sfu__gpu_chain chain = gpu_chain_at(all, at);
    SFU__NO_UNROLL for (; at < end; at += stride) {
        const sfu__gpu_chain next = gpu_chain_at(all, at + stride < end ? at + stride : at);
        const int count = masked ? counts[at] : gpu_chain_count(&chain);
        sfu__f4 sum[GPU_QUADS];
        gpu_chain_sum(sum, pairs + chain.first_pair, count, B, learned, values, quads, in_shared);
        SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) {
            const int quad = first + (int)B->quad[i];
            if (i >= quads || quad >= to.quads) {
                continue;
            }
            if (chain.part >= 0) {
                to.parts[(int64_t)chain.part * to.quads + quad] = sum[i];
            } else {
                gpu_store(&to, chain.row, quad, sum[i]);
            }
        }
        chain = next;
    }
}

/* Neighbouring threads take the quads of one chain, `quads` each. They start with different ones, so that the chains
 * that gather at the same time use all banks of the memory. A single lane takes its quads one after the other. */
SFU__DEVICE_FN void gpu_slice_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                     const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride, const int values,
                                     const int quads, const int in_shared) {
    const sfu__gpu_range range = gpu_stage_range(A->chain_ends, run->stage);
    const int width = (1 << slice->shift) / quads, thread = gpu_thread(run), many = run->lanes >= width;
    const int together = many ? run->lanes / width : 1; /* chains at once in a block */
    const int place = many ? thread / width : 0;
    for (int lane = many ? thread % width : 0; lane < width; lane += many ? width : 1) {
        sfu__gpu_gather B = {rows, stride, {0}};
        SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) { B.quad[i] = (uint32_t)((i + place) % quads * width + lane); }
        const sfu__gpu_chains chains = {(int)range.begin + slice->part * together + place, (int)range.end,
                                        together * slice->parts};
        if (many || lane < width) {
            gpu_chains_of(run, step, A, chains, (int)slice->first, &B, values, quads, in_shared);
        }
    }
}

/* The values of a product, quads per thread, and whether B is in the memory of the block: a function for each. */
SFU__DEVICE_FN void gpu_slice_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                 const sfu__gpu_slice *slice, int in_shared) {
    enum { FIXED = SFU__GPU_VALUES_FIXED, KEPT = SFU__GPU_VALUES_KEPT, LEARNED = SFU__GPU_VALUES_LEARNED };
    const int64_t whole = step->b.ld / 4, stride = (int64_t)1 << slice->shift;
    const int masked = step->stream >= 0;
    if (in_shared) {
        const sfu__f4 *rows = gpu_shared(run);
        if (slice->shift >= 2 && masked) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 4, 1);
        } else if (slice->shift >= 2) {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 4, 1);
        } else if (slice->shift == 1 && masked) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 2, 1);
        } else if (slice->shift == 1) {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 2, 1);
        } else if (masked) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 1, 1);
        } else {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 1, 1);
        }
        return;
    }
    const sfu__f4 *rows = gpu_quads(gpu_data(run, &step->b)) + slice->first;
    if (step->values == SFU__GPU_VALUES_LEARNED) {
        gpu_slice_chains(run, step, A, slice, rows, whole, LEARNED, 1, 0);
    } else if (masked) {
        gpu_slice_chains(run, step, A, slice, rows, whole, KEPT, 1, 0);
    } else {
        gpu_slice_chains(run, step, A, slice, rows, whole, FIXED, 1, 0);
    }
}

/* Copies a slice of B to the memory of the block. Quads beyond its rows are zero. */
SFU__DEVICE_FN void gpu_load_slice(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_slice *slice) {
    const sfu__f4 *from = gpu_quads(gpu_data(run, &step->b)) + slice->first;
    sfu__f4 *to = gpu_shared(run);
    const int quads = step->b.ld / 4, left = quads - (int)slice->first;
    const int shift = slice->shift, mask = (1 << shift) - 1, lanes = run->lanes, count = step->b.rows << shift;
    for (int i = gpu_thread(run); i < count; i += lanes) {
        if ((i & mask) < left) {
            gpu_copy_quad(&to[i], from + (int64_t)(i >> shift) * quads + (i & mask));
        } else {
            to[i] = gpu_zero();
        }
    }
    gpu_copies_wait();
}

/* Log2 of the quads of a slice that fits into `bytes`; negative: none does. */
SFU__DEVICE_FN int gpu_slice_shift(int64_t rows, int64_t quads, int64_t bytes) {
    int shift = 0;
    while (shift < 4 && 1 << shift < quads) {
        shift++;
    }
    while (shift >= 0 && (rows << shift) * (int64_t)sizeof(sfu__f4) > bytes) {
        shift--;
    }
    return shift;
}

SFU__DEVICE_FN void gpu_spmm_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const int64_t quads = step->c.ld / 4;
    int shift = gpu_slice_shift(step->b.rows, quads, run->shared_bytes);
    const int in_shared = shift >= 0 && step->values != SFU__GPU_VALUES_LEARNED &&
                          A->entry_count >= (shift >= 2 ? 2 : 6) * (int64_t)step->b.rows;
    if (!in_shared) {
        shift = gpu_slice_shift(0, quads, 0);
    }
    while (in_shared && shift > 0 && quads >> shift < run->blocks) {
        shift--;
    }
    const int slices = (int)((quads + (1 << shift) - 1) >> shift),
              sharing = slices < run->blocks ? slices : run->blocks;
    for (int s = run->block % sharing; s < slices; s += sharing) {
        const sfu__gpu_slice slice = {(int64_t)s << shift, shift, run->block / sharing,
                                      (run->blocks - run->block % sharing + sharing - 1) / sharing};
        if (in_shared) {
            gpu_block_barrier();
            gpu_load_slice(run, step, &slice);
            gpu_block_barrier();
        }
        gpu_slice_of(run, step, A, &slice, in_shared);
    }
}

/* Adds the chains of long rows in order. */
SFU__DEVICE_FN void gpu_spmm_long_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const sfu__gpu_range rows = gpu_stage_range(A->long_ends, run->stage);
    const sfu__gpu_target to = gpu_target(run, step);
    const sfu__gpu_long_row *all = A->long_rows;
    const int64_t lanes = gpu_lanes(run), end = rows.end * to.quads;
    for (int64_t i = rows.begin * to.quads + gpu_lane(run); i < end; i += lanes) {
        const sfu__gpu_long_row *row = &all[i / to.quads];
        const int quad = (int)(i % to.quads);
        const sfu__f4 *parts = to.parts + (int64_t)row->first_part * to.quads + quad;
        const int count = row->parts;
        sfu__f4 sum = parts[0];
        for (int k = 1; k < count; k++) {
            sum = gpu_add(sum, parts[(int64_t)k * to.quads]);
        }
        gpu_store(&to, row->row, quad, sum);
    }
}

/* ---- masks ------------------------------------------------------------------------------------------------------ */

/* What a mask leaves of a chain: its kept entries, or all of them with zeros for the others. Values are scaled. */
SFU__DEVICE_FN void gpu_stream_chain(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                     int64_t at, const sfu__gpu_chain *chain, uint64_t word) {
    const sfu__u4 *pairs = gpu_chain_pairs(A, chain);
    sfu__gpu_entry *to = (sfu__gpu_entry *)(void *)(gpu_stream(run, step) + chain->first_pair);
    const float scale = gpu_mask_scale(gpu_threshold(run, step));
    const int count = gpu_chain_count(chain), all = step->values == SFU__GPU_VALUES_ZEROED;
    int next = 0;
    SFU__UNROLL4 for (int k = 0; k < count; k += 2) {
        const sfu__u4 two = SFU__READ_ONLY(&pairs[k / 2 * SFU__GPU_GROUP]);
        const sfu__gpu_entry entry[2] = {{two.x, two.y}, {two.z, two.w}};
        SFU__UNROLL for (int i = 0; i < 2; i++) {
            const int kept = (int)(word >> (k + i) & 1);
            if (k + i < count && (kept || all)) {
                const float value = kept ? v_float_of_bits((int32_t)entry[i].value) * scale : 0.0F;
                const sfu__gpu_entry left = {entry[i].column, (uint32_t)v_bits(value)};
                to[next / 2 * 2 * SFU__GPU_GROUP + next % 2] = left;
                next++;
            }
        }
    }
    gpu_stream_counts(run, step)[at] = (uint8_t)next;
}

/* The bits of a chain that are kept: eight of them are a Philox block. */
SFU__DEVICE_FN uint64_t gpu_kept_word(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_chain *chain) {
    const uint32_t threshold = gpu_threshold(run, step), node = gpu_node(step, chain->row);
    const int count = gpu_chain_count(chain);
    uint64_t word = 0;
    for (int group = 0; 8 * group < count; group++) {
        const uint32_t first = 8 * (chain->count_and_order >> 8);
        word |= (uint64_t)gpu_kept_bits(run, step, threshold, node, first + (uint32_t)group) << (8 * group);
    }
    return count < SFU__CHAIN_TERMS ? word & ((UINT64_C(1) << count) - 1) : word;
}

/* Dropout of a sparse matrix: a thread per chain. */
SFU__DEVICE_FN void gpu_dropout(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    uint64_t *words = (uint64_t *)(void *)(run->memory + step->keep);
    const uint64_t *nonzero = step->values == SFU__GPU_VALUES_KEPT ? A->nonzero : NULL;
    for (int64_t at = gpu_lane(run); at < A->chain_count; at += gpu_lanes(run)) {
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, at);
        const uint64_t word = gpu_kept_word(run, step, &chain);
        words[at] = nonzero != NULL ? word & nonzero[at] : word;
        gpu_stream_chain(run, step, A, at, &chain, words[at]);
    }
}

/* The bits of a chain of a transpose that are kept, from the words of its source. */
SFU__DEVICE_FN uint64_t gpu_gathered_word(const sfu__gpu_matrix *A, const sfu__gpu_chain *chain,
                                          const uint32_t *words) {
    const uint32_t *bits = A->mask_bits + (uint64_t)chain->first_pair * 2;
    const int count = gpu_chain_count(chain);
    uint64_t word = 0;
    SFU__UNROLL4 for (int k = 0; k < count; k++) {
        const uint32_t bit = SFU__READ_ONLY(&bits[k / 2 * 2 * SFU__GPU_GROUP + k % 2]);
        word |= (uint64_t)(words[bit >> 5] >> (bit & 31) & 1) << k;
    }
    return word;
}

/* What the mask of its source leaves of a transpose. The words are read at random, so they are copied to the memory of
 * the block if they fit. */
SFU__DEVICE_FN void gpu_dropout_transposed(const sfu__gpu_run *run, const sfu__gpu_step *step,
                                           const sfu__gpu_matrix *A) {
    const sfu__gpu_matrix *source = &run->program->matrices[step->source];
    const uint32_t *words = (const uint32_t *)(const void *)(run->memory + step->source_keep);
    const int count = 2 * source->chain_count, fits = (int64_t)count * 4 <= run->shared_bytes;
    uint32_t *own = (uint32_t *)(void *)gpu_shared(run);
    for (int i = gpu_thread(run); fits && i < count; i += run->lanes) {
        own[i] = words[i];
    }
    gpu_block_barrier();
    for (int64_t at = gpu_lane(run); at < A->chain_count; at += gpu_lanes(run)) {
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, at);
        const uint64_t word = fits ? gpu_gathered_word(A, &chain, own) : gpu_gathered_word(A, &chain, words);
        gpu_stream_chain(run, step, A, at, &chain, word);
    }
}

SFU__DEVICE_FN void gpu_spmm(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    const int chains = step->source_keep >= 0 ? 1 : 0;
    if (phase < chains) {
        gpu_dropout_transposed(run, step, A);
    } else if (phase == chains) {
        gpu_spmm_chains(run, step, A);
    } else {
        gpu_spmm_long_rows(run, step, A);
    }
}

#endif
