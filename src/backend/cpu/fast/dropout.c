/* dropout.c - the operations that drop: of sparse values, and at the end of a layer. */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"
#include "draw.h"

/* ---- sparse ---- */

/* Where a walk over the groups of sparse rows stands. */
typedef struct walk {
    int64_t row, group;
} walk;

/* Asks for as many groups as there is room for, from `at` on. */
static void ask(draws *d, walk *at, const sfu__sparse *A, const int32_t *nodes, int64_t end) {
    d->count = 0;
    for (; at->row < end; at->row++, at->group = 0) {
        const int64_t groups = (A->indptr[at->row + 1] - A->indptr[at->row] + 7) / 8, room = DRAW_MOST - d->count;
        const int64_t stop = groups - at->group > room ? at->group + room : groups;
        draw_ask(d, sfu__node_of(nodes, at->row), at->group, stop);
        if (stop < groups) {
            at->group = stop;
            return;
        }
    }
}

/* A piece of a row, entries [begin, end). Whole groups are written while `last` entries hold them: what is written
 * behind the row belongs to later ones, which come after. */
SFU__INLINE void drop_piece(float *values, const sfu__sparse *A, int64_t begin, int64_t end, int64_t last,
                            const uint16_t *bits, uint32_t threshold, float scale) {
    int64_t e = begin;
    if (A->order == NULL) {
        for (; e < end && e + (LANES > 8 ? LANES : 8) <= last;
             e += LANES > 8 ? LANES : 8, bits += LANES > 8 ? LANES : 8) {
            SFU__UNROLL for (int v = 0; v < (LANES > 8 ? LANES : 8); v += LANES) {
                v_store(values + e + v, v_keep(kept(bits + v, threshold), v_load(A->values + e + v) * v_set(scale)));
            }
        }
    }
    for (; e < end; e++, bits++) {
        const float value = A->values[A->order != NULL ? A->order[e] : e];
        values[e] = *bits >= threshold ? value * scale : 0;
    }
}

/* The same walk again, with what was drawn. */
static void drop(float *values, const draws *d, walk at, const sfu__sparse *A, int64_t end, uint32_t threshold,
                 float scale) {
    const int64_t last = A->indptr[end];
    for (int64_t used = 0; at.row < end && used < d->count; at.row++, at.group = 0) {
        const int64_t begin = A->indptr[at.row] + 8 * at.group, row_end = A->indptr[at.row + 1];
        const int64_t groups = (row_end - begin + 7) / 8, left = d->count - used;
        drop_piece(values, A, begin, groups > left ? begin + 8 * left : row_end, last, draw_bits(d, used), threshold,
                   scale);
        used += groups;
    }
}

void KERNEL(drop_sparse)(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                         sfu__range rows) {
    if (mask->threshold == 0) {
        for (int64_t e = A->indptr[rows.begin]; e < A->indptr[rows.end]; e++) {
            values[e] = A->values[A->order != NULL ? A->order[e] : e];
        }
        return;
    }
    const float scale = sfu__mask_scale(mask);
    draws d;
    memset(d.bits, 0, sizeof d.bits);
    walk at = {rows.begin, 0};
    while (at.row < rows.end) {
        const walk from = at;
        ask(&d, &at, A, nodes, rows.end);
        draw_all(&d, mask);
        drop(values, &d, from, A, rows.end, mask->threshold, scale);
    }
}

/* ---- dense ---- */

/* Some rows of a matrix, columns [begin, end) of them, and what was drawn: `groups` groups a row. */
typedef struct section {
    float *h;        /* what is changed */
    const float *by; /* bias of these columns (finish; may be NULL), or what finish left (finish_back) */
    int64_t rows, begin, end, ld, groups;
    const draws *d;
    uint32_t threshold;
    float scale, rate;
} section;

SFU__INLINE vf finish_lanes(vf h, sfu__activation act, vu keep, bool drops, vf scale) {
    const vf y = activate(act, h);
    return v_tiny(drops ? v_keep(keep, y * scale) : y);
}

SFU__INLINE vf back_lanes(vf dh, vf h, sfu__activation act, vu keep, bool drops, vf scale, vf rate) {
    if (!drops) {
        return v_tiny(act == SFU__IDENTITY ? dh : dh * activation_slope(act, h));
    }
    if (act == SFU__RELU) { /* what is positive was kept */
        return v_tiny(v_keep(v_less(v_set(0.0F), h), dh * scale));
    }
    const vf scaled = dh * scale;
    return v_tiny(v_keep(keep, act == SFU__IDENTITY ? scaled : scaled * activation_slope(act, h * rate)));
}

/* One vector at column j of row i. */
SFU__INLINE vf section_lanes(const section *s, vf h, vf by, int64_t i, int64_t j, sfu__activation act, bool drops,
                             bool back) {
    vu keep = (vu){0};
    if (drops && !(back && act == SFU__RELU)) {
        keep = kept(draw_bits(s->d, i * s->groups) + (j - s->begin), s->threshold);
    }
    return back ? back_lanes(h, by, act, keep, drops, v_set(s->scale), v_set(s->rate))
                : finish_lanes(h + by, act, keep, drops, v_set(s->scale));
}

SFU__INLINE void section_rows(const section *s, sfu__activation act, bool drops, bool back) {
    for (int64_t i = 0; i < s->rows; i++) {
        float *h = s->h + i * s->ld;
        const float *by = back ? s->by + i * s->ld : s->by;
        if (s->ld % LANES == 0) {
            for (int64_t j = s->begin; j < s->end; j += LANES) {
                const vf beside = by != NULL ? v_load(by + j) : v_set(0.0F);
                v_store(h + j, section_lanes(s, v_load(h + j), beside, i, j, act, drops, back));
            }
        } else { /* rows that are narrower than a vector */
            float row[LANES] = {0}, beside[LANES] = {0};
            memcpy(row, h, (size_t)s->ld * sizeof *h);
            if (by != NULL) {
                memcpy(beside, by, (size_t)s->ld * sizeof *by);
            }
            v_store(row, section_lanes(s, v_load(row), v_load(beside), i, 0, act, drops, back));
            memcpy(h, row, (size_t)s->ld * sizeof *h);
        }
    }
}

/* A loop for each activation, with and without dropping. */
#define FOR_ACTIVATION(act)                                                                                            \
    case act:                                                                                                          \
        if (s->threshold != 0) {                                                                                       \
            section_rows(s, act, true, back);                                                                          \
        } else {                                                                                                       \
            section_rows(s, act, false, back);                                                                         \
        }                                                                                                              \
        break;
SFU__INLINE void section_any(const section *s, sfu__activation act, bool back) {
    switch (act) {
        FOR_ACTIVATION(SFU__IDENTITY)
        FOR_ACTIVATION(SFU__RELU)
        FOR_ACTIVATION(SFU__TANH)
        FOR_ACTIVATION(SFU__SIGMOID)
        FOR_ACTIVATION(SFU__ELU)
        FOR_ACTIVATION(SFU__LEAKY_RELU)
    }
}

static void section_finish(const section *s, sfu__activation act) { section_any(s, act, false); }
static void section_back(const section *s, sfu__activation act) { section_any(s, act, true); }

/* Cuts rows into sections of at most DRAW_MOST groups, draws for each, and has it done. */
static void in_sections(const sfu__dense *H, section s, const int32_t *nodes, const sfu__mask *mask, sfu__range rows,
                        bool draws_bits, sfu__activation act, void (*done)(const section *s, sfu__activation act)) {
    const int64_t groups = (H->ld + 7) / 8, wide = groups < DRAW_MOST ? groups : DRAW_MOST, tall = DRAW_MOST / wide;
    const float *by = s.by;
    const bool by_rows = done == section_back;
    draws d;
    memset(d.bits, 0, sizeof d.bits);
    s.d = &d;
    s.ld = H->ld;
    for (int64_t i = rows.begin; i < rows.end; i += s.rows) {
        s.rows = rows.end - i < tall ? rows.end - i : tall;
        s.h = H->data + i * H->ld;
        s.by = by_rows ? by + i * H->ld : by;
        for (int64_t group = 0; group < groups; group += wide) {
            s.groups = groups - group < wide ? groups - group : wide;
            s.begin = 8 * group;
            s.end = 8 * (group + s.groups) < H->ld ? 8 * (group + s.groups) : H->ld;
            d.count = 0;
            for (int64_t r = 0; draws_bits && r < s.rows; r++) {
                draw_ask(&d, sfu__node_of(nodes, i + r), group, group + s.groups);
            }
            draw_all(&d, mask);
            done(&s, act);
        }
    }
}

static void clear_padding(const sfu__dense *H, sfu__range rows) {
    for (int64_t i = rows.begin; i < rows.end; i++) {
        for (int32_t j = H->cols; j < H->ld; j++) {
            H->data[i * H->ld + j] = 0;
        }
    }
}

void KERNEL(finish)(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,
                    const sfu__mask *mask, sfu__range rows) {
    const section s = {.by = bias, .threshold = mask->threshold, .scale = sfu__mask_scale(mask)};
    in_sections(H, s, nodes, mask, rows, mask->threshold != 0, act, section_finish);
    if (act == SFU__SIGMOID) { /* which is not 0 at 0 */
        clear_padding(H, rows);
    }
}

void KERNEL(finish_back)(const sfu__dense *dH, const sfu__dense *H, sfu__activation act, const int32_t *nodes,
                         const sfu__mask *mask, sfu__range rows) {
    const section s = {
        .by = H->data, .threshold = mask->threshold, .scale = sfu__mask_scale(mask), .rate = sfu__mask_rate(mask)};
    in_sections(dH, s, nodes, mask, rows, mask->threshold != 0 && act != SFU__RELU, act, section_back);
}
