/* generate_words.c - draws the words (features) of the nodes of a generated graph.
 *
 * A node has k distinct words, k uniform around the mean. Each is drawn with probability `noise` from the whole
 * vocabulary of V words, otherwise from the topic of the node's class: the words t, t + T, t + 2T, ... with T =
 * min(classes, V) topics and t = class mod T. In both cases word r is drawn approximately in proportion to 1/sqrt(r +
 * 1): r = floor(V u^2) for a uniform u. So a word that is frequent in its topic is frequent overall. Duplicates are
 * redrawn.
 */
#include "generate.h"
#include "parallel.h"
#include "scratch_file.h"

#include <stdatomic.h>
#include <stdlib.h>

enum {
    NODES_PER_ITEM = 1 << 14,
    ROUNDS = 8,         /* of redrawing duplicates */
    INSERTION_MAX = 64, /* up to this many words are sorted by insertion sort */
};

typedef struct word_job {
    const sfu_make_options *options;
    const sfu__class_members *groups;
    sfu__raw *raw;
    int32_t **buffers; /* one per thread, or NULL: the words are drawn in place */
    sfu__ticker ticker;
    atomic_int_least64_t done;
} word_job;

/* ---- number of words -------------------------------------------------------------------------------------------- */

/* Uniform in [words/2, 3 words/2], narrower if that would exceed the vocabulary; rounded up or down at random, so that
 * the mean is exact. */
static int64_t word_count(const sfu_make_options *options, int64_t node) {
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_LENGTHS, 2 * (uint64_t)node);
    const double headroom = options->vocabulary - options->words;
    const double spread = headroom < options->words / 2 ? headroom : options->words / 2;
    const double length = options->words + spread * (2 * sfu__random_unit(&walk) - 1);
    return (int64_t)(length + sfu__random_unit(&walk));
}

static sfu_status count_words(void *context, int64_t item, int thread) {
    (void)thread;
    const word_job *job = context;
    const int64_t first = item * NODES_PER_ITEM;
    for (int64_t node = first; node < job->raw->nodes && node < first + NODES_PER_ITEM; node++) {
        job->raw->sparse.indptr[node + 1] = word_count(job->options, node);
    }
    return SFU_OK;
}

/* ---- the words -------------------------------------------------------------------------------------------------- */

static int compare_words(const void *a, const void *b) {
    const int32_t x = *(const int32_t *)a;
    const int32_t y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void sort_words(int32_t *words, int64_t count) {
    if (count > INSERTION_MAX) {
        qsort(words, (size_t)count, sizeof *words, compare_words);
        return;
    }
    for (int64_t i = 1; i < count; i++) {
        const int32_t word = words[i];
        int64_t j = i;
        for (; j > 0 && words[j - 1] > word; j--) {
            words[j] = words[j - 1];
        }
        words[j] = word;
    }
}

/* Removes duplicates from sorted words; returns how many are left. */
static int64_t remove_duplicates(int32_t *words, int64_t count) {
    int64_t distinct = 0;
    for (int64_t i = 0; i < count; i++) {
        if (distinct == 0 || words[distinct - 1] != words[i]) {
            words[distinct++] = words[i];
        }
    }
    return distinct;
}

/* Appends the first words of the vocabulary that are not among the `have` sorted ones, up to `count` words. */
static void fill_up(int32_t *words, int64_t have, int64_t count) {
    int64_t seen = 0;
    int64_t end = have;
    for (int32_t word = 0; end < count; word++) {
        if (seen < have && words[seen] == word) {
            seen++;
        } else {
            words[end++] = word;
        }
    }
    sort_words(words, count);
}

static int32_t draw_word(const sfu_make_options *options, int32_t c, sfu__random *walk) {
    const int32_t vocabulary = options->vocabulary;
    const int32_t topics = options->classes < vocabulary ? options->classes : vocabulary;
    const bool common = sfu__random_unit(walk) < options->noise;
    const double unit = sfu__random_unit(walk);
    if (common) {
        return (int32_t)(vocabulary * (unit * unit));
    }
    const int32_t topic = c % topics;
    const int32_t size = (vocabulary - topic - 1) / topics + 1;
    return topic + topics * (int32_t)(size * (unit * unit));
}

static void draw_words(const word_job *job, int64_t node, int32_t *words) {
    const sfu_matrix *x = &job->raw->sparse;
    const int64_t count = x->indptr[node + 1] - x->indptr[node];
    sfu__random walk = sfu__generate_walk(job->options, SFU__GENERATE_WORDS, (uint64_t)node << 32);
    const int32_t leaning =
        sfu__class_members_leaning(job->groups, job->options, (int32_t)node, job->raw->labels[node]);
    int64_t have = 0;
    for (int round = 0; have < count && round < ROUNDS; round++) {
        for (int64_t i = have; i < count; i++) {
            words[i] = draw_word(job->options, leaning, &walk);
        }
        sort_words(words, count);
        have = remove_duplicates(words, count);
    }
    if (have < count) {
        fill_up(words, have, count);
    }
}

static sfu_status draw_item(void *context, int64_t item, int thread) {
    word_job *job = context;
    const int64_t first = item * NODES_PER_ITEM;
    const int64_t end = first + NODES_PER_ITEM < job->raw->nodes ? first + NODES_PER_ITEM : job->raw->nodes;
    const sfu_matrix *x = &job->raw->sparse;
    int32_t *words = job->buffers != NULL ? job->buffers[thread] : x->indices + x->indptr[first];
    for (int64_t node = first; node < end; node++) {
        draw_words(job, node, words + (x->indptr[node] - x->indptr[first]));
    }
    if (job->buffers != NULL) {
        const int64_t size = (int64_t)sizeof *words;
        const sfu_status status =
            sfu__scratch_write(x->scratch, size * x->indptr[first], words, size * (x->indptr[end] - x->indptr[first]));
        if (status != SFU_OK) {
            return status;
        }
    }
    const int64_t done = atomic_fetch_add(&job->done, end - first) + end - first;
    return thread == 0 ? sfu__tick(&job->ticker, (double)done) : SFU_OK;
}

static sfu_status draw_all(word_job *job, int threads) {
    const sfu_make_options *options = job->options;
    const int64_t nodes = job->raw->nodes;
    job->ticker = (sfu__ticker){options->progress, options->progress_user, "drawing words", "nodes", (double)nodes, 0};
    return sfu__parallel(draw_item, job, (nodes + NODES_PER_ITEM - 1) / NODES_PER_ITEM, threads);
}

/* Draws the words of a few nodes at a time into a scratch file. */
static sfu_status draw_on_disk(word_job *job, int threads) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &job->raw->sparse;
    int64_t most = 0;
    for (int64_t first = 0; first < x->rows; first += NODES_PER_ITEM) {
        const int64_t end = first + NODES_PER_ITEM < x->rows ? first + NODES_PER_ITEM : x->rows;
        most = x->indptr[end] - x->indptr[first] > most ? x->indptr[end] - x->indptr[first] : most;
    }
    SFU_ALLOC_ZERO(job->buffers, threads);
    for (int thread = 0; thread < threads; thread++) {
        SFU_ALLOC(job->buffers[thread], most);
    }
    SFU_TRY(sfu__scratch_new(&x->scratch, job->raw->pairs.folder));
    const int64_t bytes = (int64_t)sizeof *x->indices * x->indptr[x->rows];
    (void)sfu__scratch_reserve(x->scratch, bytes); /* the first region: its offset is 0 */
    SFU_TRY(draw_all(job, threads));
    const void *data;
    SFU_TRY(sfu__scratch_map(&data, x->scratch, 0, bytes));
    x->indices = (int32_t *)(uintptr_t)data; /* read-only */
done:
    for (int thread = 0; job->buffers != NULL && thread < threads; thread++) {
        sfu__free(job->buffers[thread]);
    }
    sfu__free(job->buffers);
    return status;
}

sfu_status sfu__generate_words(sfu__raw *raw, const sfu__class_members *groups, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    sfu_matrix *x = &raw->sparse;
    word_job job = {.options = options, .groups = groups, .raw = raw};
    const int64_t items = (raw->nodes + NODES_PER_ITEM - 1) / NODES_PER_ITEM;
    const int threads = sfu__thread_count(options->threads);
    raw->has_features = true;
    raw->features = options->vocabulary;
    x->rows = options->nodes;
    x->cols = options->vocabulary;
    SFU_ALLOC(x->indptr, raw->nodes + 1);
    x->indptr[0] = 0;
    SFU_TRY(sfu__parallel(count_words, &job, items, threads));
    for (int64_t node = 0; node < raw->nodes; node++) {
        x->indptr[node + 1] += x->indptr[node];
    }
    if (raw->pairs.folder != NULL) {
        SFU_TRY(draw_on_disk(&job, threads));
        goto done;
    }
    SFU_ALLOC(x->indices, x->indptr[raw->nodes]);
    SFU_TRY(draw_all(&job, threads));
done:
    return status;
}
