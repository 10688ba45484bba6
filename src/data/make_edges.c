/* make_edges.c - who cites whom.
 *
 * Node i is the citing one of about degree/2 edges. Each goes, with the share h, to its own class, else to another one
 * (class c with probability proportional to its size), and there to rank r with probability
 *
 *   V((r + 1)/m) - V(r/m),     V(q) = ((q + s)^(1-a) - s^(1-a)) / ((1 + s)^(1-a) - s^(1-a)),     a = 1/(power - 1)
 *
 * m the size of the class: popularity falls as (q + s)^-a along the ranks, which gives the numbers of citations a power
 * law with the exponent `power`. s flattens the top so that the most popular node has sqrt(nodes) times the average.
 *
 * An edge drawn twice is one edge, and a node citing itself none. So more are drawn than wanted, how many more is
 * estimated from a few trial draws, for the edges inside and between classes apart: `degree` and `homophily` are what
 * comes out.
 */
#include "make.h"
#include "parallel.h"
#include "special.h"

#include <math.h>
#include <stdatomic.h>

enum {
    CELLS = 4096,          /* of the quantile table */
    TRIALS = 2048,         /* draws from which the losses are estimated */
    EXCESS = 4,            /* at most so many times the wanted edges are drawn */
    DRAWS_AN_EDGE = 4,     /* places in the stream */
    BLOCK_EDGES = 1 << 20, /* a block of pairs, and an item of work */
};

/* ---- popularity ------------------------------------------------------------------------------------------------- */

/* V as its inverse, at V = j/CELLS, straight between: the table is the law. */
typedef struct popularity {
    double quantile[CELLS + 1];
} popularity;

static void popularity_init(popularity *law, double power, int32_t nodes) {
    for (int j = 0; j <= CELLS; j++) {
        law->quantile[j] = (double)j / CELLS;
    }
    if (power == 0) {
        return;
    }
    const double a = 1 / (power - 1);
    const double s = sfu__pow((1 - a) / sqrt(nodes), 1 / a);
    const double low = sfu__pow(s, 1 - a);
    const double high = sfu__pow(1 + s, 1 - a);
    for (int j = 1; j < CELLS; j++) {
        law->quantile[j] = sfu__pow(low + (high - low) * j / CELLS, 1 / (1 - a)) - s;
    }
}

/* The rank, among `size`, that a uniform number stands for. */
static int32_t rank_at(const popularity *law, double unit, int32_t size) {
    const double place = unit * CELLS;
    const int cell = (int)place;
    const double from = law->quantile[cell];
    const double q = from + (law->quantile[cell + 1] - from) * (place - cell);
    const int32_t rank = (int32_t)(q * size);
    return rank < size ? rank : size - 1;
}

/* V(q). */
static double share_below(const popularity *law, double q) {
    int low = 0;
    int high = CELLS - 1;
    while (low < high) {
        const int middle = (low + high + 1) / 2;
        if (law->quantile[middle] <= q) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const double width = law->quantile[low + 1] - law->quantile[low];
    return (low + (width > 0 ? (q - law->quantile[low]) / width : 0)) / CELLS;
}

static double share_of_rank(const popularity *law, int32_t rank, int32_t size) {
    return share_below(law, (rank + 1.0) / size) - share_below(law, (double)rank / size);
}

/* ---- one edge --------------------------------------------------------------------------------------------------- */

typedef struct edge_job {
    const sfu_make_options *options;
    const sfu__groups *groups;
    sfu__raw *raw;
    popularity law;
    int64_t count;    /* edges to draw */
    double own_share; /* of them, inside a class */
    sfu__ticker ticker;
    atomic_int_least64_t done;
} edge_job;

/* An edge by places: `from` cites `to`, the classes of both. */
typedef struct citation {
    int32_t from, to, from_class, to_class;
} citation;

static int32_t class_size(const sfu__groups *groups, int32_t c) { return groups->starts[c + 1] - groups->starts[c]; }

/* Whom the node at place `from`, of class `own`, cites; two draws. */
static citation cite(const edge_job *job, int32_t from, int32_t own, bool inside, sfu__random *walk) {
    const sfu__groups *groups = job->groups;
    const int32_t size = class_size(groups, own);
    int32_t other = own;
    const double where = sfu__random_unit(walk);
    if (!inside) {
        /* A place outside the class, as if the class were cut out. */
        const int32_t place = (int32_t)(where * (groups->nodes - size));
        other = sfu__groups_class(groups, place < groups->starts[own] ? place : place + size);
    }
    const int32_t rank = rank_at(&job->law, sfu__random_unit(walk), class_size(groups, other));
    return (citation){from, groups->starts[other] + rank, own, other};
}

/* ---- how many --------------------------------------------------------------------------------------------------- */

/* The probability that one draw joins these two, whichever cites. */
static double pair_probability(const edge_job *job, const citation *edge) {
    const sfu__groups *groups = job->groups;
    const double nodes = groups->nodes;
    const int32_t from_size = class_size(groups, edge->from_class);
    const int32_t to_size = class_size(groups, edge->to_class);
    double there = share_of_rank(&job->law, edge->to - groups->starts[edge->to_class], to_size);
    double back = share_of_rank(&job->law, edge->from - groups->starts[edge->from_class], from_size);
    if (edge->from_class != edge->to_class) {
        there *= to_size / (nodes - from_size);
        back *= from_size / (nodes - to_size);
    }
    return (there + back) / nodes;
}

/* (1 - exp(-draws p)) / p, without cancellation. */
static double distinct_for(double draws, double p) {
    const double x = draws * p;
    return x < 1e-5 ? draws * (1 - x / 2) : (1 - sfu__exp(-x)) / p;
}

/* How many draws give `wanted` different edges. With p_e the probability of edge e, M draws give about
 * sum_e (1 - exp(-M p_e)) = E[(1 - exp(-M p)) / p] of them, the mean taken over drawn edges, which are the trials. */
static sfu_status draws_for(double *draws, const edge_job *job, double wanted, bool inside) {
    sfu_status status = SFU_OK;
    double *chances = NULL;
    SFU_ALLOC(chances, TRIALS);
    int useful = 0;
    for (int trial = 0; trial < TRIALS; trial++) {
        sfu__random walk =
            sfu__make_walk(job->options, SFU__MAKE_TRIALS, ((uint64_t)trial * 2 + inside) * DRAWS_AN_EDGE);
        const int32_t from = sfu__make_below(&walk, job->groups->nodes);
        const citation edge = cite(job, from, sfu__groups_class(job->groups, from), inside, &walk);
        if (edge.from != edge.to) {
            chances[useful++] = pair_probability(job, &edge);
        }
    }
    double low = wanted;
    double high = useful > 0 ? EXCESS * wanted : wanted;
    while (high - low > 1e-4 * wanted) {
        const double middle = (low + high) / 2;
        double distinct = 0;
        for (int i = 0; i < useful; i++) {
            distinct += distinct_for(middle, chances[i]);
        }
        if (distinct / TRIALS < wanted) {
            low = middle;
        } else {
            high = middle;
        }
    }
    *draws = useful > 0 ? high : 0;
done:
    sfu__free(chances);
    return status;
}

static sfu_status plan_edges(edge_job *job) {
    sfu_status status = SFU_OK;
    const sfu_make_options *options = job->options;
    const double wanted = options->degree * options->nodes / 2;
    const double homophily = options->classes > 1 ? options->homophily : 1;
    double inside = 0;
    double between = 0;
    if (homophily > 0) {
        SFU_TRY(draws_for(&inside, job, wanted * homophily, true));
    }
    if (homophily < 1) {
        SFU_TRY(draws_for(&between, job, wanted * (1 - homophily), false));
    }
    job->count = (int64_t)(inside + between + 0.5);
    job->own_share = inside + between > 0 ? inside / (inside + between) : 0;
done:
    return status;
}

/* ---- all of them ------------------------------------------------------------------------------------------------ */

/* Edge number e. Node e mod n is the citing one, so that all cite about as often; of the last, incomplete round it is
 * drawn. */
static void draw_edge(const edge_job *job, int64_t e, uint32_t ends[2]) {
    const sfu__groups *groups = job->groups;
    sfu__random walk = sfu__make_walk(job->options, SFU__MAKE_EDGES, (uint64_t)e * DRAWS_AN_EDGE);
    const bool whole_round = e < job->count / groups->nodes * groups->nodes;
    const int32_t drawn = sfu__make_below(&walk, groups->nodes);
    const int32_t node = whole_round ? (int32_t)(e % groups->nodes) : drawn;
    const bool inside = sfu__random_unit(&walk) < job->own_share;
    const citation edge = cite(job, groups->places[node], job->raw->labels[node], inside, &walk);
    ends[0] = (uint32_t)node;
    ends[1] = (uint32_t)groups->members[edge.to];
}

static sfu_status draw_block(void *context, int64_t item, int thread) {
    edge_job *job = context;
    const sfu__pair_block *block = &job->raw->pairs.blocks[item];
    for (int64_t i = 0; i < block->count; i++) {
        draw_edge(job, item * BLOCK_EDGES + i, block->ends + 2 * i);
    }
    const int64_t done = atomic_fetch_add(&job->done, block->count) + block->count;
    return thread == 0 ? sfu__tick(&job->ticker, (double)done) : SFU_OK;
}

sfu_status sfu__make_edges(sfu__raw *raw, const sfu__groups *groups, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    edge_job *job = NULL;
    uint32_t *ends = NULL;
    SFU_ALLOC_ZERO(job, 1);
    job->options = options;
    job->groups = groups;
    job->raw = raw;
    popularity_init(&job->law, options->power, options->nodes);
    SFU_TRY(plan_edges(job));
    for (int64_t first = 0; first < job->count; first += BLOCK_EDGES) {
        const int64_t count = job->count - first < BLOCK_EDGES ? job->count - first : BLOCK_EDGES;
        SFU_ALLOC(ends, 2 * count);
        SFU_TRY(sfu__pairs_take(&raw->pairs, &ends, NULL, count));
    }
    raw->has_graph = true;
    job->ticker =
        (sfu__ticker){options->progress, options->progress_user, "drawing edges", "edges", (double)job->count, 0};
    SFU_TRY(sfu__parallel(draw_block, job, (int64_t)raw->pairs.block_count, sfu__thread_count(options->threads)));
done:
    sfu__free(job);
    return status;
}
