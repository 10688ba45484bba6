/* node_index.c - the name index: an open-addressing hash table over a string list. */
#include "node_index.h"
#include "progress.h"

#include <stdlib.h>
#include <string.h>

/* ---- integers as names ------------------------------------------------------------------------------------------ */

bool sfu__plain_integer(int64_t *value, const char *bytes, size_t size) {
    enum { LONGEST = 18 };
    if (size == 0 || size > LONGEST || (size > 1 && bytes[0] == '0')) {
        return false;
    }
    int64_t number = 0;
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] < '0' || bytes[i] > '9') {
            return false;
        }
        number = number * 10 + (bytes[i] - '0');
    }
    *value = number;
    return true;
}

size_t sfu__write_integer(char digits[SFU__DIGITS_MAX], uint64_t value) {
    char reversed[SFU__DIGITS_MAX];
    size_t size = 0;
    do {
        reversed[size++] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    for (size_t i = 0; i < size; i++) {
        digits[i] = reversed[size - 1 - i];
    }
    digits[size] = '\0';
    return size;
}

/* ---- hash table ------------------------------------------------------------------------------------------------- */

static uint32_t hash_of(const sfu__node_index *index, const char *bytes, size_t size) {
    return (uint32_t)(sfu__keyed_hash(&index->key, bytes, size) >> 32);
}

static uint64_t slot_for(uint32_t hash, int64_t number) { return (uint64_t)hash << 32 | (uint64_t)(number + 1); }

/* The slot that holds the name, or the free slot to insert it into. */
static size_t slot_of(const sfu__node_index *index, const char *bytes, size_t size, uint32_t hash) {
    const size_t mask = ((size_t)1 << index->slot_bits) - 1;
    size_t at = (size_t)(hash >> (32 - index->slot_bits));
    for (;; at = (at + 1) & mask) {
        const uint64_t slot = index->slots[at];
        if (slot == 0) {
            return at;
        }
        if (slot >> 32 == hash) {
            size_t have;
            const char *name = sfu__strings_get(&index->names, (int64_t)(uint32_t)slot - 1, &have);
            if (have == size && memcmp(name, bytes, size) == 0) {
                return at;
            }
        }
    }
}

/* Grows the table. The upper bits of the hash select the slot, so slots are moved in order, without access to the names
 * and with nearly sequential memory access. */
static sfu_status grow_table(sfu__node_index *index, int bits) {
    uint64_t *slots = sfu__alloc_zero((size_t)1 << bits, sizeof *slots);
    if (slots == NULL) {
        return SFU_ERR_MEMORY;
    }
    const size_t mask = ((size_t)1 << bits) - 1;
    for (size_t i = 0; index->slots != NULL && i < (size_t)1 << index->slot_bits; i++) {
        if (index->slots[i] != 0) {
            size_t at = (size_t)(index->slots[i] >> 32) >> (32 - bits);
            while (slots[at] != 0) {
                at = (at + 1) & mask;
            }
            slots[at] = index->slots[i];
        }
    }
    sfu__free(index->slots);
    index->slots = slots;
    index->slot_bits = bits;
    return SFU_OK;
}

/* Inserts all names into the table and reserves space for one more; the load factor is at most 1/2. */
static sfu_status hash_all(sfu__node_index *index) {
    enum { LEAST_BITS = 6 };
    const size_t need = 2 * ((size_t)index->count + 1);
    if (index->slots == NULL || need > (size_t)1 << index->slot_bits) {
        int bits = index->slots != NULL ? index->slot_bits : LEAST_BITS;
        index->key = sfu__hash_key_of_process();
        while (need > (size_t)1 << bits) {
            bits++;
        }
        const sfu_status status = grow_table(index, bits);
        if (status != SFU_OK) {
            return status;
        }
    }
    for (; index->hashed < index->count; index->hashed++) {
        const sfu_status status = sfu__poll_at(index->hashed);
        if (status != SFU_OK) {
            return status;
        }
        size_t size;
        const char *name = sfu__strings_get(&index->names, index->hashed, &size);
        const uint32_t hash = hash_of(index, name, size);
        index->slots[slot_of(index, name, size, hash)] = slot_for(hash, index->hashed);
    }
    return SFU_OK;
}

/* ---- the index -------------------------------------------------------------------------------------------------- */

void sfu__node_index_clear(sfu__node_index *index) {
    sfu__strings_clear(&index->names);
    sfu__free(index->slots);
    *index = (sfu__node_index){0};
}

static sfu_status spell_out(sfu__node_index *index) {
    sfu_status status = SFU_OK;
    sfu__strings names = {0};
    char digits[SFU__DIGITS_MAX];
    for (int64_t i = 0; i < index->count; i++) {
        SFU_TRY(sfu__poll_at(i));
        SFU_TRY(sfu__strings_add(&names, digits, sfu__write_integer(digits, (uint64_t)i)));
    }
    index->names = names;
    names = (sfu__strings){0};
    index->spelled = true;
done:
    sfu__strings_clear(&names);
    return status;
}

sfu_status sfu__node_index_find(sfu__node_index *index, const char *bytes, size_t size, int64_t *number) {
    if (!index->spelled) {
        int64_t value;
        *number = sfu__plain_integer(&value, bytes, size) && value < index->count ? value : -1;
        return SFU_OK;
    }
    const sfu_status status = hash_all(index);
    if (status == SFU_OK) {
        const uint64_t slot = index->slots[slot_of(index, bytes, size, hash_of(index, bytes, size))];
        *number = (int64_t)(uint32_t)slot - 1;
    }
    return status;
}

void sfu__node_index_numbers(sfu__node_index *index, int64_t count) {
    sfu__node_index_clear(index);
    index->count = count;
}

sfu_status sfu__node_index_append(sfu__node_index *index, const char *bytes, size_t size) {
    if (index->count == INT32_MAX) {
        char quoted[SFU__QUOTE_MAX];
        return sfu__fail(SFU_ERR_FORMAT, "%s: too many distinct names; at most %d are supported",
                         sfu__quote(quoted, bytes, size), INT32_MAX);
    }
    sfu_status status = SFU_OK;
    int64_t value;
    if (!index->spelled && sfu__plain_integer(&value, bytes, size) && value == index->count) {
        index->count++;
        return SFU_OK;
    }
    if (!index->spelled) {
        SFU_TRY(spell_out(index));
    }
    SFU_TRY(sfu__strings_add(&index->names, bytes, size));
    index->count++;
done:
    return status;
}

sfu_status sfu__node_index_add(sfu__node_index *index, const char *bytes, size_t size, int64_t *number) {
    sfu_status status = SFU_OK;
    if (!index->spelled) {
        SFU_TRY(sfu__node_index_find(index, bytes, size, number));
        if (*number < 0) {
            SFU_TRY(sfu__node_index_append(index, bytes, size));
            *number = index->count - 1;
        }
        goto done;
    }
    SFU_TRY(hash_all(index));
    const uint32_t hash = hash_of(index, bytes, size);
    uint64_t *slot = &index->slots[slot_of(index, bytes, size, hash)];
    if (*slot == 0) {
        SFU_TRY(sfu__node_index_append(index, bytes, size));
        *slot = slot_for(hash, index->count - 1);
        index->hashed = index->count;
    }
    *number = (int64_t)(uint32_t)*slot - 1;
done:
    return status;
}

const char *sfu__node_index_name(const sfu__node_index *index, int64_t i, char digits[SFU__DIGITS_MAX], size_t *size) {
    if (index->spelled) {
        return sfu__strings_get(&index->names, i, size);
    }
    *size = sfu__write_integer(digits, (uint64_t)i);
    return digits;
}

void sfu__node_index_release(sfu__node_index *index, sfu__strings *names) {
    *names = index->names;
    index->names = (sfu__strings){0};
    sfu__node_index_clear(index);
}

/* ---- sorting ---------------------------------------------------------------------------------------------------- */

/* Sort key: the value of a plain integer, or the bytes of the name. */
typedef struct sort_key {
    int64_t value;
    const char *bytes;
    size_t size;
    int32_t number;
} sort_key;

static int by_value_order(const void *left, const void *right) {
    const sort_key *a = left;
    const sort_key *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static int by_bytes_order(const void *left, const void *right) {
    const sort_key *a = left;
    const sort_key *b = right;
    const int order = memcmp(a->bytes, b->bytes, a->size < b->size ? a->size : b->size);
    return order != 0 ? order : (a->size > b->size) - (a->size < b->size);
}

bool sfu__node_index_all_plain(const sfu__node_index *index, int64_t *largest) {
    *largest = index->count - 1;
    for (int64_t i = 0; index->spelled && i < index->count; i++) {
        size_t size;
        int64_t value;
        const char *name = sfu__strings_get(&index->names, i, &size);
        if (!sfu__plain_integer(&value, name, size)) {
            return false;
        }
        *largest = i == 0 || value > *largest ? value : *largest;
    }
    return true;
}

sfu_status sfu__node_index_sort(const sfu__node_index *index, bool by_value, int32_t **order) {
    sfu_status status = SFU_OK;
    sort_key *items = NULL;
    char(*digits)[SFU__DIGITS_MAX] = NULL;
    *order = NULL;
    SFU_ALLOC(*order, index->count);
    SFU_ALLOC(items, index->count);
    SFU_ALLOC(digits, index->spelled ? 0 : index->count);
    for (int64_t i = 0; i < index->count; i++) {
        sort_key *item = &items[i];
        *item = (sort_key){.number = (int32_t)i};
        item->bytes = sfu__node_index_name(index, i, index->spelled ? NULL : digits[i], &item->size);
        if (by_value && !sfu__plain_integer(&item->value, item->bytes, item->size)) {
            item->value = -1;
        }
    }
    qsort(items, (size_t)index->count, sizeof *items, by_value ? by_value_order : by_bytes_order);
    for (int64_t i = 0; i < index->count; i++) {
        (*order)[i] = items[i].number;
    }
done:
    sfu__free(digits);
    sfu__free(items);
    return status;
}
