/* transform.h - the column transformation: how the columns of a table become features.
 *
 * sfu__transform_fit looks at all cells of a table and decides, for each column, its type and everything that is
 * learned from it: median, mean, standard deviation, quantiles, levels, vocabulary. sfu__transform_apply turns the
 * cells of this table, or of another one with the same columns, into features. Fitted numbers are stored as JSON in
 * datasets and models (sfu__transform_print, sfu__transform_read), so that the same cells give the same features later.
 *
 *   number, date   (x - mean) / sd, or the quantile transform, or x; a missing cell is the median. If the fitted table
 *                  had missing cells, a second feature is 1 where the cell is missing.
 *   boolean        0 or 1; missing cells as for numbers
 *   category       one feature per level, and one for missing cells; an unknown level is "other" if the fitted table
 *                  had more levels than are kept, else all its features are 0
 *   text           one feature per word of the vocabulary, and `buckets` for the hashes of other words: counts
 *   list           several numbers in one cell: all features of the block, or the indices of those that are 1
 *   identifier, ignored, empty    no features
 *
 * Text and lists are scaled to unit length within their block unless numbers are left as they are. sfu__transform.rows
 * is the scaling of whole feature vectors that must follow: for bags of words, and if one was asked for.
 */
#ifndef SFU_TRANSFORM_H
#define SFU_TRANSFORM_H

#include "cell_dates.h"
#include "table_cells.h"

typedef enum sfu__transform_type {
    SFU__TYPE_AUTO, /* as a declaration: to be detected */
    SFU__TYPE_NUMBER,
    SFU__TYPE_DATE,
    SFU__TYPE_BOOLEAN,
    SFU__TYPE_CATEGORY,
    SFU__TYPE_TEXT,
    SFU__TYPE_LIST,
    SFU__TYPE_IDENTIFIER,
    SFU__TYPE_IGNORED,
    SFU__TYPE_EMPTY,
    SFU__TYPES
} sfu__transform_type;
extern const char *const sfu__transform_types[SFU__TYPES]; /* "auto", "number", ... */

/* What happens to the values of number and date columns. */
typedef enum sfu__value_scale { SFU__VALUES_RAW, SFU__VALUES_STANDARD, SFU__VALUES_QUANTILE } sfu__value_scale;

enum {
    SFU__QUANTILES_MAX = 1000,
    SFU__LEVELS_MAX = 255,            /* of a detected category; the most frequent ones are kept */
    SFU__LEVELS_DECLARED_MAX = 65536, /* of a declared one */
    SFU__VOCABULARY_MAX = 2048,       /* words of a text column */
    SFU__BUCKETS = 512,               /* of hashed words, if there are more */
    SFU__LIST_WIDTH_MAX = 1 << 20
};

typedef struct sfu__transform_column {
    char *name;
    sfu__transform_type type;
    bool declared;   /* by an option, not detected */
    int64_t missing; /* cells of the fitted table */
    bool indicator;  /* number, date, boolean: a feature for missing cells */
    double median, mean, sd;
    double *quantiles; /* [quantile_count], or NULL */
    int quantile_count;
    sfu__date_order order;
    sfu__strings levels;  /* of a category, or the vocabulary of a text, in byte order */
    bool missing_level;   /* category: the feature after the levels is for missing cells */
    bool other_level;     /* and the last one for levels that were not kept */
    int32_t buckets;      /* text */
    int64_t list_width;   /* list */
    bool list_dense;      /* all features of the block, not indices */
    int64_t first, count; /* its features: derived from the above by sfu__transform_lay_out */
} sfu__transform_column;

/* Starts as {0}. */
typedef struct sfu__transform {
    char *id;   /* the column of the node names; NULL: the first */
    bool named; /* the columns have names; otherwise they are called by their numbers in the file, from 1 */
    sfu__transform_column *columns;
    int64_t count;
    size_t capacity;
    sfu__value_scale values;
    sfu_scale rows; /* SFU_SCALE_UNIT, _SUM or _NONE */
    sfu__cell_rules rules;
    int64_t features;
} sfu__transform;

void sfu__transform_clear(sfu__transform *transform);

/* Sets first, count and features. Fails if there are too many features. */
SFU_CHECKED sfu_status sfu__transform_lay_out(sfu__transform *transform);

/* Adds a column to be fitted. */
SFU_CHECKED sfu_status sfu__transform_add(sfu__transform *transform, const char *name, size_t size,
                                          sfu__transform_type declared);

/* A table and where it comes from. */
typedef struct sfu__transform_input {
    sfu__cells *cells;
    const size_t *source; /* [transform->count]: the column of `cells` that each column is read from */
    const char *path;     /* for messages */
    int64_t (*line_of)(void *user, int64_t row); /* the line of a row, for messages; or NULL */
    void *user;
    bool features_file; /* not the file of the nodes: whole numbers are never identifiers */
    int threads;
} sfu__transform_input;

/* Detects types and fits all columns. Of `transform`, names, declared types, values, rows and rules are given. A scale
 * of SFU_SCALE_AUTO in `rows` is replaced: by unit for bags of words, whose values are then left as they are, else by
 * none. */
SFU_CHECKED sfu_status sfu__transform_fit(sfu__transform *transform, const sfu__transform_input *input);

/* Checks that a table can be transformed: that every cell has the type of its column. Counts its missing cells. */
SFU_CHECKED sfu_status sfu__transform_check(sfu__transform *transform, const sfu__transform_input *input);

/* Features of a table: dense [nodes][features], or a sparse matrix if that is smaller. */
typedef struct sfu__transform_output {
    int64_t nodes;
    const int32_t *node_of; /* [rows]: the node of each row; nodes without a row get zeros */
    int64_t nonzeros;       /* out: features that are not zero */
    float *dense;           /* out: allocated, or NULL and */
    int64_t *indptr;        /* out: CSR, allocated */
    int32_t *indices;
    float *values;
} sfu__transform_output;

SFU_CHECKED sfu_status sfu__transform_apply(sfu__transform_output *output, const sfu__transform *transform,
                                            const sfu__transform_input *input);

/* The names of the features, unique. None are added if all columns are unnamed numbers. */
SFU_CHECKED sfu_status sfu__transform_feature_names(sfu__strings *names, const sfu__transform *transform);

/* As JSON, allocated; and back. `place` is the prefix of messages. */
SFU_CHECKED sfu_status sfu__transform_print(char **text, const sfu__transform *transform);
SFU_CHECKED sfu_status sfu__transform_read(sfu__transform *transform, const char *text, const char *place);

/* Appends the i-th sentence about what was done: "3 numeric columns standardised: income, age, height; ...". Nothing
 * is added after the last. */
SFU_CHECKED sfu_status sfu__transform_note(sfu__text *text, const sfu__transform *transform, int i);

#endif
