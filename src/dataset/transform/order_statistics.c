/* order_statistics.c - sorts numbers and finds medians. Both give the same result for any order of the input. */
#include "memory.h"
#include "transform_int.h"

/* ---- radix sort ------------------------------------------------------------------------------------------------- */

/* The order of the keys, as unsigned numbers, is the order of the values: negative ones are complemented, the others
 * get the sign bit. */
static uint64_t key_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits >> 63 != 0 ? ~bits : bits | UINT64_C(1) << 63;
}

static double value_of(uint64_t key) {
    const uint64_t bits = key >> 63 != 0 ? key & ~(UINT64_C(1) << 63) : ~key;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One pass over 11 bits. Returns false, without moving anything, if all keys have the same bits there. */
enum { RADIX_BITS = 11, RADIX = 1 << RADIX_BITS };
static bool radix_pass(uint64_t *to, const uint64_t *from, int64_t count, int shift) {
    int64_t starts[RADIX] = {0};
    for (int64_t i = 0; i < count; i++) {
        starts[from[i] >> shift & (RADIX - 1)]++;
    }
    if (count > 0 && starts[from[0] >> shift & (RADIX - 1)] == count) {
        return false;
    }
    int64_t before = 0;
    for (int bucket = 0; bucket < RADIX; bucket++) {
        const int64_t size = starts[bucket];
        starts[bucket] = before;
        before += size;
    }
    for (int64_t i = 0; i < count; i++) {
        to[starts[from[i] >> shift & (RADIX - 1)]++] = from[i];
    }
    return true;
}

sfu_status sfu__sort_numbers(double *numbers, int64_t count) {
    sfu_status status = SFU_OK;
    uint64_t *keys = NULL;
    uint64_t *other = NULL;
    SFU_ALLOC(keys, count);
    SFU_ALLOC(other, count);
    for (int64_t i = 0; i < count; i++) {
        keys[i] = key_of(numbers[i] + 0.0); /* -0 is 0 */
    }
    for (int shift = 0; shift < 64; shift += RADIX_BITS) {
        if (radix_pass(other, keys, count, shift)) {
            uint64_t *swapped = keys;
            keys = other;
            other = swapped;
        }
    }
    for (int64_t i = 0; i < count; i++) {
        numbers[i] = value_of(keys[i]);
    }
done:
    sfu__free(keys);
    sfu__free(other);
    return status;
}

/* ---- selection -------------------------------------------------------------------------------------------------- */

static void swap(double *a, double *b) {
    const double saved = *a;
    *a = *b;
    *b = saved;
}

/* Moves the number with rank `rank` to its position, smaller ones before it and larger ones after it (quickselect;
 * the pivot is the median of three). */
static void select_rank(double *numbers, int64_t count, int64_t rank) {
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        const double a = numbers[low], b = numbers[middle], c = numbers[high];
        const double pivot = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
        int64_t i = low, j = high;
        while (i <= j) {
            while (numbers[i] < pivot) {
                i++;
            }
            while (numbers[j] > pivot) {
                j--;
            }
            if (i <= j) {
                swap(&numbers[i++], &numbers[j--]);
            }
        }
        if (rank <= j) {
            high = j;
        } else if (rank >= i) {
            low = i;
        } else {
            return;
        }
    }
}

/* The median of numbers, which are reordered. */
static double small_median(double *numbers, int64_t count, int64_t rank, bool even) {
    select_rank(numbers, count, rank);
    double lower = numbers[rank];
    for (int64_t i = 0; even && i < rank; i++) {
        lower = i == 0 || numbers[i] > lower ? numbers[i] : lower;
    }
    return even ? (lower + numbers[rank]) / 2 : numbers[rank];
}

/* ---- median ----------------------------------------------------------------------------------------------------- */

enum { BUCKETS = 4096 };

/* The bucket of a number: a function that never falls, so that the order of buckets is that of their numbers. */
static int bucket_of(double x, double least, double per_bucket) {
    const double position = (x - least) * per_bucket;
    return position >= BUCKETS ? BUCKETS - 1 : position > 0 ? (int)position : 0;
}

/* Copies the numbers of the buckets from `first` to `last`; returns how many there are. */
static int64_t collect(double *to, const double *numbers, int64_t count, double least, double per_bucket, int first,
                       int last) {
    int64_t found = 0;
    for (int64_t i = 0; i < count; i++) {
        const int bucket = numbers[i] == numbers[i] ? bucket_of(numbers[i], least, per_bucket) : -1;
        if (bucket >= first && bucket <= last) {
            to[found++] = numbers[i];
        }
    }
    return found;
}

sfu_status sfu__median(double *median, const double *numbers, int64_t count, double least, double most) {
    sfu_status status = SFU_OK;
    int64_t sizes[BUCKETS] = {0};
    int64_t given = 0, before = 0;
    double *middle = NULL;
    const double per_bucket = most > least ? BUCKETS / (most - least) : 0;
    for (int64_t i = 0; i < count; i++) {
        if (numbers[i] == numbers[i]) {
            sizes[bucket_of(numbers[i], least, per_bucket)]++;
            given++;
        }
    }
    *median = 0;
    if (given == 0) {
        return SFU_OK;
    }
    /* The two numbers in the middle, which are one if their count is odd, lie in the buckets from `first` to `last`. */
    const int64_t low = (given - 1) / 2, high = given / 2;
    int first = 0;
    for (; before + sizes[first] <= low; first++) {
        before += sizes[first];
    }
    int last = first;
    for (int64_t end = before + sizes[first]; end <= high;) {
        end += sizes[++last];
    }
    int64_t space = 0;
    for (int bucket = first; bucket <= last; bucket++) {
        space += sizes[bucket];
    }
    SFU_ALLOC(middle, space);
    const int64_t found = collect(middle, numbers, count, least, per_bucket, first, last);
    *median = small_median(middle, found, high - before, low != high);
done:
    sfu__free(middle);
    return status;
}
