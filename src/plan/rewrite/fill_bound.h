/* fill_bound.h - the most entries that smoothed sparse features can have, for the limit that a refusal names. */
#ifndef SFU_FILL_BOUND_H
#define SFU_FILL_BOUND_H

#include "plan_int.h"

typedef struct sfu__fill_bound {
    double entries[SFU_PASSES]; /* of the features after all leading smoothing, at the requested nodes */
    bool beyond;                /* computing them may exceed the limits of the planner */
} sfu__fill_bound;

/* u_0(v) entries of row v of X, then u_j(v) = min(features, u_{j-1}(v) + sum over neighbours w of u_{j-1}(w)) for each
 * smoothing: reads the graph of the mapped dataset once per smoothing, with 8 bytes per node. If `room` is less, every
 * entry counts. */
SFU_CHECKED sfu_status sfu__fill_bound_of(sfu__fill_bound *bound, const sfu_dataset *dataset, const sfu_net *net,
                                          const sfu__plan_request *request, int64_t room);

#endif
