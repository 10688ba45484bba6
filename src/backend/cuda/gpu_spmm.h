/* gpu_spmm.h - C = A B with a sparse A on a GPU.
 *
 * A thread computes four columns of one accumulation chain. The columns of B go through the memory of the block in
 * slices, if they fit there: rows are then gathered from it. The blocks of a training divide the slices, and the chains
 * of a slice, among themselves. Phases: gather the keep words of a transpose; the chains; the rows of several chains.
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

SFU__DEVICE_FN int gpu_lowest_bit(uint32_t word) {
#ifdef __CUDACC__
    return __ffs((int)word) - 1;
#else
    return __builtin_ctz(word);
#endif
}

/* What the values of a chain depend on besides its entries. */
typedef struct sfu__gpu_scaling {
    float scale;          /* of kept values */
    const float *learned; /* learned values */
} sfu__gpu_scaling;

SFU__DEVICE_FN float gpu_value(uint32_t value, const sfu__gpu_scaling *by, int kept, const int values) {
    if (values == SFU__GPU_VALUES_LEARNED) {
        return by->learned[value];
    }
    if (values == SFU__GPU_VALUES_ZEROED) {
        return kept ? gpu_float(value) * by->scale : 0.0F;
    }
    return gpu_float(value);
}

/* The sum of all entries of a chain. */
SFU__DEVICE_FN sfu__f4 gpu_chain_all(const sfu__gpu_entry *entries, int count, uint64_t word, const sfu__gpu_gather *B,
                                     const sfu__gpu_scaling *by, const int values, const int in_shared) {
    sfu__f4 sum = gpu_zero();
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        const sfu__u4 one = SFU__READ_ONLY((const sfu__u4 *)(const void *)(entries + k));
        const sfu__u4 two = SFU__READ_ONLY((const sfu__u4 *)(const void *)(entries + k + 2));
        const uint32_t four = (uint32_t)(word >> k);
        const sfu__f4 b0 = gpu_gathered(B, one.x, in_shared), b1 = gpu_gathered(B, one.z, in_shared);
        const sfu__f4 b2 = gpu_gathered(B, two.x, in_shared), b3 = gpu_gathered(B, two.z, in_shared);
        sum = gpu_fma(gpu_value(one.y, by, (int)(four & 1), values), b0, sum);
        sum = gpu_fma(gpu_value(one.w, by, (int)(four & 2), values), b1, sum);
        sum = gpu_fma(gpu_value(two.y, by, (int)(four & 4), values), b2, sum);
        sum = gpu_fma(gpu_value(two.w, by, (int)(four & 8), values), b3, sum);
    }
    for (; k < count; k++) {
        const uint32_t column = SFU__READ_ONLY(&entries[k].column), value = SFU__READ_ONLY(&entries[k].value);
        sum = gpu_fma(gpu_value(value, by, (int)(word >> k & 1), values), gpu_gathered(B, column, in_shared), sum);
    }
    return sum;
}

/* Adds the entries of a chain whose bits are set, in order; several are loaded at once. */
SFU__DEVICE_FN sfu__f4 gpu_chain_kept(const sfu__gpu_entry *entries, uint32_t word, sfu__f4 sum,
                                      const sfu__gpu_gather *B, float scale, const int in_shared) {
    enum { AT_ONCE = 4 };
    while (word != 0) {
        sfu__gpu_entry entry[AT_ONCE];
        sfu__f4 row[AT_ONCE];
        uint32_t rest[AT_ONCE];
        SFU__UNROLL for (int i = 0; i < AT_ONCE; i++) {
            rest[i] = word;
            const int at = word != 0 ? gpu_lowest_bit(word) : 0;
            word &= word - 1;
#ifdef __CUDACC__
            const uint2 loaded = __ldg((const uint2 *)(entries + at));
            entry[i].column = loaded.x;
            entry[i].value = loaded.y;
#else
            entry[i] = entries[at];
#endif
        }
        SFU__UNROLL for (int i = 0; i < AT_ONCE; i++) { row[i] = gpu_gathered(B, entry[i].column, in_shared); }
        SFU__UNROLL for (int i = 0; i < AT_ONCE; i++) {
            if (rest[i] != 0) {
                sum = gpu_fma(gpu_float(entry[i].value) * scale, row[i], sum);
            }
        }
    }
    return sum;
}

/* ---- a slice of columns ----------------------------------------------------------------------------------------- */

/* The columns of a slice: 4 << shift of them from quad `first` on, and the chains of this block. */
typedef struct sfu__gpu_slice {
    int64_t first;   /* quad of B and C */
    int shift;       /* log2 of the quads */
    int part, parts; /* this block's share of the chains */
} sfu__gpu_slice;

SFU__DEVICE_FN void gpu_store(const sfu__gpu_run *run, const sfu__gpu_step *step, int64_t row, int64_t quad,
                              sfu__f4 sum) {
    sfu__f4 *c = gpu_quads(gpu_data(run, &step->c)) + row * (step->c.ld / 4) + quad;
    const sfu__f4 result = step->add ? gpu_add(*c, sum) : sum;
    *c = step->c.ld <= SFU__NARROW ? gpu_flush(result) : result;
}

SFU__DEVICE_FN void gpu_slice_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                     const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride, const int values,
                                     const int in_shared) {
    const uint64_t *words = (const uint64_t *)(const void *)(run->memory + (step->keep >= 0 ? step->keep : 0));
    const uint32_t threshold = gpu_threshold(run, step);
    const sfu__gpu_scaling by = {gpu_mask_scale(threshold),
                                 run->memory + (step->learned_values >= 0 ? step->learned_values : 0)};
    const sfu__gpu_range chains = gpu_stage_range(A->chain_ends, run->stage);
    const int64_t quads = step->c.ld / 4, lanes = (int64_t)run->lanes * slice->parts;
    for (int64_t i = (chains.begin << slice->shift) + (int64_t)slice->part * run->lanes + run->lane;
         i < chains.end << slice->shift; i += lanes) {
        const int64_t at = i >> slice->shift, column = i & ((1 << slice->shift) - 1), quad = slice->first + column;
        if (quad >= quads) {
            continue;
        }
        const sfu__gpu_chain *chain = &A->chains[at];
        const sfu__gpu_entry *entries = A->entries + SFU__READ_ONLY(&chain->first);
        const sfu__gpu_gather B = {rows + column, stride};
        sfu__f4 sum;
        if (values == SFU__GPU_VALUES_KEPT) {
            const uint64_t word = words[at];
            sum = gpu_chain_kept(entries, (uint32_t)word, gpu_zero(), &B, by.scale, in_shared);
            sum = gpu_chain_kept(entries + 32, (uint32_t)(word >> 32), sum, &B, by.scale, in_shared);
        } else {
            const uint64_t word = values == SFU__GPU_VALUES_ZEROED ? words[at] : 0;
            sum = gpu_chain_all(entries, SFU__READ_ONLY(&chain->count), word, &B, &by, values, in_shared);
        }
        const int32_t part = SFU__READ_ONLY(&chain->part);
        if (part >= 0) {
            gpu_quads(run->memory + step->scratch)[part * quads + quad] = sum;
        } else {
            gpu_store(run, step, SFU__READ_ONLY(&chain->row), quad, sum);
        }
    }
}

/* One function for each kind of values and each place of B. */
#define GPU_SLICE(name, kind, in_shared)                                                                               \
    SFU__DEVICE_STEP void gpu_slice_##name(const sfu__gpu_run *run, const sfu__gpu_step *step,                         \
                                           const sfu__gpu_matrix *A, const sfu__gpu_slice *slice, const sfu__f4 *rows, \
                                           int64_t stride) {                                                           \
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
SFU__DEVICE_STEP void gpu_load_slice(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_slice *slice) {
    const sfu__f4 *from = gpu_quads(gpu_data(run, &step->b));
    sfu__f4 *to = gpu_shared(run);
    const int64_t quads = step->b.ld / 4, count = (int64_t)step->b.rows << slice->shift;
    for (int64_t i = run->lane; i < count; i += run->lanes) {
        const int64_t row = i >> slice->shift, quad = slice->first + (i & ((1 << slice->shift) - 1));
        if (quad < quads) {
            to[i] = from[row * quads + quad];
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
    const int in_shared = shift >= 0 && step->values != SFU__GPU_VALUES_LEARNED && A->chain_count >= step->b.rows / 8;
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
SFU__DEVICE_STEP void gpu_spmm_long_rows(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const sfu__gpu_range rows = gpu_stage_range(A->long_ends, run->stage);
    const int64_t quads = step->c.ld / 4;
    const sfu__f4 *parts = gpu_quads(run->memory + step->scratch);
    for (int64_t i = rows.begin * quads + gpu_lane(run); i < rows.end * quads; i += gpu_lanes(run)) {
        const sfu__gpu_long_row *row = &A->long_rows[i / quads];
        const int64_t quad = i % quads;
        sfu__f4 sum = parts[row->first_part * quads + quad];
        for (int32_t k = 1; k < row->parts; k++) {
            sum = gpu_add(sum, parts[(row->first_part + k) * quads + quad]);
        }
        gpu_store(run, step, row->row, quad, sum);
    }
}

/* ---- masks ------------------------------------------------------------------------------------------------------ */

/* The keep words of a matrix: a byte per lane, which is one Philox block. */
SFU__DEVICE_STEP void gpu_keep_words(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    uint8_t *words = (uint8_t *)(run->memory + step->keep);
    const uint8_t *nonzero = (const uint8_t *)A->nonzero;
    const uint32_t threshold = gpu_threshold(run, step);
    for (int64_t i = gpu_lane(run); i < (int64_t)A->chain_count * 8; i += gpu_lanes(run)) {
        const sfu__gpu_chain *chain = &A->chains[i / 8];
        const int group = (int)(i % 8), left = SFU__READ_ONLY(&chain->count) - 8 * group;
        uint32_t kept = 0;
        if (left > 0) {
            kept = gpu_kept_bits(run, step, threshold, gpu_node(step, SFU__READ_ONLY(&chain->row)),
                                 (uint32_t)(8 * SFU__READ_ONLY(&chain->order) + group));
            kept = left < 8 ? kept & ((1u << left) - 1) : kept;
            kept = nonzero != NULL && step->values == SFU__GPU_VALUES_KEPT ? kept & nonzero[i] : kept;
        }
        words[i] = (uint8_t)kept;
    }
}

/* The keep words of a transpose, gathered from those of its source. */
SFU__DEVICE_STEP void gpu_gather_words(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const uint32_t *from = (const uint32_t *)(const void *)(run->memory + step->source_keep);
    uint8_t *words = (uint8_t *)(run->memory + step->keep);
    for (int64_t i = gpu_lane(run); i < (int64_t)A->chain_count * 8; i += gpu_lanes(run)) {
        const sfu__gpu_chain *chain = &A->chains[i / 8];
        const int64_t first = SFU__READ_ONLY(&chain->first) + i % 8 * 8;
        const int left = SFU__READ_ONLY(&chain->count) - (int)(i % 8 * 8);
        uint32_t kept = 0;
        for (int k = 0; k < 8 && k < left; k++) {
            const uint32_t bit = SFU__READ_ONLY(&A->mask_bits[first + k]);
            kept |= (from[bit >> 5] >> (bit & 31) & 1) << k;
        }
        words[i] = (uint8_t)kept;
    }
}

SFU__DEVICE_STEP void gpu_spmm(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    const int first = step->source_keep >= 0 ? 1 : 0;
    if (phase < first) {
        gpu_gather_words(run, step, A);
    } else if (phase == first) {
        gpu_spmm_chains(run, step, A);
    } else {
        gpu_spmm_long_rows(run, step, A);
    }
}

#endif
