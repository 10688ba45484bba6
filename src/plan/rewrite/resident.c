/* resident.c - what holds everything in memory: made within the memory limit, or refused with the limit that it needs.
 *
 * Whether it fits is found by making it: an allocation beyond the limit fails. What it needs is found by making it once
 * more, with large blocks in temporary files, and counting.
 */
#include "stream.h"

#include "format_number.h"
#include "process_memory.h"

static int64_t larger(int64_t a, int64_t b) { return a > b ? a : b; }

/* Bytes that the caller will need beside the plan. */
static int64_t reserved_bytes(const sfu__plan_request *request) {
    return larger(request->used_before - sfu__process_memory(), 0);
}

int64_t sfu__memory_of_others(void) { return sfu__process_memory() - (int64_t)sfu__memory_used(); }

void sfu__limit_allocations(const sfu__plan_request *request, bool streams) {
    if (request->memory > 0) {
        const int64_t taken =
            sfu__limit_overhead(request) + sfu__memory_of_others() + (streams ? 0 : reserved_bytes(request));
        sfu__memory_set_limit((size_t)larger(request->memory - taken, 1));
        sfu__memory_trim();
    }
}

bool sfu__lacks_memory(sfu_status status) { return status == SFU_ERR_MEMORY && sfu__memory_refused() > 0; }

sfu_status sfu__resident_make(bool *lacks, const sfu__resident *self, const sfu__plan_request *request) {
    const size_t limit = sfu__memory_limit();
    bool others_lack = false;
    sfu__plan_request told = *request;
    told.others_lack = &others_lack;
    sfu__limit_allocations(request, false);
    sfu_status status = self->make(self->context, &told);
    *lacks = request->memory > 0 && (others_lack || sfu__lacks_memory(status));
    sfu__memory_set_limit(limit);
    if (request->memory > 0 && request->ranks != NULL && !others_lack && (status == SFU_OK || *lacks)) {
        *lacks = sfu__ranks_any(*lacks); /* also answers those that ask in sfu__rank_sum */
        status = *lacks ? SFU_ERR_MEMORY : status;
    }
    if (*lacks) {
        self->clear(self->context);
        sfu__memory_trim();
    }
    return status;
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

/* A limit that is enough. SFU_ERR_MEMORY: there is no space for temporary files, or it is many times the limit, which
 * would take minutes to find out. */
static sfu_status measure(int64_t *bytes, const sfu__resident *self, const sfu__plan_request *request) {
    enum { BY_CHANCE = 32, UNLIKE = 8 }; /* parts of it: what several threads hold at the same moment; other folds */
    enum { LEAST = 1 << 30, TIMES = 16 };
    const int64_t beside = sfu__memory_of_others() + reserved_bytes(request);
    sfu__plan_request within = *request;
    within.memory = INT64_MAX / 4;
    /* Ranks that make a plan together do not stop alone. */
    const bool whole = request->ranks != NULL || request->memory > INT64_MAX / TIMES;
    sfu__memory_in_files(whole ? SIZE_MAX : (size_t)larger(LEAST, TIMES * request->memory));
    (void)sfu__memory_take_most();
    const sfu_status status = self->make(self->context, &within);
    const int64_t most = (int64_t)sfu__memory_take_most();
    self->clear(self->context);
    sfu__memory_in_files(0);
    *bytes = sfu__with_overhead(beside + most + most / (request->plans > 1 ? UNLIKE : BY_CHANCE), request);
    return status;
}

/* Bytes of a rank, in units that a float holds exactly. */
enum { UNIT = 1 << 16 };
typedef struct share {
    float needs, limit;
} share;

/* The most that a rank needs, and the least that one may take. */
static sfu_status among_ranks(int64_t *bytes, int64_t *limit, const sfu__rank_group *ranks) {
    sfu_status status = SFU_OK;
    share *shares = NULL;
    int64_t *bounds = NULL;
    SFU_ALLOC_ZERO(shares, ranks->count);
    SFU_ALLOC(bounds, (int64_t)ranks->count + 1);
    for (int i = 0; i <= ranks->count; i++) {
        bounds[i] = i;
    }
    const int64_t needs_units = *bytes / UNIT + 1, limit_units = *limit / UNIT;
    shares[ranks->rank] = (share){(float)needs_units, (float)limit_units};
    ranks->mpi->gather(&shares->needs, sizeof *shares / sizeof(float), bounds);
    for (int i = 0; i < ranks->count; i++) {
        const int64_t least = (int64_t)shares[i].limit * UNIT;
        *bytes = larger(*bytes, (int64_t)shares[i].needs * UNIT);
        *limit = least < *limit - UNIT ? least : *limit;
    }
done:
    sfu__free(shares);
    sfu__free(bounds);
    return status;
}

static sfu_status refuse(int64_t bytes, int64_t most, const sfu_dataset *dataset, const sfu_net *net,
                         const sfu__plan_request *request) {
    char needs[SFU__SIZE_MAX], limit[SFU__SIZE_MAX];
    (void)sfu__size_text(needs, (double)bytes);
    (void)sfu__size_text(limit, (double)most);
    sfu__tell_refused(request->refused, bytes);
    return sfu__net_streams(net)
               ? sfu__fail(SFU_ERR_MEMORY,
                           "%s: the fastest plan smooths after the first weights in every epoch and needs the graph in "
                           "memory, up to %s, more than the limit of %s; use a larger limit",
                           dataset->name, needs, limit)
               : sfu__fail(
                     SFU_ERR_MEMORY,
                     "%s: \"%s\" needs about %s of memory, more than the limit of %s; use a larger limit, or a "
                     "network that needs less: one whose smoothing is not learned and all before its first weights "
                     "(sgcn, fp+mlp) streams the graph",
                     dataset->name, net->is_lpnn ? "lpnn" : sfu_net_text(net), needs, limit);
}

sfu_status sfu__resident_refuse(const sfu__resident *self, const sfu_dataset *dataset, const sfu_net *net,
                                const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    int64_t bytes, limit = request->memory;
    status = measure(&bytes, self, request);
    SFU_TRY(status == SFU_ERR_MEMORY ? sfu__resident_needs(&bytes, dataset, net, request) : status);
    SFU_TRY(request->ranks != NULL ? among_ranks(&bytes, &limit, request->ranks) : SFU_OK);
    status = refuse(bytes, limit, dataset, net, request);
done:
    return status;
}

sfu_status sfu__resident_enough(const sfu_dataset *dataset, const sfu_net *net, const sfu__plan_request *request) {
    sfu_status status = SFU_OK;
    int64_t bytes;
    SFU_TRY(sfu__resident_needs(&bytes, dataset, net, request));
    status =
        request->memory > 0 && bytes > request->memory ? refuse(bytes, request->memory, dataset, net, request) : SFU_OK;
done:
    return status;
}
