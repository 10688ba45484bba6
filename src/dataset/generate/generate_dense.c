/* generate_dense.c - draws dense features of the nodes of a generated graph.
 *
 *   x_ij = 5 (1 - noise) / sqrt(D) m_cj + e_ij
 *
 * for feature j of D of node i, drawn as class c. m and e have mean 0 and variance 1: each is the sum of four uniform
 * numbers of 16 bits, which is close to normal and exact in integers.
 */
#include "dense_rows.h"
#include "generate.h"

#include <math.h>

static const double MEANS_APART = 5;

typedef struct dense_job {
    const sfu_make_options *options;
    const sfu__class_members *groups;
    const int32_t *labels;
    float *means; /* [classes][dense], scaled */
} dense_job;

/* The sum of the four parts, shifted and scaled to mean 0 and variance 1: a part has the variance (2^32 - 1) / 12. */
static double bell(uint64_t bits) {
    const uint64_t sum = (bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48);
    return ((double)sum - 2.0 * 65535) * (1.7320508075688772 / 65536);
}

static void draw_rows(const void *context, int64_t first, int64_t count, float *out) {
    enum { BATCH = 256 };
    const dense_job *self = context;
    const int64_t width = self->options->dense;
    const uint64_t stream = sfu__stream_of(SFU__STREAM_GENERATE, SFU__GENERATE_DENSE);
    uint64_t bits[BATCH];
    for (int64_t node = first; node < first + count; node++) {
        const int32_t c = sfu__class_members_leaning(self->groups, self->options, (int32_t)node, self->labels[node]);
        const float *mean = self->means + c * width;
        for (int64_t j = 0; j < width; j += BATCH) {
            const int64_t here = width - j < BATCH ? width - j : BATCH;
            sfu__random_fill(bits, self->options->seed, stream, (uint64_t)(node * width + j), here);
            for (int64_t k = 0; k < here; k++) {
                *out++ = (float)((double)mean[j + k] + bell(bits[k]));
            }
        }
    }
}

sfu_status sfu__generate_dense(sfu__raw *raw, const sfu__class_members *groups, const sfu_make_options *options) {
    sfu_status status = SFU_OK;
    dense_job self = {.options = options, .groups = groups, .labels = raw->labels};
    const int64_t count = (int64_t)options->classes * options->dense;
    const double scale = MEANS_APART * (1 - options->noise) / sqrt(options->dense);
    sfu__random walk = sfu__generate_walk(options, SFU__GENERATE_MEANS, 0);
    SFU_ALLOC(self.means, count);
    for (int64_t i = 0; i < count; i++) {
        self.means[i] = (float)(scale * bell(sfu__random_next(&walk)));
    }
    SFU_TRY(sfu__raw_fill_dense(raw, options->dense, draw_rows, &self, "drawing features"));
done:
    sfu__free(self.means);
    return status;
}
