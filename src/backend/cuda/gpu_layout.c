/* gpu_layout.c - divides the rows of a sparse matrix into accumulation chains, sorts these by length, and interleaves
 * the entries of neighbouring ones. */
#include "gpu_layout.h"

#include <string.h>

enum { CHAIN = SFU__CHAIN_TERMS, PAIR = 2, GROUP = SFU__GPU_GROUP, ORDERS = 1 << 24 };
enum { BAND_COLUMNS = 3072 }; /* most of a band: 16 columns of so many rows of B fit into the memory of a block */

static int64_t row_count(const sfu__sparse *A, int64_t row) { return A->indptr[row + 1] - A->indptr[row]; }
static int64_t chains_of(int64_t entries) { return entries <= CHAIN ? 1 : (entries + CHAIN - 1) / CHAIN; }
static int32_t result_row(const sfu__sparse *A, int64_t row) {
    return A->row_perm != NULL ? A->row_perm[row] : (int32_t)row;
}

static int stage_of(const sfu__gpu_source *source, int32_t row) {
    int stage = 0;
    while (source->stage_ends != NULL && stage < SFU__GPU_STAGES - 1 && row >= source->stage_ends[stage]) {
        stage++;
    }
    return source->stage_ends != NULL ? stage : SFU__GPU_STAGES - 1;
}

static sfu_status too_large(const sfu__sparse *A) {
    return sfu__fail(SFU_ERR_UNSUPPORTED, "a matrix with %lld rows is too large for the layout of GPUs",
                     (long long)A->rows);
}

/* ---- bands ------------------------------------------------------------------------------------------------------- */

static int band_of(const sfu__gpu_matrix *head, int32_t column) {
    return head->band_count > 1 ? (column - head->bands[0].first_column) / head->bands[0].column_count : 0;
}

/* Whether the bands of the entries of each row ascend, so that the parts of a cut chain are summed in order. */
static bool bands_ascend(const sfu__gpu_layout *layout) {
    const sfu__sparse *A = layout->matrix;
    bool ascend = true;
    for (int64_t row = 0; row < A->rows && ascend; row++) {
        for (int64_t e = A->indptr[row] + 1; e < A->indptr[row + 1] && ascend; e++) {
            ascend = band_of(&layout->head, A->indices[e - 1]) <= band_of(&layout->head, A->indices[e]);
        }
    }
    return ascend;
}

/* Divides `count` columns from `first` on into `bands` of equal size. */
static void set_bands(sfu__gpu_matrix *head, int32_t first, int32_t count, int32_t bands) {
    const int32_t size = (count + bands - 1) / bands;
    head->band_count = bands;
    for (int32_t i = 0; i < bands; i++) {
        const int32_t left = count - i * size;
        head->bands[i] = (sfu__gpu_band){.first_column = first + i * size, .column_count = left < size ? left : size};
    }
}

/* The columns that the entries lie in, in one band or several. */
static void find_bands(sfu__gpu_layout *layout, const sfu__gpu_source *source) {
    const sfu__sparse *A = layout->matrix;
    int32_t first = A->cols, end = 0;
    for (int64_t e = A->indptr[0]; e < A->indptr[A->rows]; e++) {
        first = A->indices[e] < first ? A->indices[e] : first;
        end = A->indices[e] >= end ? A->indices[e] + 1 : end;
    }
    const int32_t count = first < end ? end - first : 0, bands = (count + BAND_COLUMNS - 1) / BAND_COLUMNS;
    first = count > 0 ? first : 0;
    if (source->in_bands && bands > 1 && bands <= SFU__GPU_BANDS) {
        set_bands(&layout->head, first, count, bands);
    }
    if (layout->head.band_count == 0 || !bands_ascend(layout)) {
        set_bands(&layout->head, first, count, 1);
    }
}

/* ---- chains ------------------------------------------------------------------------------------------------------ */

/* What one thread sums at a time: a chain, or the part of it that lies in one band. */
typedef struct piece {
    int64_t begin, end; /* entries; none: the row is empty */
    int64_t order;      /* number of the chain in its row */
    int band;
    bool continues; /* the chain began in an earlier band */
} piece;

/* The piece that begins at entry e of a row. */
static piece piece_at(const sfu__gpu_layout *layout, int64_t row, int64_t e) {
    const sfu__sparse *A = layout->matrix;
    const int64_t position = e - A->indptr[row], left = A->indptr[row + 1] - e, rest = CHAIN - position % CHAIN;
    const int64_t end = e + (left < rest ? left : rest);
    piece found = {e, end, position / CHAIN, left > 0 ? band_of(&layout->head, A->indices[e]) : 0,
                   position % CHAIN != 0};
    if (layout->head.band_count > 1) {
        for (found.end = e; found.end < end && band_of(&layout->head, A->indices[found.end]) == found.band;) {
            found.end++;
        }
    }
    return found;
}
static piece first_piece(const sfu__gpu_layout *layout, int64_t row) {
    return piece_at(layout, row, layout->matrix->indptr[row]);
}
static bool is_last(const sfu__gpu_layout *layout, int64_t row, const piece *of) {
    return of->end == layout->matrix->indptr[row + 1];
}
static int32_t length_of(const piece *of) { return (int32_t)(of->end - of->begin); }

/* Pieces are sorted within each stage, or each band. */
enum { BUCKETS = SFU__GPU_STAGES > SFU__GPU_BANDS ? (int)SFU__GPU_STAGES : (int)SFU__GPU_BANDS };
static int bucket_of(const sfu__gpu_layout *layout, const piece *of, int stage) {
    return layout->head.band_count > 1 ? of->band : stage;
}

/* Counts the pieces of a row, also by bucket. */
static int64_t count_row(int64_t counts[BUCKETS], const sfu__gpu_layout *layout, int64_t row, int stage) {
    if (layout->head.band_count == 1) {
        const int64_t chains = chains_of(row_count(layout->matrix, row));
        counts[stage] += chains;
        return chains;
    }
    int64_t pieces = 1;
    piece at = first_piece(layout, row);
    for (counts[at.band]++; !is_last(layout, row, &at); pieces++) {
        at = piece_at(layout, row, at.end);
        counts[at.band]++;
    }
    return pieces;
}

/* Counts the pieces and where each row's start, before sorting. */
static void count_chains(sfu__gpu_layout *layout, const sfu__gpu_source *source) {
    const sfu__sparse *A = source->matrix;
    sfu__gpu_matrix *head = &layout->head;
    int64_t counts[BUCKETS] = {0}, long_counts[SFU__GPU_STAGES] = {0}, chains = 0, long_rows = 0;
    layout->first_chain[0] = 0;
    for (int64_t row = 0; row < A->rows; row++) {
        const int stage = stage_of(source, result_row(A, row));
        const int64_t count = count_row(counts, layout, row, stage);
        long_counts[stage] += count > 1;
        head->part_count += count > 1 ? (int32_t)chains_of(row_count(A, row)) : 0;
        layout->first_chain[row + 1] = layout->first_chain[row] + count;
    }
    for (int stage = 0; stage < SFU__GPU_STAGES; stage++) {
        head->chain_ends[stage] = (int32_t)(chains += head->band_count == 1 ? counts[stage] : 0);
        head->long_ends[stage] = (int32_t)(long_rows += long_counts[stage]);
    }
    for (int band = 0; head->band_count > 1 && band < head->band_count; band++) {
        head->bands[band].chain_end = head->chain_ends[SFU__GPU_STAGES - 1] = (int32_t)(chains += counts[band]);
    }
    head->chain_count = (int32_t)chains;
    head->long_count = (int32_t)long_rows;
}

/* Where the pieces of a bucket and length start after sorting: buckets ascend, lengths descend. */
typedef struct buckets {
    int64_t next[BUCKETS][CHAIN + 1];
} buckets;

/* Rows in the order of their results, if their chains are sorted in blocks: few at a time, so that the keep words of
 * neighbouring rows stay together. Otherwise all at once, in their own order. */
typedef struct row_order {
    int32_t *rows; /* NULL: their own */
    int64_t block;
} row_order;

static sfu_status order_rows(row_order *order, const sfu__gpu_source *source) {
    enum { FEW = 128 };
    sfu_status status = SFU_OK;
    const sfu__sparse *A = source->matrix;
    *order = (row_order){.block = A->rows};
    if (source->in_blocks && source->stage_ends == NULL) {
        order->block = FEW;
        SFU_ALLOC(order->rows, A->rows);
        for (int64_t row = 0; row < A->rows; row++) {
            order->rows[result_row(A, row)] = (int32_t)row;
        }
    }
done:
    return status;
}
static int64_t row_at(const row_order *order, int64_t i) { return order->rows != NULL ? order->rows[i] : i; }

/* Sorts the pieces of a block of rows from the i-th on; they start at `first`. */
static void sort_chains(buckets *to, const sfu__gpu_layout *layout, const sfu__gpu_source *source,
                        const row_order *order, int64_t i, int64_t first) {
    const sfu__sparse *A = source->matrix;
    memset(to, 0, sizeof *to);
    for (const int64_t end = i + order->block; i < end && i < A->rows; i++) {
        const int64_t row = row_at(order, i);
        const int stage = stage_of(source, result_row(A, row));
        piece at = first_piece(layout, row);
        for (to->next[bucket_of(layout, &at, stage)][length_of(&at)]++; !is_last(layout, row, &at);) {
            at = piece_at(layout, row, at.end);
            to->next[bucket_of(layout, &at, stage)][length_of(&at)]++;
        }
    }
    for (int bucket = 0; bucket < BUCKETS; bucket++) {
        for (int length = CHAIN; length >= 0; length--) {
            const int64_t count = to->next[bucket][length];
            to->next[bucket][length] = first;
            first += count;
        }
    }
}

/* The arrays of a layout. All but the last are in the image: a copy would double the memory of a large graph. */
typedef struct arrays {
    sfu__gpu_chain *chains;
    sfu__gpu_long_row *long_rows;
    sfu__gpu_entry *entries;
    uint32_t *mask_bits;
    uint64_t *nonzero;
} arrays;

static sfu_status fill_chains(arrays *to, sfu__gpu_layout *layout, const sfu__gpu_source *source) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = source->matrix;
    int64_t filled = 0;
    int32_t part = 0, long_next[SFU__GPU_STAGES];
    row_order order = {0};
    buckets at;
    SFU_TRY(order_rows(&order, source));
    for (int stage = 0; stage < SFU__GPU_STAGES; stage++) {
        long_next[stage] = stage > 0 ? layout->head.long_ends[stage - 1] : 0;
    }
    for (int64_t i = 0; i < A->rows; i++) {
        if (i % order.block == 0) {
            sort_chains(&at, layout, source, &order, i, filled);
        }
        const int64_t row = row_at(&order, i), pieces = layout->first_chain[row + 1] - layout->first_chain[row];
        const int32_t result = result_row(A, row), chains = (int32_t)chains_of(row_count(A, row));
        const int stage = stage_of(source, result);
        if (pieces > 1) {
            to->long_rows[long_next[stage]++] = (sfu__gpu_long_row){result, part, chains};
        }
        piece from = first_piece(layout, row);
        for (int64_t k = 0; k < pieces; k++) {
            const int64_t sorted = at.next[bucket_of(layout, &from, stage)][length_of(&from)]++;
            layout->sorted_chain[layout->first_chain[row] + k] = (int32_t)sorted;
            to->chains[sorted] = (sfu__gpu_chain){
                .row = result,
                .part = pieces > 1 ? part + (int32_t)from.order : -1,
                .count_and_order = (uint32_t)length_of(&from) | (from.continues ? (uint32_t)SFU__GPU_CONTINUES : 0) |
                                   (uint32_t)from.order << 8};
            from = piece_at(layout, row, from.end);
        }
        part += pieces > 1 ? chains : 0;
        filled += pieces;
    }
done:
    sfu__free(order.rows);
    return status;
}

static int32_t pairs_of(const sfu__gpu_chain *chain) {
    return ((int32_t)(chain->count_and_order & SFU__GPU_COUNT) + PAIR - 1) / PAIR;
}

/* Gives every chain its place: a group is as long as its longest chain. */
static sfu_status place_chains(arrays *to, sfu__gpu_layout *layout) {
    const int32_t count = layout->head.chain_count;
    int64_t next = 0;
    for (int32_t first = 0; first < count; first += GROUP) {
        int32_t longest = 0;
        for (int32_t i = first; i < first + GROUP && i < count; i++) {
            const int32_t pairs = pairs_of(&to->chains[i]);
            longest = pairs > longest ? pairs : longest;
            to->chains[i].first_pair = (uint32_t)(next + i - first);
        }
        next += (int64_t)longest * GROUP;
        if (next > UINT32_MAX) {
            return too_large(layout->matrix);
        }
    }
    layout->head.pair_count = next + (int64_t)CHAIN / PAIR * GROUP; /* kernels read ahead */
    return SFU_OK;
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

/* The bit of entry e of a matrix in its keep words. A matrix whose mask others use has one band. */
static uint32_t bit_of(const sfu__gpu_layout *layout, int64_t row, int64_t e) {
    const int64_t position = e - layout->matrix->indptr[row];
    const int64_t chain = layout->sorted_chain[layout->first_chain[row] + position / CHAIN];
    return (uint32_t)(chain * CHAIN + position % CHAIN);
}

static sfu_status bits_of_all(uint32_t **bits, const sfu__gpu_layout *layout) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = layout->matrix;
    SFU_ALLOC(*bits, A->indptr[A->rows]);
    for (int64_t row = 0; row < A->rows; row++) {
        for (int64_t e = A->indptr[row]; e < A->indptr[row + 1]; e++) {
            (*bits)[e] = bit_of(layout, row, e);
        }
    }
done:
    return status;
}

static uint32_t float_bits(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* A transpose with a mask may have its own values, in its order, or share those of its source. */
static bool has_own_values(const sfu__gpu_source *source) {
    return source->masked == NULL || source->matrix->values != source->masked->matrix->values;
}

/* Which keep words of its source a transpose needs. */
static void find_words(sfu__gpu_layout *layout, const uint32_t *bits) {
    const sfu__sparse *A = layout->matrix;
    uint32_t first = UINT32_MAX, end = 0;
    for (int64_t e = A->indptr[0]; e < A->indptr[A->rows]; e++) {
        const uint32_t word = bits[A->value_perm != NULL ? A->value_perm[e] : e] / CHAIN;
        first = word < first ? word : first;
        end = word >= end ? word + 1 : end;
    }
    layout->head.first_word = first < end ? (int32_t)first : 0;
    layout->head.word_count = first < end ? (int32_t)(end - first) : 0;
}

static sfu_status fill_entries(const arrays *to, sfu__gpu_layout *layout, const sfu__gpu_source *source) {
    const sfu__sparse *A = source->matrix;
    const bool permuted = A->value_perm != NULL && !(source->masked != NULL && has_own_values(source));
    sfu_status status = SFU_OK;
    uint32_t *bits = NULL;
    if (source->masked != NULL) {
        SFU_TRY(bits_of_all(&bits, source->masked));
        find_words(layout, bits);
    }
    for (int64_t row = 0; row < A->rows; row++) {
        const int32_t *sorted = layout->sorted_chain + layout->first_chain[row];
        piece in = first_piece(layout, row);
        for (int64_t e = A->indptr[row]; e < A->indptr[row + 1]; e++) {
            if (e == in.end) {
                in = piece_at(layout, row, e);
                sorted++;
            }
            const int32_t chain = *sorted;
            const int64_t value = permuted ? A->value_perm[e] : e, k = e - in.begin,
                          at = PAIR * ((int64_t)to->chains[chain].first_pair + k / PAIR * GROUP) + k % PAIR;
            to->entries[at].column = (uint32_t)A->indices[e];
            to->entries[at].value = source->learned ? (uint32_t)value : float_bits(A->values[value]);
            if (bits != NULL && A->value_perm != NULL) {
                to->mask_bits[at] = bits[A->value_perm[e]];
            }
            if (!source->learned && A->values[value] != 0.0F) {
                to->nonzero[chain] |= UINT64_C(1) << k;
            }
        }
    }
done:
    sfu__free(bits);
    return status;
}

/* ---- the layout ---------------------------------------------------------------------------------------------------
 */

/* Chains are counted by 32 bits, and so are the bits of keep words; the chains of a row by 24. */
static sfu_status check_size(const sfu__gpu_layout *layout, const sfu__gpu_source *source) {
    const bool many = layout->first_chain[source->matrix->rows] > INT32_MAX || source->matrix->cols > ORDERS * CHAIN ||
                      (source->masked != NULL && (uint32_t)source->masked->head.chain_count > UINT32_MAX / CHAIN);
    return many ? too_large(source->matrix) : SFU_OK;
}

/* The image may move when it grows. */
static void find_arrays(arrays *to, const sfu__gpu_layout *layout, const sfu__gpu_image *image) {
    to->chains = (sfu__gpu_chain *)(void *)(image->bytes + layout->chains_at);
    to->long_rows = (sfu__gpu_long_row *)(void *)(image->bytes + layout->long_rows_at);
    to->entries = (sfu__gpu_entry *)(void *)(image->bytes + layout->entries_at);
    to->mask_bits = layout->has_mask_bits ? (uint32_t *)(void *)(image->bytes + layout->mask_bits_at) : NULL;
}

static sfu_status make_chains(arrays *to, sfu__gpu_layout *layout, sfu__gpu_image *image,
                              const sfu__gpu_source *source) {
    sfu_status status = SFU_OK;
    SFU_ALLOC(layout->first_chain, (size_t)source->matrix->rows + 1);
    count_chains(layout, source);
    SFU_TRY(check_size(layout, source));
    SFU_ALLOC(layout->sorted_chain, layout->head.chain_count);
    SFU_TRY(sfu__gpu_image_add(&layout->chains_at, image, NULL, (size_t)layout->head.chain_count * sizeof *to->chains));
    SFU_TRY(sfu__gpu_image_add(&layout->long_rows_at, image, NULL,
                               (size_t)layout->head.long_count * sizeof *to->long_rows));
    find_arrays(to, layout, image);
    SFU_TRY(fill_chains(to, layout, source));
    SFU_TRY(place_chains(to, layout));
done:
    return status;
}

static sfu_status make_entries(arrays *to, sfu__gpu_layout *layout, sfu__gpu_image *image,
                               const sfu__gpu_source *source) {
    sfu_status status = SFU_OK;
    const size_t entries = PAIR * (size_t)layout->head.pair_count;
    SFU_ALLOC_ZERO(to->nonzero, layout->head.chain_count);
    SFU_TRY(sfu__gpu_image_add(&layout->entries_at, image, NULL, entries * sizeof *to->entries));
    if (source->masked != NULL) {
        SFU_TRY(sfu__gpu_image_add(&layout->mask_bits_at, image, NULL, entries * sizeof *to->mask_bits));
        layout->has_mask_bits = true;
    }
    find_arrays(to, layout, image);
    SFU_TRY(fill_entries(to, layout, source));
done:
    return status;
}

static bool has_zeros(const arrays *from, const sfu__gpu_layout *layout) {
    bool some = false;
    for (int32_t i = 0; i < layout->head.chain_count && !some; i++) {
        const int32_t count = (int32_t)(from->chains[i].count_and_order & SFU__GPU_COUNT);
        const uint64_t all = count == CHAIN ? UINT64_MAX : (UINT64_C(1) << count) - 1;
        some = from->nonzero[i] != all;
    }
    return some;
}

sfu_status sfu__gpu_layout_make(sfu__gpu_layout *layout, sfu__gpu_image *image, const sfu__gpu_source *source) {
    sfu_status status = SFU_OK;
    const sfu__sparse *A = source->matrix;
    arrays own = {0};
    layout->matrix = A;
    layout->head.rows = A->rows;
    layout->head.cols = A->cols;
    layout->head.entry_count = A->indptr[A->rows];
    find_bands(layout, source);
    SFU_TRY(make_chains(&own, layout, image, source));
    SFU_TRY(make_entries(&own, layout, image, source));
    if (!source->learned && has_zeros(&own, layout)) {
        SFU_TRY(sfu__gpu_image_add(&layout->nonzero_at, image, own.nonzero,
                                   (size_t)layout->head.chain_count * sizeof *own.nonzero));
        layout->has_nonzero = true;
    }
done:
    sfu__free(own.nonzero);
    return status;
}

void sfu__gpu_layout_clear(sfu__gpu_layout *layout) {
    sfu__free(layout->first_chain);
    sfu__free(layout->sorted_chain);
    *layout = (sfu__gpu_layout){0};
}

sfu_status sfu__gpu_layout_write(const sfu__gpu_layout *layout, sfu__gpu_image *image, size_t at) {
    sfu_status status = SFU_OK;
    memcpy(image->bytes + at, &layout->head, sizeof layout->head);
    SFU_TRY(sfu__gpu_image_point(image, at + offsetof(sfu__gpu_matrix, entries), layout->entries_at));
    SFU_TRY(sfu__gpu_image_point(image, at + offsetof(sfu__gpu_matrix, chains), layout->chains_at));
    SFU_TRY(sfu__gpu_image_point(image, at + offsetof(sfu__gpu_matrix, long_rows), layout->long_rows_at));
    if (layout->has_mask_bits) {
        SFU_TRY(sfu__gpu_image_point(image, at + offsetof(sfu__gpu_matrix, mask_bits), layout->mask_bits_at));
    }
    if (layout->has_nonzero) {
        SFU_TRY(sfu__gpu_image_point(image, at + offsetof(sfu__gpu_matrix, nonzero), layout->nonzero_at));
    }
done:
    return status;
}
