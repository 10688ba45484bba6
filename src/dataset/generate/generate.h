/* generate.h - internals of the graph generator: class membership, and functions that draw edges and words.
 *
 * Everything is a pure function of the options: each draw has a fixed position in a random stream of the seed, computed
 * from the number of the node, edge or word alone. docs/reference/make.md describes the model.
 */
#ifndef SFU_GENERATE_H
#define SFU_GENERATE_H

#include "random.h"
#include "raw.h"

/* Sub-streams of SFU__STREAM_GENERATE. */
typedef enum sfu__generate_stream {
    SFU__GENERATE_MEMBERS = 0,
    SFU__GENERATE_SPLIT = 1,
    SFU__GENERATE_TRIALS = 2,
    SFU__GENERATE_EDGES = 3,
    SFU__GENERATE_LENGTHS = 4,
    SFU__GENERATE_WORDS = 5,
    SFU__GENERATE_LEANINGS = 6,
    SFU__GENERATE_DENSE = 7,
    SFU__GENERATE_MEANS = 8,
} sfu__generate_stream;

/* The nodes of class c are members[starts[c]] to members[starts[c + 1] - 1], the most popular first. The last of them,
 * a fraction `outsiders`, are outsiders: their words and citations are drawn as if they belonged to another class. */
typedef struct sfu__class_members {
    int32_t nodes, classes;
    double outsiders;   /* fraction of a class, before rounding */
    int32_t insiders;   /* nodes that are not outsiders */
    int32_t *starts;    /* classes + 1 */
    int32_t *members;   /* nodes */
    int32_t *positions; /* nodes: the index of a node in `members` */
} sfu__class_members;

static inline int32_t sfu__class_members_size(const sfu__class_members *groups, int32_t c) {
    return groups->starts[c + 1] - groups->starts[c];
}

/* Maps a uniform number to a class other than `own`, in proportion to the sizes. There must be another class. */
int32_t sfu__class_members_other(const sfu__class_members *groups, int32_t own, double unit);

/* The class that `node` of class `own` is drawn as: `own` unless it is an outsider. */
int32_t sfu__class_members_leaning(const sfu__class_members *groups, const sfu_make_options *options, int32_t node,
                                   int32_t own);

/* The edges, into raw->pairs. Within a memory limit they are drawn whenever a block is loaded; then `groups`, the
 * options and raw->labels must stay until the pairs are assembled, and so must *kept, which the caller frees. */
SFU_CHECKED sfu_status sfu__generate_edges(sfu__raw *raw, const sfu__class_members *groups,
                                           const sfu_make_options *options, void **kept);

/* The features: words into raw->sparse, or dense ones into raw->dense. Both need raw->labels. */
SFU_CHECKED sfu_status sfu__generate_words(sfu__raw *raw, const sfu__class_members *groups,
                                           const sfu_make_options *options);
SFU_CHECKED sfu_status sfu__generate_dense(sfu__raw *raw, const sfu__class_members *groups,
                                           const sfu_make_options *options);

/* A random generator at a position of one of the streams. */
static inline sfu__random sfu__generate_walk(const sfu_make_options *options, sfu__generate_stream stream,
                                             uint64_t position) {
    sfu__random walk = sfu__random_start(options->seed, sfu__stream_of(SFU__STREAM_GENERATE, (uint32_t)stream));
    walk.position = position;
    return walk;
}

/* Uniform in [0, count), from one draw; for count < 2^31 the bias is less than 2^-22. */
static inline int32_t sfu__generate_below(sfu__random *walk, int32_t count) {
    return (int32_t)(sfu__random_unit(walk) * count);
}

#endif
