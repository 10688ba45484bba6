/* node_index.h - names to numbers: nodes, and in the same way classes and features.
 *
 * Names are unique and numbered in the order in which they were added. As long as they are exactly "0", "1", "2", ...
 * in order nothing is stored at all (`spelled` is false): the usual graph of millions of numbered nodes costs no memory
 * here. The first name that breaks the row spells all of them out.
 *
 * Invariants: 1. spelled: names.count == count, and the first `hashed` of them are in the slots. 2. not spelled: names
 * and slots are empty. 3. A slot is 0 (free) or the name's hash << 32 | its number + 1. 4. Where a name is put depends
 * on the process (keyed_hash.h), so nothing is ever listed in the order of the slots.
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
    int slot_bits; /* 2^slot_bits of them */
    sfu__hash_key key;
    int64_t hashed;
} sfu__node_index;

void sfu__node_index_clear(sfu__node_index *index);

/* The number of a name, -1 where it is unknown. */
SFU_CHECKED sfu_status sfu__node_index_find(sfu__node_index *index, const char *bytes, size_t size, int64_t *number);

/* The number of a name, which is added where it is unknown. At most INT32_MAX of them. */
SFU_CHECKED sfu_status sfu__node_index_add(sfu__node_index *index, const char *bytes, size_t size, int64_t *number);

/* Makes it hold 0, 1, ... count - 1 and nothing else. */
void sfu__node_index_numbers(sfu__node_index *index, int64_t count);

/* Adds a name that the caller knows to be new, without looking it up: for many at once. */
SFU_CHECKED sfu_status sfu__node_index_append(sfu__node_index *index, const char *bytes, size_t size);

/* Name i; a number is written into `digits`, which must outlive the result. */
enum { SFU__DIGITS_MAX = 24 };
const char *sfu__node_index_name(const sfu__node_index *index, int64_t i, char digits[SFU__DIGITS_MAX], size_t *size);

/* Gives the names away and leaves an empty index: `names` stays empty where they are 0, 1, ... */
void sfu__node_index_release(sfu__node_index *index, sfu__strings *names);

/* A plain integer is written as we would write it: digits only, no leading zero, at most 18 of them. */
bool sfu__plain_integer(int64_t *value, const char *bytes, size_t size);
size_t sfu__write_integer(char digits[SFU__DIGITS_MAX], uint64_t value);

/* Whether all names are plain integers, and the largest of them. */
bool sfu__node_index_all_plain(const sfu__node_index *index, int64_t *largest);

/* order[rank] is the number of the name of that rank, sorted by value (all must be plain integers) or bytewise.
 * `order` is allocated. */
SFU_CHECKED sfu_status sfu__node_index_sort(const sfu__node_index *index, bool by_value, int32_t **order);

#endif
