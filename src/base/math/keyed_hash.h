/* keyed_hash.h - keyed hash function for hash tables, so that no file can be crafted with colliding names.
 *
 * SipHash-1-3 (Aumasson and Bernstein, INDOCRYPT 2012; one round per word, three at the end) with a random key per
 * process. The layout of a table may depend on the key, results must not: tables are only for lookup, and nothing is
 * listed in their order.
 */
#ifndef SFU_KEYED_HASH_H
#define SFU_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct sfu__hash_key {
    uint64_t words[2];
} sfu__hash_key;

/* The key, the same in all threads for the lifetime of the process. */
sfu__hash_key sfu__hash_key_of_process(void);

uint64_t sfu__keyed_hash(const sfu__hash_key *key, const void *bytes, size_t size);

#endif
