/* split.c - training, validation and test sets from a protocol such as "random:0". docs/reference/splits.md has the
 * rules. */
#include "split_int.h"
#include "csv_write.h"
#include "progress.h"
#include "sized_struct.h"

#include <stdio.h>
#include <string.h>

struct sfu_split {
    int32_t nodes;            /* of the dataset */
    int32_t *part[SFU_PARTS]; /* ascending */
    int32_t count[SFU_PARTS];
    char digest[65];
    char *text;
};

/* ---- parsing the protocol --------------------------------------------------------------------------------------- */

/* Parses "A:B:C" into `count` numbers named by `names`. `form` is the expected form of the protocol, for messages. */
static sfu_status parse_numbers(int64_t *numbers, int count, const char *const *names, const sfu__draft *draft,
                                const char *text, const char *form) {
    for (int i = 0; i < count; i++) {
        const char *end = text != NULL ? strchr(text, ':') : NULL;
        if (text == NULL || (end != NULL) != (i + 1 < count)) {
            return sfu__fail(SFU_ERR_ARGUMENT, "split %s: expected the form \"%s\"", draft->quoted, form);
        }
        end = end != NULL ? end : text + strlen(text);
        if (!sfu__parse_int64(&numbers[i], text, end) || numbers[i] < 0) {
            return sfu__fail(SFU_ERR_ARGUMENT,
                             "split %s: %s must be a whole number from 0 to 9223372036854775807 in \"%s\"",
                             draft->quoted, names[i], form);
        }
        text = end + 1;
    }
    return SFU_OK;
}

static sfu_status parse_random(sfu__draft *draft, const char *rest) {
    static const char *const names[] = {"SEED"};
    int64_t seed = 0;
    const sfu_status status = parse_numbers(&seed, 1, names, draft, rest, "random:SEED");
    return status != SFU_OK ? status : sfu__split_random(draft, (uint64_t)seed);
}

static sfu_status parse_holdout(sfu__draft *draft, const char *rest) {
    static const char *const names[] = {"SEED"};
    int64_t seed = 0;
    const sfu_status status = parse_numbers(&seed, 1, names, draft, rest, "holdout:SEED");
    return status != SFU_OK ? status : sfu__split_holdout(draft, (uint64_t)seed);
}

static sfu_status parse_cv(sfu__draft *draft, const char *rest) {
    static const char *const names[] = {"FOLDS", "FOLD", "SEED"};
    int64_t numbers[3] = {0};
    const sfu_status status = parse_numbers(numbers, 3, names, draft, rest, "cv:FOLDS:FOLD:SEED");
    return status != SFU_OK ? status : sfu__split_cv(draft, numbers[0], numbers[1], (uint64_t)numbers[2]);
}

/* A split that is not drawn has a fixed training set. */
static sfu_status check_given_size(const sfu__draft *draft) {
    char quoted[SFU__QUOTE_MAX];
    if (draft->size == NULL || strcmp(draft->size, "1") == 0) {
        return SFU_OK;
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "size %s: split %s has one size, that of its training nodes; leave the size out, or draw with "
                     "\"random:SEED\"",
                     sfu__quote(quoted, draft->size, strlen(draft->size)), draft->quoted);
}

/* An unlabelled node can be neither trained on nor scored, so it is left out. */
static void take_standard(sfu__draft *draft, int32_t split) {
    const sfu_dataset *dataset = draft->dataset;
    int32_t unlabelled = 0;
    for (int part = 0; part < SFU_PARTS; part++) {
        int32_t count;
        const int32_t *nodes = sfu_dataset_standard_split(dataset, split, (sfu_part)part, &count);
        for (int32_t i = 0; i < count; i++) {
            const int32_t node = nodes[i];
            const bool labelled = dataset->labels[node] != SFU_NO_LABEL;
            draft->part_of[node] = labelled ? (uint8_t)part : SFU__NO_PART;
            unlabelled += !labelled;
        }
    }
    if (unlabelled > 0) {
        sfu__log(SFU_LOG_WARNING, "split %s: %d nodes of it have no label and are left out", draft->quoted, unlabelled);
    }
}

/* The number of a standard split must be below the number of them. */
static sfu_status check_standard(const sfu__draft *draft, int64_t split) {
    char quoted[SFU__QUOTE_MAX];
    const char *name = sfu_dataset_name(draft->dataset);
    const int32_t splits = sfu_dataset_standard_splits(draft->dataset);
    if (splits == 0) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "split %s: the dataset %s has no standard split; \"holdout:0\" draws one",
                         draft->quoted, sfu__quote(quoted, name, strlen(name)));
    }
    if (split >= splits && splits == 1) {
        return sfu__fail(SFU_ERR_NOT_FOUND, "split %s: the dataset %s has one standard split, \"standard\"",
                         draft->quoted, sfu__quote(quoted, name, strlen(name)));
    }
    if (split >= splits) {
        return sfu__fail(SFU_ERR_NOT_FOUND,
                         "split %s: the dataset %s has %d standard splits, \"standard:0\" to \"standard:%d\"",
                         draft->quoted, sfu__quote(quoted, name, strlen(name)), splits, splits - 1);
    }
    return SFU_OK;
}

/* The text of split 0 is "standard", with and without its number: results name it alike. */
static sfu_status parse_standard(sfu__draft *draft, const char *rest) {
    static const char *const names[] = {"NUMBER"};
    sfu_status status = SFU_OK;
    int64_t split = 0;
    if (rest != NULL) {
        SFU_TRY(parse_numbers(&split, 1, names, draft, rest, "standard:NUMBER"));
    }
    SFU_TRY(check_standard(draft, split));
    SFU_TRY(check_given_size(draft));
    take_standard(draft, (int32_t)split);
    SFU_TRY(split == 0 ? sfu__text_format(&draft->text, "standard")
                       : sfu__text_format(&draft->text, "standard:%d", (int)split));
done:
    return status;
}

/* The text keeps only the base name of the file: results must not depend on paths of a machine. */
static sfu_status parse_file(sfu__draft *draft, const char *rest) {
    sfu_status status = SFU_OK;
    if (rest == NULL || *rest == '\0') {
        return sfu__fail(SFU_ERR_ARGUMENT, "split %s: expected the form \"file:CSV\", where CSV is the path of a file",
                         draft->quoted);
    }
    SFU_TRY(check_given_size(draft));
    SFU_TRY(sfu__split_read(draft, rest));
    SFU_TRY(sfu__text_format(&draft->text, "file:%s", sfu__path_base(rest)));
done:
    return status;
}

static const struct {
    const char *name;
    sfu_status (*run)(sfu__draft *draft, const char *rest); /* rest: the text after the colon, or NULL */
} protocols[] = {{"standard", parse_standard},
                 {"random", parse_random},
                 {"holdout", parse_holdout},
                 {"cv", parse_cv},
                 {"file", parse_file}};

static sfu_status run_protocol(sfu__draft *draft, const char *protocol) {
    const char *colon = strchr(protocol, ':');
    const size_t size = colon != NULL ? (size_t)(colon - protocol) : strlen(protocol);
    for (size_t i = 0; i < sizeof protocols / sizeof protocols[0]; i++) {
        if (strlen(protocols[i].name) == size && memcmp(protocols[i].name, protocol, size) == 0) {
            return protocols[i].run(draft, colon != NULL ? colon + 1 : NULL);
        }
    }
    return sfu__fail(SFU_ERR_ARGUMENT,
                     "split %s: expected \"standard\", \"standard:NUMBER\", \"random:SEED\", \"holdout:SEED\", "
                     "\"cv:FOLDS:FOLD:SEED\" or \"file:CSV\"",
                     draft->quoted);
}

/* ---- from draft to split ---------------------------------------------------------------------------------------- */

sfu_status sfu__draft_start(sfu__draft *draft, const sfu_dataset *dataset, const char *protocol, const char *size) {
    sfu_status status = SFU_OK;
    *draft = (sfu__draft){.dataset = dataset, .size = size};
    sfu__quote(draft->quoted, protocol, strlen(protocol));
    bool any = false;
    for (int32_t node = 0; node < dataset->nodes && dataset->labels != NULL && !any; node++) {
        any = dataset->labels[node] != SFU_NO_LABEL;
    }
    if (!any) {
        char quoted[SFU__QUOTE_MAX];
        const char *name = sfu_dataset_name(dataset);
        return sfu__fail(SFU_ERR_ARGUMENT,
                         "split %s: no node of the dataset %s has a label, and only labelled nodes "
                         "can be split",
                         draft->quoted, sfu__quote(quoted, name, strlen(name)));
    }
    SFU_ALLOC(draft->part_of, dataset->nodes);
    memset(draft->part_of, SFU__NO_PART, (size_t)dataset->nodes);
done:
    return status;
}

/* The first `count` parts need at least one node: all three of a split that is drawn, read or standard. */
static sfu_status check_parts(const sfu__draft *draft, int count) {
    const bool holdout = draft->text.size > 0 && strncmp(draft->text.bytes, "holdout:", 8) == 0;
    for (int part = 0; part < count; part++) {
        if (memchr(draft->part_of, part, (size_t)draft->dataset->nodes) == NULL) {
            return sfu__fail(SFU_ERR_ARGUMENT, "split %s: no node is left for %s; %s%s", draft->quoted,
                             sfu__part_names[part],
                             count == SFU_PARTS ? "train, val and test need one each" : "train needs at least one",
                             holdout ? ": label at least 3 nodes of a class" : "");
        }
    }
    return SFU_OK;
}

static sfu_status collect_parts(sfu_split *split, const sfu__draft *draft) {
    sfu_status status = SFU_OK;
    const uint8_t *part_of = draft->part_of;
    for (int32_t node = 0; node < split->nodes; node++) {
        if (part_of[node] != SFU__NO_PART) {
            split->count[part_of[node]]++;
        }
    }
    for (int part = 0; part < SFU_PARTS; part++) {
        SFU_ALLOC(split->part[part], split->count[part]);
        split->count[part] = 0;
    }
    for (int32_t node = 0; node < split->nodes; node++) {
        if (part_of[node] != SFU__NO_PART) {
            const int part = part_of[node];
            split->part[part][split->count[part]++] = node;
        }
    }
done:
    return status;
}

/* Warns about classes in validation or test that have no training node: they can never be predicted. */
static sfu_status warn_untrained_classes(const sfu_split *split, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    uint8_t *parts_of = NULL; /* per class: a bit mask of parts */
    SFU_ALLOC_ZERO(parts_of, dataset->classes);
    for (int part = 0; part < SFU_PARTS; part++) {
        for (int32_t i = 0; i < split->count[part]; i++) {
            parts_of[dataset->labels[split->part[part][i]]] |= (uint8_t)(1 << part);
        }
    }
    int32_t untrained = 0;
    for (int32_t class = 0; class < dataset->classes; class ++) {
        untrained += parts_of[class] != 0 && (parts_of[class] & 1 << SFU_TRAIN) == 0;
    }
    if (untrained > 0) {
        sfu__log(SFU_LOG_WARNING, "split %s: %d of %d classes have no node to train on and will never be predicted",
                 split->text, untrained, dataset->classes);
    }
done:
    sfu__free(parts_of);
    return status;
}

/* Digest of the parts as tensors, as a container stores them (docs/reference/splits.md). */
static sfu_status digest_parts(sfu_split *split) {
    sfu__tensor tensors[SFU_PARTS];
    for (int part = 0; part < SFU_PARTS; part++) {
        tensors[part] = (sfu__tensor){.name = sfu__part_tensors[part],
                                      .dtype = SFU__I32,
                                      .dims = 1,
                                      .shape = {split->count[part]},
                                      .count = split->count[part],
                                      .data = split->part[part]};
    }
    return sfu__tensors_digest(split->digest, tensors, SFU_PARTS);
}

sfu_status sfu__split_finish(sfu_split **split, sfu__draft *draft) {
    sfu_status status = SFU_OK;
    sfu_split *self = NULL;
    *split = NULL;
    SFU_ALLOC_ZERO(self, 1);
    self->nodes = draft->dataset->nodes;
    self->text = draft->text.bytes;
    draft->text = (sfu__text){0};
    SFU_TRY(collect_parts(self, draft));
    SFU_TRY(digest_parts(self));
    *split = self;
    self = NULL;
done:
    sfu_split_free(self);
    return status;
}

void sfu__draft_clear(sfu__draft *draft) {
    sfu__free(draft->part_of);
    sfu__text_clear(&draft->text);
}

sfu_status sfu_split_new(sfu_split **split, const sfu_dataset *dataset, const char *protocol, const char *size) {
    sfu_status status = SFU_OK;
    sfu_split *made = NULL;
    sfu__draft draft = {0};
    *split = NULL;
    if (protocol == NULL) {
        protocol = dataset->has_standard ? "standard" : "holdout:0";
    }
    SFU_TRY(sfu__dataset_check_nodes(dataset));
    SFU_TRY(sfu__draft_start(&draft, dataset, protocol, size));
    SFU_TRY(run_protocol(&draft, protocol));
    SFU_TRY(check_parts(&draft, SFU_PARTS));
    SFU_TRY(sfu__split_finish(&made, &draft));
    SFU_TRY(warn_untrained_classes(made, dataset));
    *split = made;
    made = NULL;
done:
    sfu_split_free(made);
    sfu__draft_clear(&draft);
    return status;
}

static sfu_status place_node(sfu__draft *draft, int32_t node, int part) {
    const sfu_dataset *dataset = draft->dataset;
    const char *name = sfu__part_names[part];
    if (node < 0 || node >= dataset->nodes) {
        return sfu__fail(SFU_ERR_ARGUMENT, "split: %s has node %d; the dataset has nodes 0 to %d", name, node,
                         dataset->nodes - 1);
    }
    if (draft->part_of[node] != SFU__NO_PART) {
        return sfu__fail(SFU_ERR_ARGUMENT, "split: %s has node %d, which is already in %s", name, node,
                         sfu__part_names[draft->part_of[node]]);
    }
    if (dataset->labels[node] == SFU_NO_LABEL) {
        return sfu__fail(SFU_ERR_ARGUMENT, "split: %s has node %d, which has no label", name, node);
    }
    draft->part_of[node] = (uint8_t)part;
    return SFU_OK;
}

sfu_status sfu_split_from_nodes(sfu_split **split, const sfu_dataset *dataset, const int32_t *const nodes[SFU_PARTS],
                                const int32_t counts[SFU_PARTS]) {
    enum { DIGITS = 12 };
    sfu_status status = SFU_OK;
    sfu_split *made = NULL;
    sfu__draft draft = {0};
    sfu__text text = {0};
    *split = NULL;
    SFU_TRY(sfu__dataset_check_nodes(dataset));
    SFU_TRY(sfu__draft_start(&draft, dataset, "nodes", NULL));
    for (int part = 0; part < SFU_PARTS; part++) {
        for (int32_t i = 0; i < counts[part]; i++) {
            SFU_TRY(place_node(&draft, nodes[part][i], part));
        }
    }
    SFU_TRY(check_parts(&draft, SFU_TRAIN + 1));
    SFU_TRY(sfu__split_finish(&made, &draft));
    SFU_TRY(sfu__text_format(&text, "nodes:%.*s", DIGITS, made->digest));
    made->text = text.bytes;
    text = (sfu__text){0};
    SFU_TRY(warn_untrained_classes(made, dataset));
    *split = made;
    made = NULL;
done:
    sfu_split_free(made);
    sfu__draft_clear(&draft);
    sfu__text_clear(&text);
    return status;
}

void sfu_split_free(sfu_split *split) {
    if (split == NULL) {
        return;
    }
    for (int part = 0; part < SFU_PARTS; part++) {
        sfu__free(split->part[part]);
    }
    sfu__free(split->text);
    sfu__free(split);
}

/* ---- access ----------------------------------------------------------------------------------------------------- */

const int32_t *sfu_split_part(const sfu_split *split, sfu_part part, int32_t *count) {
    const bool known = (int)part >= 0 && part < SFU_PARTS;
    if (count != NULL) {
        *count = known ? split->count[part] : 0;
    }
    return known ? split->part[part] : NULL;
}

const char *sfu_split_digest(const sfu_split *split) { return split->digest; }

const char *sfu_split_text(const sfu_split *split) { return split->text; }

/* The part with the smallest node not yet written; SFU_PARTS after the last. */
static int next_part(const sfu_split *split, const int32_t *written) {
    int next = SFU_PARTS;
    for (int part = 0; part < SFU_PARTS; part++) {
        const bool more = written[part] < split->count[part];
        if (more && (next == SFU_PARTS || split->part[part][written[part]] < split->part[next][written[next]])) {
            next = part;
        }
    }
    return next;
}

sfu_status sfu_split_save(const sfu_split *split, const sfu_dataset *dataset, const char *path,
                          const sfu_csv_options *given) {
    sfu_status status = SFU_OK;
    sfu_csv_options options;
    sfu__writer *writer = NULL;
    int32_t written[SFU_PARTS] = {0};
    if (split->nodes != dataset->nodes) {
        return sfu__fail(SFU_ERR_ARGUMENT, "%s: the split is of %d nodes, but the dataset has %d", path, split->nodes,
                         dataset->nodes);
    }
    SFU_TRY(SFU__READ_OPTIONS(&options, given, sfu_csv_options));
    SFU_TRY(sfu__dataset_check_nodes(dataset));
    SFU_TRY(sfu__writer_open(&writer, path));
    sfu__writer_set_spreadsheet(writer, options.spreadsheet);
    SFU_TRY(sfu__writer_format(writer, "node,part\n"));
    for (int part = next_part(split, written); part < SFU_PARTS; part = next_part(split, written)) {
        SFU_TRY(sfu__csv_put_node(writer, dataset, split->part[part][written[part]++]));
        SFU_TRY(sfu__writer_format(writer, ",%s\n", sfu__part_names[part]));
    }
    SFU_TRY(sfu__writer_commit(writer));
done:
    sfu__writer_close(writer);
    return status;
}
