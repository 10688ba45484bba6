/* memory_limit.c - starts and ends a limit of anonymous memory. */
#include "memory_limit.h"
#include "file_blocks.h"
#include "format_number.h"
#include "parallel.h"

#include <math.h>

/* Private memory of the program that no allocation counts, and that of a thread: its stack and its part of the heap. */
static const uint64_t PROCESS_BYTES = 12 << 20, THREAD_BYTES = 9 << 20, LEAST = 32 << 20;

sfu_status sfu__limit_start(sfu__raw *raw, uint64_t memory, const char *scratch, int *threads) {
    char size[SFU__SIZE_MAX], least[SFU__SIZE_MAX];
    raw->threads = *threads;
    if (memory == 0) {
        return SFU_OK;
    }
    if (memory < LEAST) {
        return sfu__fail(SFU_ERR_ARGUMENT, "a memory limit of %s is too small: expected at least %s",
                         sfu__size_text(size, (double)memory), sfu__size_text(least, (double)LEAST));
    }
    const int wanted = sfu__thread_count(*threads);
    const uint64_t fitting = 1 + memory / 4 / THREAD_BYTES;
    *threads = fitting < (uint64_t)wanted ? (int)fitting : wanted;
    raw->threads = *threads;
    raw->pairs.folder = scratch != NULL ? scratch : ".";
    sfu__memory_set_limit((size_t)(memory - PROCESS_BYTES - (uint64_t)(*threads - 1) * THREAD_BYTES));
    sfu__memory_spill(raw->pairs.folder);
    return SFU_OK;
}

int64_t sfu__limit_left(void) {
    const size_t limit = sfu__memory_limit(), used = sfu__memory_used();
    return limit > used ? (int64_t)(limit - used) / 4 * 3 : 0; /* the rest is lost between allocations */
}

/* What is enough if the limit `given` for allocations lacks bytes for sorting. With a larger one, blocks that lie in a
 * file now will be in memory, up to half of it. Later steps may need a little more, and a larger limit may start more
 * threads, each with its reserve. */
static double enough(double memory, double given, double lacking) {
    const double used = (double)sfu__memory_used(), sorting = given - used + lacking / 3.0 * 4.0;
    const double limit = fmin(used + (double)sfu__file_blocks_bytes() + sorting, 2.0 * sorting);
    const double need = (memory - given + limit) * 9.0 / 8.0;
    return need + (double)THREAD_BYTES * ceil((need - memory) / 4.0 / (double)THREAD_BYTES);
}

sfu_status sfu__limit_end(sfu_status status, uint64_t memory, const char *doing, int64_t lacking) {
    char limit[SFU__SIZE_MAX], need[SFU__SIZE_MAX];
    const size_t given = sfu__memory_limit(), refused = sfu__memory_refused();
    if (given == 0) {
        return status;
    }
    sfu__memory_set_limit(0);
    sfu__memory_spill(NULL);
    sfu__size_text(limit, (double)memory);
    if (status == SFU_ERR_MEMORY && lacking > 0) {
        return sfu__fail(status, "%s needs up to %s of memory, more than the limit of %s; use a larger limit", doing,
                         sfu__size_text(need, enough((double)memory, (double)given, (double)lacking)), limit);
    }
    if (status == SFU_ERR_MEMORY && refused > 0) { /* else there is no space for a temporary file */
        /* How much follows is not known: arrays grow as files are read. */
        const double least = (double)memory + (refused > given ? (double)(refused - given) : 0.0);
        return sfu__fail(status, "%s needs more memory than the limit of %s; try --memory %s", doing, limit,
                         sfu__size_text(need, 2.0 * least));
    }
    return status;
}
