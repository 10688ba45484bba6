/* reference_dropout.c - reference implementation of dropout and of the operations that apply it.
 *
 *   dropout(x) = x scale if the entry is kept, else 0     scale = 65536 / (65536 - threshold)
 *   activate            H <- dropout(act(H + bias))
 *   activate_backward   dH <- dropout(dH) act'(y), y = H / scale      act' as a function of the output of act
 */
#include "kernels.h"
#include "random.h"
#include "scalar.h"
#include "elementary.h"

/* Whether entries 8 group to 8 group + 7 of a node's row are kept. */
static void draw_group(bool kept[8], const sfu__mask *mask, uint32_t node, uint32_t group) {
    const uint32_t counter[4] = {group, node, mask->epoch, (uint32_t)SFU__STREAM_DROPOUT << 24 | mask->layer};
    const uint32_t key[2] = {(uint32_t)mask->seed, (uint32_t)(mask->seed >> 32)};
    uint32_t words[4];
    sfu__philox(words, counter, key);
    for (int i = 0; i < 8; i++) {
        kept[i] = (words[i / 2] >> (16 * (i % 2)) & 0xffff) >= mask->threshold;
    }
}

/* The mask of one row, read entry by entry. */
typedef struct row_mask {
    const sfu__mask *mask;
    uint32_t node;
    bool kept[8];
} row_mask;

static bool keeps(row_mask *row, int64_t term) {
    if (row->mask->threshold == 0) {
        return true;
    }
    if (term % 8 == 0) {
        draw_group(row->kept, row->mask, row->node, (uint32_t)(term / 8));
    }
    return row->kept[term % 8];
}

void sfu__dropout_sparse_plain(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                               sfu__range rows) {
    const float scale = sfu__mask_scale(mask);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        row_mask row = {.mask = mask, .node = sfu__node_of(nodes, i)};
        for (int64_t e = A->indptr[i]; e < A->indptr[i + 1]; e++) {
            const float value = A->values[A->value_perm != NULL ? A->value_perm[e] : e];
            values[e] = keeps(&row, e - A->indptr[i]) ? value * scale : 0;
        }
    }
}

void sfu__dropout_mask_plain(uint8_t *keep_mask, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                             sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        row_mask row = {.mask = mask, .node = sfu__node_of(nodes, i)};
        for (int64_t e = A->indptr[i]; e < A->indptr[i + 1]; e++) {
            keep_mask[e] = keeps(&row, e - A->indptr[i]) && A->values[e] != 0.0F;
        }
    }
}

void sfu__activate_plain(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,
                         const sfu__mask *mask, sfu__range rows) {
    const float scale = sfu__mask_scale(mask);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *h = H->data + i * H->ld;
        row_mask row = {.mask = mask, .node = sfu__node_of(nodes, i)};
        for (int32_t j = 0; j < H->cols; j++) {
            const float y = activate(act, bias != NULL ? h[j] + bias[j] : h[j]);
            h[j] = v_flush(keeps(&row, j) ? y * scale : 0);
        }
        for (int32_t j = H->cols; j < H->ld; j++) {
            h[j] = 0;
        }
    }
}

void sfu__activate_backward_plain(const sfu__dense *dH, const sfu__dense *H, sfu__activation act, const int32_t *nodes,
                                  const sfu__mask *mask, sfu__range rows) {
    const float scale = sfu__mask_scale(mask), rate = sfu__mask_rate(mask);
    for (int64_t i = rows.begin; i < rows.end; i++) {
        float *dh = dH->data + i * dH->ld;
        const float *h = H->data + i * H->ld;
        row_mask row = {.mask = mask, .node = sfu__node_of(nodes, i)};
        for (int32_t j = 0; j < H->cols; j++) {
            const float slope = activation_slope(act, h[j] * rate);
            dh[j] = v_flush(keeps(&row, j) ? dh[j] * scale * slope : 0);
        }
        for (int32_t j = H->cols; j < H->ld; j++) {
            dh[j] = 0;
        }
    }
}
