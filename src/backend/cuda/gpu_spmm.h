/* gpu_spmm.h - C = A B with a sparse A on a GPU.
 *
 * A thread computes four columns of one accumulation chain. The columns of B go through the memory of the block in
 * slices, if they fit there: rows are then gathered from it. The blocks of a training divide the slices, and the chains
 * of a slice, among themselves. Phases: the keep words and kept positions of a transpose, gathered from its source; the
 * chains; the rows of several chains.
 */
#ifndef SFU_GPU_SPMM_H
#define SFU_GPU_SPMM_H

#include "gpu_lanes.h"

/* Gathered rows of B, four columns of them. */
typedef struct sfu__gpu_gather {
    const sfu__f4 *rows; /* first row, at these columns */
    int64_t stride;      /* between rows, in quads */
} sfu__gpu_gather;

SFU__DEVICE_FN sfu__f4 gpu_gathered(const sfu__gpu_gather *B, uint32_t column, const int in_shared) {
#ifdef __CUDACC__
    if (in_shared) { /* 32 bits are enough to address it */
        return B->rows[(uint32_t)(column * (uint32_t)B->stride)];
    }
#endif
    (void)in_shared;
    return B->rows[(int64_t)column * B->stride];
}

SFU__DEVICE_FN float gpu_float(uint32_t bits) { return v_float_of_bits((int32_t)bits); }

/* What the values of a chain depend on besides its entries. */
typedef struct sfu__gpu_scaling {
    float scale;          /* of kept values */
    const float *learned; /* learned values */
} sfu__gpu_scaling;

SFU__DEVICE_FN float gpu_value(uint32_t value, const sfu__gpu_scaling *by, int kept, const int values) {
    if (values == SFU__GPU_VALUES_LEARNED) {
        return by->learned[value];
    }
    if (values == SFU__GPU_VALUES_KEPT) {
        return gpu_float(value) * by->scale;
    }
    if (values == SFU__GPU_VALUES_ZEROED) {
        return kept ? gpu_float(value) * by->scale : 0.0F;
    }
    return gpu_float(value);
}

/* Four entries. */
typedef struct sfu__gpu_four {
    sfu__u4 one, two;
} sfu__gpu_four;

/* Entries k to k + 3; what lies beyond the chain is read, but not used. */
SFU__DEVICE_FN sfu__gpu_four gpu_four_at(const sfu__gpu_entry *entries, int k) {
    const sfu__u4 *at = (const sfu__u4 *)(const void *)(entries + k);
    const sfu__gpu_four four = {SFU__READ_ONLY(at), SFU__READ_ONLY(at + 1)};
    return four;
}

/* The entries at four positions in a chain. */
SFU__DEVICE_FN sfu__gpu_four gpu_four_of(const sfu__gpu_entry *entries, uint32_t positions) {
    sfu__gpu_four four;
#ifdef __CUDACC__
    const uint2 *at = (const uint2 *)entries;
    const uint2 a = __ldg(at + (positions & 63)), b = __ldg(at + (positions >> 8 & 63));
    const uint2 c = __ldg(at + (positions >> 16 & 63)), d = __ldg(at + (positions >> 24 & 63));
    four.one = make_uint4(a.x, a.y, b.x, b.y);
    four.two = make_uint4(c.x, c.y, d.x, d.y);
#else
    const sfu__gpu_entry a = entries[positions & 63], b = entries[positions >> 8 & 63];
    const sfu__gpu_entry c = entries[positions >> 16 & 63], d = entries[positions >> 24 & 63];
    four.one = (sfu__u4){a.column, a.value, b.column, b.value};
    four.two = (sfu__u4){c.column, c.value, d.column, d.value};
#endif
    return four;
}

/* Adds the first `left` of four entries, at most four. `bits`: which of them are kept, if dropped ones are zero. */
SFU__DEVICE_FN sfu__f4 gpu_add_four(sfu__f4 sum, const sfu__gpu_four *four, int left, uint32_t bits,
                                    const sfu__gpu_gather *B, const sfu__gpu_scaling *by, const int values,
                                    const int in_shared) {
    const uint32_t column[4] = {four->one.x, four->one.z, four->two.x, four->two.z};
    const uint32_t value[4] = {four->one.y, four->one.w, four->two.y, four->two.w};
    sfu__f4 row[4];
    SFU__UNROLL for (int i = 0; i < 4; i++) {
        if (i < left) {
            row[i] = gpu_gathered(B, column[i], in_shared);
        }
    }
    SFU__UNROLL for (int i = 0; i < 4; i++) {
        if (i < left) {
            sum = gpu_fma(gpu_value(value[i], by, (int)(bits >> i & 1), values), row[i], sum);
        }
    }
    return sum;
}

/* The sum of all entries of a chain. The next ones are loaded before the last ones are used. */
SFU__DEVICE_FN sfu__f4 gpu_chain_all(const sfu__gpu_entry *entries, int count, uint64_t word, const sfu__gpu_gather *B,
                                     const sfu__gpu_scaling *by, const int values, const int in_shared) {
    sfu__f4 sum = gpu_zero();
    sfu__gpu_four four = gpu_four_at(entries, 0);
    SFU__NO_UNROLL for (int k = 0; k < count; k += 4) {
        const sfu__gpu_four next = gpu_four_at(entries, k + 4);
        sum = gpu_add_four(sum, &four, count - k, (uint32_t)(word >> k), B, by, values, in_shared);
        four = next;
    }
    return sum;
}

/* The sum of the kept entries of a chain, from their positions. */
SFU__DEVICE_FN sfu__f4 gpu_chain_kept(const sfu__gpu_entry *entries, const uint32_t *positions, int count,
                                      const sfu__gpu_gather *B, const sfu__gpu_scaling *by, const int in_shared) {
    sfu__f4 sum = gpu_zero();
    sfu__gpu_four four = gpu_four_of(entries, positions[0]);
    uint32_t next = positions[1];
    SFU__NO_UNROLL for (int k = 0; k < count; k += 4) {
        const uint32_t after = positions[(k / 4 + 2) % (SFU__CHAIN_TERMS / 4)];
        const sfu__gpu_four loaded = gpu_four_of(entries, next);
        sum = gpu_add_four(sum, &four, count - k, 0, B, by, SFU__GPU_VALUES_KEPT, in_shared);
        four = loaded;
        next = after;
    }
    return sum;
}

SFU__DEVICE_FN int gpu_bit_count(uint64_t word) {
#ifdef __CUDACC__
    return __popcll(word);
#else
    return __builtin_popcountll(word);
#endif
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

/* Every `stride`-th chain from `at` on, at one quad of the slice. */
SFU__DEVICE_FN void gpu_chains_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A, int at,
                                  int end, int stride, int quad, const sfu__gpu_gather *B, const int values,
                                  const int in_shared) {
    const uint64_t *words = (const uint64_t *)(const void *)(run->memory + (step->keep >= 0 ? step->keep : 0));
    const uint32_t *positions = (const uint32_t *)(const void *)(run->memory + (step->kept >= 0 ? step->kept : 0));
    const sfu__gpu_scaling by = {gpu_mask_scale(gpu_threshold(run, step)),
                                 run->memory + (step->learned_values >= 0 ? step->learned_values : 0)};
    const sfu__gpu_target to = gpu_target(run, step);
    const sfu__gpu_chain *all = A->chains;
    if (at >= end) {
        return;
    }
    sfu__gpu_chain chain = gpu_chain_at(all, at);
    SFU__NO_UNROLL for (; at < end; at += stride) {
        const sfu__gpu_chain next = gpu_chain_at(all, at + stride < end ? at + stride : at);
        const sfu__gpu_entry *first = gpu_chain_entries(A, &chain);
        sfu__f4 sum;
        if (values == SFU__GPU_VALUES_KEPT) {
            sum = gpu_chain_kept(first, positions + (int64_t)at * (SFU__CHAIN_TERMS / 4), gpu_bit_count(words[at]), B,
                                 &by, in_shared);
        } else {
            const uint64_t word = values == SFU__GPU_VALUES_ZEROED ? words[at] : 0;
            sum = gpu_chain_all(first, gpu_chain_count(&chain), word, B, &by, values, in_shared);
        }
        if (chain.part >= 0) {
            to.parts[(int64_t)chain.part * to.quads + quad] = sum;
        } else {
            gpu_store(&to, chain.row, quad, sum);
        }
        chain = next;
    }
}

/* Neighbouring threads take the quads of one chain. A single lane takes them one after the other. */
SFU__DEVICE_FN void gpu_slice_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                     const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride, const int values,
                                     const int in_shared) {
    const sfu__gpu_range chains = gpu_stage_range(A->chain_ends, run->stage);
    const int width = 1 << slice->shift, quads = step->c.ld / 4, thread = gpu_thread(run);
    const int together = run->lanes >= width ? run->lanes >> slice->shift : 1; /* chains at once in a block */
    const int first = (int)chains.begin + slice->part * together + (run->lanes >= width ? thread >> slice->shift : 0);
    for (int column = run->lanes >= width ? thread & (width - 1) : 0; column < width;
         column += run->lanes >= width ? width : 1) {
        const int quad = (int)slice->first + column;
        const sfu__gpu_gather B = {rows + column, stride};
        if (quad < quads) {
            gpu_chains_of(run, step, A, first, (int)chains.end, together * slice->parts, quad, &B, values, in_shared);
        }
    }
}

/* One function for each kind of values and each place of B. */
#define GPU_SLICE(name, kind, in_shared)                                                                               \
    SFU__DEVICE_FN void gpu_slice_##name(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A, \
                                         const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride) {           \
        gpu_slice_chains(run, step, A, slice, in_shared ? gpu_shared(run) : rows, stride, kind, in_shared);            \
    }
GPU_SLICE(fixed, SFU__GPU_VALUES_FIXED, 0)
GPU_SLICE(fixed_shared, SFU__GPU_VALUES_FIXED, 1)
GPU_SLICE(kept, SFU__GPU_VALUES_KEPT, 0)
GPU_SLICE(kept_shared, SFU__GPU_VALUES_KEPT, 1)
GPU_SLICE(zeroed, SFU__GPU_VALUES_ZEROED, 0)
GPU_SLICE(zeroed_shared, SFU__GPU_VALUES_ZEROED, 1)
GPU_SLICE(learned, SFU__GPU_VALUES_LEARNED, 0)
#undef GPU_SLICE

SFU__DEVICE_FN void gpu_slice_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                 const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride, int in_shared) {
    if (step->values == SFU__GPU_VALUES_KEPT) {
        if (in_shared) {
            gpu_slice_kept_shared(run, step, A, slice, rows, stride);
        } else {
            gpu_slice_kept(run, step, A, slice, rows, stride);
        }
    } else if (step->values == SFU__GPU_VALUES_ZEROED) {
        if (in_shared) {
            gpu_slice_zeroed_shared(run, step, A, slice, rows, stride);
        } else {
            gpu_slice_zeroed(run, step, A, slice, rows, stride);
        }
    } else if (step->values == SFU__GPU_VALUES_LEARNED) {
        gpu_slice_learned(run, step, A, slice, rows, stride);
    } else {
        if (in_shared) {
            gpu_slice_fixed_shared(run, step, A, slice, rows, stride);
        } else {
            gpu_slice_fixed(run, step, A, slice, rows, stride);
        }
    }
}

/* Copies a slice of B to the memory of the block. */
SFU__DEVICE_FN void gpu_load_slice(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_slice *slice) {
    const sfu__f4 *from = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *to = gpu_shared(run);
    const int64_t quads = step->b.ld / 4, first = slice->first;
    const int shift = slice->shift, mask = (1 << shift) - 1, lanes = run->lanes, count = step->b.rows << shift;
    enum { AT_ONCE = 8 };
    for (int i = gpu_thread(run); i < count; i += AT_ONCE * lanes) {
        sfu__f4 quad[AT_ONCE];
        SFU__UNROLL for (int k = 0; k < AT_ONCE; k++) {
            const int at = i + k * lanes;
            if (at < count && first + (at & mask) < quads) {
                quad[k] = from[(int64_t)(at >> shift) * quads + first + (at & mask)];
            }
        }
        SFU__UNROLL for (int k = 0; k < AT_ONCE; k++) {
            const int at = i + k * lanes;
            if (at < count && first + (at & mask) < quads) {
                to[at] = quad[k];
            }
        }
    }
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
    const int in_shared =
        shift >= 0 && step->values != SFU__GPU_VALUES_LEARNED && A->entry_count >= 6 * (int64_t)step->b.rows;
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
            gpu_slice_of(run, step, A, &slice, NULL, (int64_t)1 << shift, 1);
        } else {
            gpu_slice_of(run, step, A, &slice, gpu_quads(gpu_data(run, &step->b)) + slice.first, step->b.ld / 4, 0);
        }
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

/* The keep words of a matrix: a byte per lane, which is one Philox block. */
SFU__DEVICE_FN void gpu_keep_words(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    uint8_t *words = (uint8_t *)(run->memory + step->keep);
    const uint8_t *nonzero = (const uint8_t *)A->nonzero;
    const uint32_t threshold = gpu_threshold(run, step);
    for (int64_t i = gpu_lane(run); i < (int64_t)A->chain_count * 8; i += gpu_lanes(run)) {
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, (int)(i / 8));
        const int group = (int)(i % 8), left = gpu_chain_count(&chain) - 8 * group;
        uint32_t kept = 0;
        if (left > 0) {
            kept = gpu_kept_bits(run, step, threshold, gpu_node(step, chain.row),
                                 8 * (chain.count_and_order >> 8) + (uint32_t)group);
            kept = left < 8 ? kept & ((1u << left) - 1) : kept;
            kept = nonzero != NULL && step->values == SFU__GPU_VALUES_KEPT ? kept & nonzero[i] : kept;
        }
        words[i] = (uint8_t)kept;
    }
}

/* The positions of the kept entries of each chain, in order: a byte of its word per thread. */
SFU__DEVICE_FN void gpu_kept_positions(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const uint64_t *words = (const uint64_t *)(const void *)(run->memory + step->keep);
    uint8_t *positions = (uint8_t *)(run->memory + step->kept);
    const int64_t lanes = gpu_lanes(run), end = (int64_t)A->chain_count * 8;
    for (int64_t i = gpu_lane(run); i < end; i += lanes) {
        const uint64_t word = words[i / 8];
        const int first = (int)(i % 8) * 8;
        const uint32_t byte = (uint32_t)(word >> first) & 0xff;
        uint8_t *to = positions + i / 8 * SFU__CHAIN_TERMS + gpu_bit_count(word & ((UINT64_C(1) << first) - 1));
        SFU__UNROLL for (int k = 0; k < 8; k++) {
            if (byte >> k & 1) {
                *to++ = (uint8_t)(first + k);
            }
        }
    }
}

/* The keep words of a transpose, gathered from those of its source. */
SFU__DEVICE_FN void gpu_gather_words(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const uint32_t *from = (const uint32_t *)(const void *)(run->memory + step->source_keep);
    uint8_t *words = (uint8_t *)(run->memory + step->keep);
    for (int64_t i = gpu_lane(run); i < (int64_t)A->chain_count * 8; i += gpu_lanes(run)) {
        const sfu__gpu_chain chain = gpu_chain_at(A->chains, (int)(i / 8));
        const int64_t first = (int64_t)chain.first_pair * 2 + i % 8 * 8;
        const int left = gpu_chain_count(&chain) - (int)(i % 8 * 8);
        uint32_t kept = 0;
        for (int k = 0; k < 8 && k < left; k++) {
            const uint32_t bit = SFU__READ_ONLY(&A->mask_bits[first + k]);
            kept |= (from[bit >> 5] >> (bit & 31) & 1) << k;
        }
        words[i] = (uint8_t)kept;
    }
}

/* Dropout of a sparse matrix. Phases: the words; the positions of kept entries, if products skip the others. */
SFU__DEVICE_FN void gpu_dropout(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    if (phase == 0) {
        gpu_keep_words(run, step);
    } else {
        gpu_kept_positions(run, step, &run->program->matrices[step->matrix]);
    }
}

SFU__DEVICE_FN void gpu_spmm(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    const int gathers = step->source_keep >= 0 ? 1 : 0, chains = gathers + (gathers && step->kept >= 0);
    if (phase < gathers) {
        gpu_gather_words(run, step, A);
    } else if (phase < chains) {
        gpu_kept_positions(run, step, A);
    } else if (phase == chains) {
        gpu_spmm_chains(run, step, A);
    } else {
        gpu_spmm_long_rows(run, step, A);
    }
}

#endif
