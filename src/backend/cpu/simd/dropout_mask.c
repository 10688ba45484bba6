/* dropout_mask.c - dropout of sparse values, and activation with dropout of dense rows. */
#include "kernels.h"
#include "vector.h"
#include "elementary.h"
#include "dropout_draw.h"

/* ---- sparse ---- */

/* Iterator over the Philox groups of sparse rows. */
typedef struct group_iterator {
    int64_t row, group;
    group_list at;
} group_iterator;

/* Lists as many groups as fit. Entries are counted from `base`. */
static int list_groups(group_iterator *w, const sfu__sparse *A, const int32_t *nodes, int64_t end, int64_t base) {
    int64_t row = w->row, group = w->group;
    int count = 0;
    for (; row < end; row++, group = 0) {
        const int64_t first = A->indptr[row], groups = (A->indptr[row + 1] - first + 7) / 8;
        const int64_t left = DRAW_MOST - count, stop = groups - group > left ? group + left : groups;
        count = draw_list(&w->at, count, sfu__node_of(nodes, row), group, stop, (uint32_t)(first - base));
        if (stop < groups) {
            group = stop;
            break;
        }
    }
    w->row = row;
    w->group = group;
    return count;
}

/* Number of groups that can be written as full groups of eight: entries beyond the end of a row belong to the next
 * group, which is written later; only the end of the range, `last`, must not be passed. */
static int whole_groups(const draws *d, int64_t last) {
    int count = d->count;
    while (count > 0 && d->entry[count - 1] + INT64_C(8) > last) {
        count--;
    }
    return count;
}

/* Applies dropout to the first `whole` groups, with the values of the entries or, with `even`, one value per group. */
SFU__INLINE void drop_whole(float *values, const draws *d, const float *from, int whole, uint32_t threshold,
                            float scale, bool even) {
    const uint32_t *entry = d->entry; /* local: gcc must assume that stores into `values` alias it */
    const float *only = d->value;
    const uint16_t *bits = draw_bits(d, 0);
    for (int g = 0; g < whole; g++, bits += 8) {
        const float *value = from + entry[g];
        float *to = values + entry[g];
        const e8 one = e8_set(even ? only[g] : 0.0F) * e8_set(scale);
        e8u keep[8 / E8_LANES];
        e8_at_least(keep, bits, (uint16_t)threshold);
        AS_ONE_ADDRESS(value);
        AS_ONE_ADDRESS(to);
        SFU__UNROLL for (int v = 0; v < 8; v += E8_LANES) {
            const e8 scaled = even ? one : e8_load(value + v) * e8_set(scale);
            e8_store(to + v, e8_keep(keep[v / E8_LANES], scaled));
        }
    }
}

/* Applies dropout to all groups. */
static void drop(float *values, const draws *d, const sfu__sparse *A, int64_t last, uint32_t threshold, float scale) {
    const int whole = A->value_perm == NULL ? whole_groups(d, last) : 0;
    if (d->value != NULL) {
        drop_whole(values, d, A->values, whole, threshold, scale, true);
    } else {
        drop_whole(values, d, A->values, whole, threshold, scale, false);
    }
    for (int g = whole; g < d->count; g++) {
        const int64_t e = d->entry[g];
        for (int64_t i = 0; i < 8 && e + i < last; i++) {
            const float value = A->value_perm != NULL ? A->values[A->value_perm[e + i]] : A->values[e + i];
            values[e + i] = draw_bits(d, g)[i] >= threshold ? value * scale : 0;
        }
    }
}

/* Writes the keep mask of all groups. */
static void mark_kept(uint8_t *keep_mask, const draws *d, const float *values, int64_t last, uint32_t threshold) {
    const int whole = whole_groups(d, last);
    const uint32_t *entry = d->entry;
    const uint16_t *bits = draw_bits(d, 0);
    for (int g = 0; g < whole; g++, bits += 8) {
        const uint64_t keep = bytes_where(bits, (uint16_t)threshold, values + entry[g]);
        memcpy(keep_mask + entry[g], &keep, sizeof keep);
    }
    for (int g = whole; g < d->count; g++) {
        const int64_t e = d->entry[g];
        for (int64_t i = 0; i < 8 && e + i < last; i++) {
            keep_mask[e + i] = draw_bits(d, g)[i] >= threshold && values[e + i] != 0.0F;
        }
    }
}

/* Writes dropped values or a keep mask for the drawn entries of A, from entry `base` on, of which the range has
 * `last`. */
typedef void write_fn(void *to, const draws *d, const sfu__sparse *A, int64_t base, int64_t last,
                      const sfu__mask *mask);

static void write_values(void *to, const draws *d, const sfu__sparse *A, int64_t base, int64_t last,
                         const sfu__mask *mask) {
    sfu__sparse part = *A;
    part.values = A->value_perm == NULL ? A->values + base : A->values;
    part.value_perm = A->value_perm == NULL ? NULL : A->value_perm + base;
    drop((float *)to + base, d, &part, last, mask->threshold, sfu__mask_scale(mask));
}

static void write_keep_mask(void *to, const draws *d, const sfu__sparse *A, int64_t base, int64_t last,
                            const sfu__mask *mask) {
    mark_kept((uint8_t *)to + base, d, A->values + base, last, mask->threshold);
}

static void draw_rows(void *to, write_fn *what, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                      sfu__range rows) {
    const int64_t last = A->indptr[rows.end];
    draws d;
    if (A->philox_groups != NULL) {
        const sfu__philox_groups *philox_groups = A->philox_groups;
        const int64_t end = philox_groups->first[rows.end];
        for (int64_t g = philox_groups->first[rows.begin]; g < end; g += DRAW_MOST) {
            d.count = (int)(end - g < DRAW_MOST ? end - g : DRAW_MOST);
            d.high = philox_groups->high + g;
            d.low = philox_groups->low + g;
            d.node = philox_groups->node + g;
            d.entry = philox_groups->entry + g;
            d.value = philox_groups->value != NULL ? philox_groups->value + g : NULL;
            draw_all(&d, mask);
            what(to, &d, A, 0, last, mask);
        }
        return;
    }
    group_iterator at;
    at.row = rows.begin;
    at.group = 0;
    while (at.row < rows.end) {
        const int64_t base = A->indptr[at.row];
        const int count = list_groups(&at, A, nodes, rows.end, base);
        draw_listed(&d, &at.at, count, mask);
        what(to, &d, A, base, last - base, mask);
    }
}

void KERNEL(dropout_sparse)(float *values, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                            sfu__range rows) {
    for (int64_t e = A->indptr[rows.begin]; mask->threshold == 0 && e < A->indptr[rows.end]; e++) {
        values[e] = A->values[A->value_perm != NULL ? A->value_perm[e] : e];
    }
    if (mask->threshold != 0) {
        draw_rows(values, write_values, A, nodes, mask, rows);
    }
}

void KERNEL(dropout_mask)(uint8_t *keep_mask, const sfu__sparse *A, const int32_t *nodes, const sfu__mask *mask,
                          sfu__range rows) {
    for (int64_t e = A->indptr[rows.begin]; mask->threshold == 0 && e < A->indptr[rows.end]; e++) {
        keep_mask[e] = A->values[e] != 0.0F;
    }
    if (mask->threshold != 0) {
        draw_rows(keep_mask, write_keep_mask, A, nodes, mask, rows);
    }
}

/* ---- dense ---- */

/* Some rows of a matrix, columns [begin, end), and their random bits: `groups` groups per row. */
typedef struct section {
    float *h;        /* updated in place */
    const float *by; /* activate: bias of these columns, may be NULL; activate_backward: output of activate */
    int64_t rows, begin, end, ld, groups;
    const draws *d;
    uint32_t threshold;
    float scale, rate;
} section;

SFU__INLINE vf activate_lanes(vf h, sfu__activation act, vu keep, bool drops, vf scale) {
    const vf y = activate(act, h), result = drops ? v_keep(keep, y * scale) : y;
    return act == SFU__RELU ? result : v_flush(result); /* relu has flushed already, and scale is at least 1 */
}

SFU__INLINE vf backward_lanes(vf dh, vf h, sfu__activation act, vu keep, bool drops, vf scale, vf rate) {
    if (!drops) {
        return v_flush(act == SFU__IDENTITY ? dh : dh * activation_slope(act, h));
    }
    if (act == SFU__RELU) { /* positive outputs were kept */
        return v_flush(v_keep(v_less(v_set(0.0F), h), dh * scale));
    }
    const vf scaled = dh * scale;
    return v_flush(v_keep(keep, act == SFU__IDENTITY ? scaled : scaled * activation_slope(act, h * rate)));
}

/* One vector at column j of row i. */
SFU__INLINE vf section_lanes(const section *s, vf h, vf by, int64_t i, int64_t j, sfu__activation act, bool drops,
                             bool backward) {
    vu keep = (vu){0};
    if (drops && !(backward && act == SFU__RELU)) {
        keep = keep_mask(draw_bits(s->d, i * s->groups) + (j - s->begin), s->threshold);
    }
    return backward ? backward_lanes(h, by, act, keep, drops, v_set(s->scale), v_set(s->rate))
                    : activate_lanes(h + by, act, keep, drops, v_set(s->scale));
}

/* Vectors that are interleaved to hide latency; they are also loaded and stored in pairs or fours. */
enum { SIDE_BY_SIDE = 4, SIDE_FLOATS = SIDE_BY_SIDE * LANES };

/* `count` vectors from column j of row i. */
SFU__INLINE void section_vectors(const section *s, float *h, const float *by, int64_t i, int64_t j, int64_t count,
                                 sfu__activation act, bool drops, bool backward) {
    vf x[SIDE_BY_SIDE], beside[SIDE_BY_SIDE];
    SFU__UNROLL for (int64_t u = 0; u < count; u++) {
        x[u] = v_load(h + j + u * LANES);
        beside[u] = by != NULL ? v_load(by + j + u * LANES) : v_set(0.0F);
    }
    SFU__UNROLL for (int64_t u = 0; u < count; u++) {
        x[u] = section_lanes(s, x[u], beside[u], i, j + u * LANES, act, drops, backward);
    }
    SFU__UNROLL for (int64_t u = 0; u < count; u++) { v_store(h + j + u * LANES, x[u]); }
}

SFU__INLINE void section_rows(const section *all, sfu__activation act, bool drops, bool backward) {
    const section copy = *all, *s = &copy; /* a copy that stores into H cannot alias */
    for (int64_t i = 0; i < s->rows; i++) {
        float *h = s->h + i * s->ld;
        const float *by = backward ? s->by + i * s->ld : s->by;
        if (s->ld % LANES == 0) {
            int64_t j = s->begin;
            for (; j + SIDE_FLOATS <= s->end; j += SIDE_FLOATS) {
                section_vectors(s, h, by, i, j, SIDE_BY_SIDE, act, drops, backward);
            }
            for (; j < s->end; j += LANES) {
                section_vectors(s, h, by, i, j, 1, act, drops, backward);
            }
        } else { /* rows narrower than a vector */
            float row[LANES] = {0}, beside[LANES] = {0};
            memcpy(row, h, (size_t)s->ld * sizeof *h);
            if (by != NULL) {
                memcpy(beside, by, (size_t)s->ld * sizeof *by);
            }
            v_store(row, section_lanes(s, v_load(row), v_load(beside), i, 0, act, drops, backward));
            memcpy(h, row, (size_t)s->ld * sizeof *h);
        }
    }
}

/* A specialized loop per activation, with and without dropout. */
#define FOR_ACTIVATION(act)                                                                                            \
    case act:                                                                                                          \
        if (s->threshold != 0) {                                                                                       \
            section_rows(s, act, true, backward);                                                                      \
        } else {                                                                                                       \
            section_rows(s, act, false, backward);                                                                     \
        }                                                                                                              \
        break;
SFU__INLINE void section_any(const section *s, sfu__activation act, bool backward) {
    switch (act) {
        FOR_ACTIVATION(SFU__IDENTITY)
        FOR_ACTIVATION(SFU__RELU)
        FOR_ACTIVATION(SFU__TANH)
        FOR_ACTIVATION(SFU__SIGMOID)
        FOR_ACTIVATION(SFU__ELU)
        FOR_ACTIVATION(SFU__LEAKY_RELU)
    }
}

static void section_activate(const section *s, sfu__activation act) { section_any(s, act, false); }
static void section_backward(const section *s, sfu__activation act) { section_any(s, act, true); }

/* Divides rows into sections of at most DRAW_MOST groups, draws the bits of each and processes it. */
static void in_sections(const sfu__dense *H, section s, const int32_t *nodes, const sfu__mask *mask, sfu__range rows,
                        bool draws_bits, sfu__activation act, void (*done)(const section *s, sfu__activation act)) {
    const int64_t groups = (H->ld + 7) / 8, wide = groups < DRAW_MOST ? groups : DRAW_MOST, tall = DRAW_MOST / wide;
    const float *by = s.by;
    const bool by_rows = done == section_backward;
    draws d;
    group_list list;
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
            int count = 0;
            for (int64_t r = 0; draws_bits && r < s.rows; r++) {
                count = draw_list(&list, count, sfu__node_of(nodes, i + r), group, group + s.groups, 0);
            }
            if (draws_bits) {
                draw_listed(&d, &list, count, mask);
            }
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

void KERNEL(activate)(const sfu__dense *H, const float *bias, sfu__activation act, const int32_t *nodes,
                      const sfu__mask *mask, sfu__range rows) {
    const section s = {.by = bias, .threshold = mask->threshold, .scale = sfu__mask_scale(mask)};
    in_sections(H, s, nodes, mask, rows, mask->threshold != 0, act, section_activate);
    if (act == SFU__SIGMOID) { /* sigmoid(0) != 0 */
        clear_padding(H, rows);
    }
}

void KERNEL(activate_backward)(const sfu__dense *dH, const sfu__dense *H, sfu__activation act, const int32_t *nodes,
                               const sfu__mask *mask, sfu__range rows) {
    const section s = {
        .by = H->data, .threshold = mask->threshold, .scale = sfu__mask_scale(mask), .rate = sfu__mask_rate(mask)};
    in_sections(dH, s, nodes, mask, rows, mask->threshold != 0 && act != SFU__RELU, act, section_backward);
}
