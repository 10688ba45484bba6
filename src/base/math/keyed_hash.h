/* keyed_hash.h - where a name goes in a hash table, so that no file can be made whose names all go to the same place.
 *
 * SipHash-1-3 (Aumasson and Bernstein, INDOCRYPT 2012; one round a word, three at the end) under a key that nobody
 * knows beforehand: it is drawn when a process first asks. A place in a table may depend on the key, what is computed
 * never: tables are for looking up, and nothing is listed in their order.
 */
#ifndef SFU_KEYED_HASH_H
#define SFU_KEYED_HASH_H

#include <stddef.h>
#include <stdint.h>

typedef struct sfu__hash_key {
    uint64_t words[2];
} sfu__hash_key;

/* The same in all threads, as long as the process lives. */
sfu__hash_key sfu__hash_key_of_process(void);

uint64_t sfu__keyed_hash(const sfu__hash_key *key, const void *bytes, size_t size);

#endif
