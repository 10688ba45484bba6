/* reference_adam.c - one step of Adam (Kingma and Ba, 2015) with L2 decay, as torch.optim.Adam has it:
 *
 *   g = grad + decay theta;  m = 0.9 m + 0.1 g;  v = 0.999 v + 0.001 g^2
 *   theta <- theta - lr m^ / (sqrt(v^) + 1e-8), m^ = m correction1, v^ = v correction2
 */
#include "kernels.h"
#include "scalar.h"
#include "elementary.h"

void sfu__adam_plain(float *theta, float *m, float *v, const float *grad, const sfu__adam *adam, sfu__range elements) {
    const float step = adam->lr * adam->correction1;
    for (int64_t i = elements.begin; i < elements.end; i++) {
        const float g = fmaf(adam->decay, theta[i], grad[i]);
        m[i] = v_flush(fmaf(0.1F, g - m[i], m[i]));
        v[i] = v_flush(fmaf(0.001F, g * g - v[i], v[i]));
        const float moved = theta[i] - step * m[i] / (sqrtf(v[i] * adam->correction2) + 1e-8F);
        const float above = moved < adam->low ? adam->low : moved;
        theta[i] = above > adam->high ? adam->high : above;
    }
}
