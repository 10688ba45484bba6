/* average_ranks.c - the average rank of each network over the datasets of a size. */
#include "blocks.h"

#include "published.h"
#include "stats.h"

#include <math.h>
#include <string.h>

/* The average rank of a network for a size, added if it is new. */
static sfu_rank *rank_of(sfu_results *results, const sfu_cell *cell) {
    for (int i = 0; i < results->rank_count; i++) {
        if (results->ranks[i].size == cell->size && results->ranks[i].net == cell->net) {
            return &results->ranks[i];
        }
    }
    sfu_published *published = &results->published[results->cell_count + results->rank_count];
    *published = (sfu_published){NAN, NAN, ""};
    sfu_rank *rank = &results->ranks[results->rank_count++];
    *rank = (sfu_rank){.size = cell->size, .net = cell->net, .published = published, .low = NAN, .high = NAN};
    return rank;
}

static int networks_of_size(const sfu_results *results, const char *size) {
    int count = 0;
    for (int i = 0; i < results->rank_count; i++) {
        count += results->ranks[i].size == size;
    }
    return count;
}

bool sfu__block_is_complete(const sfu_results *results, int first, int end) {
    int there = 0;
    for (int i = first; i < end; i++) {
        there += !isnan(sfu__cell_of(results, i)->rank);
    }
    return there == networks_of_size(results, sfu__cell_of(results, first)->size);
}

/* The index of a network in the request; others come after. */
static int request_index(const sfu_results *results, const char *net) {
    int i = 0;
    while (i < results->request.nets.count && strcmp(results->request.nets.items[i], net) != 0) {
        i++;
    }
    return i;
}

static bool comes_after(const sfu_results *results, const sfu_rank *one, const sfu_rank *other) {
    const int size = sfu__size_number(one->size), other_size = sfu__size_number(other->size);
    const int text = strcmp(one->size, other->size);
    if (size != other_size || text != 0) {
        return size != other_size ? size > other_size : text > 0;
    }
    return request_index(results, one->net) > request_index(results, other->net);
}

/* Sizes in ascending order, networks as in the request, others in order of appearance. */
static void sort_ranks(sfu_results *results) {
    for (int i = 1; i < results->rank_count; i++) {
        const sfu_rank moved = results->ranks[i];
        int to = i;
        for (; to > 0 && comes_after(results, &results->ranks[to - 1], &moved); to--) {
            results->ranks[to] = results->ranks[to - 1];
        }
        results->ranks[to] = moved;
    }
}

/* Averages over the datasets that have all networks of the size: otherwise the ranks would not be comparable. */
sfu_status sfu__average_ranks(sfu_results *results) {
    sfu_status status = SFU_OK;
    SFU_ALLOC_ZERO(results->ranks, results->row_group_count);
    for (int i = 0; i < results->row_group_count; i++) {
        if (sfu__is_compared(results, i)) {
            sfu_rank *rank = rank_of(results, sfu__cell_of(results, i));
            const char *table =
                sfu__table_of(results, &sfu__row_group_entry(results, &results->row_groups[i], 0)->task);
            results->published[results->cell_count + (rank - results->ranks)].mean =
                table != NULL ? sfu__published_rank(table, rank->net) : NAN;
        }
    }
    for (int first = 0; first < results->row_group_count; first = sfu__block_end(results, first)) {
        const int end = sfu__block_end(results, first);
        for (int i = first; i < end && sfu__is_compared(results, first) && sfu__block_is_complete(results, first, end);
             i++) {
            sfu_rank *rank = rank_of(results, sfu__cell_of(results, i));
            rank->rank += sfu__cell_of(results, i)->rank;
            rank->datasets++;
        }
    }
    for (int i = 0; i < results->rank_count; i++) {
        sfu_rank *rank = &results->ranks[i];
        rank->rank = rank->datasets > 0 ? rank->rank / rank->datasets : NAN;
        rank->critical = sfu__critical_difference(networks_of_size(results, rank->size), rank->datasets);
    }
    sort_ranks(results);
    SFU_TRY(sfu__rank_intervals(results));
done:
    return status;
}
