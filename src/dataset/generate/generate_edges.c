/* generate_edges.c - draws the edges (citations) of a generated graph.
 *
 * Node i is the citing end of about degree/2 edges. An outsider cites the class that it is drawn as. An insider cites
 * its own class with probability h/(1 - o), where h is the homophily and o the fraction of outsiders, and otherwise
 * another class, in proportion to the sizes. Among the m members of a class, rank r is cited with probability
 *
 *   V((r + 1)/m) - V(r/m),     V(q) = ((q + s)^(1-b) - s^(1-b)) / ((1 + s)^(1-b) - s^(1-b)),     b = 1/(power - 1)
 *
 * Popularity falls as (q + s)^-b along the ranks, so that the number of citations follows a power law with exponent
 * `power`. s flattens the top so that the most popular node has sqrt(nodes) times the average.
 *
 * An edge drawn twice counts once, so more edges are drawn than wanted. The excess is estimated from a few trial draws,
 * separately for edges within and between classes, so that the result has the requested `degree` and `homophily`.
 */
#include "generate.h"
#include "parallel.h"
#include "special.h"

#include <math.h>
#include <stdatomic.h>

enum {
    CELLS = 4096,          /* of the quantile table */
    TRIALS = 2048,         /* draws used to estimate the loss by duplicates */
    EXCESS = 4,            /* maximum ratio of drawn to wanted edges */
    DRAWS_PER_EDGE = 4,    /* positions in the random stream */
    BLOCK_EDGES = 1 << 20, /* edges per block of pairs, which is also a work item */
    LOADED_EDGES = 1 << 16 /* the same within a memory limit */
};

/* ---- popularity ------------------------------------------------------------------------------------------------- */

/* The inverse of V, tabulated at j/CELLS with linear interpolation. The table defines the distribution. */
typedef struct popularity {
    double quantile[CELLS + 1];
} popularity;

static void popularity_init(popularity *law, double power, int32_t nodes) {
    const double b = power > 0 ? 1 / (power - 1) : 0;
    const double s = power > 0 ? sfu__pow((1 - b) / sqrt(nodes), 1 / b) : 0;
    const double low = sfu__pow(s, 1 - b);
    const double high = sfu__pow(1 + s, 1 - b);
    for (int j = 0; j <= CELLS; j++) {
        law->quantile[j] = sfu__pow(low + (high - low) * j / CELLS, 1 / (1 - b)) - s;
    }
    law->quantile[0] = 0;
    law->quantile[CELLS] = 1;
}

/* The rank, below `size`, for a uniform number. */
static int32_t rank_at(const popularity *law, double unit, int32_t size) {
    const double position = unit * CELLS;
    const int cell = (int)position;
    const double from = law->quantile[cell];
    const int32_t rank = (int32_t)((from + (law->quantile[cell + 1] - from) * (position - cell)) * size);
    return rank < size ? rank : size - 1;
}

/* V(q). */
static double cumulative_share(const popularity *law, double q) {
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

/* ---- one edge --------------------------------------------------------------------------------------------------- */

typedef struct edge_job {
    const sfu_make_options *options;
    const sfu__class_members *groups;
    sfu__raw *raw;
    popularity law;
    double loyalty; /* probability that an insider cites its own class */
    int64_t count;  /* edges to draw */
    sfu__ticker ticker;
    atomic_int_least64_t done;
} edge_job;

/* Draws the class that `node` of class `own` cites. */
static int32_t class_cited(const edge_job *job, int32_t node, int32_t own, double unit, sfu__random *walk) {
    const int32_t leaning = sfu__class_members_leaning(job->groups, job->options, node, own);
    const bool strays = leaning == own && unit >= job->loyalty;
    return strays ? sfu__class_members_other(job->groups, own, sfu__random_unit(walk)) : leaning;
}

/* The member of class c for a uniform number; the next one if that is the citing node itself. Only a node that is alone
 * in its class cites itself. */
static int32_t member_cited(const edge_job *job, int32_t node, int32_t c, double unit) {
    const sfu__class_members *groups = job->groups;
    const int32_t size = sfu__class_members_size(groups, c);
    const int32_t *members = groups->members + groups->starts[c];
    const int32_t rank = rank_at(&job->law, unit, size);
    return members[rank] != node ? members[rank] : members[rank + 1 < size ? rank + 1 : 0];
}

/* ---- how many edges to draw ------------------------------------------------------------------------------------- */

/* The probability that a citation of node i goes to node j. */
static double citing_probability(const edge_job *job, int32_t i, int32_t j) {
    const sfu__class_members *groups = job->groups;
    const int32_t own = job->raw->labels[i];
    const int32_t c = job->raw->labels[j];
    const int32_t leaning = sfu__class_members_leaning(groups, job->options, i, own);
    const double size = sfu__class_members_size(groups, c);
    const double rank = groups->positions[j] - groups->starts[c];
    const double share = cumulative_share(&job->law, (rank + 1) / size) - cumulative_share(&job->law, rank / size);
    if (leaning != own) {
        return c == leaning ? share : 0;
    }
    const double outside = groups->nodes - sfu__class_members_size(groups, own);
    return c == own ? job->loyalty * share : (1 - job->loyalty) * size / outside * share;
}

/* (1 - exp(-draws p)) / p, without cancellation. */
static double distinct_for(double draws, double p) {
    const double x = draws * p;
    return x < 1e-5 ? draws * (1 - x / 2) : (1 - sfu__exp(-x)) / p;
}

/* The probability of a drawn edge, 0 for a self-citation, and whether it is within a class. */
typedef struct trial {
    double p;
    bool inside;
} trial;

static trial draw_trial(const edge_job *job, uint64_t number) {
    sfu__random walk = sfu__generate_walk(job->options, SFU__GENERATE_TRIALS, number * DRAWS_PER_EDGE);
    const int32_t i = sfu__generate_below(&walk, job->groups->nodes);
    const int32_t own = job->raw->labels[i];
    const double unit = sfu__random_unit(&walk);
    const int32_t c = class_cited(job, i, own, unit, &walk);
    const int32_t j = member_cited(job, i, c, sfu__random_unit(&walk));
    const double p = (citing_probability(job, i, j) + citing_probability(job, j, i)) / job->groups->nodes;
    return (trial){i != j ? p : 0, c == own};
}

/* The factor by which `draws` must be increased so that the edges within classes (or between them) are as many distinct
 * ones as requested. With p_e the probability of edge e, M draws give about sum_e (1 - exp(-M p_e)) distinct edges,
 * which is the mean of (1 - exp(-M p)) / p over drawn edges, the trials. 0 if there are no such edges. */
static double excess_for(const trial *trials, double draws, bool inside) {
    int all = 0;
    int useful = 0;
    for (int i = 0; i < TRIALS; i++) {
        all += trials[i].inside == inside;
        useful += trials[i].inside == inside && trials[i].p > 0;
    }
    double low = 1;
    double high = EXCESS;
    while (useful > 0 && high - low > 1e-4) {
        const double middle = (low + high) / 2;
        double distinct = 0;
        for (int i = 0; i < TRIALS; i++) {
            distinct += trials[i].inside == inside && trials[i].p > 0 ? distinct_for(middle * draws, trials[i].p) : 0;
        }
        if (distinct < all * draws) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return useful > 0 ? high : 0;
}

static sfu_status plan_edges(edge_job *job) {
    sfu_status status = SFU_OK;
    const sfu_make_options *options = job->options;
    const double wanted = options->degree * options->nodes / 2;
    const double insiders = (double)job->groups->insiders / options->nodes;
    const double homophily = options->classes > 1 ? options->homophily : 1;
    trial *trials = NULL;
    SFU_ALLOC(trials, TRIALS);
    popularity_init(&job->law, options->power, options->nodes);
    job->loyalty = homophily < insiders ? homophily / insiders : 1;
    for (int i = 0; i < TRIALS; i++) {
        trials[i] = draw_trial(job, (uint64_t)i);
    }
    const double inside = homophily * excess_for(trials, wanted, true);
    const double between = (1 - homophily) * excess_for(trials, wanted, false);
    if (inside + between > 0) {
        job->count = (int64_t)(wanted * (inside + between) + 0.5);
        const double share = inside / (inside + between);
        job->loyalty = share < insiders ? share / insiders : 1;
    }
done:
    sfu__free(trials);
    return status;
}

/* ---- draw the edges --------------------------------------------------------------------------------------------- */

/* Draws edge number e. The citing node is e mod n, so that all nodes cite about equally often; in the last, incomplete
 * round it is drawn at random. */
static void draw_edge(const edge_job *job, int64_t e, uint32_t ends[2]) {
    const int32_t nodes = job->groups->nodes;
    sfu__random walk = sfu__generate_walk(job->options, SFU__GENERATE_EDGES, (uint64_t)e * DRAWS_PER_EDGE);
    const double unit = sfu__random_unit(&walk);
    const double rank_unit = sfu__random_unit(&walk);
    const bool whole_round = e < job->count / nodes * nodes;
    const int32_t node = whole_round ? (int32_t)(e % nodes) : sfu__generate_below(&walk, nodes);
    const int32_t c = class_cited(job, node, job->raw->labels[node], unit, &walk);
    ends[0] = (uint32_t)node;
    ends[1] = (uint32_t)member_cited(job, node, c, rank_unit);
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

/* Draws a block whenever the assembly loads it. */
static void draw_loaded(void *context, size_t index, uint32_t *ends) {
    const edge_job *job = context;
    const int64_t count = job->raw->pairs.blocks[index].count;
    for (int64_t i = 0; i < count; i++) {
        draw_edge(job, (int64_t)index * LOADED_EDGES + i, ends + 2 * i);
    }
}

static int64_t at_most(int64_t value, int64_t most) { return value < most ? value : most; }

static sfu_status draw_all(edge_job *job) {
    sfu_status status = SFU_OK;
    const sfu_make_options *options = job->options;
    sfu__pairs *pairs = &job->raw->pairs;
    uint32_t *ends = NULL;
    for (int64_t first = 0; first < job->count; first += BLOCK_EDGES) {
        const int64_t count = at_most(job->count - first, BLOCK_EDGES);
        SFU_ALLOC(ends, 2 * count);
        SFU_TRY(sfu__pairs_take(pairs, &ends, NULL, count));
    }
    job->ticker =
        (sfu__ticker){options->progress, options->progress_user, "drawing edges", "edges", (double)job->count, 0};
    SFU_TRY(sfu__parallel(draw_block, job, (int64_t)pairs->block_count, sfu__thread_count(options->threads)));
done:
    return status;
}

sfu_status sfu__generate_edges(sfu__raw *raw, const sfu__class_members *groups, const sfu_make_options *options,
                               void **kept) {
    sfu_status status = SFU_OK;
    edge_job *job = NULL;
    SFU_ALLOC_ZERO(job, 1);
    job->options = options;
    job->groups = groups;
    job->raw = raw;
    raw->has_graph = true;
    SFU_TRY(plan_edges(job));
    if (raw->pairs.folder == NULL) {
        SFU_TRY(draw_all(job));
        goto done;
    }
    raw->pairs.draw = draw_loaded;
    raw->pairs.draw_context = job;
    for (int64_t first = 0; first < job->count; first += LOADED_EDGES) {
        SFU_TRY(sfu__pairs_add_drawn(&raw->pairs, at_most(job->count - first, LOADED_EDGES)));
    }
    *kept = job;
    job = NULL;
done:
    sfu__free(job);
    return status;
}
