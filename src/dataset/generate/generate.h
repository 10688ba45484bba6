/* generate.h - the generator from the inside: who belongs to which class, and the parts that are drawn.
 *
 * Everything is a pure function of the options: each draw has a place of its own in a stream of the seed, found from
 * the number of the node, edge or word alone. docs/reference/make.md has the model.
 */
#ifndef SFU_GENERATE_H
#define SFU_GENERATE_H

#include "random.h"
#include "raw.h"

/* The streams of SFU__STREAM_GENERATE. */
typedef enum sfu__generate_stream {
    SFU__GENERATE_MEMBERS = 0,
    SFU__GENERATE_SPLIT = 1,
    SFU__GENERATE_TRIALS = 2,
    SFU__GENERATE_EDGES = 3,
    SFU__GENERATE_LENGTHS = 4,
    SFU__GENERATE_WORDS = 5,
    SFU__GENERATE_LEANINGS = 6,
} sfu__generate_stream;

/* The nodes of class c are members[starts[c]] to members[starts[c + 1] - 1], the most popular first. The last of them,
 * the share `outsiders`, are outsiders: they write and cite as if they were of another class, each of one. */
typedef struct sfu__class_members {
    int32_t nodes, classes;
    double outsiders; /* their share of a class, before rounding */
    int32_t insiders; /* all that are none */
    int32_t *starts;  /* classes + 1 */
    int32_t *members; /* nodes */
    int32_t *places;  /* nodes: where in `members` a node stands */
} sfu__class_members;

static inline int32_t sfu__class_members_size(const sfu__class_members *groups, int32_t c) {
    return groups->starts[c + 1] - groups->starts[c];
}

/* A class other than `own`, in proportion to the sizes, from a uniform number. There must be another. */
int32_t sfu__class_members_other(const sfu__class_members *groups, int32_t own, double unit);

/* The class as which `node` of class `own` writes and cites: `own` unless it is an outsider. */
int32_t sfu__class_members_leaning(const sfu__class_members *groups, const sfu_make_options *options, int32_t node,
                                   int32_t own);

/* Draws the edges into raw->pairs, and the words into raw->sparse; raw->labels must be there. */
SFU_CHECKED sfu_status sfu__generate_edges(sfu__raw *raw, const sfu__class_members *groups,
                                           const sfu_make_options *options);
SFU_CHECKED sfu_status sfu__generate_words(sfu__raw *raw, const sfu__class_members *groups,
                                           const sfu_make_options *options);

/* A walk along a stream of the generator from `position` on. */
static inline sfu__random sfu__generate_walk(const sfu_make_options *options, sfu__generate_stream stream,
                                             uint64_t position) {
    sfu__random walk = sfu__random_start(options->seed, sfu__stream_of(SFU__STREAM_GENERATE, (uint32_t)stream));
    walk.position = position;
    return walk;
}

/* A number of [0, count), from one draw: below 2^31 its bias is less than 2^-22. */
static inline int32_t sfu__generate_below(sfu__random *walk, int32_t count) {
    return (int32_t)(sfu__random_unit(walk) * count);
}

#endif
