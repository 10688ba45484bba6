/* node_index.h - maps names to consecutive numbers: nodes, and likewise classes and features.
 *
 * Names are unique and numbered in insertion order. As long as they are exactly "0", "1", "2", ... in order, no name is
 * stored (`spelled` is false), so a graph with millions of numbered nodes needs no memory here. The first name that
 * breaks the sequence causes all of them to be stored.
 *
 * Invariants: 1. spelled: names.count == count, and the first `hashed` names are in the hash table. 2. not spelled:
 * names and slots are empty. 3. A slot is 0 (free) or the name's hash << 32 | its number + 1. 4. The hash is keyed per
 * process (keyed_hash.h), so nothing may be listed in slot order.
 */
#ifndef SFU_NODE_INDEX_H
#define SFU_NODE_INDEX_H

#include "keyed_hash.h"
#include "text.h"

/* Starts as {0}. */
typedef struct sfu__node_index {
    int64_t count;
    bool spelled;
    sfu__strings names;
    uint64_t *slots;
    int slot_bits; /* log2 of the number of slots */
    sfu__hash_key key;
    int64_t hashed;
} sfu__node_index;

void sfu__node_index_clear(sfu__node_index *index);

/* The number of a name, or -1 if it is unknown. */
SFU_CHECKED sfu_status sfu__node_index_find(sfu__node_index *index, const char *bytes, size_t size, int64_t *number);

/* The number of a name; an unknown name is added. At most INT32_MAX names. */
SFU_CHECKED sfu_status sfu__node_index_add(sfu__node_index *index, const char *bytes, size_t size, int64_t *number);

/* Resets the index to the names 0, 1, ... count - 1. */
void sfu__node_index_numbers(sfu__node_index *index, int64_t count);

/* Adds a name that the caller knows to be new, without a lookup: faster for bulk insertion. */
SFU_CHECKED sfu_status sfu__node_index_append(sfu__node_index *index, const char *bytes, size_t size);

/* Name i. A name that is not stored is written into `digits`, which must outlive the result. */
enum { SFU__DIGITS_MAX = 24 };
const char *sfu__node_index_name(const sfu__node_index *index, int64_t i, char digits[SFU__DIGITS_MAX], size_t *size);

/* Moves the names to the caller and leaves an empty index; `names` stays empty if they are 0, 1, ... */
void sfu__node_index_release(sfu__node_index *index, sfu__strings *names);

/* A plain integer has a canonical decimal form: digits only, no leading zero, at most 18 digits. */
bool sfu__plain_integer(int64_t *value, const char *bytes, size_t size);
size_t sfu__write_integer(char digits[SFU__DIGITS_MAX], uint64_t value);

/* Whether all names are plain integers, and the largest of them. */
bool sfu__node_index_all_plain(const sfu__node_index *index, int64_t *largest);

/* order[rank] is the number of the name with that rank, sorted by value (all must be plain integers) or by bytes.
 * `order` is allocated. */
SFU_CHECKED sfu_status sfu__node_index_sort(const sfu__node_index *index, bool by_value, int32_t **order);

#endif
