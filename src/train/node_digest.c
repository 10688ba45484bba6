/* node_digest.c - SipHash-1-3 with the key 0 of the name of a node and the sum of the digests of its features. */
#include "node_digest.h"

#include "keyed_hash.h"
#include "node_index.h"

#include <stdlib.h>
#include <string.h>

static const sfu__hash_key no_key = {{0, 0}};

static uint64_t digest_name(const char *name, size_t size, uint64_t number) {
    char digits[SFU__DIGITS_MAX];
    if (name == NULL) {
        size = sfu__write_integer(digits, number);
        name = digits;
    }
    return sfu__keyed_hash(&no_key, name, size);
}

static uint64_t digest_pair(uint64_t one, uint64_t other) {
    const uint64_t pair[2] = {one, other};
    return sfu__keyed_hash(&no_key, pair, sizeof pair);
}

sfu_status sfu__node_digests_make(sfu__node_digests *digests, const sfu_dataset *dataset) {
    sfu_status status = SFU_OK;
    digests->dataset = dataset;
    SFU_ALLOC(digests->features, dataset->features);
    for (int32_t i = 0; i < dataset->features; i++) {
        const char *name = sfu_dataset_feature_name(dataset, i);
        digests->features[i] = digest_name(name, name != NULL ? strlen(name) : 0, (uint64_t)i);
    }
done:
    return status;
}

void sfu__node_digests_clear(sfu__node_digests *digests) {
    sfu__free(digests->features);
    *digests = (sfu__node_digests){0};
}

/* 0 for a value of 0, which a sparse row does not have. */
static uint64_t digest_value(uint64_t feature, float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != 0 ? digest_pair(feature, bits) : 0;
}

/* That of sparse features in a mapped file. A row that was made invalid since the check has the digest of no
 * features. */
static uint64_t mapped_digest(const sfu__node_digests *digests, int32_t node) {
    const sfu__mapped_csr X = sfu__dataset_mapped_features(digests->dataset);
    sfu__row_block row = {0};
    uint64_t sum = 0;
    if (sfu__row_block_read(&row, &X, node, (int64_t)node + 1) == SFU_OK) {
        for (int64_t e = 0; e < row.indptr[1]; e++) {
            sum += digest_value(digests->features[row.indices[e]], row.csr.values != NULL ? row.csr.values[e] : 1);
        }
    }
    sfu__row_block_clear(&row);
    return sum;
}

uint64_t sfu__features_digest(const sfu__node_digests *digests, int32_t node) {
    const sfu_dataset *dataset = digests->dataset;
    const sfu_csr *X = &dataset->sparse;
    uint64_t sum = 0;
    if (dataset->dense != NULL) {
        for (int32_t i = 0; i < dataset->features; i++) {
            sum += digest_value(digests->features[i], dataset->dense[(int64_t)node * dataset->features + i]);
        }
        return sum;
    }
    if (!dataset->checked) {
        return mapped_digest(digests, node);
    }
    for (int64_t e = X->indptr[node]; e < X->indptr[node + 1]; e++) {
        sum += digest_value(digests->features[X->indices[e]], X->values != NULL ? X->values[e] : 1);
    }
    return sum;
}

int64_t sfu__node_digest(const sfu__node_digests *digests, int32_t node) {
    size_t size = 0;
    const char *name = sfu_dataset_node_name(digests->dataset, node, &size);
    return (int64_t)digest_pair(digest_name(name, size, (uint64_t)node), sfu__features_digest(digests, node));
}

static int ascending(const void *a, const void *b) {
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

void sfu__sort_digests(int64_t *digests, int64_t count) { qsort(digests, (size_t)count, sizeof *digests, ascending); }
