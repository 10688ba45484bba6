/* gpu_spmm.h - C = A B with a sparse A on a GPU.
 *
 * A thread computes up to 16 columns of one accumulation chain. The columns of B go through the memory of the block in
 * slices, if they fit there: rows are then gathered from it. The blocks of a training divide the slices, and the chains
 * of a slice, among themselves. Phases: the keep words of a transpose, gathered from those of its source; the chains of
 * each band; the rows of several chains.
 */
#ifndef SFU_GPU_SPMM_H
#define SFU_GPU_SPMM_H

#include "gpu_lanes.h"

enum { GPU_QUADS = 4 }; /* most quads of a row per thread */

/* Where a thread gathers from: its quads of each row of B. */
typedef struct sfu__gpu_gather {
    const sfu__f4 *rows;
    int64_t stride;           /* between rows, in quads */
    uint32_t skipped;         /* quads of the rows of B that are not in the memory of the block */
    uint32_t quad[GPU_QUADS]; /* in the slice, less those skipped, modulo 2^32 */
} sfu__gpu_gather;

SFU__DEVICE_FN sfu__f4 gpu_gathered(const sfu__gpu_gather *B, uint32_t column, int i, const int in_shared) {
    if (in_shared) { /* 32 bits are enough to address it */
        return B->rows[column * (uint32_t)B->stride + B->quad[i]];
    }
    return B->rows[(int64_t)column * B->stride + B->quad[i]];
}

/* Four entries. */
typedef struct sfu__gpu_four {
    sfu__u4 one, two;
} sfu__gpu_four;

/* Pairs k / 2 and k / 2 + 1; what lies beyond the chain is read, but not used. */
SFU__DEVICE_FN sfu__gpu_four gpu_four_at(const sfu__u4 *pairs, int k) {
    const sfu__u4 *at = pairs + k / 2 * SFU__GPU_GROUP;
    const sfu__gpu_four four = {SFU__READ_ONLY(at), SFU__READ_ONLY(at + SFU__GPU_GROUP)};
    return four;
}

/* The entry at the lowest bit of the word, which is cleared. Without bits: any entry. */
SFU__DEVICE_FN sfu__gpu_entry gpu_take_entry(const sfu__u4 *pairs, uint64_t *word) {
    const int k = gpu_lowest_bit(*word) & (SFU__CHAIN_TERMS - 1);
    const sfu__gpu_entry *at = (const sfu__gpu_entry *)(const void *)(pairs + k / 2 * SFU__GPU_GROUP) + k % 2;
    *word &= *word - 1;
#ifdef __CUDACC__
    const uint2 loaded = __ldg((const uint2 *)at);
    const sfu__gpu_entry entry = {loaded.x, loaded.y};
    return entry;
#else
    return *at;
#endif
}

/* The next four kept entries of a chain. */
SFU__DEVICE_FN sfu__gpu_four gpu_take_four(const sfu__u4 *pairs, uint64_t *word) {
    const sfu__gpu_entry a = gpu_take_entry(pairs, word), b = gpu_take_entry(pairs, word);
    const sfu__gpu_entry c = gpu_take_entry(pairs, word), d = gpu_take_entry(pairs, word);
    const sfu__gpu_four four = {{a.column, a.value, b.column, b.value}, {c.column, c.value, d.column, d.value}};
    return four;
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
    const float fixed = v_float_of_bits((int32_t)value);
    if (values == SFU__GPU_VALUES_ZEROED) {
        return kept ? fixed * by->scale : 0.0F;
    }
    return values == SFU__GPU_VALUES_KEPT ? fixed * by->scale : fixed;
}

/* Adds the first `left` of four entries, at most four, at `quads` quads each. Four rows are in flight at a time.
 * `bits`: which entries are kept, if the others are zero. */
SFU__DEVICE_FN void gpu_add_four(sfu__f4 sum[GPU_QUADS], const sfu__gpu_four *four, int left, uint32_t bits,
                                 const sfu__gpu_gather *B, const sfu__gpu_scaling *by, const int values,
                                 const int quads, const int in_shared) {
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
                sum[i % quads] = gpu_fma(gpu_value(value[k], by, (int)(bits >> k & 1), values), row[i], sum[i % quads]);
            }
        }
    }
}

/* Adds a chain to the sum. The next entries are loaded before the last ones are used. */
SFU__DEVICE_FN void gpu_chain_sum(sfu__f4 sum[GPU_QUADS], const sfu__u4 *pairs, int count, uint64_t word,
                                  const sfu__gpu_gather *B, const sfu__gpu_scaling *by, const int values,
                                  const int quads, const int in_shared) {
    const int skips = values == SFU__GPU_VALUES_KEPT;
    sfu__gpu_four four = skips ? gpu_take_four(pairs, &word) : gpu_four_at(pairs, 0);
    SFU__NO_UNROLL for (int k = 0; k < count; k += 4) {
        const sfu__gpu_four next = skips ? gpu_take_four(pairs, &word) : gpu_four_at(pairs, k + 4);
        gpu_add_four(sum, &four, count - k, (uint32_t)(word >> k), B, by, values, quads, in_shared);
        four = next;
    }
}

/* ---- a slice of columns ----------------------------------------------------------------------------------------- */

/* The columns of a slice: 4 << shift of them from quad `first` on, and the chains of this block. */
typedef struct sfu__gpu_slice {
    int64_t first;                  /* quad of B and C */
    int shift;                      /* log2 of the quads */
    int part, parts;                /* this block's share of the chains */
    int first_column, column_count; /* of its band, and the chains */
    int chain, chain_end;
} sfu__gpu_slice;

/* Where the results of a product go. Kept in registers: a store might change what is in memory. */
typedef struct sfu__gpu_target {
    sfu__f4 *rows;       /* of C */
    sfu__f4 *parts;      /* sums of long rows */
    const sfu__f4 *bias; /* relu: NULL, or what is added before */
    int quads, cols;     /* of a row */
    int add, narrow, relu;
} sfu__gpu_target;

SFU__DEVICE_FN sfu__gpu_target gpu_target(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_target to = {gpu_quads(gpu_data(run, &step->c)),
                                gpu_quads(run->memory + step->scratch),
                                step->relu && step->bias >= 0 ? gpu_quads(run->memory + step->bias) : NULL,
                                step->c.ld / 4,
                                step->c.cols,
                                step->add,
                                step->c.ld <= SFU__NARROW,
                                step->relu};
    return to;
}

SFU__DEVICE_FN float gpu_relu(float x, int inside) { return inside ? v_flush(activate(SFU__RELU, x)) : 0.0F; }

SFU__DEVICE_FN void gpu_store(const sfu__gpu_target *to, int64_t row, int quad, sfu__f4 sum) {
    sfu__f4 *c = to->rows + row * to->quads + quad;
    sfu__f4 result = to->add ? gpu_add(*c, sum) : sum;
    result = to->narrow ? gpu_flush(result) : result;
    if (to->relu) { /* as gpu_activate */
        const sfu__f4 h = to->bias != NULL ? gpu_add(result, to->bias[quad]) : result;
        const int left = to->cols - 4 * quad;
        result.x = gpu_relu(h.x, left > 0);
        result.y = gpu_relu(h.y, left > 1);
        result.z = gpu_relu(h.z, left > 2);
        result.w = gpu_relu(h.w, left > 3);
    }
    *c = result;
}

/* The chains of a thread: every `stride`-th from `at` on. */
typedef struct sfu__gpu_chains {
    int at, end, stride;
} sfu__gpu_chains;

SFU__DEVICE_FN void gpu_chains_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                  sfu__gpu_chains chains, int first, const sfu__gpu_gather *B, const int values,
                                  const int quads, const int in_shared) {
    const int masked = values == SFU__GPU_VALUES_KEPT || values == SFU__GPU_VALUES_ZEROED;
    const uint64_t *words = masked ? gpu_words(run, step->keep) : NULL;
    const sfu__gpu_scaling by = {masked ? gpu_mask_scale(gpu_threshold(run, step)) : 1.0F,
                                 values == SFU__GPU_VALUES_LEARNED ? run->memory + step->learned_values : NULL};
    const sfu__gpu_target to = gpu_target(run, step);
    const sfu__gpu_chain *all = A->chains;
    const int end = chains.end, stride = chains.stride;
    int at = chains.at;
    if (at >= end) {
        return;
    }
    sfu__gpu_chain chain = gpu_chain_at(all, at);
    uint64_t word = masked ? words[at] : 0;
    SFU__NO_UNROLL for (; at < end; at += stride) {
        const int after = at + stride < end ? at + stride : at;
        const sfu__gpu_chain next = gpu_chain_at(all, after);
        const uint64_t next_word = masked ? words[after] : 0;
        const int count = values == SFU__GPU_VALUES_KEPT ? gpu_bit_count(word) : gpu_chain_count(&chain);
        sfu__f4 sum[GPU_QUADS];
        SFU__UNROLL for (int i = 0; i < GPU_QUADS; i++) { sum[i] = gpu_zero(); }
        if (values == SFU__GPU_VALUES_ZEROED && (chain.count_and_order & SFU__GPU_CONTINUES) != 0) {
            SFU__UNROLL for (int i = 0; i < quads; i++) {
                const int quad = first + (int)(B->quad[i] + B->skipped);
                sum[i] = quad < to.quads ? to.parts[(int64_t)chain.part * to.quads + quad] : gpu_zero();
            }
        }
        gpu_chain_sum(sum, gpu_chain_pairs(A, &chain), count, word, B, &by, values, quads, in_shared);
        SFU__UNROLL for (int i = 0; i < quads; i++) {
            const int quad = first + (int)(B->quad[i] + B->skipped);
            if (quad < to.quads && chain.part < 0) {
                gpu_store(&to, chain.row, quad, sum[i]);
            } else if (quad < to.quads) {
                to.parts[(int64_t)chain.part * to.quads + quad] = sum[i];
            }
        }
        chain = next;
        word = next_word;
    }
}

/* Neighbouring threads take the quads of one chain, `quads` each. They start with different ones, so that the chains
 * that gather at the same time use all banks of the memory. A single lane takes its quads one after the other. */
SFU__DEVICE_FN void gpu_slice_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                     const sfu__gpu_slice *slice, const sfu__f4 *rows, int64_t stride, const int values,
                                     const int quads, const int in_shared) {
    const int width = (1 << slice->shift) / quads, thread = gpu_thread(run);
    const int together = GPU_ONE_LANE ? 1 : run->lanes / width; /* chains at once in a block */
    const int place = GPU_ONE_LANE ? 0 : thread / width;
    const sfu__gpu_chains chains = {slice->chain + slice->part * together + place, slice->chain_end,
                                    together * slice->parts};
    for (int lane = GPU_ONE_LANE ? 0 : thread % width; lane < width; lane += GPU_ONE_LANE ? 1 : width) {
        const uint32_t skipped = in_shared ? (uint32_t)slice->first_column * (uint32_t)stride : 0;
        sfu__gpu_gather B = {rows, stride, skipped, {0}};
        SFU__UNROLL for (int i = 0; i < quads; i++) {
            B.quad[i] = (uint32_t)((i + place) % quads * width + lane) - B.skipped;
        }
        gpu_chains_of(run, step, A, chains, (int)slice->first, &B, values, quads, in_shared);
        if (!GPU_ONE_LANE) {
            break;
        }
    }
}

/* A function for each kind of values, number of quads per thread and place of B. */
SFU__DEVICE_FN void gpu_slice_of(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                 const sfu__gpu_slice *slice, int in_shared) {
    enum { FIXED = SFU__GPU_VALUES_FIXED, KEPT = SFU__GPU_VALUES_KEPT };
    const int64_t stride = in_shared ? (int64_t)1 << slice->shift : step->b.ld / 4;
    const int kept = step->values == SFU__GPU_VALUES_KEPT;
    if (in_shared) {
        const sfu__f4 *rows = gpu_shared(run);
        if (slice->shift >= 2 && kept) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 4, 1);
        } else if (step->values == SFU__GPU_VALUES_ZEROED) {
            gpu_slice_chains(run, step, A, slice, rows, stride, SFU__GPU_VALUES_ZEROED, 4, 1);
        } else if (slice->shift >= 2) {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 4, 1);
        } else if (slice->shift == 1 && kept) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 2, 1);
        } else if (slice->shift == 1) {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 2, 1);
        } else if (kept) {
            gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 1, 1);
        } else {
            gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 1, 1);
        }
        return;
    }
    const sfu__f4 *rows = gpu_quads(gpu_data(run, &step->b)) + slice->first;
    if (step->values == SFU__GPU_VALUES_LEARNED) {
        gpu_slice_chains(run, step, A, slice, rows, stride, SFU__GPU_VALUES_LEARNED, 1, 0);
    } else if (step->values == SFU__GPU_VALUES_ZEROED) {
        gpu_slice_chains(run, step, A, slice, rows, stride, SFU__GPU_VALUES_ZEROED, 1, 0);
    } else if (kept) {
        gpu_slice_chains(run, step, A, slice, rows, stride, KEPT, 1, 0);
    } else {
        gpu_slice_chains(run, step, A, slice, rows, stride, FIXED, 1, 0);
    }
}

/* Copies a slice of the rows of B that its band needs to the memory of the block. Quads beyond these rows are zero. */
SFU__DEVICE_FN void gpu_load_slice(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_slice *slice) {
    const int quads = step->b.ld / 4, left = quads - (int)slice->first;
    const sfu__f4 *from = gpu_quads(gpu_data(run, &step->b)) + (int64_t)slice->first_column * quads + slice->first;
    sfu__f4 *to = gpu_shared(run);
    const int shift = slice->shift, mask = (1 << shift) - 1, lanes = run->lanes;
    const int count = slice->column_count << shift;
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

SFU__DEVICE_FN sfu__gpu_range gpu_band_chains(const sfu__gpu_run *run, const sfu__gpu_matrix *A, int band) {
    const sfu__gpu_range chains = {band > 0 ? A->bands[band - 1].chain_end : 0, A->bands[band].chain_end};
    return A->band_count > 1 ? chains : gpu_stage_range(A->chain_ends, run->stage);
}

SFU__DEVICE_FN void gpu_spmm_chains(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A,
                                    int number) {
    const int64_t quads = step->c.ld / 4;
    const sfu__gpu_band band = A->bands[number];
    const sfu__gpu_range chains = gpu_band_chains(run, A, number);
    int shift = gpu_slice_shift(band.column_count, quads, run->shared_bytes);
    /* Entries per row of B that make up for its copy. There are functions for entries that are zeroed with wide slices
     * alone. */
    const int enough = shift >= 0 && 1 << shift >= quads ? 2 : 6;
    const int least = step->values == SFU__GPU_VALUES_ZEROED ? 2 : 0;
    const int in_shared = shift >= least && step->values != SFU__GPU_VALUES_LEARNED &&
                          A->entry_count >= (int64_t)enough * band.column_count * A->band_count;
    if (!in_shared) {
        shift = gpu_slice_shift(0, quads, 0);
    }
    while (in_shared && shift > least && quads >> shift < run->blocks) {
        shift--;
    }
    const int slices = (int)((quads + (1 << shift) - 1) >> shift),
              sharing = slices < run->blocks ? slices : run->blocks;
    for (int s = run->block % sharing; s < slices; s += sharing) {
        const sfu__gpu_slice slice = {
            (int64_t)s << shift,  shift,
            run->block / sharing, (run->blocks - run->block % sharing + sharing - 1) / sharing,
            band.first_column,    band.column_count,
            (int)chains.begin,    (int)chains.end};
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
        gpu_store(&to, row->row, quad, gpu_sum_parts(parts, to.quads, row->parts));
    }
}

/* ---- masks ------------------------------------------------------------------------------------------------------ */

/* A byte of the word of a chain per lane. Neighbouring lanes have the same byte of the chains of a group, whose entries
 * are neighbours. */
typedef struct sfu__gpu_byte {
    int64_t at; /* chain */
    int first;  /* entry of the chain */
    int left;   /* entries from there to its end; none: nothing to do */
    sfu__gpu_chain chain;
} sfu__gpu_byte;

enum { GPU_BYTES = 8 * SFU__GPU_GROUP }; /* of a group */

SFU__DEVICE_FN int64_t gpu_byte_count(const sfu__gpu_matrix *A) {
    return ((int64_t)A->chain_count + SFU__GPU_GROUP - 1) / SFU__GPU_GROUP * GPU_BYTES;
}
SFU__DEVICE_FN sfu__gpu_byte gpu_byte_at(const sfu__gpu_matrix *A, int64_t i) {
    sfu__gpu_byte byte;
    byte.at = i / GPU_BYTES * SFU__GPU_GROUP + i % SFU__GPU_GROUP;
    byte.first = (int)(i % GPU_BYTES / SFU__GPU_GROUP) * 8;
    byte.chain = gpu_chain_at(A->chains, byte.at < A->chain_count ? byte.at : 0);
    byte.left = byte.at < A->chain_count ? gpu_chain_count(&byte.chain) - byte.first : 0;
    return byte;
}

/* The keep words of a matrix: a byte is one Philox block. */
SFU__DEVICE_FN void gpu_keep_words(const sfu__gpu_run *run, const sfu__gpu_step *step) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    uint8_t *words = (uint8_t *)gpu_words(run, step->keep);
    const uint8_t *nonzero = step->values == SFU__GPU_VALUES_KEPT ? (const uint8_t *)A->nonzero : NULL;
    const uint32_t threshold = gpu_threshold(run, step);
    for (int64_t i = gpu_lane(run); i < gpu_byte_count(A); i += gpu_lanes(run)) {
        const sfu__gpu_byte byte = gpu_byte_at(A, i);
        const int64_t to = byte.at * 8 + byte.first / 8;
        if (byte.left > 0) {
            const uint32_t group = 8 * (byte.chain.count_and_order >> 8) + (uint32_t)byte.first / 8;
            const uint32_t kept = gpu_kept_bits(run, step, threshold, gpu_node(step, byte.chain.row), group);
            const uint32_t inside = byte.left < 8 ? kept & ((1u << byte.left) - 1) : kept;
            words[to] = (uint8_t)(nonzero != NULL ? inside & nonzero[to] : inside);
        } else if (byte.at < A->chain_count) {
            words[to] = 0;
        }
    }
}

/* The keep words of a transpose, gathered from those of its source. These are read at random, so they are copied to the
 * memory of the block if they fit. */
SFU__DEVICE_FN void gpu_gather_words(const sfu__gpu_run *run, const sfu__gpu_step *step, const sfu__gpu_matrix *A) {
    const uint32_t *from = (const uint32_t *)(const void *)gpu_words(run, step->source_keep);
    uint8_t *words = (uint8_t *)gpu_words(run, step->keep);
    const uint32_t *own = (const uint32_t *)(const void *)gpu_shared(run);
    const int first = A->first_word / 2, count = (A->first_word + A->word_count + 1) / 2 - first, /* quads */
        fits = (int64_t)count * (int)sizeof(sfu__f4) <= run->shared_bytes;
    const uint32_t skipped = 4 * (uint32_t)first;
    for (int i = gpu_thread(run); fits && i < count; i += run->lanes) {
        gpu_copy_quad(gpu_shared(run) + i, (const sfu__f4 *)(const void *)from + first + i);
    }
    gpu_copies_wait();
    gpu_block_barrier();
    for (int64_t i = gpu_lane(run); i < gpu_byte_count(A); i += gpu_lanes(run)) {
        const sfu__gpu_byte byte = gpu_byte_at(A, i);
        const uint32_t *bits =
            A->mask_bits + 2 * ((uint64_t)byte.chain.first_pair + (uint64_t)(byte.first / 2 * SFU__GPU_GROUP));
        uint32_t bit[8], kept = 0;
        SFU__UNROLL for (int k = 0; k < 8; k++) { /* beyond the chain: of others, or padding */
            bit[k] = SFU__READ_ONLY(&bits[k / 2 * 2 * SFU__GPU_GROUP + k % 2]);
        }
        SFU__UNROLL for (int k = 0; k < 8; k++) {
            if (k < byte.left) {
                kept |= ((fits ? own[(bit[k] >> 5) - skipped] : from[bit[k] >> 5]) >> (bit[k] & 31) & 1) << k;
            }
        }
        if (byte.at < A->chain_count) {
            words[byte.at * 8 + byte.first / 8] = (uint8_t)kept;
        }
    }
}

SFU__DEVICE_FN void gpu_spmm(const sfu__gpu_run *run, const sfu__gpu_step *step, int phase) {
    const sfu__gpu_matrix *A = &run->program->matrices[step->matrix];
    const int chains = step->source_keep >= 0 ? 1 : 0;
    if (phase < chains) {
        gpu_gather_words(run, step, A);
    } else if (phase - chains < A->band_count) {
        gpu_spmm_chains(run, step, A, phase - chains);
    } else {
        gpu_spmm_long_rows(run, step, A);
    }
}

#endif
