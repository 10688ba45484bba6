/* reference_smoothing.c - the values of a learned smoothing matrix, and the gradient of its parameters. */
#include "kernels.h"

static sfu__range share_of(int64_t count, int thread, int threads) {
    return (sfu__range){count * thread / threads, count * (thread + 1) / threads};
}

void sfu__smoothing_plain(const sfu__learned_step *step, int phase, int thread, int threads) {
    const sfu__range share = share_of(step->count, thread, threads);
    if (phase < SFU__LEARNED_FORWARD) {
        sfu__learned_forward(step->values, step->work, &step->parameters, phase, thread, threads);
        return;
    }
    for (int64_t e = share.begin; e < share.end; e++) {
        step->values[e] *= step->scale;
        step->dvalues[e] = 0.0F;
    }
}

void sfu__smoothing_backward_plain(const sfu__learned_step *step, int phase, int thread, int threads) {
    const sfu__range share = share_of(step->count, thread, threads);
    if (phase > 0) {
        sfu__learned_backward(&step->gradient, step->work, &step->parameters, step->dvalues, phase - 1, thread,
                              threads);
        return;
    }
    for (int64_t e = share.begin; e < share.end; e++) {
        step->dvalues[e] *= step->scale;
    }
}
